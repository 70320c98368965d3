"""A study in the terminal: the verdict first, then tables that fit the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.report.grid import Table, drawn, forms, say
from xlingual.report.study import tables
from xlingual.report.study.marking import for_terminal
from xlingual.report.study.sentences import marked
from xlingual.report.terminal import fitting
from xlingual.results.study import StudyAnalysis

if TYPE_CHECKING:
    from rich.console import Console

SPARED = ("p", "p of scores", "win rate", "of all", "within a step", "repeats", "controls", "time of each")
LAST = ("remark", "outcome", "power", "same direction", "won–even–lost", "score difference")
SAID = ("outcome", "remark", "same direction", "power")  # the verdict has it


def show(console: Console, analysis: StudyAnalysis) -> None:
    """Print the verdict and the tables; no number is cut from 80 columns on.

    The analysis's warnings are left to the caller: the verdict has what they say of raters, looks and ends.
    """
    from rich.padding import Padding

    console.print()
    for sentence in marked(analysis):
        console.print(Padding(for_terminal(sentence), (0, 0, 0, 1)))
    found = [tables.systems(analysis), tables.pairs(analysis), tables.bkr(analysis)]
    found += [tables.raters(analysis), tables.looks(analysis), tables.needed(analysis)]
    for table in found:
        if table is not None and table.rows:
            _print(console, table)


def _print(console: Console, table: Table) -> None:
    console.print()
    narrower = (drawn(form, width) for form, width in forms(table, (*SPARED, *LAST)))
    console.print(fitting(console, narrower, unsaid=SAID))
    for note in table.notes:
        say(console, note)
