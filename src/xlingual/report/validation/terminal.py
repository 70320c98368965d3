"""A validation in the terminal: the verdict first, then tables that fit the console."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xlingual.report.terminal import fitting, plain_table
from xlingual.report.validation import tables, wording
from xlingual.report.validation.sentences import findings
from xlingual.report.validation.tables import Table
from xlingual.results.validation import Validation

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

NAME_WIDTHS = (28, 16)  # longer names are folded
SPARED = ("family", "BkR normalised")  # columns that go first where there is no room


def show(console: Console, validation: Validation) -> None:
    """Print the verdict and all tables; no number is cut from 80 columns on."""
    from rich.text import Text

    for found in findings(validation):
        console.print()
        lead = "" if found.pair is None else f"{found.pair}: "
        for sentence in found.sentences:
            _words(console, lead + sentence)
            lead = ""
    for pair in validation.pairs:
        console.print()
        console.print(Text(wording.pair_name(pair), style="bold underline"))
        for line in wording.sizes(pair):
            _words(console, line)
        for table in tables.all_of(validation, pair):
            _print(console, table)
    if validation.directions:
        _print(console, tables.directions(validation))


def _print(console: Console, table: Table) -> None:
    console.print()
    forms = (_drawn(form, name_width) for form, name_width in _forms(table))
    chosen = fitting(console, forms, unsaid=("test",))
    console.print(chosen)
    if len(chosen.columns) < len(table.head) and "test" in table.head:
        for line in tables.tests(table):
            _words(console, line)
    for note in table.notes:
        _words(console, note)


def _forms(table: Table) -> Iterator[tuple[Table, int]]:
    """Give the table in ever narrower forms: at last every interval stands below its value."""
    wide, narrow = NAME_WIDTHS
    yield table, wide
    yield table.stacked(" ["), wide
    lean = table.without("test")
    yield lean, wide
    for dropped in SPARED:
        lean = lean.without(dropped)
        yield lean, wide
        yield lean, narrow
    yield lean.stacked(" ["), narrow
    yield lean.stacked(" [").stacked(" ±"), narrow


def _drawn(table: Table, name_width: int) -> RichTable:
    from rich.text import Text

    drawn = plain_table(table.title)
    for i, name in enumerate(table.head):
        if i == 0 and table.names_are_data:
            drawn.add_column(Text(name), overflow="fold", min_width=8, max_width=name_width)
        else:
            words = i < table.n_names or name in table.remarks
            drawn.add_column(Text(name), justify="left" if words else "right", no_wrap=True)
    for row in table.rows:
        drawn.add_row(*(Text(cell) for cell in row))
    return drawn


def _words(console: Console, sentence: str) -> None:
    from rich.padding import Padding

    console.print(Padding(sentence, (0, 0, 0, 1)), markup=False)
