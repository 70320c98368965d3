"""Images that many items share, such as no-image.png: they say nothing of an item."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.images import items_of_images
from xlingual.data.manifest import Manifest
from xlingual.errors import parameter

MANY = 10  # items that may show one image without a warning


def shared_images(manifest: Manifest, image: Ints) -> list[tuple[str, int]]:
    """Return (name, items) of the images that more than `MANY` items show, those of most items first.

    `image` [n] is the image of each text, -1 for none: equal numbers for equal content.
    """
    n_items = items_of_images(image, manifest.item)
    first = dict(zip(image.tolist()[::-1], range(len(manifest) - 1, -1, -1), strict=True))
    images = np.flatnonzero(n_items > MANY)
    images = images[np.argsort(-n_items[images], kind="stable")]
    return [(image_name(manifest, first[number]), int(n_items[number])) for number in images.tolist()]


def shared_sentence(shared: Sequence[tuple[str, int]]) -> str:
    """Return one sentence on images such as no-image.png, which say nothing of an item."""
    are = "image is" if len(shared) == 1 else "images are"
    return (
        f"{len(shared):,} {are} shown by more than {MANY} items ({shared[0][0]}: {shared[0][1]:,} items): "
        f"they say nothing of an item; {parameter('drop_shared_images', str(MANY))} leaves their rows out"
    )


def image_name(manifest: Manifest, row: int) -> str:
    """Return how messages call the image of a text: by its path, or by the id of the text."""
    source = manifest.image_source[manifest.image[row]] if manifest.image[row] >= 0 else None
    return str(source) if isinstance(source, Path) else f"the image of {manifest.ids[row]!r}"
