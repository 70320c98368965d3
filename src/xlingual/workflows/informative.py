"""`xlingual data check --image-encoder`: what Backretrieval can tell on checked data, and its finding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xlingual import encoders
from xlingual.data.check import CheckFinding, ImageCheck
from xlingual.data.manifest import Manifest
from xlingual.embed.encoding import Progress
from xlingual.evaluation.backretrieval.check import check_backretrieval
from xlingual.report.pages.backretrieval_check import sentences
from xlingual.requests.making import CheckRequest
from xlingual.results.backretrieval_check import BackretrievalCheck
from xlingual.workflows.near_duplicates import readable


def manifest_informative(
    manifest: Manifest,
    check: ImageCheck | None,
    request: CheckRequest,
    image_encoder: str,
    store: Path | str | None,
    progress: Progress | None = None,
) -> BackretrievalCheck:
    """Return what Backretrieval can tell; images that the check could not open are left out."""
    _, encoder = encoders.image_encoder(image_encoder, languages=list(manifest.languages))
    usable = readable(manifest, check) if encoder.opens_images and check is not None else None
    options: Any = {"pairs": request.pairs, "k": request.k, "usable": usable, "store": store}
    return check_backretrieval(manifest, image_encoder, **options, progress=progress)


def informative_finding(found: BackretrievalCheck | None) -> list[CheckFinding]:
    """Return the finding of a check where Backretrieval tells nothing of some language pairs, else none."""
    if found is None or (found.can_tell and all(pair.can_tell for pair in found.pairs)):
        return []
    bad = len(found.pairs) if found.reasons else sum(not pair.can_tell for pair in found.pairs)
    return [CheckFinding("warning", "Backretrieval tells nothing", bad, sentences(found)[0])]
