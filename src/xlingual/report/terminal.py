"""Tables for a terminal: the widest form that fits, in the program's style."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def fitting(console: Console, forms: Iterable[Table]) -> Table:
    """Return the first table that fits the console unwrapped, the last one where none does."""
    from rich.measure import Measurement

    table = None
    for table in forms:
        if Measurement.get(console, console.options.update(width=10_000), table).maximum <= console.width:
            break
    if table is None:
        raise ValueError("no table to choose from")
    return table


def plain_table(title: str | None = None, *, header: bool = True) -> Table:
    """Return an empty table in the program's style."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    return Table(
        title=None if title is None else Text(title),  # as it is: a name may hold [brackets]
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_header=header,
    )
