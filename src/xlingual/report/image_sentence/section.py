"""Everything the page shows about image–sentence ranking, ready for the templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlingual.report import numbers
from xlingual.report.grid import Table
from xlingual.report.image_sentence.reading import (
    TASK,
    Cell,
    LanguageTable,
    language_tables,
    measure_head,
)
from xlingual.results import Results

BOTH = "Both ways"


@dataclass(frozen=True)
class RankingRun:
    """The tables of one run; `number` is None where there is one run only."""

    number: int | None
    tables: list[LanguageTable]
    full: list[Table]


def ranking_runs(runs: Sequence[Results]) -> list[RankingRun]:
    """Return the tables of each run that has the task."""
    found = [(i, run) for i, run in enumerate(runs, 1) if any(e.task == TASK for e in run.entries)]
    return [
        RankingRun(number if len(found) > 1 else None, tables, [full_table(one) for one in tables])
        for number, run in found
        for tables in [language_tables(run)]
    ]


def facts(runs: Sequence[Results]) -> list[tuple[str, str]]:
    """Return the sizes of the data."""
    tables = [table for run in runs for table in language_tables(run)]
    return [
        ("pictures", numbers.span([table.n_pictures for table in tables])),
        ("sentences per language", numbers.span([table.n_texts for table in tables])),
    ]


def full_table(table: LanguageTable) -> Table:
    """Return every number of a language with its interval, chance and the difference's interval."""
    head = [
        "system",
        "direction",
        "measure",
        "value",
        "95 % interval",
        "chance",
        "difference",
        "its interval",
    ]
    head.append("tied")
    lines = [(title, line) for title, block in table.blocks for line in block]
    lines += [(BOTH, table.total)] if table.total is not None else []
    rows = [
        [name, title, measure_head(line.measure), *_cells(line.cells[i])]
        for i, name in enumerate(table.systems)
        for title, line in lines
        if line.cells[i] is not None
    ]
    full = Table(f"All numbers for {table.language}", head, rows, n_names=3, names_are_data=True)
    empty = [name for place, name in enumerate(head) if place > 2 and all(not row[place] for row in rows)]
    return full.without(*empty)


def _cells(cell: Cell | None) -> list[str]:
    if cell is None:
        return [""] * 6
    gap = cell.difference
    return [
        cell.text,
        cell.interval,
        cell.chance,
        "" if gap is None else f"{gap.text}{'*' if gap.real else ''}",
        "" if gap is None else gap.interval,
        "" if not cell.tied else numbers.count(cell.tied),
    ]
