"""Cells of an image column into image sources, without opening any image."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.columns import Lookup, Paths, Strings
from xlingual.data.reading.strings import numbered_strings
from xlingual.data.reading.tables import SourceTable
from xlingual.data.reading.values import arrow_cells, described, encodes, is_missing
from xlingual.errors import InputError, parameter
from xlingual.images import ImageSource, is_opened, opened, png_of
from xlingual.records import digest


def images_in(
    table: SourceTable, name: str | None, several: str | None = None
) -> tuple[Ints, Sequence[ImageSource]]:
    """Return, for each row of the table, the number of its image (-1: none), and the different images.

    Images are equal where their bytes or their paths are. A path must stay within the manifest's folder.
    `several` says what stands for a list of images: "first", or "mean": all of them, as one tuple, whose
    vector is the mean of theirs.
    """
    if name is None:
        return np.full(table.n_rows, -1, dtype=np.int64), []
    try:
        strings = arrow_cells(table, name)
    except InputError:
        strings = None  # bytes that are no text: found, with their row, below
    if strings is not None:
        return _paths(table, name, strings)
    cells = table.load(name)
    if all(cell is None or isinstance(cell, str) for cell in cells):
        names = [cell or "" for cell in cells]
        if encodes("".join(names)):
            return _paths(table, name, Strings.of(names))
    return _mixed(table, name, cells, several)


def image_keys(sources: Sequence[ImageSource], folder: Path | None) -> Any:  # noqa: ANN401  (uint8 [n, 16])
    """Return one digest for each image: of its bytes, or of its path within the folder."""

    def key(source: ImageSource) -> bytes:
        if isinstance(source, tuple):
            return digest("mean", *map(key, source))
        if isinstance(source, bytes):
            return digest("bytes", source)
        path = source.relative_to(folder) if folder is not None else source
        return digest("path", path.as_posix())

    base, codes = (sources.words, sources.codes) if isinstance(sources, Lookup) else (sources, None)
    if isinstance(base, Paths) and base.folder == folder:
        names = base.names if codes is None else base.names.view(codes)
        raw = b"".join([digest("path", name) for name in names])
    else:
        raw = b"".join([key(source) for source in sources])
    return np.frombuffer(raw, np.uint8).reshape(-1, 16)


def _paths(table: SourceTable, name: str, strings: Strings) -> tuple[Ints, Sequence[ImageSource]]:
    """Return the images of a column of paths; each different one is looked at once."""
    codes, words = numbered_strings(strings)
    inside = _confine(table.folder) if table.folder is not None else lambda text: Path(text).as_posix()
    numbers: dict[str, int] = {}
    number_of = np.full(len(words), -1, dtype=np.int64)
    for code, text in enumerate(words):
        if not text.strip():
            continue
        try:
            number_of[code] = numbers.setdefault(inside(text), len(numbers))
        except (InputError, ValueError, OSError) as error:
            rows = np.flatnonzero(codes == code).tolist()
            table.reading.error(
                "image path", f"{table.where(rows[0], name)}: {error}", rows, [f"{text!r:.80}"]
            )
    return number_of[codes], Paths(table.folder, Strings.of(numbers))


def _mixed(
    table: SourceTable, name: str, cells: Sequence[Any], several: str | None
) -> tuple[Ints, Sequence[ImageSource]]:
    """Return the images of a column that holds bytes, bytes and paths, or lists of these."""
    folder = table.folder
    within = _confine(folder) if folder is not None else None
    path_of = cache(lambda text: Path(text) if within is None else Path(str(folder)) / within(text))

    def image_of(value: Any) -> bytes | Path:  # noqa: ANN401
        if not isinstance(value, (str, Path, bytes)):
            raise InputError(
                f"found {described(value)} where an image is expected: give a path or the image's bytes"
            )
        return value if isinstance(value, bytes) else path_of(str(value))

    numbers: dict[ImageSource, int] = {}
    codes = np.full(len(cells), -1, dtype=np.int64)
    for row, cell in enumerate(cells):
        try:
            images = tuple(dict.fromkeys(map(image_of, _sources(table, cell, several))))
        except (InputError, ValueError, OSError) as error:
            table.reading.error("image path", f"{table.where(row, name)}: {error}", [row])
            continue
        if images:
            codes[row] = numbers.setdefault(images[0] if len(images) == 1 else images, len(numbers))
    return codes, list(numbers)


def _sources(table: SourceTable, cell: Any, several: str | None) -> list[Any]:  # noqa: ANN401
    """Return the bytes or paths of a cell that count, [] where it is empty."""
    if hasattr(cell, "tolist") and hasattr(cell, "dtype") and not _is_pixels(cell):
        cell = cell.tolist()  # an array of paths
    many = isinstance(cell, (list, tuple))
    if many and cell and all(isinstance(part, (list, tuple, int, float)) for part in cell):
        raise InputError(
            "found a list of numbers or of lists where an image is expected: if it holds pixels, give "
            "an array of uint8 [height, width, 3], as an image of Pillow, or as the image's bytes"
        )
    found = [source for source in map(_source, cell if many else [cell]) if source is not None]
    if len(found) > 1 and several is None:
        raise InputError(
            f"found {len(found)} images in one cell: {parameter('images', 'first')} takes the first of "
            f"each row, {parameter('images', 'mean')} the mean of their unit vectors"
        )
    return found[:1] if several != "mean" else found


def _source(cell: Any) -> Any:  # noqa: ANN401
    """Return the bytes or path of an image, which may be a {bytes, path} struct or open; None for none."""
    if isinstance(cell, Mapping):
        content, path = cell.get("bytes"), cell.get("path")
        cell = path if is_missing(content) else content
    if isinstance(cell, (bytearray, memoryview)):
        cell = bytes(cell)
    if _is_pixels(cell):
        cell = opened(cell)
    if is_opened(cell):
        return png_of(cell)
    return None if cell == b"" or is_missing(cell) else cell


def _is_pixels(cell: Any) -> bool:  # noqa: ANN401
    """Return whether a cell is an array of numbers in rows and columns."""
    return getattr(getattr(cell, "dtype", None), "kind", "") in {*"biuf"} and getattr(cell, "ndim", 0) > 1


def _confine(folder: Path) -> Callable[[str], str]:
    """Return a function that gives a path as one within the folder, or raises InputError.

    Links are followed, or a manifest from elsewhere could have any file of this machine read. Folders are
    resolved once each: a manifest may name very many images.
    """
    root = os.path.realpath(folder)

    @cache
    def known(head: str) -> tuple[str, str | None, bool]:
        """Return a folder resolved, its name within the root (None: outside), and whether it is there."""
        place = os.path.realpath(os.path.join(root, head))
        within = os.path.commonpath([root, place]) == root
        return place, os.path.relpath(place, root) if within else None, os.path.isdir(place)

    def inside(text: str) -> str:
        if "\0" in text:
            raise InputError(f"{text!r:.100} is not a path: it holds a zero byte")
        head, tail = os.path.split(text)
        place, name, there = known(head)
        plain = tail not in {"", ".", ".."}
        if plain and name is not None and not (there and os.path.islink(f"{place}{os.sep}{tail}")):
            return tail if name == "." else f"{name}{os.sep}{tail}"
        path = os.path.join(place, tail)
        target = os.path.realpath(path)
        if os.path.commonpath([root, target]) != root:
            raise InputError(
                f"{text!r:.100} is a path outside the manifest's folder: copy the image into that folder, "
                "or put the manifest beside its images"
            )
        return os.path.relpath(path if plain else target, root)

    return inside
