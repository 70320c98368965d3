"""Writing so that a crash at any moment leaves the old state or the new one."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from xlingual.files import sync

TEMPORARY = ".tmp"
_UNWRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_file(path: Path, content: bytes | memoryview) -> None:
    """Write a file that is there whole or not at all, even after the power has failed."""
    temporary = path.with_name(f".{path.name}.{uuid4().hex}{TEMPORARY}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o644)
        try:
            rest = memoryview(content)
            while len(rest):
                rest = rest[os.write(handle, rest) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def append(path: Path, line: bytes) -> None:
    """Append to a file in one piece, and wait until it is on the disk."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY, 0o644)
    try:
        if os.write(handle, line) != len(line):  # several pieces could be mixed with another process's
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can do that."""
    with suppress(OSError):  # Windows opens no folders
        sync(folder)


def is_full(error: OSError) -> bool:
    """Return whether the disk, or the user's share of it, is full."""
    return error.errno in _FULL


def is_unwritable(error: OSError) -> bool:
    """Return whether writing is not allowed there."""
    return error.errno in _UNWRITABLE


_BINARY: int = getattr(os, "O_BINARY", 0)
