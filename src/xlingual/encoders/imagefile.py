"""Opening a picture file safely, for encoders that look at its pixels."""

from __future__ import annotations

import re
import struct
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xlingual.errors import InputError
from xlingual.records import MOST_PIXELS, PICTURE_FORMATS

if TYPE_CHECKING:
    from PIL.Image import Image

_ORIENTATION = 0x0112  # EXIF's number of the tag that says how a picture is to be turned
_TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}


def picture_bytes(source: bytes | Path | None, row: str) -> bytes:
    """Return the encoded bytes of a picture; raise InputError naming the row where there are none."""
    if source is None:
        raise InputError(
            f"row {row!r} has no picture: give one, or use vectors of the pictures (vectors:PATH)"
        )
    if isinstance(source, bytes):
        return source
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise InputError(
            f"row {row!r}: cannot read the picture {source} ({error.strerror or error}): put it there, "
            "correct the path in the manifest, or use vectors of the pictures (vectors:PATH)"
        ) from error


def decode_rgb(raw: bytes, size: int, row: str, source: bytes | Path | None) -> NDArray[np.uint8]:
    """Return the picture upright, over white, scaled to uint8 [size, size, 3]; the shape is not kept.

    Raises InputError naming the row (and the file) where it is broken, or larger than `MOST_PIXELS`.
    """
    from PIL import Image

    where = f"row {row!r}: the picture" + (f" {source}" if isinstance(source, Path) else "")
    try:
        with Image.open(BytesIO(raw), formats=PICTURE_FORMATS) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            picture.draft("RGB", (4 * size, 4 * size))  # lets JPEG skip detail that scaling would lose
            upright = _over_white(_upright(picture))
    except Image.DecompressionBombError:
        raise InputError(f"{where} has more than {MOST_PIXELS:,} pixels: make it smaller") from None
    except (OSError, ValueError, SyntaxError, EOFError, OverflowError, MemoryError) as error:
        found = "is empty" if not raw else f"cannot be decoded ({_reason(error)})"
        raise InputError(f"{where} {found}: replace the file, or leave the row out") from error
    scaled = upright.resize((size, size), Image.Resampling.BICUBIC, reducing_gap=3.0)
    return np.asarray(scaled, dtype=np.uint8)


def _upright(picture: Image) -> Image:
    """Return the picture turned as its EXIF says; damaged EXIF says nothing."""
    from PIL.Image import Transpose

    picture.load()  # PNG may hold its EXIF behind the pixels
    try:
        turn = _TURNS.get(picture.getexif().get(_ORIENTATION, 1))
    except (OSError, ValueError, SyntaxError, TypeError, struct.error):
        turn = None
    return picture.transpose(Transpose[turn]) if turn else picture


def _over_white(picture: Image) -> Image:
    """Return the picture in RGB, transparent parts white."""
    from PIL import Image

    if picture.mode.startswith("I"):  # 16 bits of grey, which Pillow would cut off instead of scaling
        grey = np.asarray(picture).astype(np.float64) / 257
        return Image.fromarray(grey.clip(0, 255).astype(np.uint8)).convert("RGB")
    if picture.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in picture.info:
        colours = picture.convert("RGBA")
        white = Image.new("RGBA", colours.size, "white")
        return Image.alpha_composite(white, colours).convert("RGB")
    return picture.convert("RGB")


def _reason(error: Exception) -> str:
    reason = re.sub(r"\s*<_io\.[^>]*>", "", " ".join(str(error).split()))  # no object in memory
    return "not a picture" if "cannot identify image file" in reason else reason or type(error).__name__
