"""A lock on an output folder: one process writes it at a time.

The system holds the lock for the process and gives it up when that ends, however it ends: a run that was
killed blocks nobody. The file only says who it was, and is removed at the end.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from errno import EACCES, EAGAIN, EDEADLK
from pathlib import Path

from xlingual.errors import InputError, parameter
from xlingual.files import make_folder

NAME = ".xlingual-lock"
_HELD = frozenset({EACCES, EAGAIN, EDEADLK})  # another process has it; else the file system has no locks


@contextmanager
def writing_alone(folder: Path, command: str) -> Iterator[None]:
    """Keep other processes from writing a folder, which is made if need be; `command` tells them who does.

    A folder that the block leaves empty is removed again. File systems without locks are not locked.

    Raises:
        InputError: another process writes the folder; it says which.

    """
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    make_folder(folder)
    path = folder / NAME
    try:
        file = _locked(path, folder)
        try:
            os.truncate(file, 0)
            who = {"command": command, "process": os.getpid(), "host": socket.gethostname()}
            os.write(file, json.dumps(who | {"since": f"{datetime.now():%Y-%m-%d %H:%M:%S}"}).encode())
            yield
        finally:
            with suppress(OSError):  # Windows removes no file that is open
                path.unlink()
            os.close(file)
            with suppress(OSError):
                path.unlink()
    finally:
        for one in made:
            with suppress(OSError):  # it holds something
                one.rmdir()


def _locked(path: Path, folder: Path) -> int:
    """Return the open file of a lock that this process has now."""
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(
                f"{folder} cannot be written to ({error.strerror}): choose another {parameter('out')}"
            ) from error
        try:
            _lock(file)
        except OSError as error:
            if error.errno in _HELD:
                holder = _holder(file)
                os.close(file)
                raise InputError(
                    f"{folder} is being written by {holder}: wait until it has ended, or choose another "
                    f"folder ({parameter('out')})"
                ) from error
        if _is(file, path):
            return file
        os.close(file)  # its holder removed it before it was locked


def _is(file: int, path: Path) -> bool:
    """Return whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        """Lock a byte far behind the text, which others can then read; raise OSError where that fails."""
        os.lseek(file, 1 << 20, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        os.lseek(file, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(file: int) -> None:
        """Lock a file; raise OSError where that fails."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _holder(file: int) -> str:
    """Return who holds a lock, in words."""
    try:
        os.lseek(file, 0, os.SEEK_SET)
        who = json.loads(os.read(file, 4096))
        return f"{who['command']} (process {who['process']} on {who['host']}, since {who['since']})"
    except (OSError, ValueError, KeyError, TypeError):  # it has just begun
        return "another process"
