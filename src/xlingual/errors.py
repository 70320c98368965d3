"""What can go wrong, in words a user can act on.

Every error raised on purpose is an `XlingualError`: one line that names what was wrong, where, what was
expected and what to do. The command line prints it and exits with code 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class XlingualError(Exception):
    """A problem that the user can mend; its text is one line."""


class InputError(XlingualError, ValueError):
    """Data, vectors, options or specs are not what they must be."""


class MissingExtraError(XlingualError, ImportError):
    """An optional package is needed; the text names the pip line that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package: pip install 'xlingual[{extra}]'")
        self.extra = extra


class DataWarning(UserWarning):
    """The data can be used, but something in it deserves a look; the text is one line."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the known word nearest to `word`, or "" if none is near.

    >>> did_you_mean("recal", ["recall", "rank"])
    " Did you mean 'recall'?"
    """
    near = get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" Did you mean {near[0]!r}?" if near else ""


def listed(words: Iterable[object], most: int = 8) -> str:
    """Return the words joined by commas, cut after `most` with a count of the rest."""
    all_words = [str(word) for word in words]
    shown = ", ".join(all_words[:most])
    rest = len(all_words) - most
    return f"{shown} and {rest} more" if rest > 0 else shown
