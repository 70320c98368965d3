"""Cells of an image column into image sources, without opening any image."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.columns import Paths, Strings, paths_of
from xlingual.data.rows import is_missing
from xlingual.data.tables import Table, described, encodes
from xlingual.errors import InputError, parameter
from xlingual.images import ImageSource, is_opened, opened, png_of
from xlingual.records import digest


def images_in(table: Table, name: str | None, several: str | None) -> tuple[Ints, Sequence[ImageSource]]:
    """Return, for each row of the table, the number of its image (-1: none), and the different images.

    Images are equal where their bytes or their paths are. A path must stay within the manifest's folder.
    `several` says what stands for a list of images: "first", or "mean": all of them, as one tuple, whose
    vector is the mean of theirs.
    """
    if name is None:
        return np.full(table.n_rows, -1, dtype=np.int64), []
    texts: Strings | None = None  # of a column of paths alone
    inside, resolved = _confined(table.folder)
    if table.kind(name) == "text" and not isinstance(column := table.column(name), list):
        codes, texts = Strings.of_arrow(column).numbered()
        if _are_plain(texts, resolved):
            return codes, Paths(table.folder, texts)
        cells: list[Any] = list(texts)
    else:
        cells = table.load(name)
        codes = np.arange(len(cells))
        if all(cell is None or (isinstance(cell, str) and encodes(cell)) for cell in cells):
            texts = Strings.of(cells)
    path_of = cache(lambda text: Path(inside(text)) if table.folder is None else table.folder / inside(text))
    numbers: dict[Any, int] = {}
    places: list[int] = []
    for code, cell in enumerate(cells):
        image: Any = ()
        try:
            if texts is not None:
                image = inside(cell) if cell and not cell.isspace() else ()
            else:
                image = tuple(dict.fromkeys(_image(source, path_of) for source in _sources(cell, several)))
                image = image[0] if len(image) == 1 else image
        except (InputError, ValueError, OSError) as error:
            rows = np.flatnonzero(codes == code).tolist()
            examples = [f"{cell!r:.80}"] if isinstance(cell, str) else []
            table.problems.add("image path", f"{table.where(rows[0], name)}: {error}", rows, examples)
        places.append(numbers.setdefault(image, len(numbers)) if image != () else -1)
    number_of = np.array(places, dtype=np.int64)
    return number_of[codes], list(numbers) if texts is None else Paths(table.folder, Strings.of(numbers))


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


def _image(source: Any, path_of: Callable[[str], Path]) -> bytes | Path:  # noqa: ANN401
    if not isinstance(source, (str, Path, bytes)):
        raise InputError(
            f"found {described(source)} where an image is expected: give a path or the image's bytes"
        )
    return source if isinstance(source, bytes) else path_of(str(source))


def _sources(cell: Any, several: str | None) -> list[Any]:  # noqa: ANN401
    """Return the bytes or paths of a cell that count, [] where it is empty."""
    if hasattr(cell, "tolist") and hasattr(cell, "dtype") and not _is_pixels(cell):
        cell = cell.tolist()  # an array of paths
    many = isinstance(cell, (list, tuple))
    if many and cell and all(isinstance(part, (list, tuple, int, float)) for part in cell):
        raise InputError(
            "found a list of numbers or of lists where an image is expected: if it holds pixels, give "
            "an array of uint8 [height, width, 3], as an image of Pillow, or as the image's bytes"
        )
    sources = [source for source in map(_source, cell if many else [cell]) if source is not None]
    if len(sources) > 1 and several is None:
        raise InputError(
            f"found {len(sources)} images in one cell: {parameter('images', 'first')} takes the first of "
            f"each row, {parameter('images', 'mean')} the mean of their unit vectors"
        )
    return sources[:1] if several != "mean" else sources


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


def _are_plain(texts: Strings, resolved: Callable[[str], tuple[str, str | None, set[str]]]) -> bool:
    """Return whether all paths are within the folder as they are spelt and go by no link."""
    import pyarrow.compute as pc

    if pc.any(pc.match_substring_regex(texts.array, r"(^|/)\.{0,2}$|\x00")).as_py():
        return False
    heads = pc.unique(pc.replace_substring_regex(texts.array, "[^/]*$", "")).to_pylist()
    return all(resolved(head)[1:] == (head, set()) for head in heads)


def _confined(
    folder: Path | None,
) -> tuple[Callable[[str], str], Callable[[str], tuple[str, str | None, set[str]]]]:
    """Return functions that give a path as one within the folder, or raise InputError, and resolve a folder.

    Links are followed, or a manifest from elsewhere could have any file of this machine read. Folders are
    resolved once each: a manifest may name very many images. Without a folder paths stay as they are.
    """
    if folder is None:
        return lambda text: Path(text).as_posix(), lambda head: ("", None, set())
    root = os.path.realpath(folder)

    @cache
    def resolved(head: str) -> tuple[str, str | None, set[str]]:
        """Return a folder resolved, the beginning of names in it (None: outside the root), and its links."""
        place = os.path.realpath(os.path.join(root, head))
        if os.path.commonpath([root, place]) != root:
            return place, None, set()
        entries = os.scandir(place) if os.path.isdir(place) else ()
        links = {entry.name for entry in entries if entry.is_symlink()}
        return place, "" if place == root else f"{os.path.relpath(place, root)}{os.sep}", links

    def inside(text: str) -> str:
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
