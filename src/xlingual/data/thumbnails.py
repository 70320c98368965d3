"""Texts and images as tables for reports keep them: short and small."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from xlingual.data.manifest import Manifest
from xlingual.errors import InputError
from xlingual.images import ImageSource, open_image

LONGEST = 1000  # characters of a text; a report is read, and its file stays small
SIDE = 144  # pixels: sharp at 72 CSS pixels on a dense display


def cut(text: str) -> str:
    """Return a text, or its beginning."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def thumbnails(
    manifest: Manifest, side: int = SIDE, most: int | None = None
) -> Callable[[int], bytes | None]:
    """Return what gives the JPEG of an image by its number in the manifest, -1 for none.

    Each is opened once; of `most`, those that were asked for last are kept.
    """

    @lru_cache(maxsize=most)
    def thumbnail(slot: int) -> bytes | None:
        return None if slot < 0 else _thumbnail(manifest.image_source[slot], side)

    return thumbnail


def _thumbnail(source: ImageSource, side: int) -> bytes | None:
    """Return the JPEG of an image, or None where there is none to open."""
    if isinstance(source, Path) and not source.is_file():
        return None
    try:
        image = open_image(source)
    except InputError:
        return None  # the report draws a placeholder; an image that was needed has been refused before
    image.thumbnail((side, side))
    out = BytesIO()
    image.save(out, "JPEG", quality=82)
    return out.getvalue()
