"""What a person sees in the terminal: progress, warnings, verdict and tables."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.errors import DataWarning

if TYPE_CHECKING:
    from rich.console import Console

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
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    line = bar.add_task("", visible=False)
    current = ""

    def report(what: str, done: int, total: int) -> None:
        nonlocal current
        if what != current:  # the speed of one piece of work says nothing about the next
            bar.reset(line, description=what, visible=True)
            current = what
        unknown = total == 1 and done == 0
        bar.update(line, completed=done, total=None if unknown else total)

    # A timer, since a long piece of work may report only its beginning and its end.
    timer = threading.Timer(_PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield report
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def show_results(results: Sequence[Results], *, as_json: bool, quiet: bool) -> None:
    """Print the verdict and a table for each measure, or the JSON of the results."""
    if as_json:
        for result in results:
            print_json(result.to_dict())
        return
    if quiet:
        return
    from rich.padding import Padding

    from xlingual.cli.tables import leaderboard_table, notes
    from xlingual.report import leaderboard, verdict
    from xlingual.report.tables import measures, tasks

    screen = console()
    screen.print()
    for sentence in verdict(results):
        screen.print(Padding(sentence, (0, 0, 0, 1)), markup=False)
    for task in tasks(results):
        for measure in measures(results, task):
            rows = leaderboard(results, task, measure)
            screen.print()
            screen.print(leaderboard_table(f"{task} · {measure}", rows, screen))
            for note in notes(rows):
                screen.print(Padding(note, (0, 0, 0, 1)), markup=False)


def print_json(content: Mapping[str, Any]) -> None:
    """Print JSON as UTF-8, whatever the encoding of the terminal."""
    from xlingual.results import to_json

    click.echo(to_json(content).encode(), nl=False)


def wrote(path: Path, *, quiet: bool) -> None:
    """Say that a file was written."""
    if not quiet:
        click.echo(f"wrote {path}", err=True)
