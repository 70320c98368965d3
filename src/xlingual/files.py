"""Files: only regular files are read, and a file is written whole or not at all."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path, PurePath
from tempfile import NamedTemporaryFile

from xlingual.errors import InputError, listed, why
from xlingual.permission import refuse_file

_PLACE = re.compile(r"[._-]*\{\w+\}")  # such as {source} in a file's name
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def bare_name(path: str) -> str:
    """Return the name of a file without its endings and placeholders.

    >>> bare_name("runs/bm25.{source}-{target}.trec.gz")
    'bm25'
    """
    stem = PurePath(PurePath(path).name.removesuffix(".gz")).stem
    return _PLACE.sub("", stem).strip("._-")


def regular_file(path: str | Path, what: str) -> Path:
    """Return `path` if it is a regular file, or a link to one; else raise InputError.

    A device has no end, and a named pipe waits for ever.

    `what` names the file's part in the sentence: "the manifest", "the image of row 3".
    """
    path = Path(path)
    refuse_file(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise InputError(f"{path} is missing: {what} must be a file that exists") from error
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = why(error) if isinstance(error, OSError) else str(error)
        raise InputError(f"{path}: {what} cannot be read: {reason}") from error
    if stat.S_ISREG(mode):
        return path
    kind = next((name for test, name in _KINDS if test(mode)), "no regular file")
    raise InputError(f"{path} is {kind}: {what} must be a regular file")


def make_folder(folder: str | Path) -> Path:
    """Make an output folder and return it; raise InputError where that fails (a file is in the way)."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make the output folder {folder} ({why(error)}): choose another --out"
        ) from error
    return folder


def refuse_loss(folder: str | Path, present: Sequence[Path], remedy: str) -> None:
    """Raise InputError where files in a folder, `present`, would be replaced; `remedy` says how they may."""
    if present:
        names = listed((path.relative_to(folder) for path in present), 4)
        raise InputError(f"{folder} holds {names}, which would be lost: choose another folder, or {remedy}")


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, have reached the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError while `path` is written into an InputError that names it."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # numpy gives none where a write is cut short
            error = OSError(ENOSPC, f"{error}, so the disk is full or a limit of the system is reached")
        raise InputError(f"{path} cannot be written ({why(error)})") from error


@contextmanager
def atomic_file(path: Path, *, durable: bool = True, private: bool = False) -> Iterator[Path]:
    """Give a temporary path beside `path`, moved there on success and removed on failure.

    The content reaches the disk before the file is moved, so that a power failure leaves the old file or the
    new one as well; with `durable=False`, for thousands of small files that can be made again, it need not.
    With `private` only the file's owner can read it. Raises InputError that names `path`.
    """
    with writing(path), replacing(path, durable=durable, private=private) as temporary:
        yield temporary


@contextmanager
def replacing(path: Path, *, durable: bool = True, private: bool = False) -> Iterator[Path]:
    """Do the same as `atomic_file`, and let an OSError through, for the caller to word."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as handle:
        temporary = Path(handle.name).absolute()  # Arrow takes a relative path with a colon for an address
    try:
        yield temporary
        temporary.chmod(0o600 if private else 0o644)
        if durable:
            sync(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
