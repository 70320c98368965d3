"""What a person sees in the terminal: progress, warnings, verdict and tables."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.errors import DataWarning

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from xlingual.report import Row
    from xlingual.results import Results

_PATIENCE = 1.0  # seconds before a progress bar is shown
_PLAIN_WIDTH = 120  # columns where the output is not a terminal


def console() -> Console:
    """Return the console of standard output; plain and wide where it is not a terminal."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else _PLAIN_WIDTH)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show data warnings as one line each on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        shown: set[str] = set()
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:  # noqa: ANN401
            if not issubclass(category, DataWarning):
                usual(message, category, *rest, **more)
            elif str(message) not in shown:
                shown.add(str(message))
                click.echo(f"warning: {message}", err=True)

        warnings.showwarning = show
        yield


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Give a callback (what, done, of all) that draws a bar once the work takes over a second.

    Nothing is drawn where standard error is not a terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    begun = time.monotonic()
    line = bar.add_task("")
    started = False

    def report(what: str, done: int, total: int) -> None:
        nonlocal started
        if not started and time.monotonic() - begun > _PATIENCE:
            bar.start()
            started = True
        bar.update(line, description=what, completed=done, total=total)

    try:
        yield report
    finally:
        if started:
            bar.stop()


def show_results(results: Sequence[Results], *, as_json: bool, quiet: bool) -> None:
    """Print the verdict and a table for each measure, or the JSON of the results."""
    if as_json:
        from xlingual.results import to_json

        for result in results:
            click.echo(to_json(result.to_dict()), nl=False)
        return
    if quiet:
        return
    from rich.padding import Padding

    from xlingual.report import leaderboard, verdict
    from xlingual.report.tables import measures, tasks

    screen = console()
    screen.print()
    for sentence in verdict(results):
        screen.print(Padding(sentence, (0, 0, 0, 1)), markup=False)
    for task in tasks(results):
        for measure in measures(results, task):
            screen.print()
            screen.print(_table(f"{task} · {measure}", leaderboard(results, task, measure)))


def _table(title: str, rows: Sequence[Row]) -> Table:
    from rich.text import Text

    table = plain_table(title)
    table.add_column("", justify="right")
    table.add_column("encoder")
    for column in ("value", "95 % interval", "behind", "normalised", "ties"):
        table.add_column(column, justify="right")
    table.add_column("")
    for row in rows:
        style = "bold" if row.standing == "leader" else "dim" if row.at_chance else ""
        cells = (
            row.rank_text,
            row.label,
            row.value_text,
            row.interval_text,
            row.behind_text,
            row.normalized_text,
            row.tied_text,
            remark(row),
        )
        table.add_row(*(Text(cell, style=style) for cell in cells))
    return table


def remark(row: Row) -> str:
    """Return what is to be said of a row beside its numbers."""
    if row.note:
        return row.note
    if row.standing == "level":
        return "level with the leader"
    return "at chance" if row.at_chance else ""


def wrote(path: Path, *, quiet: bool) -> None:
    """Say that a file was written."""
    if not quiet:
        click.echo(f"wrote {path}", err=True)


def plain_table(title: str | None = None, *, header: bool = True) -> Table:
    """Return an empty table in the program's style."""
    from rich import box
    from rich.table import Table

    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_header=header,
    )
