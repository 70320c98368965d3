"""A lock on an output folder: one process writes it at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from xlingual.errors import InputError, parameter
from xlingual.files import make_folder

NAME = ".xlingual-lock"


@contextmanager
def writing_alone(folder: Path) -> Iterator[None]:
    """Keep other processes from writing a folder, which is made if need be.

    The system gives the lock up when a process ends, however it ends: a run that was killed blocks nobody. A
    folder that the block leaves empty is removed again.

    Raises:
        InputError: another process writes the folder.

    """
    from filelock import FileLock, Timeout

    new = [each for each in (folder, *folder.parents) if not each.exists()]
    make_folder(folder)
    lock = FileLock(folder / NAME, blocking=False)
    try:
        try:
            lock.acquire()
        except Timeout:
            raise InputError(
                f"{folder} is being written by another process: wait until it has ended, or choose another "
                f"folder ({parameter('out')})"
            ) from None
        except OSError as error:
            raise InputError(
                f"{folder} cannot be written to ({error.strerror}): choose another {parameter('out')}"
            ) from error
        try:
            yield
        finally:
            (folder / NAME).unlink(missing_ok=True)  # while it is still held
            lock.release()
    finally:
        for each in new:
            with suppress(OSError):  # it holds something
                each.rmdir()
