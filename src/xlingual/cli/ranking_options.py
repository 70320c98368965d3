"""Options that say where texts and pictures are ranked; they change no number."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from xlingual.cli import screen
from xlingual.cli.approximate_options import without_approximate
from xlingual.cli.options import available_cores

if TYPE_CHECKING:
    from xlingual.ranking import Ranker

F = TypeVar("F", bound="Callable[..., Any] | click.Command")

_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_LEAST = 1 << 20


class ByteSize(click.ParamType):  # type: ignore[type-arg]
    """A number of bytes: 500MB, 8GiB, 8G."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes; K, M, G and T are powers of 1000, Ki, Mi … of 1024."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", value.strip().lower())
        if found is None:
            self.fail(f"{value!r} is no size: write it like 500MB or 8GiB", param, ctx)
        number, unit, binary = found.groups()
        size = int(float(number) * (1024 if binary else 1000) ** _UNITS[unit])
        if size < _LEAST:
            self.fail(f"{value!r} is too little to rank in: give 1MiB at least", param, ctx)
        return size


threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=available_cores,
    show_default="all cores",
    help="Threads; they change no number.",
)


def ranking_options(function: F) -> F:
    """Add the options that say where ranking is done."""
    options: list[Callable[[Any], Any]] = [
        click.option(
            "--backend",
            type=click.Choice(["auto", "cpu"]),
            default="auto",
            show_default=True,
            help="What ranks; it changes no number.",
        ),
        threads_option,
        click.option(
            "--memory",
            type=ByteSize(),
            metavar="SIZE",
            help="What ranking may take of memory at a time, such as 8GiB.  [default: what it needs]",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return without_approximate(function)


def chosen_ranker(given: dict[str, Any]) -> Ranker:
    """Return what the options ask for, and say why; all but `threads` leave `given`."""
    from xlingual.ranking.choice import choose

    chosen = choose(given.pop("backend"), threads=given["threads"], memory=given.pop("memory"))
    if not given.get("quiet") and (chosen.notable or sys.stderr.isatty()):
        screen.note(f"ranking {chosen.why}")
    return chosen.ranker
