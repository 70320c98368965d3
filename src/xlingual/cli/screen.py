"""What a person sees in the terminal: progress, warnings, verdict and tables."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import interruption
from xlingual.cli.wording import in_options
from xlingual.errors import DataWarning
from xlingual.requests.shared import Output
from xlingual.visible import visible, visible_line, without_commands

if TYPE_CHECKING:
    from xlingual.report.blocks import Page

_PATIENCE = 1.0  # seconds before a progress bar is shown
_LARGE = 100 << 20  # bytes of TREC runs from which their size is said
_STEP: ContextVar[str] = ContextVar("step", default="")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show data warnings as one line each on standard error, when the work has ended or failed.

    Within, a progress bar may be alive: lines printed beside it are wrapped, and leave a dead bar behind.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        lines: dict[str, None] = {}  # each once, in order
        others: list[Callable[[], None]] = []
        usual = warnings.showwarning

        def keep(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:  # noqa: ANN401
            if issubclass(category, DataWarning):
                lines[f"warning: {visible_line(in_options(str(message)))}"] = None
            else:
                others.append(partial(usual, message, category, *rest, **more))

        warnings.showwarning = keep
        try:
            yield
        finally:
            for show in others:
                show()
            for line in lines:
                click.echo(line, err=True)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Show the progress of a quiet command within, under the name of a step."""
    token = _STEP.set(name)
    try:
        yield
    finally:
        _STEP.reset(token)


def note(sentence: str) -> None:
    """Show a sentence about the work on standard error; standard output holds results only."""
    click.echo(click.style(visible_line(sentence), dim=True), err=True)


def say(text: str = "", *, err: bool = False) -> None:
    """Print lines of text on standard output or error, with control characters visible."""
    click.echo(without_commands(visible(text, keep="\n")), err=err)


def _sentences(what: str, done: int, total: int) -> None:
    interruption.repeat()
    if total < 0:
        say(what, err=True)


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Give a callback (what, done, total) that draws a bar once the work takes over a second.

    What follows " · " in `what` (the loss, say) may change from call to call: the bar goes on.
    The bar pulses, with the time elapsed beside it, until the first part of the work is done: some work
    reports only its beginning and its end. Nothing is drawn where standard error is not a terminal.
    A total below 0 says that `what` is a sentence: it becomes a line of standard error, terminal or not.
    """
    of = _STEP.get()
    if quiet and not of:
        yield lambda what, done, total: interruption.repeat()
        return
    if not sys.stderr.isatty():
        yield _sentences
        return
    from xlingual.cli.console import Plain, progress_bar

    bar = progress_bar(Plain(stderr=True))
    line, current = None, ""

    def report(what: str, done: int, total: int) -> None:
        nonlocal line, current
        interruption.repeat()
        if total < 0:  # through the bar's console, which draws the bar anew below the sentence
            bar.console.print(what, markup=False, highlight=False, soft_wrap=True)
            return
        what = f"{of}: {what}" if of else what
        work = what.partition(" · ")[0]
        if line is None or work != current:  # the speed of one piece of work says nothing about the next
            if line is not None:
                bar.remove_task(line)
            line, current = bar.add_task(what, total=None), work
        if done > 0:
            bar.update(line, completed=done, total=total, description=what)

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


def silent(request: Any) -> bool:  # noqa: ANN401  (a request with output options)
    """Whether only the output that was asked for is to be printed."""
    return getattr(request, "quiet", False) or as_json(request)


def as_json(request: Any) -> bool:  # noqa: ANN401  (as above)
    """Whether the request is for JSON."""
    return bool(request.as_json or request.form == "json")


def show(found: Any, request: Any = Output()) -> None:  # noqa: ANN401, B008
    """Print a record of results in the form of the request; JSON also where it is quiet."""
    if as_json(request):
        print_json(found.to_dict())
    elif not silent(request):
        from xlingual.report import page_of

        print_page(page_of(found), request.form)


def show_page(page: Page, content: Mapping[str, Any], request: Any) -> None:  # noqa: ANN401
    """Print a page in the form of the request; as JSON its content, also where it is quiet."""
    if as_json(request):
        print_json(content)
    elif not silent(request):
        print_page(page, request.form)


def print_page(page: Page, form: str) -> None:
    """Print a page as a table, Markdown, LaTeX or CSV."""
    from xlingual.report.render import terminal, text

    if form == "table":
        from xlingual.cli.console import output

        terminal.show(output(), page)
    else:
        click.echo(text.as_text(page, form).encode(errors="backslashreplace"), nl=False)


def print_json(content: Mapping[str, Any]) -> None:
    """Print JSON as UTF-8, whatever the encoding of the terminal."""
    from xlingual.results import to_json

    click.echo(to_json(content).encode(errors="backslashreplace"), nl=False)  # half a pair stays "\\ud800"


def wrote(path: Path, *, quiet: bool, replaced: str = "") -> None:
    """Say that a file or folder was written, and what it replaced."""
    if not quiet:
        say(f"wrote {path}{f', replacing {replaced}' if replaced else ''}", err=True)


def wrote_runs(folder: Path, *, quiet: bool) -> None:
    """Say that TREC runs were written, and where they are large how much they take."""
    size = sum(path.stat().st_size for path in folder.rglob("*.run"))
    large = f" ({in_bytes(size)}: a smaller --trec-depth writes less)" if size >= _LARGE else ""
    if not quiet:
        say(f"wrote {folder}{large}", err=True)


def in_bytes(count: float) -> str:
    """Return a number of bytes in the unit that suits it."""
    for unit in _UNITS[:-1]:
        if count < 1024:
            return f"{count:.0f} {unit}" if count >= 100 else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} {_UNITS[-1]}"
