"""The page of a history: the values of each encoder from record to record, and which changes are real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Finding, Fold, Group, Legend, Page, Prose, Section
from xlingual.report.figures.history import KEYS, over_records
from xlingual.report.findings.history import called, corrected, findings
from xlingual.report.marking import ENCODER
from xlingual.report.table import Cell, Column, Row, Table, TableRoom
from xlingual.results import comparison as outcomes
from xlingual.results.history import UNCHANGED, Change, Line, Point, Recorded, Series, Trend
from xlingual.tasks import task_of

TERMS = {
    "Change": "The value minus that of the record before, on the same queries of the same data. The interval "
    "says where it would land for another sample of queries of the same size; it is not widened for the number "
    "of changes.",
    "Adjusted p": "How easily a change this large arises by luck where nothing changed, corrected for the number "
    "of all changes that are tested here.",
    "Unchanged": "Every query has the same value, and the same text was retrieved: there is nothing to test.",
    "Since the first": "The last record against the first one that can be compared with it: many small changes in "
    "one direction add up to one that is seen.",
}
_TONES = {outcomes.BETTER: "leader", outcomes.WORSE: "behind", UNCHANGED: "level"}
_SHOWN = 12  # records that a terminal shows of an encoder, beside those with a real change
_PLOT = 24  # letters of the plot in a terminal
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
        blocks.append(Fold(named, inside, "" if tested else "values only", where="both" if tested else "page"))
    blocks += [Prose(sentence, "note-line", where="both") for sentence in closing]
    return Section(_name(series), blocks)


def _figures(series: Series, lines: Sequence[Line], trend: Trend) -> list[Block]:
    drawn: list[Block] = [over_records(series, line, lines, trend.by) for line in lines]
    shown: list[Block] = [Group("panels", drawn[:_OPEN], where="page"), Legend(KEYS, where="page")]
    if len(drawn) > _OPEN:
        more = f"{len(drawn) - _OPEN} more {ENCODER}s"
        shown.append(Fold(more, [Group("panels", drawn[_OPEN:], where="page")], where="page"))
    return shown


def _tables(series: Series, lines: Sequence[Line], trend: Trend, title: str = "Records") -> list[Block]:
    """Return the table of records: for a terminal with a plot and its last rows, elsewhere whole."""
    ends = [end for line in lines for point in line.points for end in (point.value, *numbers.ends(point.ci))]
    known = [end for end in ends if end is not None]
    span = (min(known, default=0.0), max(known, default=1.0))
    records = {record.id: record for record in series.records}
    gated = any(_gate(series, records[point.record], line) for line in lines for point in line.points)
    heads = [
        Column("Record", "name", "record", data=True),
        Column("Date", "words", "date"),
        Column("Value", short="value", main=True),
        Column("Change", short="change"),
        Column("Adjusted p", short="adjusted p"),
        Column("Outcome", "words", "outcome"),
        *([Column("Gate", "words", "gate")] if gated else []),
    ]
    rows, few = [], []
    for line in lines:
        own = [_row(series, records[point.record], line, point, gated) for point in line.points]
        if line.whole is not None:
            own.append(_whole_row(records, line, line.whole, series.measure, gated))
        heading = [Row(heading=line.encoder)] if len(lines) > 1 or title == "Records" else []
        rows += [*heading, *own]
        begin = len(line.points) - _SHOWN
        kept = [
            i
            for i, row in enumerate(own)
            if i >= begin or i == 0 or ((change := line.points[i].change) is not None and change.real)
        ]
        drawn = [*(_plot(point, span) for point in line.points), ""][: len(own)]
        few += [*heading, *(_with_plot(own[i], drawn[i]) for i in kept)]
    unlabelled = all(record.label is None for record in series.records)
    whole = Table(
        title,
        tuple(heads),
        tuple(rows),
        titled=False,
        looks=(TableRoom(), TableRoom(dropped=("adjusted p",)), TableRoom(dropped=("adjusted p", "date"), stacked=True)),
        records=_records(series, lines),
        where="written",
    )
    if unlabelled:  # the day is the name
        whole = whole.of([i for i, column in enumerate(heads) if column.key != "date"])
    spare = ("adjusted p", "date", "plot", "gate")
    screen = Table(
        title,
        (*heads[:3], Column("", "words", "plot"), *heads[3:]),
        tuple(few),
        notes=tuple(_left_out(lines, rows, few)),
        looks=(
            TableRoom(),
            *(TableRoom(dropped=spare[:n]) for n in (1, 2, 3, 4)),
            TableRoom(dropped=spare, stacked=True, names=16),
        ),
        where="screen",
    )
    if unlabelled:
        screen = screen.of([i for i, column in enumerate(screen.columns) if column.key != "date"])
    return [whole, screen]


def _left_out(lines: Sequence[Line], rows: Sequence[Row], few: Sequence[Row]) -> list[str]:
    n = len(rows) - len(few)
    return [f"{numbers.counted(n, 'earlier row')} without a real change left out: --export FILE has all."] if n else []


def _row(series: Series, record: Recorded, line: Line, point: Point, gated: bool) -> Row:
    change = point.change
    cells = (
        Cell(called(record)),
        Cell(numbers.day(record.date)),
        Cell.of(point.value, point.ci, series.measure),
        *_change_cells(change, series.measure, "first" if point is line.points[0] else ""),
        *([Cell(_gate(series, record, line))] if gated else []),
    )
    return Row(cells, _TONES.get(change.outcome, "level") if change else "level")


def _whole_row(records: dict[int, Recorded], line: Line, whole: Change, measure: str, gated: bool) -> Row:
    cells = (
        Cell(f"since {called(records[whole.since])}"),
        Cell(),
        Cell(),
        *_change_cells(whole, measure, ""),
        *([Cell()] if gated else []),
    )
    return Row(cells, _TONES.get(whole.outcome, "level"))


def _change_cells(change: Change | None, measure: str, otherwise: str) -> tuple[Cell, Cell, Cell]:
    if change is None:
        return Cell(), Cell(), Cell(otherwise)
    gap = Cell.difference(change.difference, change.ci, measure, signed=True)
    if change.outcome == UNCHANGED:
        gap = Cell("0", value=0.0)
    outcome = "other conditions" if change.difference is None else change.outcome
    tone = {outcomes.BETTER: "gain", outcomes.WORSE: "loss"}.get(change.outcome, "")
    return replace(gap, tone=tone), Cell.by(numbers.p_value, change.p_adjusted), Cell(outcome, title=change.note or "")


def _with_plot(row: Row, plot: str) -> Row:
    return replace(row, cells=(*row.cells[:3], Cell(plot), *row.cells[3:]))


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


