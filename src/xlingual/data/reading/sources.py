"""Cells of an image column into picture sources, without opening any picture."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.data.reading.tables import Table
from xlingual.data.reading.values import described, is_missing
from xlingual.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from xlingual.records import Ints


def pictures_in(table: Table, name: str | None) -> tuple[Ints, list[bytes | Path]]:
    """Return, for each row of the table, the number of its picture (-1: none), and the different pictures.

    Pictures are equal where their bytes or their paths are. A path must stay within the manifest's folder.
    """
    import numpy as np

    if name is None:
        return np.full(table.n_rows, -1, dtype=np.int64), []
    inside = _confine(table.folder) if table.folder is not None else Path
    paths: dict[str, bytes | Path] = {}
    numbers: dict[bytes | Path, int] = {}
    codes = []
    for row, cell in enumerate(table.load(name)):
        value = _source(cell)
        if value is None:
            codes.append(-1)
            continue
        try:
            if isinstance(value, (str, Path)):
                value = str(value)
                if value not in paths:
                    paths[value] = inside(value)
                value = paths[value]
            elif not isinstance(value, bytes):
                raise InputError(
                    f"found {described(value)} where a picture is expected: give a path or the image's bytes"
                )
        except (InputError, ValueError, OSError) as error:
            raise InputError(f"{table.where(row, name)}: {error}") from error
        codes.append(numbers.setdefault(value, len(numbers)))
    return np.array(codes, dtype=np.int64), list(numbers)


def _source(cell: Any) -> Any:  # noqa: ANN401
    """Return the bytes or path of a cell, which may be a {bytes, path} struct; None where it is empty."""
    if isinstance(cell, Mapping):
        content, path = cell.get("bytes"), cell.get("path")
        cell = path if is_missing(content) else content
    if isinstance(cell, (bytearray, memoryview)):
        cell = bytes(cell)
    return None if cell == b"" or is_missing(cell) else cell


def _confine(folder: Path) -> Callable[[str], Path]:
    """Return a function that turns a path into one within the folder, or raises InputError.

    Links are followed, or a manifest from elsewhere could have any file of this machine read. Folders are
    resolved once each: a manifest may name very many pictures.
    """
    root = os.path.realpath(folder)
    resolved = cache(os.path.realpath)

    def inside(text: str) -> Path:
        if "\0" in text:
            raise InputError(f"{text!r:.100} is not a path: it holds a zero byte")
        head, tail = os.path.split(text)
        place = os.path.join(resolved(os.path.join(root, head)), tail)
        linked = tail in {"", ".", ".."} or os.path.islink(place)
        target = os.path.realpath(place) if linked else place
        if os.path.commonpath([root, target]) != root:
            raise InputError(
                f"{text!r:.100} is a path outside the manifest's folder: copy the picture into that folder, "
                "or put the manifest beside its pictures"
            )
        return folder / os.path.relpath(target if tail in {"", ".", ".."} else place, root)

    return inside
