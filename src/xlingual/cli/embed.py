"""`xlingual embed`: vectors of all texts and images, computed once, in the store and in files."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.checks import check_folder
from xlingual.cli.from_request import command
from xlingual.cli.opening import manifest_or_pool, store_of
from xlingual.requests.single import EmbedRequest

if TYPE_CHECKING:
    from xlingual.workflows.embed import Exported


@command(EmbedRequest)
def embed(request: EmbedRequest) -> None:
    """Compute the vectors of all texts and images of MANIFEST, or of a pool, and write them to files.

    Vectors in the store are not computed again. An interrupted run continues where it stopped.
    """
    from xlingual.workflows.embed import embed

    check_folder(request.out)
    store = store_of(request.keeping)
    with screen.warnings_as_lines(), screen.progress(request.quiet) as progress:
        progress("reading the data", 0, 1)
        found = embed(
            manifest_or_pool(request),
            request.out,
            text_encoders=request.text_encoders,
            image_encoder=request.image_encoder,
            candidate_text=request.candidate_text,
            half=request.half,
            offsets=request.offsets,
            store=store,
            progress=progress,
        )
    if not request.quiet:
        _show(found)


def _show(found: list[Exported]) -> None:
    for one in found:
        option = "--image-encoder" if one.kind == "images" else "--text-encoder"
        files = "a file" if len(one.files) == 1 else f"{len(one.files)} files"
        kept = "" if one.kept else " (not in the store)"
        screen.say(f"{one.name}: {sum(one.files.values()):,} {one.kind}, {one.dim} dimensions, {files}{kept}")
        screen.say(f"  use: {option} {shlex.quote(one.spec)}")
        if one.index is not None:
            screen.say(
                f"  for a search index: {one.index}, by inner product; questions at unit length, a 1 appended"
            )
