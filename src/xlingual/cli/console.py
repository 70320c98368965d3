"""The console of the terminal and its progress bar; loaded only where something is drawn."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import IO, Any, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from xlingual.visible import visible, without_commands

_PLAIN_WIDTH = 120  # columns where the output is not a terminal
_COUNTED = ("encoding", "training")  # work whose speed is of interest
_LEFT_WIDTH = 28  # columns of share, speed, time left and the spaces between
_LEAST_BAR = 5
_SPACES = 2  # columns between the words, the bar and the words right of it
_PADDING = re.compile(r" +(?=\n)")


class Plain(Console):
    """A console that shows texts as they are: no markup in them, and nothing that a terminal obeys.

    It leaves a reader that has enough (such as `head`) to the command line, which ends in silence.
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def on_broken_pipe(self) -> None:
        """Leave it to the command line."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Render with control characters visible, and line ends that the program has not made."""
        if type(renderable) is Text and (seen := visible(renderable.plain)) != renderable.plain:
            kept = ("style", "justify", "overflow", "no_wrap", "end")
            renderable = Text(seen, **{name: getattr(renderable, name) for name in kept})
        elif isinstance(renderable, str):
            renderable = visible(renderable)
        for part in super().render(renderable, options):
            shown = part.text if part.control else visible(part.text, keep="\n")
            yield part if shown == part.text else Segment(shown, part.style)


class _Unpadded:
    """Standard output without padding at line ends (tables have it) and without commands to CI systems."""

    encoding = "utf-8"

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(without_commands(_PADDING.sub("", text)))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._stream, name)


def output() -> Console:
    """Return the console of standard output; plain, wide and without padding where it is not a terminal."""
    if sys.stdout.isatty():
        return Plain()
    return Plain(width=_PLAIN_WIDTH, file=cast("IO[str]", _Unpadded(sys.stdout)))


class _Words(ProgressColumn):
    """The words left (0) or right (1) of the bar, cut short where the terminal is narrow."""

    def __init__(self, console: Console, side: int, table_column: Column | None = None) -> None:
        self._console, self._side = console, side
        super().__init__(table_column)

    def render(self, task: Task) -> Text:
        return Text(_line(task, self._console.width)[self._side], no_wrap=True, overflow="ellipsis")


class _Bar(BarColumn):
    """The bar, shorter where words need the room."""

    def __init__(self, console: Console) -> None:
        self._console = console
        super().__init__(table_column=Column(no_wrap=True))

    def render(self, task: Task) -> ProgressBar:
        width = self._console.width
        room = width - len(_line(task, width)[0]) - _LEFT_WIDTH
        self.bar_width = max(_LEAST_BAR, min(40 if width > 100 else 20, room))
        return super().render(task)


def progress_bar(console: Console) -> Progress:
    """Return a bar with the share that is done, speed and time left, else the time it has taken; one line."""
    columns = (_Words(console, 0), _Bar(console), _Words(console, 1, Column(no_wrap=True)))
    return Progress(*columns, console=console, transient=True)


def _line(task: Task, width: int) -> tuple[str, str]:
    """Return the words left and right of the bar, in a terminal of `width` columns.

    Where there is no room for the numbers of the work (its loss, say), first its name is left out, then the
    speed. A name that is too long is cut.
    """
    description, right = task.description, _left(task, speed=True)
    _, _, numbers = description.partition(" · ")
    room = width - _SPACES - _LEAST_BAR
    if not numbers or len(description) + len(right) <= room:
        return description, right
    return numbers, right if len(numbers) + len(right) <= room else _left(task, speed=False)


def _left(task: Task, *, speed: bool) -> str:
    """Return share done, texts (or steps) a second, and time left; the time taken while the bar pulses."""
    if task.total is None:
        return _clock(task.elapsed or 0.0)
    seconds = task.time_remaining
    left = "" if seconds is None or task.finished else f" · {_clock(seconds)} left"
    rate = ""
    if speed and task.description.startswith(_COUNTED) and task.speed and not task.finished:
        rate = f" · {task.speed:,.0f}/s" if task.speed >= 100 else f" · {task.speed:.2g}/s"
    return f"{task.percentage:.0f} %{rate}{left}"


def _clock(seconds: float) -> str:
    """Return a time such as 0:35 or 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
