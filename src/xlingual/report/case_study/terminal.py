"""A case study in the terminal: the verdict first, then tables that fit the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.report.case_study import tables
from xlingual.report.case_study.sentences import verdict
from xlingual.report.grid import Table, drawn, forms, say
from xlingual.report.terminal import fitting
from xlingual.results.case_study import CaseStudy

if TYPE_CHECKING:
    from rich.console import Console

SPARED = ("sd of pairs", "highest pair", "lowest pair", "chosen", "in the figure", "outcome")


def show(console: Console, study: CaseStudy) -> None:
    """Print the verdict and the tables; no number is cut from 80 columns on."""
    console.print()
    for sentence in verdict(study):
        say(console, sentence)
    for table in (tables.methods(study), tables.questions(study), tables.worst(study)):
        if table is not None and table.rows:
            _print(console, table)


def _print(console: Console, table: Table) -> None:
    console.print()
    narrower = (drawn(form, width) for form, width in forms(table, SPARED))
    console.print(fitting(console, narrower, unsaid=("outcome",)))  # the verdict has it
    for note in table.notes:
        say(console, note)
