"""What a person sees in the terminal: progress, warnings, verdict and tables."""

from __future__ import annotations

import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

import click

from xlingual.cli import interruption
from xlingual.errors import DataWarning
from xlingual.visible import visible, visible_line, without_commands

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task

    from xlingual.report.blocks import Page

_PATIENCE = 1.0  # seconds before a progress bar is shown
_PLAIN_WIDTH = 120  # columns where the output is not a terminal
_COUNTED = ("encoding", "training")  # work whose speed is of interest
_LEFT_WIDTH = 28  # columns of share, speed, time left and the spaces between
_LEAST_BAR = 5
_SPACES = 2  # columns between words, bar and what is right of it
_PADDING = re.compile(r" +(?=\n)")


def console() -> Console:
    """Return the console of standard output; plain, wide and without padding where it is not a terminal."""
    if sys.stdout.isatty():
        return _console()
    return _console(width=_PLAIN_WIDTH, file=cast("IO[str]", _Unpadded(sys.stdout)))


def _console(**options: Any) -> Console:  # noqa: ANN401
    """Return a console that shows texts as they are: no markup in them, and nothing that a terminal obeys."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class Plain(Console):
        """Leaves a reader that has enough (such as `head`) to the command line, which ends in silence."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            """Render with control characters visible, and line ends that the program has not made."""
            if type(renderable) is Text and (seen := visible(renderable.plain)) != renderable.plain:
                kept = ("style", "justify", "overflow", "no_wrap", "end")
                renderable = Text(seen, **{name: getattr(renderable, name) for name in kept})
            elif isinstance(renderable, str):
                renderable = visible(renderable)
            for part in super().render(renderable, options):
                shown = part.text if part.control else visible(part.text, keep="\n")
                yield part if shown == part.text else Segment(shown, part.style)

    return Plain(markup=False, emoji=False, highlight=False, **options)


class _Unpadded:
    """Standard output without padding at line ends (tables have it) and without commands to CI systems."""

    encoding = "utf-8"

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(without_commands(_PADDING.sub("", text)))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._stream, name)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show data warnings as one line each on standard error, when the work has ended or failed.

    Within, a progress bar may be alive: what is printed beside it is wrapped, and leaves a dead bar behind.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        lines: dict[str, None] = {}  # each once, in order
        others: list[Callable[[], None]] = []
        usual = warnings.showwarning

        def keep(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:  # noqa: ANN401
            if issubclass(category, DataWarning):
                lines[f"warning: {visible_line(str(message))}"] = None
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


def note(sentence: str) -> None:
    """Show a sentence about the work on standard error, so that what is printed stays what was asked for."""
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
    """Give a callback (what, done, of all) that draws a bar once the work takes over a second.

    What follows " · " in `what` (the loss, say) may change from call to call: the bar goes on.
    The bar pulses, with the time elapsed beside it, until the first part of the work is done: many a piece of
    work tells only its beginning and its end. Nothing is drawn where standard error is not a terminal.
    A total below 0 says that `what` is a sentence: it becomes a line of standard error, terminal or not.
    """
    if quiet:
        yield lambda what, done, total: interruption.repeat()
        return
    if not sys.stderr.isatty():
        yield _sentences
        return
    bar = progress_bar(_console(stderr=True))
    line, current = None, ""

    def report(what: str, done: int, total: int) -> None:
        nonlocal line, current
        interruption.repeat()
        if total < 0:  # through the bar's console, which draws the bar anew below the sentence
            bar.console.print(what, markup=False, highlight=False, soft_wrap=True)
            return
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


def progress_bar(console: Console) -> Progress:
    """Return a bar with the share that is done, speed and time left, else the time it has taken; one line."""
    from rich.progress import BarColumn, Progress, ProgressColumn
    from rich.progress_bar import ProgressBar
    from rich.table import Column
    from rich.text import Text

    class What(ProgressColumn):
        """What is done, cut short where the terminal is narrow."""

        def render(self, task: Task) -> Text:
            return Text(_line(task, console.width)[0], no_wrap=True, overflow="ellipsis")

    class Bar(BarColumn):
        """The bar, shorter where words need the room."""

        def render(self, task: Task) -> ProgressBar:
            room = console.width - len(_line(task, console.width)[0]) - _LEFT_WIDTH
            self.bar_width = max(_LEAST_BAR, min(40 if console.width > 100 else 20, room))
            return super().render(task)

    class Left(ProgressColumn):
        """Share done, texts (or steps) a second, and time left; the time taken while the bar pulses."""

        def render(self, task: Task) -> Text:
            return Text(_line(task, console.width)[1])

    return Progress(
        What(),
        Bar(table_column=Column(no_wrap=True)),
        Left(table_column=Column(no_wrap=True)),
        console=console,
        transient=True,
    )


def _line(task: Task, width: int) -> tuple[str, str]:
    """Return what stands left and right of the bar of a terminal of `width` columns.

    Where there is no room for the numbers that are told of the work (its loss, say), first its name is left
    out, then the speed. A name that is too long is cut.
    """
    told, right = task.description, _left(task, speed=True)
    _, _, numbers = told.partition(" · ")
    room = width - _SPACES - _LEAST_BAR
    if not numbers or len(told) + len(right) <= room:
        return told, right
    return numbers, right if len(numbers) + len(right) <= room else _left(task, speed=False)


def _left(task: Task, *, speed: bool) -> str:
    """Return share done, texts (or steps) a second, and time left; the time taken while the bar pulses."""
    if task.total is None:
        return _clock(task.elapsed or 0.0)
    seconds = task.time_remaining
    left = "" if seconds is None or task.finished else f" · {_clock(seconds)} left"
    counted = speed and task.description.startswith(_COUNTED) and task.speed and not task.finished
    rate = f" · {_speed(task.speed or 0.0)}/s" if counted else ""
    return f"{task.percentage:.0f} %{rate}{left}"


def _clock(seconds: float) -> str:
    """Return a time such as 0:35 or 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _speed(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.2g}"


def silent(asked: Any) -> bool:  # noqa: ANN401  (a request that says what is printed)
    """Whether nothing is to be said besides what is asked for."""
    return bool(asked.quiet or asked.as_json or asked.form == "json")


def show(found: Any, *, form: str = "table", as_json: bool = False, quiet: bool = False) -> None:  # noqa: ANN401
    """Print what was found, a record of results, in a form; as JSON also where all else is kept quiet."""
    if as_json or form == "json":
        for one in found if isinstance(found, list) else [found]:
            print_json(one.to_dict())
    elif not quiet:
        from xlingual.report import page_of

        _print(page_of(found), form)


def show_page(
    page: Page, content: Mapping[str, Any], *, form: str = "table", as_json: bool = False, quiet: bool = False
) -> None:
    """Print a page in a form; as JSON its content, also where all else is kept quiet."""
    if as_json or form == "json":
        print_json(content)
    elif not quiet:
        _print(page, form)


def _print(page: Page, form: str) -> None:
    from xlingual.report.render import terminal, text

    if form == "table":
        terminal.show(console(), page)
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
