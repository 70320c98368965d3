"""A page in a terminal: the verdict first, then its tables, each as wide as there is room."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from xlingual.report import numbers
from xlingual.report.blocks import (
    Cell,
    Column,
    Finding,
    Heading,
    Look,
    Page,
    Prose,
    Row,
    Section,
    Table,
    meanings,
    walk,
)
from xlingual.report.marking import bare, in_quotes, parts, plain
from xlingual.visible import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

_TONES = {"leader": "bold", "at-chance": "dim"}  # of rows
_CELL_TONES = {"best": "bold", "quiet": "dim"}
_LEAST_NAME = 8
_HEAD = 16  # columns of a head, which is broken between words


def show(console: Console, page: Page, *, instead: str = "--json") -> None:
    """Print a page: no number is cut; columns without room are named, and that `instead` prints them."""
    findings(console, page.verdict)
    for section in page.sections:
        show_section(console, section, instead=instead)


def findings(console: Console, found: Iterable[Finding]) -> None:
    """Print the verdict."""
    for finding in found:
        console.print()
        for place, sentence in enumerate(finding.sentences):
            begin = f"{finding.name}: " if finding.name and place == 0 else ""
            say(console, begin + sentence, "bold" if place == 0 else "")


def show_section(console: Console, section: Section, *, instead: str = "--json") -> None:
    """Print the blocks of a section that a terminal shows."""
    for block in walk(section.blocks, "terminal"):
        if isinstance(block, Table):
            show_table(console, block, instead=instead)
        elif isinstance(block, Prose):
            say(console, block.text, whole=block.whole)
        elif isinstance(block, Heading):
            console.print()
            console.print(_heading(block.text))


def _heading(text: str) -> Text:
    """Return a heading, which begins at the edge as the titles of tables do."""
    from rich.text import Text

    return Text(plain(text), style="bold underline")


def show_table(console: Console, table: Table, *, instead: str = "--json") -> None:
    """Print a table in the widest look that fits, and its notes."""
    from rich.measure import Measurement

    drawn, look = fitting(console, table)
    if drawn is None:
        if isinstance(table.instead, Table):
            show_table(console, table.instead, instead=instead)
            return
        if table.instead is not None:
            say(console, table.instead)
            return
        if table.splits and (parts := _split(console, table)):
            for part in parts:
                show_table(console, part, instead=instead)
            return
        drawn, look = _drawn(table, table.looks[-1]), table.looks[-1]
    _say_lost(drawn, table, look, instead)
    if table.title or table.headed:  # else names and values that belong to what stands above
        console.print()
    if len(table.title) > Measurement.get(console, console.options.update(width=10_000), drawn).maximum:
        drawn.title = None  # it would be broken to the width of the table
        say(console, table.title, "bold")
    console.print(drawn)
    for note in table.notes:
        say(console, note)
    if said := meanings({column.key: column.meaning for _, column in shown_columns(table, look)}):
        say(console, said, "dim")


def fitting(console: Console, table: Table) -> tuple[RichTable | None, Look]:
    """Return the widest look of a table that fits the console; None where none does."""
    from rich.measure import Measurement

    wide = console.options.update(width=10_000)
    for look in table.looks:
        drawn = _drawn(table, look)
        width = Measurement.get(console, wide, drawn).maximum
        if width <= console.width:
            _widen(drawn, console.width - width)
            return drawn, look
    return None, table.looks[-1]


def _split(console: Console, table: Table) -> list[Table]:
    """Return tables of as many columns of numbers each as have room; nothing where one has none."""
    names = [i for i, column in enumerate(table.columns) if column.kind == "name"]
    left = [i for i, column in enumerate(table.columns) if column.kind != "name"]
    table, found = replace(table, looks=table.looks[-1:], splits=False, instead=None), []
    while left:
        n = next(
            (n for n in range(len(left), 0, -1) if fitting(console, _of(table, [*names, *left[:n]]))[0]), 0
        )
        if not n:
            return []
        part = _of(table, [*names, *left[:n]])
        found.append(part if len(left) == n else replace(part, notes=()))
        left = left[n:]
    return found


def _of(table: Table, places: list[int]) -> Table:
    rows = tuple(
        replace(row, cells=tuple(row.cells[i] for i in places) if row.cells else ()) for row in table.rows
    )
    return replace(table, columns=tuple(table.columns[i] for i in places), rows=rows)


def say(console: Console, sentence: str, style: str = "", *, whole: bool = False) -> None:
    """Print a sentence, one column in from the edge, with names that are marked in bold type.

    `whole`: in one line, however long.
    """
    from rich.padding import Padding
    from rich.text import Text

    shown = Text(" " if whole else "", style=style)
    for part, name in parts(sentence):
        shown.append(in_quotes(part) if name else bare(part), style="bold" if name else None)
    console.print(shown if whole else Padding(shown, (0, 0, 0, 1)), soft_wrap=whole)


def plain_table(title: str | None = None, *, header: bool = True) -> RichTable:
    """Return an empty table in the program's style."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    return RichTable(
        title=None if title is None else Text(title),  # as it is: a name may hold [brackets]
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        caption_style="dim",
        box=box.SIMPLE_HEAD if header else None,
        padding=(0, 1, 0, 0 if header else 1),
        pad_edge=not header,
        show_header=header,
    )


@cache
def of_lines() -> type[Text]:
    """Return the kind of text whose line ends the program made; the console shows those of other texts."""
    from rich.text import Text

    class Lines(Text):
        """Text of several lines."""

    return Lines


def shown_columns(table: Table, look: Look = Look()) -> list[tuple[int, Column]]:  # noqa: B008  (frozen)
    """Return the columns that a terminal and texts show, with their places."""
    return [
        (i, column)
        for i, column in enumerate(table.columns)
        if column.kind != "chart" and column.where != "page" and column.key not in look.dropped
    ]


def remark(row: Row, look: Look = Look()) -> str:  # noqa: B008  (frozen)
    """Return what the badges of a row say."""
    found = [badge for cell in row.cells for badge in cell.badges if badge.where != "page"]
    if row.note:
        return "no value"
    if look.badges == "long":
        return ", ".join(badge.long or badge.text for badge in found)
    return found[-1].text if found and look.badges == "short" else ""


def _drawn(table: Table, look: Look) -> RichTable:
    from rich.text import Text

    columns = [
        (
            i,
            column
            if any(row.cells and row.cells[i].interval for row in table.rows)
            else replace(column, interval=""),
        )
        for i, column in shown_columns(table, look)
    ]
    made = plain_table(table.title or None, header=table.headed)
    for _, column in columns:
        _add_column(made, column, look)
    rows, remarks = table.rows, [remark(row, look) for row in table.rows]
    if any(remarks):
        made.add_column("", no_wrap=True)
    tall, headed = table.tall, any(row.heading for row in rows)
    for place, (row, said) in enumerate(zip(rows, remarks, strict=True)):
        if place and row.begins:
            made.add_section()
        elif place and tall:
            made.add_row()
        if row.heading:
            made.add_row(Text(row.heading, style="dim"))
            continue
        style = next((_TONES[tone] for tone in row.tone.split() if tone in _TONES), "")
        cells: list[Text] = []
        for i, column in columns:
            cells += _cells(row.cells[i], column, look, style, tall)
        if headed:
            cells[0] = Text("  ").append_text(cells[0])
        made.add_row(*cells, *([Text(said, style=style)] if any(remarks) else []))
    return made


def _add_column(made: RichTable, column: Column, look: Look) -> None:
    head = of_lines()(folded(visible(column.key), look.names if column.data else _HEAD))
    if column.kind == "name" and column.data:
        made.add_column(head, overflow="fold", min_width=_LEAST_NAME, max_width=look.names)
    elif column.kind in ("name", "words"):
        made.add_column(head, justify="left", no_wrap=True)
    else:
        made.add_column(head, justify="right", no_wrap=True)
    if column.interval and column.key not in look.bare:
        made.add_column(column.interval, justify="right", no_wrap=True)


def _cells(cell: Cell, column: Column, look: Look, style: str, tall: bool) -> list[Text]:
    """Return what a cell says: its text, with the interval beside it, below it, or in a column of its own."""
    from rich.text import Text

    style = style or _CELL_TONES.get(cell.tone, "")
    with_interval = column.key not in look.bare
    if column.interval and with_interval:
        return [
            Text(cell.marked, style=style),
            Text(cell.interval or (numbers.MISSING if cell.text else ""), style=style),
        ]
    if cell.gap is None and not (look.stacked and cell.interval and with_interval):
        return [Text(cell.plain if with_interval else cell.marked, style=style)]
    text = of_lines()(justify="right")
    text.append(_lines(cell, look, with_interval), style=style)
    if cell.gap is not None and not tall:
        text.append(f" {visible(cell.gap.marked)}", style=_CELL_TONES.get(cell.gap.tone, ""))
    elif cell.gap is not None:
        text.append("\n" + _lines(cell.gap, look, with_interval), style=_CELL_TONES.get(cell.gap.tone, ""))
    return [text]


def _lines(cell: Cell, look: Look, with_interval: bool) -> str:
    if not with_interval or not cell.interval:
        return visible(cell.marked)
    return f"{visible(cell.marked)}{chr(10) if look.stacked else ' '}{cell.interval}"


def _say_lost(drawn: RichTable, table: Table, look: Look, instead: str) -> None:
    """Say below the table which columns it lacks for want of room."""
    keys = [column.key for column in table.columns if column.where != "page"]
    lost = [name for name in keys if name in look.dropped and name not in table.unsaid]
    lost += [f"intervals of {name}" for name in keys if name in look.bare and name not in lost]
    if lost:
        verb = "is" if len(lost) == 1 and lost[0] in keys else "are"
        left_out = f"{numbers.in_words(lost)} {verb} left out for lack of room"
        drawn.caption = f"{left_out}: widen the window or use {instead}"


def _widen(table: RichTable, room: int) -> None:
    """Give the room that is left to the first column whose long cells are folded."""
    for column in table.columns:
        if column.overflow == "fold" and column.max_width is not None and room > 0:
            column.max_width += room
            break


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
