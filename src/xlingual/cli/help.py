"""`xlingual help`: the tasks with what each takes and refuses, or the help of a command."""

from __future__ import annotations

from collections.abc import Sequence

import click

from xlingual.cli import screen
from xlingual.tasks import FEATURES, TASKS

NOTES = (
    "A dash is refused, in one line that says what to use. validate takes what distance-correlation takes.",
    "Several texts of an item all take part; --texts-per-item N draws N of them.",
    "Missing and broken images are an error that names the first and counts the rest; --skip-broken leaves "
    "out their texts, and counts them.",
)


@click.command(
    context_settings={"ignore_unknown_options": True}, short_help="Show what each task takes: help tasks."
)
@click.argument("words", nargs=-1, metavar="tasks|COMMAND…")
def help(words: Sequence[str]) -> None:
    """Show the tasks and what each takes (help tasks), or the help of a command (help evaluate bkr)."""
    if tuple(words) == ("tasks",):
        lines = [*aligned(names()), "", *aligned(features()), "", *NOTES]
        screen.say("\n".join(lines))
        return
    from xlingual.cli.main import xlingual

    xlingual.main(args=[*words, "--help"], prog_name="xlingual", standalone_mode=False)


def names() -> list[tuple[str, ...]]:
    """Return the names of each task, and its headline measures."""
    rows = [(task.name, ", ".join(task.short), ", ".join(task.measures)) for task in TASKS.values()]
    return [("task", "short", "measures"), *rows]


def features() -> list[tuple[str, ...]]:
    """Return what each task takes, in a column of its own: ✓, how, or a dash."""
    tasks = TASKS.values()
    cells = {"yes": "✓"}
    rows = [
        (
            one.name if one.option is None else f"{one.name} ({one.option})",
            *(cells.get(how := task.how(one.name), how) for task in tasks),
        )
        for one in FEATURES
    ]
    return [("takes", *((task.name, *task.short)[-1] for task in tasks)), *rows]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines with their columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
