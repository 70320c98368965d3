"""A table as text, for the terminal and the page alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from xlingual.report.terminal import plain_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

NAME_WIDTHS = (28, 16)  # longer names are folded


@dataclass(frozen=True)
class Table:
    """Rows of text; the first `n_names` columns name the row, the others hold numbers or remarks."""

    title: str
    head: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)
    n_names: int = 1
    remarks: frozenset[str] = frozenset()  # columns of words
    names_are_data: bool = False  # the first column holds encoders' names

    def without(self, *dropped: str) -> Table:
        """Return the table without some columns."""
        kept = [i for i, name in enumerate(self.head) if name not in dropped]
        return replace(
            self,
            head=[self.head[i] for i in kept],
            rows=[[row[i] for i in kept] for row in self.rows],
            n_names=sum(i < self.n_names for i in kept),
        )

    def stacked(self, before: str) -> Table:
        """Return the table with what begins with `before` in a cell on a line of its own."""
        rows = [
            [cell.replace(before, "\n" + before.strip(), 1) if i >= self.n_names else cell
             for i, cell in enumerate(row)]
            for row in self.rows
        ]  # fmt: skip
        return replace(self, rows=rows)


def forms(table: Table, spared: Sequence[str] = ()) -> Iterator[tuple[Table, int]]:
    """Give the table in ever narrower forms: at last every interval stands below its value.

    Columns in `spared` go first where there is no room.
    """
    wide, narrow = NAME_WIDTHS
    yield table, wide
    yield table.stacked(" ["), wide
    lean = table.without("test")
    yield lean, wide
    for dropped in spared:
        lean = lean.without(dropped)
        yield lean, wide
        yield lean, narrow
    yield lean.stacked(" ["), narrow
    yield lean.stacked(" [").stacked(" ±"), narrow


def drawn(table: Table, name_width: int) -> RichTable:
    """Return the table for a terminal; longer names of data are folded."""
    from rich.text import Text

    made = plain_table(table.title)
    for i, name in enumerate(table.head):
        if i == 0 and table.names_are_data:
            made.add_column(Text(name), overflow="fold", min_width=8, max_width=name_width)
        else:
            words = i < table.n_names or name in table.remarks
            made.add_column(Text(name), justify="left" if words else "right", no_wrap=True)
    for row in table.rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def say(console: Console, sentence: str) -> None:
    """Print a sentence, one column in from the edge."""
    from rich.padding import Padding

    console.print(Padding(sentence, (0, 0, 0, 1)), markup=False)
