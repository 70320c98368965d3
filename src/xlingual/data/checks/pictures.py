"""Opening every picture of a manifest once, to see whether it is there and can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from xlingual.data.checks.records import PictureCheck
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError
from xlingual.pictures import open_picture, read_bytes
from xlingual.records import digest

Progress = Callable[[int, int], None]  # pictures done, pictures in all


def check_pictures(manifest: Manifest, progress: Progress | None = None) -> PictureCheck:
    """Open every picture; `progress` is called with (pictures done, pictures in all)."""
    with_picture = np.flatnonzero(manifest.picture >= 0)
    first = np.unique(manifest.picture[with_picture], return_index=True)[1]
    shown_by = [manifest.ids[row] for row in with_picture[first]]  # the first row that shows each picture
    contents: dict[bytes, str] = {}
    missing, unreadable, same_bytes = [], [], []
    total = len(manifest.picture_source)
    for done, (source, row) in enumerate(zip(manifest.picture_source, shown_by, strict=True), 1):
        if isinstance(source, Path) and not source.exists():
            missing.append((row, str(source)))
        else:
            try:
                content = read_bytes(source, row=row)
                open_picture(content if isinstance(source, bytes) else source, row=row)
            except InputError as error:
                unreadable.append((row, str(error)))
            else:
                name = str(source) if isinstance(source, Path) else f"bytes of row {row!r}"
                earlier = contents.setdefault(digest(content), name)
                if earlier != name:
                    same_bytes.append((name, earlier))
        if progress is not None:
            progress(done, total)
    return PictureCheck(
        n_rows_with=len(with_picture),
        n_rows_without=len(manifest) - len(with_picture),
        without=[manifest.ids[row] for row in np.flatnonzero(manifest.picture < 0)],
        n_distinct=total - len(same_bytes),
        missing=missing,
        unreadable=unreadable,
        same_bytes=same_bytes,
    )
