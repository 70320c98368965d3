"""Small manifests with images as bytes, and encoders that look vectors up."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

from xlingual.data.manifest import Manifest


def png(shade: int) -> bytes:
    """Return an image of one pixel; different numbers are different bytes."""
    from PIL import Image

    out = BytesIO()
    Image.new("RGB", (1, 1), (shade % 256, shade // 256, 7)).save(out, "PNG")
    return out.getvalue()


def rows(n: int, captions: dict[str, int], **more: Any) -> list[dict[str, Any]]:
    """Return rows in the long form: so many captions of each language for each of n images."""
    return [
        {"id": f"{lang}{i}.{c}", "lang": lang, "text": f"{lang} {i} {c}", "image": png(i), **more}
        for i in range(n)
        for lang, count in captions.items()
        for c in range(count)
    ]


def manifest(n: int, captions: dict[str, int]) -> Manifest:
    """Return the manifest of `rows`."""
    return Manifest.of(rows(n, captions))


class Images:
    """Vectors of images by the number in the id of the row that shows them."""

    name = identity = "images"

    def __init__(self, images: np.ndarray) -> None:
        self.images = images

    def encode(self, batch: Any) -> np.ndarray:
        found: np.ndarray = self.images[[int(row[2:].split(".")[0]) for row in batch.ids]]
        return found


def images(n: int, dim: int = 12) -> np.ndarray:
    """Return vectors of n images."""
    found: np.ndarray = np.random.default_rng(n).standard_normal((n, dim)).astype(np.float32)
    return found
