"""Digests of the files of a model."""

from __future__ import annotations

import time
from pathlib import Path

from xlingual.results.provenance import note_file, sha256_of

_RECENT = 2_000_000_000  # ns; clocks of file systems are coarse, so a file this young may change unnoticed
_known: dict[tuple[str, int, int, int, int], str] = {}


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; read again whenever the file may have changed since."""
    stat = path.stat()
    key = (str(path.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    found = _known.get(key)
    if found is None:
        begun = time.time_ns()
        found = sha256_of(path)
        if max(stat.st_mtime_ns, stat.st_ctime_ns) + _RECENT <= begun:
            _known[key] = found
    note_file("model", path, found)
    return found
