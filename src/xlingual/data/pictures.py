"""Opening pictures: from bytes or a path to an RGB image, or one clear error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.errors import InputError
from xlingual.records import MOST_PIXELS, PICTURE_FORMATS

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 200_000_000


def read_bytes(source: bytes | Path, *, row: str | None = None) -> bytes:
    """Return the encoded image of a picture; `row`, the id of the row that shows it, is for messages."""
    if isinstance(source, bytes):
        return source
    what = _named(source, row)
    try:
        if not source.is_file():
            raise InputError(
                f"{what}: no such file: put the picture there, or correct the path in the manifest"
            )
        if source.stat().st_size > MAX_BYTES:
            raise InputError(f"{what}: larger than {MAX_BYTES // 10**6} MB: make the picture smaller")
        return source.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{what} cannot be read ({reason}): correct the path or its permissions") from error


def open_picture(source: bytes | Path, *, row: str | None = None) -> Image:
    """Return a picture as an RGB image: upright (EXIF), transparency over white, the first frame.

    Raises InputError, naming the row and the file, where it is missing, no image, broken or too large.
    """
    from io import BytesIO

    from PIL import Image, ImageOps, UnidentifiedImageError

    content = read_bytes(source, row=row)
    what = _named(source, row)
    try:
        with Image.open(BytesIO(content), formats=PICTURE_FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise InputError(
                    f"{what}: {image.width} × {image.height} pixels, more than "
                    f"{MOST_PIXELS // 10**6} million: make the picture smaller"
                )
            image.load()
            return _as_rgb(ImageOps.exif_transpose(image))
    except InputError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InputError(f"{what}: far too many pixels: make the picture smaller") from error
    except Exception as error:  # Pillow raises errors of many kinds for broken files
        reason = "not a picture" if isinstance(error, UnidentifiedImageError) else _reason(error)
        raise InputError(
            f"{what} is not an image that can be read ({reason}): "
            f"give {', '.join(PICTURE_FORMATS[:-1])} or {PICTURE_FORMATS[-1]}"
        ) from error


def _reason(error: Exception) -> str:
    """Return why Pillow failed, without the object in memory that it may name."""
    return re.sub(r"\s*<_io\.[^>]*>", "", " ".join(str(error).split()))[:100] or type(error).__name__


def _as_rgb(image: Image) -> Image:
    from PIL import Image as Images

    if image.mode == "I" or image.mode.startswith("I;16"):  # 16 bits; Pillow would clip them to 8
        image = image.convert("I").point(lambda value: value / 256).convert("L")
    if "A" in image.mode or "a" in image.mode or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Images.new("RGBA", image.size, (255, 255, 255, 255))
        image = Images.alpha_composite(white, image)
    return image.convert("RGB")


def _named(source: bytes | Path, row: str | None) -> str:
    name = f"the picture {source}" if isinstance(source, Path) else "a picture"
    return f"{name} of row {row!r}" if row is not None else name
