"""Images of a manifest: cells of a column as image sources, which of them are near-equal, and thumbnails."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.columns import Paths, Strings, paths_of
from xlingual.data.rows import is_missing
from xlingual.data.tables import Table, described
from xlingual.errors import InputError, parameter
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

Place: TypeAlias = tuple[str, str | None, set[str]]  # a folder, the beginning of paths in it, links in it
SIDE = 144  # pixels of a thumbnail: sharp at 72 CSS pixels on a dense display
_LONGEST = 1000  # characters of a text in a report
_NEAR = 0.05  # most distance of near-equal images, as a share of the usual distance of two images
_COMPARED = 20_000  # images that are compared with each other; of more, a sample
_DIMENSIONS = 96  # that near-equal vectors are compared in


def images_in(table: Table, name: str | None, several: str | None) -> tuple[Ints, Sequence[ImageSource]]:
    """Return, for each row of the table, the number of its image (-1: none), and the different images.

    Images are equal where their bytes or their paths are. A path must stay within the manifest's folder.
    `several` says what stands for a list of images: "first", or "mean": all of them, as one tuple, whose
    vector is the mean of theirs. No image is opened.
    """
    if name is None:
        return np.full(table.n_rows, -1, dtype=np.int64), []
    codes, cells = np.arange(table.n_rows), table.column(name)
    if table.kind(name) == "text" and not isinstance(cells, list):
        codes, cells = Strings.of_arrow(cells).numbered()
    elif not isinstance(cells, list):
        cells = table.load(name)
    inside, resolved = _confined(table.folder)
    if isinstance(cells, Strings) and table.folder is not None and _are_plain(cells, resolved):
        return codes, Paths(table.folder, cells)
    numbers: dict[tuple[str | bytes, ...], int] = {}
    places, errors = [], {}
    for code, cell in enumerate(cells):
        image: tuple[str | bytes, ...] = ()
        try:
            image = _sources(cell, several, inside)
        except (InputError, ValueError, OSError) as error:
            errors[code] = str(error)
        places.append(numbers.setdefault(image, len(numbers)) if image else -1)
    if errors:
        rows = np.flatnonzero(np.isin(codes, list(errors))).tolist()
        sentence = f"{table.where(rows[0], name)}: {errors[codes[rows[0]]]}"
        table.problems.add("image path", sentence, rows, [f"{cells[code]!r:.80}" for code in [*errors][:3]])
    image_of = np.array(places, dtype=np.int64)[codes]
    if all(len(image) == 1 and isinstance(image[0], str) for image in numbers):
        return image_of, Paths(table.folder, Strings.of(image[0] for image in numbers))  # type: ignore[misc]
    folder = table.folder or Path()
    sources = [tuple(s if isinstance(s, bytes) else folder / s for s in image) for image in numbers]
    return image_of, [image[0] if len(image) == 1 else image for image in sources]


def _sources(cell: Any, several: str | None, inside: Callable[[str], str]) -> tuple[str | bytes, ...]:  # noqa: ANN401
    """Return the bytes and the paths within the folder of a cell that count, none where it is empty."""
    if hasattr(cell, "tolist") and hasattr(cell, "dtype") and not _is_pixels(cell):
        cell = cell.tolist()  # an array of paths
    many = isinstance(cell, list | tuple)
    if many and cell and all(isinstance(part, list | tuple | int | float) for part in cell):
        raise InputError(
            "found a list of numbers or of lists where an image is expected: if it holds pixels, give "
            "an array of uint8 [height, width, 3], as an image of Pillow, or as the image's bytes"
        )
    sources: list[str | bytes] = []
    for part in cell if many else [cell]:
        if isinstance(part, Mapping):
            part = part.get("path") if is_missing(part.get("bytes")) else part["bytes"]
        part = opened(part) if _is_pixels(part) else part
        part = png_of(part) if is_opened(part) else part
        if isinstance(part, bytes | bytearray | memoryview):
            sources += [bytes(part)] if len(part) else []
        elif isinstance(part, str | Path):
            sources += [] if is_missing(part) else [inside(str(part))]
        elif not is_missing(part):
            raise InputError(f"found {described(part)} where an image is expected: give a path or its bytes")
    if len(sources) > 1 and several is None:
        raise InputError(
            f"found {len(sources)} images in one cell: {parameter('images', 'first')} takes the first of "
            f"each row, {parameter('images', 'mean')} the mean of their unit vectors"
        )
    return tuple(dict.fromkeys(sources if several == "mean" else sources[:1]))


def _is_pixels(cell: Any) -> bool:  # noqa: ANN401
    """Return whether a cell is an array of numbers in rows and columns."""
    return getattr(getattr(cell, "dtype", None), "kind", "") in {*"biuf"} and getattr(cell, "ndim", 0) > 1


def _are_plain(paths: Strings, resolved: Callable[[str], Place]) -> bool:
    """Return whether all paths are within the folder as they are spelt and go by no link."""
    import pyarrow.compute as pc

    if pc.any(pc.match_substring_regex(paths.array, r"(^|/)\.{0,2}$|\x00|^\s*$")).as_py():
        return False
    heads = pc.unique(pc.replace_substring_regex(paths.array, "[^/]*$", "")).to_pylist()
    return all(resolved(head)[1:] == (head, set()) for head in heads)


def _confined(folder: Path | None) -> tuple[Callable[[str], str], Callable[[str], Place]]:
    """Return functions that give a path as one within the folder, or raise InputError, and resolve a folder.

    Links are followed, or a manifest from elsewhere could have any file of this machine read. Folders are
    resolved once each: a manifest may name very many images. Without a folder paths stay as they are.
    """
    if folder is None:
        return lambda text: Path(text).as_posix(), lambda head: ("", None, set())
    root = os.path.realpath(folder)

    @cache
    def resolved(head: str) -> Place:
        """Return a folder resolved, the beginning of names in it (None: outside the root), and its links."""
        place = os.path.realpath(os.path.join(root, head))
        if os.path.commonpath([root, place]) != root:
            return place, None, set()
        entries = os.scandir(place) if os.path.isdir(place) else ()
        links = {entry.name for entry in entries if entry.is_symlink()}
        return place, "" if place == root else f"{os.path.relpath(place, root)}{os.sep}", links

    def inside(text: str) -> str:
        text.encode()  # half a surrogate pair is in no path
        if "\0" in text:
            raise InputError(f"{text!r:.100} is not a path: it holds a zero byte")
        head, slash, tail = text.rpartition(os.sep)
        place, beginning, links = resolved(head or slash)
        plain = tail not in ("", ".", "..")
        if plain and beginning is not None and tail not in links:
            return beginning + tail
        path = os.path.join(place, tail)
        target = os.path.realpath(path)
        if os.path.commonpath([root, target]) != root:
            raise InputError(
                f"{text!r:.100} is a path outside the manifest's folder: copy the image into that folder, "
                "or put the manifest beside its images"
            )
        return os.path.relpath(path if plain else target, root)

    return inside, resolved


def image_keys(sources: Sequence[ImageSource], folder: Path | None) -> Any:  # noqa: ANN401  (uint8 [n, 16])
    """Return one digest for each image: of its bytes, or of its path within the folder."""

    def key(source: ImageSource) -> bytes:
        if isinstance(source, tuple):
            return digest("mean", *map(key, source))
        if isinstance(source, bytes):
            return digest("bytes", source)
        path = source.relative_to(folder) if folder is not None else source
        return digest("path", path.as_posix())

    column = paths_of(sources)
    if column is not None and column[0] == folder:
        raw = b"".join([digest("path", name) for name in column[1]])
    else:
        raw = b"".join([key(source) for source in sources])
    return np.frombuffer(raw, np.uint8).reshape(-1, 16)


def items_of_images(image: Ints, item: Ints) -> Ints:
    """Return how many items show each image; `image` (-1: none) and `item` are those of texts [n]."""
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
            if isinstance(source, tuple):
                looks = [look(part, row) for part in source]
                if wrong := next((each for each in looks if isinstance(each, InputError)), None):
                    return wrong
                digests, pixels = zip(*looks, strict=True)
                return digest(*digests), np.mean(pixels, axis=0)
            raw = read_bytes(source, row=row)
            image = decode(raw, source if isinstance(source, Path) else None, row=row, side=GLANCE)
            return digest(raw), np.asarray(image.resize((8, 8)), dtype=np.float32).ravel()
        except InputError as error:
            return error

    with ThreadPoolExecutor(THREADS, thread_name_prefix="decoding") as executor:
        for start in range(0, len(sources), 64):  # so many are in memory at a time
            yield from executor.map(look, sources[start : start + 64], rows[start : start + 64])


def groups_of_looks(looks: Mapping[int, np.ndarray], items: Ints, most: int) -> Ints:
    """Return for each image [n] the first of its group of near-equal images (`near_equal`).

    `looks` has those that could be opened; `items` [n] counts the items that show each image.
    """
    first, numbers = np.arange(len(items)), np.array(list(looks), dtype=np.int64)
    if len(numbers):
        first[numbers] = numbers[near_equal(np.stack(list(looks.values())), items[numbers], most)]
    return first


def sketched(vectors: np.ndarray) -> np.ndarray:
    """Return vectors [n, d] in few dimensions with about the same distances (Johnson, Lindenstrauss)."""
    vectors, d = np.asarray(vectors, dtype=np.float32), vectors.shape[1]
    if d <= _DIMENSIONS:
        return vectors
    directions = np.random.default_rng(0).standard_normal((d, _DIMENSIONS), dtype=np.float32)
    sketch: np.ndarray = vectors @ (directions / np.sqrt(_DIMENSIONS, dtype=np.float32))
    return sketch


def near_equal(vectors: np.ndarray, items: Ints, most: int) -> Ints:
    """Return for each image [n] the first of its group of near-equal images; itself where it is in none.

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
    """Return a text, or its beginning."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def thumbnails(
    sources: Sequence[ImageSource], side: int = SIDE, most: int | None = None
) -> Callable[[int], bytes | None]:
    """Return what gives the JPEG of an image by its number, None for -1 and where it cannot be opened.

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
