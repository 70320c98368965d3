"""What the report shows about one task: leaderboards, plots and examples, ready for the templates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlingual.report import examples, numbers, plots, tables, words
from xlingual.report.axis import Axis
from xlingual.report.rows import Row
from xlingual.report.verdict import task_verdict
from xlingual.results import Results

LANDMARKS = (
    ("chance", "chance"),
    ("oracle", "pictures alone (oracle)"),
    ("ceiling", "the most any encoder could reach (ceiling)"),
)


@dataclass(frozen=True)
class Board:
    """The leaderboard of one measure, with the columns that have something to say."""

    name: str
    rows: list[tuple[Row, plots.Bar]]
    axis: Axis
    level: str
    lower_is_better: bool
    several_runs: bool
    shows: dict[str, bool]

    @property
    def landmarks(self) -> list[tuple[str, str, str]]:
        """Return (class, name, value) of what the rows are seen against, for the legend."""
        found = []
        for kind, name in LANDMARKS:
            texts = _texts(row for row, _ in self.rows)[kind]
            if texts and (kind != "ceiling" or len(texts) == 1):
                found.append((kind, name, texts[0] if len(texts) == 1 else "differs by row"))
        return found


@dataclass(frozen=True)
class Section:
    """Everything about one task."""

    task: str
    title: str
    about: str
    verdict: list[str]
    boards: list[Board]
    boxes: list[plots.Box]
    box_axis: Axis
    heat_maps: list[plots.HeatMap]
    scale: tuple[str, str]
    examples: list[examples.PairExamples]


def section_of(runs: Sequence[Results], task: str, budget: int) -> tuple[Section, int]:
    """Return everything about a task, and the bytes of pictures in it (at most `budget`)."""
    names = tables.measures(runs, task)
    boards = [_board(runs, task, name) for name in names]
    rows = [row for row, _ in boards[0].rows]
    pairs = tables.pair_rows(runs, task, names[0])
    several = len({key for own in pairs.values() for key in own}) > 1
    axis = plots.box_axis(rows, pairs)
    shown, used = examples.chosen(runs, task, rows, budget)
    section = Section(
        task=task,
        title=words.title(task),
        about=words.ABOUT.get(task, ""),
        verdict=task_verdict(runs, task),
        boards=boards,
        boxes=plots.boxes(rows, pairs, axis) if several else [],
        box_axis=axis,
        heat_maps=plots.heat_maps(rows, pairs) if several else [],
        scale=plots.scale_ends(rows, pairs),
        examples=shown,
    )
    return section, used


def _board(runs: Sequence[Results], task: str, measure: str) -> Board:
    rows = tables.leaderboard(runs, task, measure)
    axis = plots.bar_axis(rows)
    levels = sorted({row.ci.level for row in rows if row.ci})
    shows = {
        "behind": any(row.behind for row in rows),
        "normalized": any(row.normalized is not None for row in rows),
        "ceiling": len(_texts(rows)["ceiling"]) > 1,
        "level": any(row.standing == "level" for row in rows),
        "seeds": any(row.n_seeds > 1 for row in rows),
        "tied": any(row.n_tied for row in rows),
    }
    return Board(
        name=words.measure_name(task, measure),
        rows=[(row, plots.bar(row, axis)) for row in rows],
        axis=axis,
        level=" / ".join(numbers.percent(level) for level in levels),
        lower_is_better=words.lower_is_better(measure),
        several_runs=len({row.run for row in rows}) > 1,
        shows=shows,
    )


def _texts(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Return the different values of each landmark, as text."""
    found: dict[str, dict[str, None]] = {kind: {} for kind, _ in LANDMARKS}
    for row in rows:
        for kind, texts in found.items():
            if getattr(row, kind) is not None:
                texts[numbers.number(getattr(row, kind), row.measure)] = None
    return {kind: list(texts) for kind, texts in found.items()}
