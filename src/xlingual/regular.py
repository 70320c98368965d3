"""Files that are read as input are regular files: a device has no end, a named pipe waits for ever."""

from __future__ import annotations

import stat
from pathlib import Path

from xlingual.errors import InputError, why

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def regular_file(path: str | Path, what: str) -> Path:
    """Return `path` if it is a regular file, or a link to one; else raise InputError.

    `what` names the file's part in the sentence: "the manifest", "the picture of row 3".
    """
    path = Path(path)
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
