"""Images of a study: encoded anew, so that they are of a size for a page and carry nothing hidden."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from xlingual.files import atomic_file, make_folder
from xlingual.images import open_image
from xlingual.study.folder import IMAGES

SIDE = 1024  # pixels of the longer side at the most
_QUALITY = 85


def encoded(source: bytes | Path | None, *, row: str | None = None) -> bytes:
    """Return an image as WebP of at most `SIDE` pixels, without EXIF or other data about it.

    `row` is the id of the row that shows it, for messages. Raises InputError where it cannot be opened.
    """
    with open_image(source, row=row, side=SIDE) as image:
        image.thumbnail((SIDE, SIDE))
        image.info.clear()  # older versions of Pillow write a profile that they find here
        out = BytesIO()
        image.save(out, "WEBP", quality=_QUALITY, method=4)
    return out.getvalue()


def write_images(folder: str | Path, images: Mapping[str, bytes]) -> None:
    """Write the images of a study, by file name, into its folder of images."""
    root = Path(folder) / IMAGES
    if images:
        make_folder(root)
    for name, content in images.items():
        with atomic_file(root / name, durable=False) as temporary:
            temporary.write_bytes(content)
