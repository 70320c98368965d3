"""Options that say where texts and pictures are ranked; they change no number."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from xlingual.cli import screen
from xlingual.cli.approximate_options import without_approximate
from xlingual.cli.options import available_cores
from xlingual.cli.sections import section

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


address_option = click.option(
    "--address",
    metavar="HOST:PORT",
    help="With --backend ray: the head of the cluster, or auto.  [default: Ray on this machine alone]",
)


@section("Where it is ranked (the same numbers everywhere)")
def ranking_options(function: F) -> F:
    """Add the options that say where ranking is done."""
    options: list[Callable[[Any], Any]] = [
        click.option(
            "--backend",
            type=click.Choice(["auto", "cpu", "torch", "ray"]),
            default="auto",
            show_default=True,
            help="What ranks; it changes no number. auto: torch where a CUDA device is, else cpu.",
        ),
        click.option(
            "--device",
            metavar="NAME",
            help="Where torch works: auto, cpu, cuda, cuda:1.  [default: auto]",
        ),
        click.option(
            "--precision",
            type=click.Choice(["fp16", "bf16", "fp32"]),
            help="What torch screens in; it changes no number.  [default: fp16 on CUDA, else fp32]",
        ),
        threads_option,
        click.option(
            "--memory",
            type=ByteSize(),
            metavar="SIZE",
            help="What ranking may take of memory at a time, such as 8GiB.  [default: what it needs]",
        ),
        address_option,
        click.option(
            "--shared",
            metavar="DIR",
            help="With --backend ray: a folder, or URL, that all machines of the cluster see.",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return without_approximate(function)


_ASKED = ("backend", "memory", "device", "precision", "address", "shared")


def chosen_ranker(given: dict[str, Any], store: Path | str | None) -> Ranker:
    """Return what the options ask for, and say why; all but `threads` leave `given`.

    Where there is a store ("default": the user's own), finished parts of long passes are kept in it until the
    command has ended well.
    """
    from xlingual.ranking.choice import choose

    asked = {name: given.pop(name) for name in _ASKED}
    kept_in = None if store is None else _store_folder(store)
    alone = asked["shared"] is None and asked["address"] is None
    if asked["backend"] == "ray" and alone and kept_in is not None:
        asked["shared"] = _local_shared(kept_in)
    chosen = choose(threads=given["threads"], **asked)
    if not given.get("quiet") and (chosen.notable or sys.stderr.isatty()):
        screen.note(f"ranking {chosen.why}")
    return _kept(chosen.ranker, kept_in)


def _kept(ranker: Ranker, store: Path | None) -> Ranker:
    """Return the ranker, keeping finished parts until the command has ended without an error."""
    from xlingual.ranking.resume import Kept

    keeping = ranker if hasattr(ranker, "forget") else None
    if keeping is None and store is not None:
        keeping = ranker = Kept(ranker, store / "ranking")
    context = click.get_current_context(silent=True)
    if keeping is not None and context is not None:
        forget = keeping.forget
        context.call_on_close(lambda: forget() if sys.exc_info()[0] is None else None)
    return ranker


def _store_folder(store: Path | str) -> Path:
    from xlingual.store import default_folder

    return default_folder() if store == "default" else Path(store)


def _local_shared(store: Path) -> str | None:
    """Return a folder for Ray on this machine alone; None where a cluster is named by RAY_ADDRESS."""
    from xlingual.ranking.cluster.connection import cluster_address

    return None if cluster_address(None) else str(store / "ranking")
