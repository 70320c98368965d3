"""Tables for a terminal: the widest form that fits, in the program's style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from xlingual.report import numbers

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text


def fitting(
    console: Console, forms: Iterable[Table], *, instead: str = "--json", unsaid: Sequence[str] = ()
) -> Table:
    """Return the first table that fits the console unwrapped, the last one where none does.

    Its folded column takes the room that is left, and a dim line says which columns of the first form it
    lacks (but those `unsaid`, which the caller shows elsewhere) and that `instead` prints them.
    """
    table, whole, width = None, None, 0
    for table in forms:
        whole = _heads(table) if whole is None else whole
        width = _width(console, table)
        if width <= console.width:
            break
    if table is None or whole is None:
        raise ValueError("no table to choose from")
    _widen(table, console.width - width)
    lost = [head for head in whole if head and head not in _heads(table) and head not in unsaid]
    if lost:
        left_out = f"{numbers.in_words(lost)} {'is' if len(lost) == 1 else 'are'} left out for lack of room"
        table.caption = f"{left_out}: widen the window or use {instead}"
    return table


def _width(console: Console, table: Table) -> int:
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(width=10_000), table).maximum


def _heads(table: Table) -> list[str]:
    return [" ".join(str(column.header).split()) for column in table.columns]


def _widen(table: Table, room: int) -> None:
    """Give the room that is left to the first column whose long cells are folded."""
    for column in table.columns:
        if column.overflow == "fold" and column.max_width is not None and room > 0:
            column.max_width += room
            break


@cache
def of_lines() -> type[Text]:
    """Return the kind of text whose line ends the program made; the console shows those of other texts."""
    from rich.text import Text

    class Lines(Text):
        """Text of several lines."""

    return Lines


def plain_table(title: str | None = None, *, header: bool = True) -> Table:
    """Return an empty table in the program's style."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    return Table(
        title=None if title is None else Text(title),  # as it is: a name may hold [brackets]
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        caption_style="dim",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_header=header,
    )
