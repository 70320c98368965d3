"""What can go wrong, in words a user can act on.

Every error raised on purpose is an `XlingualError`: one line that names what was wrong, where, what was
expected and what to do. The command line prints it and exits with code 2.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from xlingual.extras import missing, pip_line


class XlingualError(Exception):
    """A problem that the user can mend; its text is one line."""


class InputError(XlingualError, ValueError):
    """Data, vectors, options or specs are invalid."""


class MissingExtraError(XlingualError, ImportError):
    """An optional package is needed; the text names what is missing and the pip line that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        absent = ", ".join(missing(extra))
        found = f" ({absent}: not installed)" if absent else ""
        super().__init__(f"{what} needs an optional package{found}: {pip_line(extra)}")
        self.extra = extra


class DataWarning(UserWarning):
    """The data can be used, but something in it deserves a look; the text is one line."""


_PASSED_OVER = (str(Path(__file__).parent) + os.sep, contextlib.__file__, functools.__file__)


def warn(sentence: str) -> None:
    """Warn that data deserve a look; the warning points to the line outside of the package that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_code.co_filename.startswith(_PASSED_OVER) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, DataWarning, stacklevel=level)


_REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM), "choose one that you may read and write"),
    errno.EROFS: "choose a place that can be written to",
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room there, or choose another place"),
    errno.ENAMETOOLONG: "use a shorter name",
    errno.EISDIR: "name a file, not a folder",
    errno.ENOTDIR: "a file is in the way of a folder",
    errno.EMFILE: "allow more open files (ulimit -n)",
}


def why(error: OSError) -> str:
    """Return the reason of an OSError, and what to do about it where that is known."""
    reason = error.strerror or " ".join(str(error).split()) or type(error).__name__
    remedy = _REMEDIES.get(error.errno or 0)
    return f"{reason}: {remedy}" if remedy else reason


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the known word nearest to `word`, or "" if none is near.

    >>> did_you_mean("recal", ["recall", "rank"])
    " Did you mean 'recall'?"
    """
    near = nearest(word, known)
    return f" Did you mean {near!r}?" if near is not None else ""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that `word` is most likely meant to be, letter case apart; None if none is near.

    Few letters are alike by chance: among words of up to three letters only a beginning, two letters in
    another order and one letter too many or too few count as near.
    """
    named: dict[str, str] = {}
    for name in known:
        named.setdefault(name.lower(), name)
    low = str(word).lower()  # a setting of a file may be anything
    if low in named:
        return named[low]
    possible = [name for name in named if min(len(low), len(name)) > 3 or _slip(low, name)]
    begun = [name for name in possible if 1 < len(low) <= 3 and name.startswith(low)]
    near = sorted(begun, key=len)[:1] or get_close_matches(low, possible, n=1, cutoff=0.6)
    return named[near[0]] if near else None


def _slip(one: str, other: str) -> bool:
    """Return whether two words, at least one of them short, differ by a slip of the pen."""
    short, long = sorted((one, other), key=len)
    if len(short) < 2 or short[0] != long[0]:
        return False
    if long.startswith(short) or sorted(short) == sorted(long):
        return True
    rest = iter(long)
    return len(long) == len(short) + 1 and all(letter in rest for letter in short)


def parameter(name: str, value: str | list[str] | bool | None = None) -> str:
    """Return how an error names a parameter of Python; the command line shows the option (`cli/wording.py`).

    The value is a text, a list of texts, or True; None: any.

    >>> parameter("image_column"), parameter("text_column", "name_{lang}")
    ('image_column=…', "text_column='name_{lang}'")
    """
    return f"{name}=" + ("…" if value is None else repr(value))


def listed(words: Iterable[object], most: int = 8) -> str:
    """Return the words joined by commas, cut after `most` with a count of the rest."""
    all_words = [str(word) for word in words]
    shown = ", ".join(all_words[:most])
    rest = len(all_words) - most
    return f"{shown} and {rest} more" if rest > 0 else shown
