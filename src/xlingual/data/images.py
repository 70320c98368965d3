"""Images of a manifest: cells of a column as image sources, which of them are near-equal, and thumbnails."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.columns import Paths, Strings, paths_of
from xlingual.data.rows import is_missing
from xlingual.data.tables import Table, described
from xlingual.errors import InputError
from xlingual.images import (
    GLANCE,
    THREADS,
    ImageSource,
    decode,
    is_opened,
    open_image,
    opened,
    png_of,
    read_bytes,
)
from xlingual.records import digest

SIDE = 144  # pixels of a thumbnail: sharp at 72 CSS pixels on a dense display
_LONGEST = 1000  # characters of a text in a report
_NEAR = 0.05  # most distance of near-equal images, as a share of the usual distance of two images
_COMPARED = 20_000  # images that are compared with each other; of more, a sample
_DIMENSIONS = 96  # that near-equal vectors are compared in


def images_in(table: Table, name: str | None) -> tuple[Ints, Sequence[ImageSource]]:
    """Find the image of each row of the table (-1: none), and list the different images.

    Images are equal where their bytes or their paths are. A path must stay within the manifest's folder. Of
    several images of a row the first counts. No image is opened.
    """
    if name is None:
        return np.full(table.n_rows, -1, dtype=np.int64), []
    codes, cells = np.arange(table.n_rows), table.columns[name]
    if table.kind(name) == "text" and not isinstance(cells, list):
        codes, cells = Strings.of_arrow(cells).numbered()
    else:
        cells = table.cells(name)
    if isinstance(cells, Strings) and table.folder is not None and _are_plain(cells, table.folder):
        return codes, Paths(table.folder, cells)
    inside = _confined(table.folder)
    numbers: dict[str | bytes, int] = {}
    places, errors, several = [], {}, 0
    for code, cell in enumerate(cells):
        image = None
        try:
            if hasattr(cell, "tolist") and not _is_pixels(cell):
                cell = cell.tolist()  # an array of paths
            if isinstance(cell, list | tuple):
                several += len(cell) > 1
                cell = next((part for part in cell if not is_missing(part)), None)
            image = _source(cell, inside)
        except (InputError, ValueError, OSError) as error:
            errors[code] = str(error)
        places.append(-1 if image is None else numbers.setdefault(image, len(numbers)))
    if several:
        sentence = f"{table.source}: {several} rows have several images: the first of each counts"
        table.problems.add("several images", sentence, severity="warning")
    if errors:
        rows = np.flatnonzero(np.isin(codes, list(errors))).tolist()
        sentence = f"{table.where(rows[0], name)}: {errors[codes[rows[0]]]}"
        table.problems.add("image path", sentence, rows, [f"{cells[code]!r:.80}" for code in [*errors][:3]])
    image_of = np.array(places, dtype=np.int64)[codes]
    if all(isinstance(image, str) for image in numbers):
        return image_of, Paths(table.folder, Strings.of(map(str, numbers)))
    folder = table.folder or Path()
    return image_of, [image if isinstance(image, bytes) else folder / image for image in numbers]


def _source(cell: Any, inside: Callable[[str], str]) -> str | bytes | None:  # noqa: ANN401
    """Take the bytes of an image, or its path within the folder; None where the cell is empty."""
    if isinstance(cell, Mapping):
        cell = cell.get("path") if is_missing(cell.get("bytes")) else cell["bytes"]
    cell = opened(cell) if _is_pixels(cell) else cell
    cell = png_of(cell) if is_opened(cell) else cell
    if isinstance(cell, bytes | bytearray | memoryview):
        return bytes(cell) or None
    if is_missing(cell):
        return None
    if isinstance(cell, str | Path):
        return inside(str(cell))
    raise InputError(
        f"found {described(cell)} where an image is expected: give a path, an image of Pillow, its bytes, or "
        "an array of uint8 [height, width, 3]"
    )


def _is_pixels(cell: Any) -> bool:  # noqa: ANN401
    """Whether a cell is an array of numbers in rows and columns."""
    return getattr(getattr(cell, "dtype", None), "kind", "") in {*"biuf"} and getattr(cell, "ndim", 0) > 1


def _are_plain(paths: Strings, folder: Path) -> bool:
    """Whether all paths are within the folder as they are spelt and go by no link."""
    import pyarrow.compute as pc

    if pc.any(pc.match_substring_regex(paths.array, r"(^|/)\.{0,2}$|\x00|^\s*$")).as_py():
        return False
    root = os.path.realpath(folder)
    for head in pc.unique(pc.replace_substring_regex(paths.array, "[^/]*$", "")).to_pylist():
        place = os.path.realpath(os.path.join(root, head))
        if head.startswith("..") or os.path.relpath(place, root) != (head.removesuffix("/") or "."):
            return False
        if os.path.isdir(place) and any(entry.is_symlink() for entry in os.scandir(place)):
            return False
    return True


def _confined(folder: Path | None) -> Callable[[str], str]:
    """Make the function that gives a path as one within the folder, or raises InputError.

    Links are followed, or a manifest from elsewhere could have any file of this machine read. Folders are
    resolved once each: a manifest may name very many images. Without a folder paths stay as they are.
    """
    if folder is None:
        return lambda text: Path(text).as_posix()
    root, resolved = os.path.realpath(folder), cache(os.path.realpath)

    def inside(text: str) -> str:
        text.encode()  # half a surrogate pair is in no path
        if "\0" in text:
            raise InputError(f"{text!r:.100} is not a path: it holds a zero byte")
        head, slash, tail = text.rpartition(os.sep)
        path = os.path.join(resolved(os.path.join(root, head or slash)), tail)
        plain = tail not in ("", ".", "..")
        target = path if plain and not os.path.islink(path) else os.path.realpath(path)
        if os.path.commonpath([root, target]) != root:
            raise InputError(
                f"{text!r:.100} is a path outside the manifest's folder: copy the image into that folder, "
                "or put the manifest beside its images"
            )
        return os.path.relpath(path if plain else target, root)

    return inside


def image_keys(sources: Sequence[ImageSource], folder: Path | None) -> Any:  # noqa: ANN401  (uint8 [n, 16])
    """Give a digest of each image: of its bytes, or of its path within the folder."""
    column = paths_of(sources)
    if column is not None and column[0] == folder:
        keys = [digest("path", name) for name in column[1]]
    else:
        keys = [
            digest("bytes", source)
            if isinstance(source, bytes)
            else digest("path", (source.relative_to(folder) if folder is not None else source).as_posix())
            for source in sources
        ]
    return np.frombuffer(b"".join(keys), np.uint8).reshape(-1, 16)


def items_of_images(image: Ints, item: Ints) -> Ints:
    """Count how many items show each image; `image` (-1: none) and `item` are those of texts [n]."""
    rows = np.flatnonzero(image >= 0)
    n_items = int(item.max(initial=0)) + 1
    return np.bincount(distinct_values(image[rows].astype(np.int64) * n_items + item[rows]) // n_items)


def looked_at(
    sources: Sequence[ImageSource], rows: Sequence[str]
) -> Iterator[tuple[bytes, np.ndarray] | InputError]:
    """Yield a digest of each image's bytes and its look [192], or why it cannot be opened.

    Some are opened side by side; `rows` are the ids of the rows that show them.
    """

    def look(source: ImageSource, row: str) -> tuple[bytes, np.ndarray] | InputError:
        try:
            raw = read_bytes(source, row=row)
            image = decode(raw, source if isinstance(source, Path) else None, row=row, side=GLANCE)
            return digest(raw), np.asarray(image.resize((8, 8)), dtype=np.float32).ravel()
        except InputError as error:
            return error

    with ThreadPoolExecutor(THREADS, thread_name_prefix="decoding") as executor:
        for start in range(0, len(sources), 64):  # so many are in memory at a time
            yield from executor.map(look, sources[start : start + 64], rows[start : start + 64])


def groups_of_looks(looks: Mapping[int, np.ndarray], items: Ints, most: int) -> Ints:
    """Give for each image [n] the first of its group of near-equal images (`near_equal`).

    `looks` has those that could be opened; `items` [n] counts the items that show each image.
    """
    first, numbers = np.arange(len(items)), np.array(list(looks), dtype=np.int64)
    if len(numbers):
        first[numbers] = numbers[near_equal(np.stack(list(looks.values())), items[numbers], most)]
    return first


def sketched(vectors: np.ndarray) -> np.ndarray:
    """Project vectors [n, d] to few dimensions with about the same distances (Johnson, Lindenstrauss)."""
    vectors, d = np.asarray(vectors, dtype=np.float32), vectors.shape[1]
    if d <= _DIMENSIONS:
        return vectors
    directions = np.random.default_rng(0).standard_normal((d, _DIMENSIONS), dtype=np.float32)
    sketch: np.ndarray = vectors @ (directions / np.sqrt(_DIMENSIONS, dtype=np.float32))
    return sketch


def near_equal(vectors: np.ndarray, items: Ints, most: int) -> Ints:
    """Give for each image [n] the first of its group of near-equal images; itself where it is in none.

    A group has an image in its middle whose near-equal images (`vectors` [n, d] of looks or of an encoder)
    are shown by more than `most` items; `items` [n] counts those of each image.
    """
    n, first = len(vectors), np.arange(len(vectors))
    x = sketched(vectors - vectors.mean(axis=0)) if n else vectors
    square, limit = (x * x).sum(axis=1), 2 * _NEAR**2 * float(x.var(axis=0).sum()) if n else 0.0
    sample = np.unique(np.linspace(0, n - 1, min(n, _COMPARED)).astype(np.int64))
    weight = np.zeros(len(sample))
    for start in range(0, len(sample), 1024):
        rows = sample[start : start + 1024]
        distance = square[rows, None] + square[sample] - 2 * x[rows] @ x[sample].T
        weight[start : start + 1024] = (distance <= limit) @ items[sample]
    while len(sample) and weight.max() > most:
        middle = sample[weight.argmax()]
        members = np.flatnonzero(((x - x[middle]) ** 2).sum(axis=1) <= max(limit, 0))
        first[members] = members[0]
        weight[np.isin(sample, members)] = 0
    return first


def cut(text: str) -> str:
    """Give a text, or its beginning."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def thumbnails(
    sources: Sequence[ImageSource], side: int = SIDE, most: int | None = None
) -> Callable[[int], bytes | None]:
    """Make the function that gives the JPEG of an image by its number; None for -1 and where there is none.

    Each is opened once; of `most`, those that were asked for last are kept.
    """

    @lru_cache(maxsize=most)
    def thumbnail(number: int) -> bytes | None:
        if number < 0 or (isinstance(sources[number], Path) and not sources[number].is_file()):  # type: ignore[union-attr]
            return None
        try:
            image = open_image(sources[number])
        except InputError:
            return None  # the report draws a placeholder; an image that was needed has been refused before
        image.thumbnail((side, side))
        out = BytesIO()
        image.save(out, "JPEG", quality=82)
        return out.getvalue()

    return thumbnail
