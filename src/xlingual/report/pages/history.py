"""The page of a history: the values of each encoder from record to record, and which changes are real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xlingual.report import numbers, words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Block, Finding, Fold, Group, Legend, Page, Prose, Section
from xlingual.report.figures.history import KEYS, change_text, over_records
from xlingual.report.table import Badge, Bar, Cell, Column, Row, Table, TableRoom, Tone
from xlingual.results import comparison as outcomes
from xlingual.results.history import UNCHANGED, Change, Line, Point, Recorded, Series, Trend
from xlingual.tasks import task_of

TERMS = {
    "Change": "The value minus that of the record before, on the same queries of the same data. The "
    "interval is the range of values for another sample of queries of the same size; it is not "
    "corrected for the number of changes.",
    "Adjusted p": "The probability of a change this large if nothing changed, corrected for the number of "
    "all tested changes.",
    "Unchanged": "Every query has the same value and retrieved the same text, so no test is needed.",
    "Since the first": "The last record against the first one that can be compared with it: many small "
    "changes in one direction may add up to a visible change.",
}
_TONES = {outcomes.BETTER: "leader", outcomes.WORSE: "behind"}  # of rows, else level
_CELLS: dict[str, Tone] = {outcomes.BETTER: "gain", outcomes.WORSE: "loss"}
_WORDS = {outcomes.NO_DIFFERENCE: "no change found", outcomes.CANNOT_TELL: "not compared"}
_MOST = 4  # changes of one kind that the verdict names; the table has all
_OPEN = 4  # encoders whose figures stand on the page; those of further ones are folded


def page(trend: Trend, *, title: str | None = None) -> Page:
    """Return the page of a history: the verdict, then for each series its figures and its table."""
    several = len(trend.series) > 1
    records = {record.id: record for one in trend.series for record in one.records}
    encoders = list(dict.fromkeys(line.encoder for one in trend.series for line in one.lines))
    dates = sorted(filter(None, (numbers.day(record.date) for record in records.values())))
    names = [_name(one) if several else "" for one in trend.series]
    return Page(
        kind="history",
        title=title or f"How {trend.series[0].data if not several else 'the numbers'} changed",
        verdict=[Finding(verdict(one), name, name) for one, name in zip(trend.series, names, strict=True)],
        sections=[
            *(Section(_name(one), _section(one, trend)) for one in trend.series),
            Section("", [Prose(note, "note-line", where="both") for note in _notes(trend)]),
        ],
        facts=[
            *numbers.facts((len(records), "record", "records"), (len(encoders), "encoder", "encoders")),
            ("from", dates[0] if dates else numbers.MISSING),
            ("to", dates[-1] if dates else numbers.MISSING),
        ],
        about=words.explained(*((one.task, one.measure) for one in trend.series)),
        terms=list(TERMS.items()),
        conditions=_conditions(trend),
        names=encoders,
    )


def _name(series: Series) -> str:
    return f"{task_of(series.task).measure_name(series.measure)} · {series.data}"


def _section(series: Series, trend: Trend) -> list[Block]:
    blocks: list[Block] = []
    if series.overall:
        blocks += _lines(series, series.overall, trend)
    for source, target in dict.fromkeys((line.source, line.target) for line in series.parts):
        lines = [line for line in series.parts if (line.source, line.target) == (source, target)]
        pair = words.pair(source or "", target or "")
        tested = any(point.change for line in lines for point in line.points)
        where, hint = ("both", "") if tested else ("page", "values only")
        blocks.append(Fold(pair, _lines(series, lines, trend, pair), hint, where=where))  # type: ignore[arg-type]
    return blocks


def _lines(series: Series, lines: Sequence[Line], trend: Trend, part: str = "") -> list[Block]:
    """Return the figures and the table of some lines."""
    drawn: list[Block] = [over_records(series, line, lines, trend.by) for line in lines]
    shown: list[Block] = drawn if len(drawn) == 1 else [Group("beside", drawn[:_OPEN], where="page")]
    if rest := drawn[_OPEN:]:
        shown.append(Fold(f"{len(rest)} more encoders", [Group("beside", rest)], where="page"))
    ends = [end for line in lines for point in line.points for end in (point.value, *numbers.ends(point.ci))]
    records = {record.id: record for record in series.records}
    rows = []
    for line in lines:
        rows += [Row(heading=line.encoder), *(_row(series, records, line, point) for point in line.points)]
        if line.whole is not None:
            since = Cell(f"since {records[line.whole.since].label}")
            chart = Cell("last against that one")
            rows.append(_toned(line.whole, (since, Cell(), Cell(), chart), series.measure, "", ""))
    columns = (
        Column("Record", "name", "record", data=True),
        Column("Date", "words", "date", where="terminal"),
        Column("Value", short="value", main=True),
        Column("", "chart"),
        Column("Change", short="change"),
        Column("Adjusted p", short="adjusted p"),
        Column("Outcome", "words", "outcome"),
        Column("Gate", "words", "gate"),
    )
    spare = ("date", "adjusted p")
    narrow = TableRoom(dropped=spare, bare=("value",), stacked=True, names=12)
    table = Table(
        f"{_name(series)} · {part}" if part else _name(series),
        columns,
        tuple(rows),
        style="board",
        titled=False,
        axis=axis_for(ends),
        records=_records(series, lines),
        where="both",
        looks=(
            TableRoom(),
            *(TableRoom(dropped=spare[:n]) for n in (1, 2)),
            narrow,
            replace(narrow, dropped=(*spare, "gate"), bare=()),
        ),
        in_verdict=("date",),
    )
    gated = any(record.gates for record in series.records)
    kept = [place for place, column in enumerate(columns) if gated or column.key != "gate"]
    return [*shown, Legend(KEYS, where="page"), table.of(kept)]


def _row(series: Series, records: dict[int, Recorded], line: Line, point: Point) -> Row:
    record, day = records[point.record], numbers.day(records[point.record].date)
    value = Cell.of(point.value, point.ci, series.measure)
    cells = (
        Cell(record.label, badges=(Badge(day, "soft", where="page"),)),
        Cell(day),
        value,
        Cell(bar=Bar(point.value, value.ends, spoken=f"{record.label}: {value.plain}")),
    )
    key = (line.encoder, series.task, series.measure)
    gates = [one.outcome for one in record.gates if (one.encoder, one.task, one.measure) == key]
    first = "first" if point is line.points[0] else ""
    return _toned(point.change, cells, series.measure, first, gates[-1] if gates else "")


def _toned(change: Change | None, cells: tuple[Cell, ...], measure: str, otherwise: str, gate: str) -> Row:
    if change is None:
        return Row((*cells, Cell(), Cell(), Cell(otherwise), Cell(gate)), "level")
    gap = Cell.difference(change.difference, change.ci, measure, signed=True)
    if change.outcome == UNCHANGED:
        gap = Cell("0", value=0.0)
    cells += (
        replace(gap, tone=_CELLS.get(change.outcome, "")),
        Cell.by(numbers.p_value, change.p_adjusted),
        Cell(_WORDS.get(change.outcome, change.outcome), title=change.note or ""),
        Cell(gate),
    )
    return Row(cells, _TONES.get(change.outcome, "level"))


def _records(series: Series, lines: Sequence[Line]) -> list[dict[str, object]]:
    """Return the rows of the CSV."""
    records = {record.id: record for record in series.records}
    return [
        {
            "encoder": line.encoder,
            "source": line.source,
            "target": line.target,
            "record": records[point.record].label,
            "date": records[point.record].date,
            "value": point.value,
            "ci_low": point.ci and point.ci.low,
            "ci_high": point.ci and point.ci.high,
            "change": point.change and point.change.difference,
            "p_adjusted": point.change and point.change.p_adjusted,
            "outcome": point.change and point.change.outcome,
        }
        for line in lines
        for point in line.points
    ]


def _conditions(trend: Trend) -> list[tuple[str, list[str]]]:
    settings = {
        "history": [trend.history],
        "order": [trend.by],
        "correction": ["Holm"],
        "significance level": [f"{trend.alpha:g}"],
        "replicates": [str(trend.replicates)],
        "seed": [str(trend.seed)],
    }
    known = dict.fromkeys(key for one in trend.series for key in one.conditions)
    shared = {key: list(dict.fromkeys(one.conditions.get(key, "–") for one in trend.series)) for key in known}
    return list({**settings, **shared}.items())


def _notes(trend: Trend) -> list[str]:
    families = {"of means": trend.n_tests, "of language pairs": trend.n_pair_tests}
    counts = [f"{numbers.counted(n, 'test')} {kind}" for kind, n in families.items() if n]
    if not counts:
        return trend.notes
    each = " for each kind" if len(counts) > 1 else ""
    return [
        f"Changes are called real after Holm's correction over {', and over '.join(counts)}. If nothing "
        f"changed, the chance of any such call is at most {numbers.percent(trend.alpha)}{each}.",
        *trend.notes,
    ]


def verdict(series: Series) -> list[str]:
    """Return what the last record changed, then earlier changes, slow drifts, and what is not compared."""
    lines, names = series.overall or series.parts, {one.id: one.label for one in series.records}
    if all(len(line.points) < 2 for line in lines):
        first = series.records[0].label
        return [f"There is one record so far ({first}). Changes are shown from the second record on."]
    last = series.records[-1]
    news = [
        (line, point.change)
        for line in lines
        for point in line.points[1:]
        if point.record == last.id and point.change is not None
    ]
    real = sorted((one for one in news if one[1].real), key=lambda one: one[1].difference or 0.0)
    sentences = [_changed(series, line, change, last) for line, change in real[:_MOST]]
    if len(real) > _MOST:
        sentences.append(f"{len(real) - _MOST} more changed with {last.label}; the table shows them.")
    open_ = [
        f"{_whose(line)} ({change_text(change, series.measure)})"
        for line, change in news
        if change.outcome == outcomes.NO_DIFFERENCE
    ]
    if open_:
        sentences.append(f"No change with {last.label} is shown for {numbers.in_words(open_)}.")
    if same := [_whose(line) for line, change in news if change.outcome == UNCHANGED]:
        verb = "is" if len(same) == 1 else "are"
        sentences.append(f"{numbers.in_words(same)} {verb} unchanged with {last.label}, on every query.")
    earlier = []
    for line in lines:
        for point, change in line.changes:
            if (place := [*names].index(point.record)) < len(names) - 1:
                what = f"{_whose(line)} {change.outcome} with {names[point.record]}"
                earlier.append((place, f"{what} ({change_text(change, series.measure)})"))
    if earlier:
        named = [text for _, text in sorted(earlier, key=lambda one: -one[0])]
        more = f"; {len(named) - _MOST} more are in the table" if len(named) > _MOST else ""
        sentences.append(f"Earlier: {numbers.in_words(named[:_MOST])}{more}.")
    for line in lines[:_MOST]:
        if line.whole is not None and line.whole.real:
            slow = "" if line.changes else ", though no single change is shown: a slow drift"
            span = f"From {names[line.whole.since]} to {names[line.points[-1].record]}"
            text = change_text(line.whole, series.measure)
            sentences.append(f"{span}, {_whose(line)} got {line.whole.outcome} by {text}{slow}.")
    apart = [
        f"{names[point.record]} is not compared with {names[point.change.since]}: {point.change.note}"
        for line in lines
        for point in line.points
        if point.change is not None and point.change.difference is None
    ]
    return [*sentences, *(words.stop(text) for text in list(dict.fromkeys(apart))[:_MOST])]


def _changed(series: Series, line: Line, change: Change, last: Recorded) -> str:
    name = task_of(series.task).measure_name(series.measure)
    before, now = (numbers.number(point.value, series.measure) for point in line.points[-2:])
    return (
        f"{_whose(line)} got {change.outcome} with {last.label}: {name} {before} → {now}, "
        f"{change_text(change, series.measure)} on the same "
        f"{numbers.counted(change.n_queries or 0, 'query', 'queries')} "
        f"({numbers.p_sentence(change.p_adjusted)} after correction)."
    )


def _whose(line: Line) -> str:
    if line.source is None or line.target is None:
        return line.encoder
    return f"{line.encoder}, {words.pair(line.source, line.target)},"
