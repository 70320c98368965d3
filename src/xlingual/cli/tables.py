"""Tables for a terminal: the widest form that fits, and none that cuts a number or a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xlingual.report.terminal import fitting, plain_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from xlingual.report import Row


@dataclass(frozen=True)
class Form:
    """How much a leaderboard says of each encoder."""

    long_remarks: bool = True
    behind_interval: bool = True
    dropped: tuple[str, ...] = ()
    remarks: bool = True
    name_width: int = 28  # longer names of encoders are folded


FORMS = (
    Form(),
    Form(long_remarks=False),
    Form(long_remarks=False, behind_interval=False),
    Form(long_remarks=False, behind_interval=False, name_width=16, dropped=("ties",)),
    Form(long_remarks=False, behind_interval=False, name_width=16, dropped=("ties", "normalised")),
    Form(behind_interval=False, name_width=16, dropped=("ties", "normalised"), remarks=False),
)


def leaderboard_table(title: str, rows: Sequence[Row], console: Console) -> Table:
    """Return the rows as a table, in the widest form that fits the console."""
    return fitting(console, (_leaderboard(title, rows, form) for form in FORMS))


def notes(rows: Sequence[Row]) -> list[str]:
    """Return what is to be said under a table, naming the encoders where it is not about all of them."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            found.setdefault(row.note, []).append(row.label)
    return [
        note if len(labels) == len(rows) else f"{', '.join(labels)}: {note}" for note, labels in found.items()
    ]


def _leaderboard(title: str, rows: Sequence[Row], form: Form) -> Table:
    from rich.text import Text

    from xlingual.report.numbers import MISSING, number

    def behind(row: Row) -> str:
        short = (
            MISSING if row.behind is None else number(row.behind.value, row.measure, error=row.behind.error)
        )
        return row.behind_text if form.behind_interval else short

    columns: dict[str, Callable[[Row], str]] = {
        "value": lambda row: row.value_text,
        "95 % interval": lambda row: row.interval_text or MISSING,
        "behind": behind,
        "normalised": lambda row: row.normalized_text,
        "ties": lambda row: row.tied_text,
    }
    shown = {name: [cell(row) for row in rows] for name, cell in columns.items() if name not in form.dropped}
    shown = {name: cells for name, cells in shown.items() if name == "value" or set(cells) != {MISSING}}
    remarks = [_remark(row, long=form.long_remarks) if form.remarks else "" for row in rows]
    table = plain_table(title)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("encoder", overflow="fold", min_width=12, max_width=form.name_width)
    for name in shown:
        table.add_column(name, justify="right", no_wrap=True)
    if any(remarks):
        table.add_column("", no_wrap=True)
    for i, row in enumerate(rows):
        style = "bold" if row.standing == "leader" else "dim" if row.at_chance else ""
        cells = [row.rank_text, row.label, *(column[i] for column in shown.values())]
        cells += [remarks[i]] if any(remarks) else []
        table.add_row(*(Text(cell, style=style) for cell in cells))
    return table


def _remark(row: Row, *, long: bool) -> str:
    """Return what is to be said of a row beside its numbers."""
    if row.value is None:
        return "no value"
    level = ["level with the leader" if long else "level"] if row.standing == "level" else []
    chance = ["at chance"] if row.at_chance else []
    return ", ".join([*level, *chance] if long else (chance or level))
