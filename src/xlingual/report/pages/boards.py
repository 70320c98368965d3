"""Leaderboards: a table for each measure of a task, the first one open and the others folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xlingual.report import leaders, numbers, words
from xlingual.report.axis import Axis
from xlingual.report.blocks import Block, Fold, Prose
from xlingual.report.figures.bars import SWATCHES, bar_axis
from xlingual.report.findings import leads
from xlingual.report.leaders import BoardRow
from xlingual.report.table import Badge, Bar, Cell, Column, Key, Table, TableRoom, Where
from xlingual.report.table import Row as TableRow
from xlingual.results import Results
from xlingual.tasks import Task

LANDMARKS = (
    ("chance", "chance"),
    ("oracle", "images alone (oracle)"),
    ("ceiling", "the most any encoder could reach (ceiling)"),
)
TIES = "tied queries"
LOOKS = (
    TableRoom(),
    TableRoom(badges="short"),
    TableRoom(badges="short", bare=("behind",)),
    TableRoom(badges="short", bare=("behind",), names=16, dropped=(TIES,)),
    TableRoom(badges="short", bare=("behind",), names=16, dropped=(TIES, "normalised")),
    TableRoom(badges="none", bare=("behind",), names=16, dropped=(TIES, "normalised")),
)


def boards(runs: Sequence[Results], task: Task, *, where: Where = "both") -> list[Block]:
    """Return the leaderboard of each measure.

    `where` "page": a terminal shows the numbers in the task's own form.
    """
    blocks: list[Block] = []
    for place, measure in enumerate(leaders.measures(runs, task.name)):
        rows = leaders.leaderboard(runs, task.name, measure)
        own: list[Block] = [
            replace(board(runs, task, rows), where=where),
            *(Prose(note, "note-line", "terminal") for note in notes(rows)),
        ]
        if place > 0:
            own = [Fold(task.measure_name(measure), own, _best(runs, task, rows), where=where)]
        blocks += own
    return [block for block in blocks if where != "page" or block.where != "terminal"]


def board(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> Table:
    """Return the leaderboard of one measure, without empty columns."""
    axis = bar_axis(rows)
    places = {row.run for row in rows}
    led = {place for place in places if not leads.none_above([row for row in rows if row.run == place])}
    apart = leaders.ranked_apart(runs, task.name)
    unit = leaders.unit(runs)
    badge = "" if len(rows) == 1 else f"leads its {unit}" if len(places) > 1 else "leads"
    ceilings = len(_texts(rows, "ceiling")) > 1
    columns = (
        Column("#", "rank", ""),
        Column("Encoder", "name", "encoder", data=True),
        Column(task.measure_name(rows[0].measure), short="value", interval="95 % interval", main=True),
        Column("", "chart"),
        Column("Behind leader", short="behind"),
        Column("Normalised", short="normalised"),
        Column("Ceiling", where="page"),
        Column("SD of seeds", where="page"),
        Column(
            "Tied queries",
            short=TIES,
            csv="ties",
            where="both" if any(row.n_tied for row in rows) else "terminal",
        ),
    )
    made = [
        TableRow(
            _cells(row, badge if row.run in led else None, ceilings),
            tone=f"{row.standing if row.run in led or row.standing == 'unknown' else 'unled'}"
            f"{' at-chance' if row.at_chance else ''}",
            begins=apart and i > 0 and row.run != rows[i - 1].run,
            note=(row.note or "no value") if row.value is None else "",
        )
        for i, row in enumerate(rows)
    ]
    title = f"{task.name} · {rows[0].measure if task.label else task.measure_name(rows[0].measure)}"
    return Table.board(
        title, columns, made, axis, legend=_legend(rows, axis, led, unit if apart else None), looks=LOOKS
    )


def _cells(row: BoardRow, badge: str | None, ceilings: bool) -> tuple[Cell, ...]:
    """Return the cells of a row; `badge`: the text of the leader's badge, None where no encoder leads."""
    badges = []
    if badge and row.standing == "leader":
        badges.append(Badge(badge, where="page"))
    elif badge is not None and row.standing == "level":
        badges.append(Badge("level", "soft", "level with the leader"))
    if row.at_chance:
        badges.append(Badge("at chance", "warn"))
    value = Cell.of(row.value, row.ci, row.measure)
    marks = ((kind, getattr(row, kind)) for kind in ("ceiling", "chance", "oracle"))
    lines = tuple((kind, value) for kind, value in marks if value is not None)
    bar = Bar(row.value, value.ends, lines, spoken=f"{row.label}: {value.text} {value.interval}")
    behind, why = Cell(numbers.MISSING), row.note if row.normalized is None else None
    if row.behind is not None:
        behind = Cell.difference(row.behind.value, row.behind.ci, row.measure)
    return (
        Cell.by(str, row.rank),
        Cell(row.label, badges=tuple(badges)),
        value,
        Cell(bar=None if row.value is None else bar),
        behind,
        Cell(row.normalized_text, value=row.normalized, title=why or ""),
        Cell.of(row.ceiling if ceilings else None, measure=row.measure),
        Cell.of(row.sd_seeds if row.n_seeds > 1 else None, measure=row.measure),
        Cell.by(numbers.count, row.n_tied),
    )


def _legend(rows: Sequence[BoardRow], axis: Axis, led: set[int], apart: str | None) -> tuple[Key, ...]:
    """Return the legend; `apart`: what is ranked on its own, None where all rows are ranked together."""
    levels = sorted({row.ci.level for row in rows if row.ci})
    level = " / ".join(numbers.percent(level) for level in levels)
    keys = [Key(f"value{f' with its {level} interval' if level else ''}", SWATCHES["interval"])]
    for kind, name in LANDMARKS:
        if texts := _texts(rows, kind):
            drawn = any(
                axis.holds(getattr(row, kind)) for row in rows if None not in (row.value, getattr(row, kind))
            )
            text = f"{name} {texts[0] if len(texts) == 1 else 'differs by row'}"
            keys.append(Key(text, SWATCHES[kind]) if drawn else Key(f"{text}, beyond the axis"))
    if any(row.standing == "level" and row.run in led for row in rows):
        keys.append(Key("the difference from the leader may be zero", badge=Badge("level", "soft")))
    if any(row.behind is not None for row in rows):
        keys.append(Key("differences are of exact numbers, rounded afterwards"))
    if apart:
        keys.append(Key(f"each {apart} is ranked on its own"))
    if words.lower_is_better(rows[0].measure):
        keys.append(Key("lower is better"))
    return tuple(keys)


def _texts(rows: Sequence[BoardRow], kind: str) -> list[str]:
    """Return the different values of a landmark (chance, oracle, ceiling) as text."""
    found: dict[str, None] = {}
    for row in rows:
        if (value := getattr(row, kind)) is not None:
            found[numbers.mark(value, row.measure)] = None
    return list(found)


def _best(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> str:
    """Return the best encoder as text, for a folded board."""
    if leaders.ranked_apart(runs, task.name):
        return ""
    best = rows[0]
    if best.value is None:
        return "no value"
    return f"best: {best.label}, {best.value_text}" if len(rows) > 1 else best.value_text


def notes(rows: Sequence[BoardRow]) -> list[str]:
    """Return the notes of a table, with the encoders where a note is not about all of them."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            found.setdefault(row.note, []).append(row.label)
    return [
        note if len(labels) == len(rows) else f"{', '.join(labels)}: {note}" for note, labels in found.items()
    ]
