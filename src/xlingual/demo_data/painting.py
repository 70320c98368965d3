"""Painting: images are drawn large with Pillow, then scaled down; the same item gives the same bytes."""

from __future__ import annotations

from io import BytesIO

from PIL.Image import Image

Colour = tuple[int, int, int]

OVERSAMPLING = 3


def mixed(first: Colour, second: Colour, share: float) -> Colour:
    """Return the colour between two, with `share` of the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def png(large: Image) -> bytes:
    """Return an image that was drawn OVERSAMPLING times too large as PNG bytes."""
    buffer = BytesIO()
    large.reduce(OVERSAMPLING).save(buffer, format="PNG", compress_level=6)
    return buffer.getvalue()
