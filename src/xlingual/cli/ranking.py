"""The ranker of a request; finished blocks of long passes are stored until the command ends well."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlingual.cli import screen
from xlingual.errors import InputError

if TYPE_CHECKING:
    from xlingual.ranking import Blocks, Ranker
    from xlingual.requests.ranking import Ranking


def chosen_ranker(request: Ranking, store: Path | str | None, *, quiet: bool) -> Ranker:
    """Return the ranker, and say why it was chosen.

    Where there is a store ("default": the user's own), finished blocks of long passes are kept in it until
    the command has ended well.
    """
    from xlingual.store import FolderBlocks, default_folder

    folder = default_folder() if store == "default" else None if store is None else Path(store)
    blocks = None if folder is None else FolderBlocks(folder / "ranking")
    context = click.get_current_context(silent=True)
    if blocks is not None and context is not None:
        context.call_on_close(lambda: blocks.forget() if sys.exc_info()[0] is None else None)
    ranker, why = _chosen(request, blocks)
    if not quiet and sys.stderr.isatty():
        screen.note(f"ranking {why}")
    return ranker


def _chosen(request: Ranking, blocks: Blocks | None) -> tuple[Ranker, str]:
    """Return the ranker, and where it ranks: by torch where a device, or a GPU here, asks for it."""
    from xlingual.ranking import Cpu, Torch
    from xlingual.ranking.rankers import why_no_cuda

    backend, device, threads = request.backend, request.device, request.threads
    if backend == "ray":
        if device is not None:
            raise InputError("--backend ray: each worker takes the device it has; leave out --device")
        return _with_ray(request, blocks)
    if request.address is not None:
        raise InputError("--address is for clusters: add --backend ray, or leave it out")
    if backend == "cpu" and device not in (None, "auto", "cpu"):
        raise InputError(f"--backend cpu ranks on the processor: leave out --device {device}, or --backend")
    lacking = why_no_cuda() if backend == "auto" and device in (None, "auto") else ""
    if backend == "torch" or (backend == "auto" and device != "cpu" and not lacking):
        torch = Torch(device, blocks)
        return torch, f"on {torch.about()['device']}; screened in float32, decided in float64"
    many = "1 thread" if threads == 1 else f"{threads} threads"
    return Cpu(threads, blocks), f"on the processor, {many}" + (f": {lacking}" if lacking else "")


def _with_ray(request: Ranking, blocks: Blocks | None) -> tuple[Ranker, str]:
    from xlingual.cluster import connect, imported
    from xlingual.ranking.ray import Ray

    imported()  # says what to install before any work is done
    if request.address is not None:
        connect(request.address)
    where = f" at {request.address}" if request.address else ""
    return Ray(request.address, blocks, request.threads), f"by Ray{where}"
