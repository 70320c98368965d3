"""`xlingual store`: look after the vectors that are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.options import check_folder
from xlingual.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from xlingual.store import Store
    from xlingual.store.care import Holding

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")

store_option = click.option(
    "--store",
    "root",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The store.  [default: XLINGUAL_STORE, else in the user's cache folder]",
)


def encoder_option(what: str) -> Callable[[Any], Any]:
    """Return the option that names encoders; `what` says what becomes of them."""
    return click.option(
        "--encoder", metavar="IDENTITY", help=f"{what} this encoder; * stands for any letters."
    )


@click.group()
def store() -> None:
    """Look after the vectors that are kept: list, verify, tidy up, take out."""


@store.command()
@store_option
@encoder_option("Only")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def ls(root: Path | None, encoder: str | None, as_json: bool) -> None:
    """List the encoders whose vectors are kept, the last used first."""
    from xlingual.store.care import holdings

    kept = _opened(root)
    found = holdings(kept, encoder)
    if as_json:
        rows = [{**vars(one), "folder": str(one.folder)} for one in found]
        screen.print_json({"store": str(kept.root), "encoders": rows})
        return
    console = screen.console()
    if not found:
        console.print(f" The store {kept.root} is empty.", markup=False)
        return
    console.print()
    table = _listing(kept, found)
    if console.measure(table, options=console.options.update(width=10_000)).maximum > console.width:
        table.caption = "encoders are cut short for lack of room: widen the window or use --json"
    console.print(table)


@store.command()
@store_option
@encoder_option("Only")
@click.option("--quiet", is_flag=True, help="Print only what is damaged.")
def verify(root: Path | None, encoder: str | None, quiet: bool) -> int:
    """Check every checksum; exit code 1 where something is damaged.

    Damaged vectors are computed again when they are next asked for.
    """
    from xlingual.store.care import verify

    damaged = vectors = 0
    for found in verify(_opened(root), encoder):
        for sentence in found.damaged:
            screen.say(f"damaged: {sentence}", err=True)
        damaged += len(found.damaged)
        vectors += found.vectors
        if not quiet:
            files = f"{_count(found.shards, 'file')} {'is' if found.vectors == 1 else 'are'} whole"
            screen.say(f"{found.identity}: {_count(found.vectors, 'vector')} in {files}")
    if not quiet:
        wrong = "file or line is" if damaged == 1 else "files or lines are"
        found_wrong = f", {damaged:,} {wrong} damaged: xlingual store gc removes them" if damaged else ""
        screen.say(f"{_count(vectors, 'vector')} {'is' if vectors == 1 else 'are'} whole{found_wrong}")
    return 1 if damaged else 0


@store.command()
@store_option
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    metavar="DAYS",
    help="Remove also encoders not used for so many days.",
)
@encoder_option("Remove also all vectors of")
def gc(root: Path | None, older_than: float | None, encoder: str | None) -> None:
    """Remove what counts no longer: damaged files, and what killed programs left behind for an hour.

    Every checksum is verified for it. Damaged vectors are computed again when they are next asked for.
    With --older-than or --encoder whole encoders go; with both, what fits both.
    """
    from xlingual.store.care import collect_garbage

    freed = collect_garbage(_opened(root), older_than=older_than, encoder=encoder)
    for identity in freed.encoders:
        screen.say(f"removed all vectors of {identity}")
    for sentence in freed.damaged:
        screen.say(f"damaged: {sentence}", err=True)
    screen.say(f"removed {_count(freed.files, 'file')}, {_size(freed.size)}")


@store.command()
@store_option
@encoder_option("Only")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder for the files."
)
def export(root: Path | None, encoder: str | None, out: Path) -> None:
    """Write the vectors of each encoder as .npy, with their keys beside them.

    To get the vectors of a manifest in the order of its rows, use xlingual embed.
    """
    from xlingual.store.care import export

    check_folder(out)
    for identity, path, count in export(_opened(root), out, encoder):
        screen.say(f"{identity}: {_count(count, 'vector')} in {path}")


def _opened(root: Path | None) -> Store:
    from xlingual.store import Store

    if root is None:
        return Store.default()
    if not root.exists():
        raise InputError(f"--store {root}: there is no such folder: check its name")
    return Store(root)


def _listing(kept: Store, found: list[Holding]) -> Table:
    from datetime import datetime

    from rich.text import Text

    from xlingual.report.terminal import plain_table

    precision = " (half precision)" if kept.half else ""
    table = plain_table(f"{kept.root}{precision}: {_size(sum(one.size for one in found))}")
    table.add_column("encoder")  # what is cut short where there is no room
    for name in ("vectors", "d", "size", "last used", "damaged"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found:
        used = datetime.fromtimestamp(one.used).strftime("%Y-%m-%d %H:%M")
        cells = (f"{one.vectors:,}", str(one.dim or "–"), _size(one.size), used, str(one.damaged or "–"))
        table.add_row(Text(one.identity, no_wrap=True, overflow="ellipsis"), *map(Text, cells))
    return table


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _size(count: float) -> str:
    for unit in _UNITS[:-1]:
        if count < 1024:
            return f"{count:.0f} {unit}" if count >= 100 else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} {_UNITS[-1]}"
