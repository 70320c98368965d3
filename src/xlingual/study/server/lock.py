"""One server for one study at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xlingual.errors import InputError

LOCK_FILE = ".serving"


@contextmanager
def sole_server(folder: Path) -> Iterator[None]:
    """Hold the study's lock; it ends with the process, even one that is killed.

    Raises:
        InputError: another server has it.

    """
    try:
        import fcntl
    except ImportError:  # Windows: SQLite alone keeps two servers from doing harm
        yield
        return
    handle = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{folder} is being served already: use that server, or stop it first") from None
        yield
    finally:
        os.close(handle)
