"""The ranker of a request; finished parts of long passes are kept until the command ends well."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlingual.cli import screen

if TYPE_CHECKING:
    from xlingual.ranking import Ranker
    from xlingual.requests.ranking import Ranking


def chosen_ranker(request: Ranking, store: Path | str | None, *, quiet: bool) -> Ranker:
    """Return the ranker, and say why it was chosen.

    Where there is a store ("default": the user's own), finished parts of long passes are kept in it until the
    command has ended well.
    """
    from xlingual.ranking.choice import choose
    from xlingual.store import default_folder

    kept_in = default_folder() if store == "default" else None if store is None else Path(store)
    shared = request.shared
    if request.backend == "ray" and shared is None and request.address is None and kept_in is not None:
        from xlingual.ranking.cluster.connection import cluster_address

        # on this machine alone: a cluster may be named by RAY_ADDRESS
        shared = str(kept_in / "ranking") if cluster_address(None) is None else None
    chosen = choose(
        request.backend,
        threads=request.threads,
        memory=request.memory,
        device=request.device,
        precision=request.precision,
        address=request.address,
        shared=shared,
    )
    if not quiet and (chosen.notable or sys.stderr.isatty()):
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
        context.call_on_close(lambda: keeping.forget() if sys.exc_info()[0] is None else None)
    return ranker
