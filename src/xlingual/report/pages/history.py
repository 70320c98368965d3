"""The page of a history: the values of each encoder from record to record, and which changes are real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xlingual.report import numbers, words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Block, Finding, Fold, Group, Legend, Page, Prose, Section
from xlingual.report.figures.history import KEYS, over_records
from xlingual.report.findings.history import called, corrected, findings
from xlingual.report.marking import ENCODER
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
_SHOWN = 12  # records that a terminal shows of an encoder, beside those with a real change
_PLOT = 20  # letters of the plot in a terminal
_OPEN = 4  # encoders whose figures stand on the page; those of further ones are folded


def page(trend: Trend, *, title: str | None = None) -> Page:
    """Return the page of a history: the verdict, then for each series its figures and its table."""
    several = len(trend.series) > 1
    verdict = [
        Finding(findings(one, trend), _name(one) if several else "", _name(one) if several else "")
        for one in trend.series
    ]
    closing = [sentence for sentence in (corrected(trend), *trend.notes) if sentence]
    records = {record.id: record for one in trend.series for record in one.records}
    encoders = list(dict.fromkeys(line.encoder for one in trend.series for line in one.lines))
    dates = sorted(filter(None, (numbers.day(record.date) for record in records.values())))
    return Page(
        kind="history",
        title=title or f"How {trend.series[0].data if not several else 'the numbers'} changed",
        verdict=verdict,
        sections=[_section(one, trend, closing if one is trend.series[-1] else []) for one in trend.series],
        facts=[
            *numbers.facts((len(records), "record", "records"), (len(encoders), ENCODER, f"{ENCODER}s")),
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


def _section(series: Series, trend: Trend, closing: Sequence[str]) -> Section:
    blocks: list[Block] = []
    if series.overall:
        blocks += _figures(series, series.overall, trend)
        blocks += _tables(series, series.overall, trend)
    pairs = dict.fromkeys((line.source, line.target) for line in series.parts)
    for source, target in pairs:
        own = [line for line in series.parts if (line.source, line.target) == (source, target)]
        named = words.pair(source or "", target or "")
        tested = any(point.change for line in own for point in line.points)
        inside = [*_figures(series, own, trend), *_tables(series, own, trend, named)]
        blocks.append(
            Fold(named, inside, "" if tested else "values only", where="both" if tested else "page")
        )
    blocks += [Prose(sentence, "note-line", where="both") for sentence in closing]
    return Section(_name(series), blocks)


def _figures(series: Series, lines: Sequence[Line], trend: Trend) -> list[Block]:
    drawn: list[Block] = [over_records(series, line, lines, trend.by) for line in lines]
    shown: list[Block] = drawn if len(drawn) == 1 else [Group("beside", drawn[:_OPEN], where="page")]
    more = f"{len(drawn) - _OPEN} more {ENCODER}s"
    folded = [Fold(more, [Group("beside", drawn[_OPEN:])], where="page")] if len(drawn) > _OPEN else []
    return [*shown, *folded, Legend(KEYS, where="page")]


def _tables(series: Series, lines: Sequence[Line], trend: Trend, part: str = "") -> list[Block]:
    """Return the table of records: for a terminal with a plot and its last rows, elsewhere whole."""
    title = f"{_name(series)} · {part}" if part else _name(series)
    ends = [end for line in lines for point in line.points for end in (point.value, *numbers.ends(point.ci))]
    known = [end for end in ends if end is not None]
    span = (min(known, default=0.0), max(known, default=1.0))
    records = {record.id: record for record in series.records}
    gated = any(_gate(series, records[point.record], line) for line in lines for point in line.points)
    labelled = any(record.label is not None for record in series.records)  # else the day is the name
    heads = {
        "record": Column("Record", "name", "record", data=True),
        "date": Column("Date", "words", "date", where="terminal"),
        "value": Column("Value", short="value", main=True),
        "plot": Column("", "words", "plot", where="terminal"),
        "chart": Column("", "chart"),
        "change": Column("Change", short="change"),
        "adjusted p": Column("Adjusted p", short="adjusted p"),
        "outcome": Column("Outcome", "words", "outcome"),
        "gate": Column("Gate", "words", "gate"),
    }
    rows, few = [], []
    for line in lines:
        own = [_cells(series, records[point.record], line, point, span) for point in line.points]
        if line.whole is not None:
            own.append(_whole_cells(records, line.whole, series.measure))
        rows += [Row(heading=line.encoder), *own]
        kept = [*range(max(len(line.points) - _SHOWN, 0), len(own))]
        kept += [i for i, point in enumerate(line.points) if i == 0 or (point.change and point.change.real)]
        few += [Row(heading=line.encoder), *(own[i] for i in sorted(set(kept)))]
    places = {name: i for i, name in enumerate(heads)}
    less = (() if labelled else ("date",)) + (() if gated else ("gate",))
    whole, screen = (
        [place for name, place in places.items() if name not in (*less, other)] for other in ("plot", "chart")
    )
    table = Table(
        title,
        tuple(heads.values()),
        tuple(rows),
        style="board",
        titled=False,
        axis=axis_for(ends),
        records=_records(series, lines),
        where="written",
    )
    spare = ("date", "adjusted p")
    narrow = TableRoom(dropped=spare, bare=("value",), stacked=True, names=12)
    looks = (
        TableRoom(),
        *(TableRoom(dropped=spare[:n]) for n in (1, 2)),
        narrow,
        replace(narrow, dropped=(*spare, "plot"), bare=()),
        replace(narrow, dropped=(*spare, "plot", "gate")),
    )
    return [
        table.of(whole),
        replace(
            table.of(screen),
            rows=tuple(row.of(screen) for row in few),
            looks=looks,
            in_verdict=("date",),
            notes=tuple(_left_out(rows, few)),
            where="screen",
        ),
    ]


def _left_out(rows: Sequence[Row], few: Sequence[Row]) -> list[str]:
    n = len(rows) - len(few)
    return (
        [f"{numbers.counted(n, 'earlier row')} without a real change left out: --export FILE has all."]
        if n
        else []
    )


def _cells(series: Series, record: Recorded, line: Line, point: Point, span: tuple[float, float]) -> Row:
    change, day = point.change, numbers.day(record.date)
    value = Cell.of(point.value, point.ci, series.measure)
    cells = (
        Cell(called(record), badges=(Badge(day, "soft", where="page"),) if record.label else ()),
        Cell(day),
        value,
        Cell(_plot(point, span)),
        Cell(bar=Bar(point.value, value.ends, spoken=f"{called(record)}: {value.plain}")),
        *_change_cells(change, series.measure, "first" if point is line.points[0] else ""),
        Cell(_gate(series, record, line)),
    )
    return Row(cells, _TONES.get(change.outcome, "level") if change else "level")


def _whole_cells(records: dict[int, Recorded], whole: Change, measure: str) -> Row:
    name = Cell(f"since {called(records[whole.since])}")
    chart = Cell("last against that one")
    cells = (name, Cell(), Cell(), Cell(), chart, *_change_cells(whole, measure, ""), Cell())
    return Row(cells, _TONES.get(whole.outcome, "level"))


def _change_cells(change: Change | None, measure: str, otherwise: str) -> tuple[Cell, Cell, Cell]:
    if change is None:
        return Cell(), Cell(), Cell(otherwise)
    gap = Cell.difference(change.difference, change.ci, measure, signed=True)
    if change.outcome == UNCHANGED:
        gap = Cell("0", value=0.0)
    outcome = _WORDS.get(change.outcome, change.outcome)
    tone: Tone = _CELLS.get(change.outcome, "")
    return (
        replace(gap, tone=tone),
        Cell.by(numbers.p_value, change.p_adjusted),
        Cell(outcome, title=change.note or ""),
    )


def _plot(point: Point, span: tuple[float, float]) -> str:
    """Return a value with its interval as a line of letters, at its place between the ends of a span."""
    if point.value is None:
        return ""
    width = (span[1] - span[0]) or 1.0
    low, high = numbers.ends(point.ci) or (point.value, point.value)
    places = [round((value - span[0]) / width * (_PLOT - 1)) for value in (low, point.value, high)]
    letters = [" "] * _PLOT
    for place in range(places[0], places[2] + 1):
        letters[place] = "─"
    letters[places[1]] = "●"
    return "".join(letters).rstrip()


def _gate(series: Series, record: Recorded, line: Line) -> str:
    key = (line.encoder, series.task, series.measure)
    found = [one.outcome for one in record.gates if (one.encoder, one.task, one.measure) == key]
    return found[-1] if found else ""


def _records(series: Series, lines: Sequence[Line]) -> list[dict[str, object]]:
    """Return the rows of the CSV."""
    records = {record.id: record for record in series.records}
    found: list[dict[str, object]] = []
    for line in lines:
        for point in line.points:
            change, record = point.change, records[point.record]
            found.append(
                {
                    "encoder": line.encoder,
                    "source": line.source,
                    "target": line.target,
                    "record": called(record),
                    "date": record.date,
                    "value": point.value,
                    "ci_low": point.ci and point.ci.low,
                    "ci_high": point.ci and point.ci.high,
                    "change": change and change.difference,
                    "p_adjusted": change and change.p_adjusted,
                    "outcome": change and change.outcome,
                }
            )
    return found


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
