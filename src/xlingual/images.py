"""Opening images: the one way from bytes or a path to an upright RGB image, or to one clear error.

Pillow is imported inside the functions, so that this module costs nothing to import. Everything here may be
called from several threads.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from xlingual.arrays import Ints
from xlingual.columns import Lookup, Paths
from xlingual.errors import InputError
from xlingual.files import regular_file

if TYPE_CHECKING:
    from PIL.Image import Image

ImageSource: TypeAlias = "bytes | Path"  # the encoded bytes of an image, or a path to them

# formats that are opened: some others that Pillow knows start outside programs, or are no images
IMAGE_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "AVIF")
MOST_PIXELS = 80_000_000  # larger images are refused before they are decoded
THREADS = min(8, os.cpu_count() or 1)  # that open images; each may hold one of MOST_PIXELS pixels
MAX_BYTES = 200_000_000
GLANCE = 32  # side of an image that is only looked at: JPEG is decoded at a small scale
NO_URL = "download it and name the file, or use vectors of the images (vectors:PATH)"
_NO_EXIF = (OSError, ValueError, SyntaxError, TypeError, AttributeError, struct.error)  # what damage raises
_URL = re.compile(
    r"(?:^|/)(https?|ftp|s3|gs|hf|gcs|az|abfss?|memory):/"
)  # also where a folder stands before it


def url_in(path: str) -> str | None:
    """Return the address on the net that a path was meant as, whatever folder it was put behind.

    >>> url_in("photos/https:/shop.example/1.jpg")
    'https://shop.example/1.jpg'
    """
    found = _URL.search(path)
    return None if found is None else f"{found[1]}://{path[found.end() :].lstrip('/')}"


def read_bytes(source: ImageSource | None, *, row: str | None = None) -> bytes:
    """Return the encoded bytes of an image; `row`, the id of the row that shows it, is for messages."""
    where = "" if row is None else f"row {row!r}: "
    if source is None:
        who = "a row" if row is None else f"row {row!r}"
        raise InputError(f"{who} has no image: give one, or use vectors of the images (vectors:PATH)")
    if isinstance(source, bytes):
        return source
    if (url := url_in(source.as_posix())) is not None:
        raise InputError(f"{where}the image is a URL ({url}): {NO_URL}")
    try:
        size = source.stat().st_size  # where there is no file, its error is reported below
        regular_file(source, f"{where}the image")
        if size > MAX_BYTES:
            raise InputError(
                f"{where}the image {source} is larger than {MAX_BYTES // 10**6} MB: make it smaller"
            )
        return source.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        looked = "" if source.is_absolute() else f"; looked in {Path.cwd()}"
        slashes = "; the path has backslashes: write /" if "\\" in source.name else ""
        raise InputError(
            f"{where}cannot read the image {source} ({reason}{looked}{slashes}): put it there, correct "
            "the path in the manifest, or use vectors of the images (vectors:PATH)"
        ) from error


def is_opened(value: object) -> bool:
    """Return whether a value is an image of Pillow."""
    return type(value).__module__.partition(".")[0] == "PIL" and hasattr(value, "convert")


def opened(pixels: Any) -> Image:  # noqa: ANN401  (an array of any library)
    """Return the image of an array of pixels, uint8 [h, w] or [h, w, 1, 3 or 4].

    Raises InputError for other arrays: of numbers of another kind nothing says what is white.
    """
    from PIL import Image

    array = np.asarray(pixels)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.dtype != np.uint8 or not array.size or (array.ndim != 2 and array.shape[2:] not in {(3,), (4,)}):
        raise InputError(
            f"found an array of {array.dtype} of shape {'×'.join(map(str, array.shape))} where an image is "
            "expected: give pixels as uint8 [height, width, 3], an image of Pillow, or its bytes or path"
        )
    return Image.fromarray(array)


def png_of(image: Image) -> bytes:
    """Return an image of Pillow as PNG: upright, in RGB, transparency over white, as files are opened."""
    from PIL import ImageOps

    upright = image
    with suppress(*_NO_EXIF):
        upright = ImageOps.exif_transpose(image)
    out = BytesIO()
    _over_white(upright).save(out, "PNG", compress_level=1)
    return out.getvalue()


def missing_files(
    sources: Sequence[ImageSource | None], exists: Callable[[str | Path], bool] = os.path.isfile
) -> Ints:
    """Return the numbers of those sources that are paths at which there is no file, ascending.

    `exists` decides (`os.path.exists`: anything counts as a file). Of a column of paths, none becomes a Path
    for that, and what lies in a folder that is missing is not looked for.
    """
    base, codes = (sources.words, sources.codes) if isinstance(sources, Lookup) else (sources, None)
    if not isinstance(base, Paths):
        paths = ((i, path) for i, path in enumerate(sources) if isinstance(path, Path))
        return np.array([i for i, path in paths if not exists(path)], dtype=np.int64)
    folder = "" if base.folder is None else str(base.folder)
    is_folder = cache(os.path.isdir)
    gone = np.zeros(len(base), dtype=bool)
    for number, name in enumerate(base.names):
        head, tail = os.path.split(name)
        place = os.path.join(folder, head)
        gone[number] = not (is_folder(place or ".") and exists(os.path.join(place, tail)))
    if codes is None:
        return np.flatnonzero(gone)
    return np.flatnonzero(np.append(gone, False)[np.maximum(codes, -1)])  # -1, no image, is the last


def open_image(source: ImageSource | None, *, row: str | None = None, side: int | None = None) -> Image:
    """Return an image as an RGB image: upright (EXIF), transparency over white, the first frame.

    Where the image will be scaled down to about `side` pixels, a JPEG may be decoded at a smaller scale,
    at least four times that; images of other formats keep their size.

    Raises InputError, naming the row and the file, where it is missing, no image, broken, or larger than
    `MOST_PIXELS`, which is looked at before anything is decoded.
    """
    content = read_bytes(source, row=row)
    return decode(content, source if isinstance(source, Path) else None, row=row, side=side)


def open_images(sources: Sequence[ImageSource | None], rows: Sequence[str]) -> list[Image]:
    """Return several images, opened side by side; `rows` are the ids of the rows that show them."""
    with ThreadPoolExecutor(THREADS, thread_name_prefix="decoding") as executor:
        return list(executor.map(lambda source, row: open_image(source, row=row), sources, rows))


def decode(
    content: bytes, path: Path | None = None, *, row: str | None = None, side: int | None = None
) -> Image:
    """Return the image of encoded bytes, as `open_image` does; `path`, their file, is for messages."""
    from PIL import Image, ImageOps

    where = ("" if row is None else f"row {row!r}: ") + "the image" + (f" {path}" if path else "")
    try:
        with Image.open(BytesIO(content), formats=IMAGE_FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            if side is not None:
                image.draft("RGB", (4 * side, 4 * side))  # lets JPEG skip detail that scaling would lose
            image.load()  # PNG may hold its EXIF behind the pixels
            with suppress(*_NO_EXIF):  # damaged, it says nothing
                ImageOps.exif_transpose(image, in_place=True)
            return _over_white(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise InputError(f"{where} has more than {MOST_PIXELS:,} pixels: make it smaller") from None
    except Exception as error:  # Pillow raises errors of many kinds for broken files
        found = "is empty" if not content else f"cannot be decoded ({_reason(error)})"
        raise InputError(
            f"{where} {found}: replace it by a {', '.join(IMAGE_FORMATS[:-1])} or {IMAGE_FORMATS[-1]} "
            "file, or leave the row out"
        ) from error


def _over_white(image: Image) -> Image:
    """Return the image in RGB, transparent parts white."""
    from PIL import Image as Images

    if image.mode[0] in "IF":  # grey in 16 bits, which Pillow would cut off instead of scaling, or in 32
        grey = np.asarray(image)
        if grey.dtype.kind == "f" or grey.max() > 65535 or grey.min() < 0:
            raise ValueError("pixels of 32 bits, of which nothing says what is white")
        return Images.fromarray((grey / 257).astype(np.uint8)).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        colours = image.convert("RGBA")
        white = Images.new("RGBA", colours.size, "white")
        return Images.alpha_composite(white, colours).convert("RGB")
    return image.convert("RGB")


def _reason(error: Exception) -> str:
    """Return why Pillow failed, without the object in memory that it may name."""
    reason = re.sub(r"\s*<_io\.[^>]*>", "", " ".join(str(error).split()))[:100]
    return "not an image" if "cannot identify image file" in reason else reason or type(error).__name__
