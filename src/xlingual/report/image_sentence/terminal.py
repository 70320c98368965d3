"""Image–sentence ranking in the terminal: for each language the systems side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xlingual.report import numbers, tables
from xlingual.report.image_sentence.reading import (
    Cell,
    LanguageTable,
    Line,
    is_recall,
    language_tables,
)
from xlingual.report.terminal import of_lines, plain_table
from xlingual.results import Results
from xlingual.visible import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NAME_WIDTHS = (24, 14)
_NO_ROOM = "Intervals are left out for lack of room: widen the window or use --json."


def show(console: Console, results: Results | Sequence[Results]) -> None:
    """Print a table for each language; systems without room follow in a further one."""
    runs = tables.as_runs(results)
    for place, run in enumerate(runs, 1):
        for table in language_tables(run):
            which = f"{table.language}{f', run {place}' if len(runs) > 1 else ''}"
            sizes = f"{numbers.count(table.n_pictures)} pictures, {numbers.count(table.n_texts)} sentences"
            console.print()
            _say(console, f"{which} · {sizes}", "bold")
            parts = list(_parts(console, table))
            for part in parts:
                console.print(_drawn(table, *part))
            _say(console, _legend(table))
            drawn = all(with_intervals for _, with_intervals, _ in parts)
            there = (c for _, lines in table.blocks for line in lines for c in line.cells if c is not None)
            if not drawn and any(cell.interval for cell in there):
                _say(console, _NO_ROOM)


def _legend(table: LanguageTable) -> str:
    """Return what the cells hold."""
    told = []
    if any(is_recall(line.measure) for _, lines in table.blocks for line in lines):
        told.append("R@k in per cent: any of the captions counts (Success@k in the results).")
    if len(table.systems) > 1:
        told.append("Bold is best.")
    if table.baseline is not None:
        told.append(f"In brackets the difference to {table.baseline}; *\u00a0its interval excludes zero.")
    return " ".join(told)


def _parts(console: Console, table: LanguageTable) -> Iterator[tuple[list[int], bool, int]]:
    """Yield which systems a table shows, whether with intervals, and how wide names may be.

    All in one table where they fit, with intervals if these fit too; else as many at a time as have room.
    """
    own = list(range(len(table.systems)))
    for with_intervals in (True, False):
        for width in NAME_WIDTHS:
            if _fits(console, _drawn(table, own, with_intervals, width)):
                yield own, with_intervals, width
                return
    width = NAME_WIDTHS[-1]
    while own:
        count = len(own)
        while count > 1 and not _fits(console, _drawn(table, own[:count], False, width)):
            count -= 1
        yield own[:count], False, width
        own = own[count:]


def _cells_of(table: LanguageTable, system: int) -> list[Cell | None]:
    return [line.cells[system] for _, lines in table.blocks for line in lines]


def _fits(console: Console, table: Table) -> bool:
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(width=10_000), table).maximum <= console.width


def _drawn(table: LanguageTable, systems: Sequence[int], with_intervals: bool, width: int) -> Table:
    from rich.text import Text

    drawn = plain_table()
    drawn.add_column("", no_wrap=True)
    for i in systems:
        name = visible(table.systems[i])
        room = max(width, _widest(table, i, with_intervals))
        mark = "\n(baseline)" if table.systems[i] == table.baseline else ""
        drawn.add_column(
            of_lines()(f"{folded(name, room)}{mark}"), justify="right", overflow="fold", max_width=room
        )
    for title_of_block, lines in table.blocks:
        drawn.add_row(Text(title_of_block, style="dim"), *([""] * len(systems)))
        for line in lines:
            _add(drawn, line, systems, with_intervals)
    if table.total is not None:
        drawn.add_row(Text("Both ways", style="dim"), *([""] * len(systems)))
        _add(drawn, table.total, systems, with_intervals)
    return drawn


def _widest(table: LanguageTable, system: int, with_intervals: bool) -> int:
    cells = [*_cells_of(table, system), table.total.cells[system] if table.total else None]
    return max(len(_text(cell, with_intervals)) for cell in cells)


def _add(drawn: Table, line: Line, systems: Sequence[int], with_intervals: bool) -> None:
    from rich.text import Text

    cells = [
        Text(_text(cell, with_intervals), style="bold" if cell is not None and cell.best else "")
        for cell in (line.cells[i] for i in systems)
    ]
    drawn.add_row(Text(f"  {line.head}"), *cells)


def _text(cell: Cell | None, with_intervals: bool) -> str:
    """Return a cell as text: "38.2 [36.1, 40.3] (+3.1)*"; a blank stands for the star that is not there."""
    if cell is None:
        return numbers.MISSING
    text = f"{cell.text} {cell.interval}".strip() if with_intervals else cell.text
    gap = cell.difference
    return text if gap is None else f"{text} ({gap.text}){'*' if gap.real else ' '}"


def folded(name: str, width: int) -> str:
    r"""Return a name in lines of at most `width` characters, broken after a sign where there is one.

    >>> folded("mlmme-beta-0.75", 12)
    'mlmme-beta-\n0.75'
    """
    lines = [""]
    for piece in re.findall(r"[^-_ /]*[-_ /]|[^-_ /]+$", name):
        if lines[-1] and len(lines[-1]) + len(piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def _say(console: Console, text: str, style: str = "dim") -> None:
    """Print a line, where there is something to say."""
    from rich.padding import Padding
    from rich.text import Text

    if text:
        console.print(Padding(Text(text, style=style), (0, 0, 0, 1)))
