"""A page in a terminal: the verdict first, then its tables, each as wide as there is room."""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from xlingual.report import numbers
from xlingual.report.blocks import Heading, Page, Prose, Section, walk
from xlingual.report.marking import bare, in_quotes, parts, plain
from xlingual.report.table import Cell, Column, Table, TableRoom
from xlingual.visible import visible

_TONES = {"leader": "bold", "at-chance": "dim"}  # of rows
_CELL_TONES = {"best": "bold", "quiet": "dim"}
_LEAST_NAME = 8


class TextLines(Text):
    """Text of several lines, whose ends the program made; the console shows those of other texts."""


def show(console: Console, page: Page) -> None:
    """Print a page: no number is cut; columns without room are named, and that --json prints them."""
    for finding in page.verdict:
        console.print()
        for place, sentence in enumerate(finding.named):
            say(console, sentence, "" if place else "bold")
    for section in page.sections:
        show_section(console, section)


def show_section(console: Console, section: Section) -> None:
    """Print the blocks of a section that a terminal shows."""
    for block in walk(section.blocks, "terminal"):
        if isinstance(block, Table):
            show_table(console, block)
        elif isinstance(block, Prose) and (console.color_system or not block.bold):
            say(console, block.text, whole=block.whole)
        elif isinstance(block, Heading):  # at the edge, as the titles of tables are
            console.print()
            console.print(Text(plain(block.text), style="bold underline"))


def show_table(console: Console, table: Table) -> None:
    """Print a table in the widest look that fits, and its notes."""
    found = _fitting(console, table)
    if found is None and isinstance(table.instead, Table):
        show_table(console, table.instead)
        return
    if found is None and table.instead is not None:
        say(console, str(table.instead))
        return
    if found is None and table.splits and (parts := _split(console, table)):
        for part in parts:
            show_table(console, part)
        return
    drawn, look, least = found or (_drawn(table, table.looks[-1]), table.looks[-1], 0)
    _name_dropped(drawn, table, look)
    if table.title or table.headed:  # else its rows belong to the block above
        console.print()
    if len(table.title) > least and len(table.title) > _width(console, drawn):
        drawn.title = None  # it would be broken to the width of the table
        say(console, table.title, "bold")
    console.print(drawn)
    for note in table.notes:
        say(console, note)
    if meanings := table.meanings_in_text(look.dropped):
        say(console, meanings, "dim")


def _fitting(console: Console, table: Table) -> tuple[RichTable, TableRoom, int] | None:
    """Return the widest look of a table that fits the console, and its least width; None where none does."""
    for look in table.looks:
        drawn = _drawn(table, look)
        width = _width(console, drawn)
        room = console.width - width
        if room >= 0:  # what is left goes to the first column whose long cells are folded
            names = (one for one in drawn.columns if one.overflow == "fold" and one.max_width is not None)
            for column in [*names][:1]:
                column.max_width = (column.max_width or 0) + room
            return drawn, look, width
    return None


def _width(console: Console, drawn: RichTable) -> int:
    """Return how wide a table would be with all room there is."""
    return Measurement.get(console, console.options.update(width=10_000), drawn).maximum


def _split(console: Console, table: Table) -> list[Table]:
    """Return the fewest tables whose columns of numbers have room; nothing where one has none.

    They have about as many columns each: of five, three and two rather than four and one.
    """
    table = replace(table, looks=table.looks[-1:], splits=False, instead=None)
    n = sum(column.kind != "name" for column in table.columns)
    parts = _parts(console, table, n)
    for most in range(ceil(n / len(parts)), n) if parts else ():
        if len(even := _parts(console, table, most)) == len(parts):
            parts = even
            break
    return [replace(part, notes=()) for part in parts[:-1]] + parts[-1:]


def _parts(console: Console, table: Table, most: int) -> list[Table]:
    """Return tables of as many columns of numbers each as have room, at most so many."""
    names = [i for i, column in enumerate(table.columns) if column.kind == "name"]
    left = [i for i, column in enumerate(table.columns) if column.kind != "name"]
    found = []
    while left:
        parts = (table.of([*names, *left[:n]]) for n in range(min(most, len(left)), 0, -1))
        part = next((part for part in parts if _fitting(console, part)), None)
        if part is None:
            return []
        left = left[len(part.columns) - len(names) :]
        found.append(part)
    return found


def say(console: Console, sentence: str, style: str = "", *, whole: bool = False) -> None:
    """Print a sentence, one column in from the edge, with names that are marked in bold type.

    `whole`: in one line, however long.
    """
    shown = Text(" " if whole else "", style=style)
    for part, name in parts(sentence):
        shown.append(in_quotes(part) if name else bare(part), style="bold" if name else None)
    console.print(shown if whole else Padding(shown, (0, 0, 0, 1)), soft_wrap=whole)


def _drawn(table: Table, look: TableRoom) -> RichTable:
    made = RichTable(
        title=Text(table.title) if table.title else None,  # as it is: a name may hold [brackets]
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        caption_style="dim",
        box=box.SIMPLE_HEAD if table.headed else None,
        padding=(0, 1, 0, 0 if table.headed else 1),
        pad_edge=not table.headed,
        show_header=table.headed,
    )
    columns = []
    for i, column in table.shown(look.dropped):
        intervals = any(row.cells and row.cells[i].interval for row in table.rows)
        columns.append((i, column if intervals else replace(column, interval="")))
        _add_column(made, columns[-1][1], look)
    remarks = [row.remark(look.badges) for row in table.rows]
    if any(remarks):
        made.add_column("", no_wrap=True)
    headed = any(row.heading for row in table.rows)
    for place, (row, remark) in enumerate(zip(table.rows, remarks, strict=True)):
        if place and row.begins:
            made.add_section()
        elif place and table.tall:
            made.add_row()
        if row.heading:
            made.add_row(TextLines(folded(row.heading, look.names), style="dim"))
            continue
        style = next((_TONES[tone] for tone in row.tone.split() if tone in _TONES), "")
        cells = [
            cell for i, column in columns for cell in _cells(row.cells[i], column, look, style, table.tall)
        ]
        if headed:
            cells[0] = Text("  ").append_text(cells[0])
        made.add_row(*cells, *([Text(remark, style=style)] if any(remarks) else []))
    return made


def _add_column(made: RichTable, column: Column, look: TableRoom) -> None:
    head = TextLines(folded(visible(column.key), look.names if column.data else look.heads))
    if column.kind == "name" and column.data:
        made.add_column(head, overflow="fold", min_width=_LEAST_NAME, max_width=look.names)
    else:
        made.add_column(head, justify="left" if column.kind in ("name", "words") else "right", no_wrap=True)
    if column.interval and column.key not in look.bare:
        made.add_column(column.interval, justify="right", no_wrap=True)


def _cells(cell: Cell, column: Column, look: TableRoom, style: str, tall: bool) -> list[Text]:
    """Return the text of a cell, with the interval beside it, below it, or as a separate cell."""
    style = style or _CELL_TONES.get(cell.tone, "")
    if column.key in look.bare:
        cell = replace(cell, interval="", gap=cell.gap and replace(cell.gap, interval=""))
    elif column.interval:
        around = cell.interval or (numbers.MISSING if cell.text else "")
        return [Text(cell.marked, style=style), Text(around, style=style)]
    if cell.gap is None and not (look.stacked and cell.interval):
        return [Text(cell.plain, style=style)]
    text = TextLines(justify="right")
    text.append(_lines(cell, look), style=style)
    if cell.gap is not None:
        gap = f"\n{_lines(cell.gap, look)}" if tall else f" {visible(cell.gap.marked)}"
        text.append(gap, style=_CELL_TONES.get(cell.gap.tone, ""))
    return [text]


def _lines(cell: Cell, look: TableRoom) -> str:
    below = "\n" if look.stacked else " "
    return f"{visible(cell.marked)}{below if cell.interval else ''}{cell.interval}"


def _name_dropped(drawn: RichTable, table: Table, look: TableRoom) -> None:
    """Name below the table the columns that are left out for lack of room."""
    keys = [column.key for column in table.columns if column.where != "page"]
    dropped = [name for name in keys if name in look.dropped and name not in table.in_verdict]
    intervals = {
        column.key
        for i, column in table.shown()
        for row in table.rows
        if row.cells and (row.cells[i].interval or (row.cells[i].gap or Cell()).interval)
    }
    bare = [name for name in keys if name in look.bare and name in intervals and name not in dropped]
    if dropped or bare:
        verb = "is" if len(dropped) == 1 and not bare else "are"
        named = [f"“{name}”" for name in dropped]
        if bare:
            named.append(f"intervals of {numbers.in_words([f'“{name}”' for name in bare])}")
        left_out = f"{numbers.in_words(named)} {verb} left out for lack of room"
        drawn.caption = f"{left_out}: widen the window or use --json"


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
