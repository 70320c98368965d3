"""A validation in the terminal: the verdict first, then tables that fit the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.report.grid import Table, drawn, forms, say
from xlingual.report.terminal import fitting
from xlingual.report.validation import tables, wording
from xlingual.report.validation.sentences import findings
from xlingual.results.validation import Validation

if TYPE_CHECKING:
    from rich.console import Console

SPARED = ("family", "BkR normalised")  # columns that go first where there is no room


def show(console: Console, validation: Validation) -> None:
    """Print the verdict and all tables; no number is cut from 80 columns on."""
    from rich.text import Text

    for found in findings(validation):
        console.print()
        lead = "" if found.pair is None else f"{found.pair}: "
        for sentence in found.sentences:
            say(console, lead + sentence)
            lead = ""
    for pair in validation.pairs:
        console.print()
        console.print(Text(wording.pair_name(pair), style="bold underline"))
        for line in wording.sizes(pair):
            say(console, line)
        for table in tables.all_of(validation, pair):
            _print(console, table)
    if validation.directions:
        _print(console, tables.directions(validation))


def _print(console: Console, table: Table) -> None:
    console.print()
    narrower = (drawn(form, name_width) for form, name_width in forms(table, SPARED))
    chosen = fitting(console, narrower, unsaid=("test",))
    console.print(chosen)
    if len(chosen.columns) < len(table.head) and "test" in table.head:
        for line in tables.tests(table):
            say(console, line)
    for note in table.notes:
        say(console, note)
