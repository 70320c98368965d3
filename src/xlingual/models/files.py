"""Digests of the files of a model."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

_RECENT = 2_000_000_000  # ns; clocks of file systems are coarse, so a file this young may change unnoticed
_known: dict[tuple[str, int, int, int, int], str] = {}


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; read again whenever the file may have changed since."""
    stat = path.stat()
    key = (str(path.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    if key not in _known:
        begun = time.time_ns()
        with path.open("rb") as handle:
            found = hashlib.file_digest(handle, "sha256").hexdigest()
        if max(stat.st_mtime_ns, stat.st_ctime_ns) + _RECENT > begun:
            return found
        _known[key] = found
    return _known[key]
