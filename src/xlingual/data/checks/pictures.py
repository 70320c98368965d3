"""Opening every picture of a manifest once, to see whether it is there and can be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from xlingual.columns import shown_paths, view
from xlingual.data.checks.records import PictureCheck
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError
from xlingual.pictures import GLANCE, THREADS, decode, missing_files, read_bytes
from xlingual.records import digest

Progress = Callable[[int, int], None]  # pictures done, pictures in all
_AT_ONCE = 64  # pictures opened side by side before the next ones are read


def check_pictures(manifest: Manifest, progress: Progress | None = None) -> PictureCheck:
    """Open every picture; `progress` is called with (pictures done, pictures in all)."""
    tell = progress or (lambda done, total: None)
    with_picture = np.flatnonzero(manifest.picture >= 0)
    first = np.unique(manifest.picture[with_picture], return_index=True)[1]
    sources = manifest.picture_source
    shown_by = manifest.ids.view(with_picture[first])  # the first that shows it
    total, absent = len(sources), missing_files(sources, os.path.exists)
    there = np.setdiff1d(np.arange(total), absent, assume_unique=True)
    contents: dict[bytes, int] = {}
    unreadable, same_bytes = [], []
    for done in range(1, len(absent) + 1):
        tell(done, total)
    looks = zip(there.tolist(), _opened(view(sources, there), shown_by.view(there)), strict=True)
    for done, (number, found) in enumerate(looks, len(absent) + 1):
        if isinstance(found, InputError):
            unreadable.append((shown_by[number], str(found)))
        elif (earlier := contents.setdefault(found, number)) != number:
            same_bytes.append((_name(sources, shown_by, number), _name(sources, shown_by, earlier)))
        tell(done, total)
    return PictureCheck(
        n_rows_with=len(with_picture),
        n_rows_without=len(manifest) - len(with_picture),
        without=manifest.ids.pick(np.flatnonzero(manifest.picture < 0)),
        n_distinct=total - len(same_bytes),
        missing=list(zip(shown_by.view(absent), shown_paths(view(sources, absent)), strict=True)),
        unreadable=unreadable,
        same_bytes=same_bytes,
    )


def _opened(sources: Sequence[bytes | Path], rows: Sequence[str]) -> Iterator[bytes | InputError]:
    """Yield a digest of each picture's bytes, or why it cannot be opened; some are opened side by side."""
    with ThreadPoolExecutor(THREADS, thread_name_prefix="decoding") as executor:
        for start in range(0, len(sources), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            yield from executor.map(_look, sources[part], rows[part])


def _look(source: bytes | Path, row: str) -> bytes | InputError:
    try:
        content = read_bytes(source, row=row)
        decode(content, source if isinstance(source, Path) else None, row=row, side=GLANCE)
    except InputError as error:
        return error
    return digest(content)


def _name(sources: Sequence[bytes | Path], rows: Sequence[str], number: int) -> str:
    source = sources[number]
    return str(source) if isinstance(source, Path) else f"bytes of row {rows[number]!r}"
