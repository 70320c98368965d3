"""`xlingual store`: list, verify and clean up the stored vectors."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.errors import InputError
from xlingual.report.blocks import Page, Prose
from xlingual.report.numbers import MISSING, counted
from xlingual.report.table import Cell, Table
from xlingual.requests.keeping import CleanRequest, ListRequest, VerifyRequest

if TYPE_CHECKING:
    from xlingual.store import Store
    from xlingual.store.store import Holding


@click.group()
def store() -> None:
    """List, verify and clean up the stored vectors."""


@command(ListRequest, store)
def list_(request: ListRequest) -> None:
    """List the encoders whose vectors are kept, the last used first."""
    from xlingual.store import holdings

    opened = _opened(request.root)
    listed = sorted(holdings(opened, request.encoder), key=lambda holding: -holding.used)
    rows = [{**vars(holding), "folder": str(holding.folder)} for holding in listed]
    block = _listing(opened, listed) if listed else Prose(f"The store {opened.root} is empty.", where="both")
    page = Page.of("store", str(opened.root), [block])
    screen.show_page(page, {"store": str(opened.root), "encoders": rows}, request)


@command(VerifyRequest, store)
def verify(request: VerifyRequest) -> int:
    """Verify every checksum; the exit code is 1 if something is damaged.

    Damaged vectors are computed again when they are next needed.
    """
    from xlingual.store import holdings

    damaged = vectors = 0
    for holding in holdings(_opened(request.root), request.encoder, verified=True):
        for sentence in holding.damaged.values():
            screen.say(f"damaged: {sentence}", err=True)
        damaged += len(holding.damaged)
        vectors += holding.vectors
        if not request.quiet:
            files = f"{counted(holding.shards, 'file')} {'is' if holding.vectors == 1 else 'are'} whole"
            screen.say(f"{holding.identity}: {counted(holding.vectors, 'vector')} in {files}")
    if not request.quiet:
        files = f"{damaged:,} {'file is' if damaged == 1 else 'files are'} damaged"
        remedy = f", {files}: xlingual store clean removes them" if damaged else ""
        screen.say(f"{counted(vectors, 'vector')} {'is' if vectors == 1 else 'are'} whole{remedy}")
    return 1 if damaged else 0


@command(CleanRequest, store)
def clean(request: CleanRequest) -> None:
    """Remove damaged files, and files that killed programs left behind over an hour ago.

    Every checksum is verified first. Damaged vectors are computed again when they are next needed. With
    --older-than or --encoder, all vectors of these encoders are removed. With both, an encoder must fit both.
    """
    from xlingual.store import clean

    freed = clean(_opened(request.root), older_than=request.older_than, encoder=request.encoder)
    for identity in freed.encoders:
        screen.say(f"removed all vectors of {identity}")
    for sentence in freed.damaged:
        screen.say(f"damaged: {sentence}", err=True)
    screen.say(f"removed {counted(freed.files, 'file')}, {screen.in_bytes(freed.size)}")


def _opened(root: Path | None) -> Store:
    from xlingual.store import Store, default_folder

    if root is not None and not root.exists():
        raise InputError(f"--store {root}: there is no such folder: check its name")
    return Store(root or default_folder())


def _listing(opened: Store, listed: list[Holding]) -> Table:
    rows = [
        (
            holding.identity,
            Cell.count(holding.vectors),
            str(holding.dim or MISSING),
            Cell(screen.in_bytes(holding.size), value=holding.size),
            datetime.fromtimestamp(holding.used).strftime("%Y-%m-%d %H:%M"),
            str(len(holding.damaged) or MISSING),
        )
        for holding in listed
    ]
    title = f"{opened.root}: {screen.in_bytes(sum(holding.size for holding in listed))}"
    heads = ("encoder", "vectors", "d", "size", "last used", "damaged")
    return Table.of_texts(title, heads, rows, data=True, where="both")
