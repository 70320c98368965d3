"""Near-duplicates of a whole manifest, as `xlingual data check` counts them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Ints, distinct_values
from xlingual.data.check import CheckFinding, ImageCheck, shortened
from xlingual.data.manifest import Manifest
from xlingual.embed.encoding import Progress
from xlingual.embed.sides import ImageIndex, embed_images
from xlingual.encoders import image_encoder
from xlingual.evaluation.near_duplicates import NearDuplicates, TextUnits, compared_units, near_duplicates

MOST = 20_000  # units that are all compared; of more, a sample
IMAGES = "pixels"  # the encoder that compares images


def manifest_near_duplicates(
    manifest: Manifest,
    check: ImageCheck | None,
    progress: Progress | None = None,
) -> NearDuplicates:
    """Return the near-duplicates among all texts, and the readable images as `pixels:` sees them.

    Only images that are compared are opened.
    """
    rows = TextUnits.of(manifest)
    every, languages = np.arange(len(manifest)), np.arange(len(manifest.languages))
    units = distinct_values(rows.unit)
    join = len(units) <= MOST
    compared = every if join else np.flatnonzero(np.isin(rows.unit, compared_units(units)[1]))
    images = _images(manifest, compared, check, progress)
    return near_duplicates(rows, every, languages, images, join=join)


def near_duplicates_finding(found: NearDuplicates, manifest: Manifest) -> list[CheckFinding]:
    """Return the findings of a check on near-duplicates: one warning where there are many, else none."""
    if not found.matter:
        return []
    of = f"{found.n_looked:,} items" + (" looked at" if found.n_looked < found.n_units else "")
    share = found.largest_share
    largest = "" if share is None else f" (the largest cluster has {share:.1%})"
    sentence = (
        f"{found.n_near:,} of {of} have near-equal texts or images in other items{largest}: say what belongs "
        "together in a column 'cluster', or evaluate with --cluster near-duplicates, else intervals may be "
        "too narrow"
    )
    examples = (f"{manifest.ids[a]!r} and {manifest.ids[b]!r}" for a, b in found.examples)
    return [CheckFinding("warning", "near-duplicates", found.n_near, sentence, shortened(examples))]


def readable(manifest: Manifest, check: ImageCheck) -> NDArray[np.bool_]:
    """Return for each text row, bool [n], whether it has an image that could be opened."""
    bad = {row for row, _ in (*check.missing, *check.unreadable)}
    shown = np.flatnonzero(manifest.image >= 0)
    broken = [
        image for row, image in zip(shown, manifest.image[shown], strict=True) if manifest.ids[row] in bad
    ]
    found = np.zeros(len(manifest), dtype=bool)
    found[shown[~np.isin(manifest.image[shown], broken)]] = True
    return found


def _images(
    manifest: Manifest,
    rows: Ints,
    check: ImageCheck | None,
    progress: Progress | None,
) -> ImageIndex | None:
    """Return the images of the rows that can be read; None where there are none."""
    if check is None:
        return None
    rows = np.intersect1d(rows, np.flatnonzero(readable(manifest, check)))
    if not len(rows):
        return None
    name, encoder = image_encoder(IMAGES, languages=list(manifest.languages))
    return embed_images(manifest, name, encoder, rows, progress=progress, shown=False)
