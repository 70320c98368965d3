"""Everything the page shows about textual similarity, ready for the templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlingual.report import numbers
from xlingual.report.grid import Table
from xlingual.report.sts.reading import HEADLINE, MEAN, Cell, Grid, grid_of
from xlingual.report.sts.scatter import Drawing, drawings
from xlingual.report.sts.sentences import p_text
from xlingual.results import Results

MEAN_NAME = "mean of files"
MOST_DRAWN = 6  # drawings of the first encoders; those of the others are folded


@dataclass(frozen=True)
class Shown:
    """A cell as text: value, interval, and the difference with its interval; "" where there is none."""

    value: str
    interval: str
    difference: str
    ends: str
    best: bool
    real: bool
    reference: bool
    title: str


@dataclass(frozen=True)
class Table2:
    """Files by encoders."""

    title: str
    encoders: list[str]
    rows: list[tuple[str, list[Shown]]]
    reference: str | None
    level: str


@dataclass(frozen=True)
class RunSection:
    """One run: its tables, the tests of the differences, and the pairs of every encoder drawn."""

    run: int | None
    headline: Table2
    others: list[Table2]
    tests: Table | None
    drawings: list[Drawing]
    most_drawn: int = MOST_DRAWN


def sts_section(runs: Sequence[Results]) -> list[RunSection]:
    """Return the sections of all runs that have textual similarity."""
    found = []
    for place, run in enumerate(runs, 1):
        measures = list(dict.fromkeys(e.measure for e in run.entries if e.task == "sts"))
        grids = [grid for name in measures if (grid := grid_of(run, name)) is not None]
        if not grids:
            continue
        grids.sort(key=lambda grid: grid.measure != HEADLINE)
        first = grids[0]
        found.append(
            RunSection(
                run=place if len(runs) > 1 else None,
                headline=_table(first),
                others=[_table(grid) for grid in grids[1:]],
                tests=_tests(first),
                drawings=drawings(run, first),
            )
        )
    return found


def _table(grid: Grid) -> Table2:
    rows = [
        (
            MEAN_NAME if row is MEAN else row,
            [_shown(grid.cells[row, name], name == grid.reference) for name in grid.encoders],
        )
        for row in grid.rows
    ]
    levels = sorted({cell.ci.level for cell in grid.cells.values() if cell.ci})
    level = " / ".join(numbers.percent(level) for level in levels)
    return Table2(f"{grid.measure}, file by file", grid.encoders, rows, grid.reference, level)


def _shown(cell: Cell, reference: bool) -> Shown:
    gap, ends, real, title = "", "", False, cell.note or ""
    if cell.against is not None:
        gap, _, ends = numbers.difference(cell.against.value, cell.against.ci).partition(" ")
        gap = f"+{gap}" if cell.against.value > 0 else gap
        real = cell.against.is_real
        if cell.against.p_holm is not None:
            title = f"p {p_text(cell.against.p)}, corrected {p_text(cell.against.p_holm)}"
    return Shown(
        numbers.number(cell.value), numbers.interval(cell.ci), gap, ends, cell.best, real, reference, title
    )


def _tests(grid: Grid) -> Table | None:
    """Return the difference of every encoder and file to the reference with its test."""
    rows = [
        [
            name,
            file,
            numbers.difference(one.value, one.ci),
            p_text(one.p),
            p_text(one.p_holm),
            one.test or one.note or numbers.MISSING,
        ]
        for file, name, one in grid.against
    ]
    if not rows:
        return None
    return Table(
        f"Differences to {grid.reference}",
        ["encoder", "file", "difference", "p", "p, Holm", "test"],
        rows,
        [f"{grid.measure} of the encoder less that of {grid.reference}, on the same pairs. n: as how many "
         "independent pairs they count, since pairs that share a sentence are not independent."],
        n_names=2,
        remarks=frozenset({"test"}),
        names_are_data=True,
    )  # fmt: skip
