"""`xlingual store`: list, verify, clean up and export the stored vectors."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_folder
from xlingual.cli.from_request import command
from xlingual.errors import InputError
from xlingual.report.blocks import Page, Prose
from xlingual.report.numbers import MISSING, counted
from xlingual.report.table import Cell, Table
from xlingual.requests.keeping import GcRequest, LsRequest, StoreExportRequest, VerifyRequest

if TYPE_CHECKING:
    from xlingual.store import Store
    from xlingual.store.maintenance import Holding


@click.group()
def store() -> None:
    """List, verify, clean up and export the stored vectors."""


@command(LsRequest, store)
def ls(request: LsRequest) -> None:
    """List the encoders whose vectors are kept, the last used first."""
    from xlingual.store.maintenance import holdings

    kept = _opened(request.root)
    found = holdings(kept, request.encoder)
    rows = [{**vars(one), "folder": str(one.folder)} for one in found]
    block = _listing(kept, found) if found else Prose(f"The store {kept.root} is empty.", where="both")
    page = Page.of("store", str(kept.root), [block])
    screen.show_page(page, {"store": str(kept.root), "encoders": rows}, request)


@command(VerifyRequest, store)
def verify(request: VerifyRequest) -> int:
    """Verify every checksum; the exit code is 1 if something is damaged.

    Damaged vectors are computed again when they are next needed.
    """
    from xlingual.store.maintenance import verify

    damaged = vectors = 0
    for found in verify(_opened(request.root), request.encoder):
        for sentence in found.damaged:
            screen.say(f"damaged: {sentence}", err=True)
        damaged += len(found.damaged)
        vectors += found.vectors
        if not request.quiet:
            files = f"{counted(found.shards, 'file')} {'is' if found.vectors == 1 else 'are'} whole"
            screen.say(f"{found.identity}: {counted(found.vectors, 'vector')} in {files}")
    if not request.quiet:
        wrong = "file or line is" if damaged == 1 else "files or lines are"
        found_wrong = f", {damaged:,} {wrong} damaged: xlingual store gc removes them" if damaged else ""
        screen.say(f"{counted(vectors, 'vector')} {'is' if vectors == 1 else 'are'} whole{found_wrong}")
    return 1 if damaged else 0


@command(GcRequest, store)
def gc(request: GcRequest) -> None:
    """Remove damaged files, and files that killed programs left behind over an hour ago.

    Every checksum is verified first. Damaged vectors are computed again when they are next needed. With
    --older-than or --encoder, all vectors of these encoders are removed. With both, an encoder must fit both.
    """
    from xlingual.store.maintenance import collect_garbage

    freed = collect_garbage(_opened(request.root), older_than=request.older_than, encoder=request.encoder)
    for identity in freed.encoders:
        screen.say(f"removed all vectors of {identity}")
    for sentence in freed.damaged:
        screen.say(f"damaged: {sentence}", err=True)
    screen.say(f"removed {counted(freed.files, 'file')}, {screen.in_bytes(freed.size)}")


@command(StoreExportRequest, store)
def export(request: StoreExportRequest) -> None:
    """Write the vectors of each encoder to a .npy file, and their keys to a file beside it.

    To get the vectors of a manifest in the order of its rows, use xlingual embed.
    """
    from xlingual.store.maintenance import export

    check_folder(request.out)
    for identity, path, count in export(_opened(request.root), request.out, request.encoder):
        screen.say(f"{identity}: {counted(count, 'vector')} in {path}")


def _opened(root: Path | None) -> Store:
    from xlingual.store import Store

    if root is None:
        return Store.default()
    if not root.exists():
        raise InputError(f"--store {root}: there is no such folder: check its name")
    return Store(root)


def _listing(kept: Store, found: list[Holding]) -> Table:
    rows = [
        (
            one.identity,
            Cell.count(one.vectors),
            str(one.dim or MISSING),
            Cell(screen.in_bytes(one.size), value=one.size),
            datetime.fromtimestamp(one.used).strftime("%Y-%m-%d %H:%M"),
            str(one.damaged or MISSING),
        )
        for one in found
    ]
    size = screen.in_bytes(sum(one.size for one in found))
    title = f"{kept.root}{' (half precision)' if kept.half else ''}: {size}"
    heads = ("encoder", "vectors", "d", "size", "last used", "damaged")
    return Table.of_texts(title, heads, rows, data=True, where="both")
