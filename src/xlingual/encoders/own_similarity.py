"""A user's own similarity of images: any function of two batches, in place of vectors and their cosine."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from xlingual.encoders.loading import failures
from xlingual.errors import InputError
from xlingual.forms import array_of
from xlingual.records import Images

MOST = 1e9  # of a score, so that it can be compared to 9 decimals


class OwnSimilarity:
    """`function(first, second)` → real numbers [n, m]: how alike are the images of two batches.

    Both are `Images`: `.images` are opened PIL images (RGB, upright), `.source` bytes or paths, `.ids` the
    rows that show them. Larger means more alike; the scale does not matter. `identity` names the function and
    its version.
    """

    def __init__(self, function: Callable[[Images, Images], Any], identity: str, who: str) -> None:
        self.function, self.identity = function, identity
        self._who = who  # its name in messages

    def similarity(self, first: Images, second: Images, /) -> np.ndarray:
        """Return the scores, float64 [n, m]; raise InputError where they are invalid."""
        with failures(self._who, "the similarity"):
            given = self.function(first, second)
        with failures(self._who, "making numbers of what the similarity returned"):
            scores = array_of(given)
        if scores.dtype.kind not in "fiu" or scores.shape != (len(first), len(second)):
            raise InputError(
                f"{self._who}: expected numbers of shape ({len(first)}, {len(second)}), found "
                f"{scores.dtype} {scores.shape}"
            )
        bad = np.argwhere(~(np.abs(scores.astype(np.float64)) <= MOST))
        if len(bad):
            i, j = bad[0]
            raise InputError(
                f"{self._who}: the similarity of the images of rows {first.ids[i]!r} and "
                f"{second.ids[j]!r} is {scores[i, j]}: expected a number of at most {MOST:,.0f}"
            )
        return scores.astype(np.float64)


def is_similarity(entry: object) -> bool:
    """Return whether an object compares two batches: it has a method `similarity`, or must be given two.

    A function that can do with one batch is an encoder.
    """
    if isinstance(entry, type) or hasattr(entry, "encode"):
        return False
    return callable(getattr(entry, "similarity", None)) or (callable(entry) and _needs_two(entry))


def own_similarity(
    entry: Any,  # noqa: ANN401  (a user's own)
    identity: str | None = None,
    who: str | None = None,
) -> OwnSimilarity:
    """Return the similarity that a function, or an object with a method `similarity`, stands for.

    Without an `identity` it has the function's name, which is the same for two versions of it.
    """
    named = entry if hasattr(entry, "__qualname__") else type(entry)
    where = f"{named.__module__}.{named.__qualname__}"
    stated = identity or getattr(entry, "identity", None) or f"python:{where}"
    if not isinstance(stated, str):
        raise InputError(f"the identity of a similarity must be a non-empty str, found {stated!r}")
    method = getattr(entry, "similarity", None)
    return OwnSimilarity(method if callable(method) else entry, stated, who or f"python:{where}")


def _needs_two(function: Callable[..., Any]) -> bool:
    """Return whether a function has exactly two parameters without a default that are given by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions that are not written in Python have no signature
        return False
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.default is p.empty and p.kind in by_position for p in parameters) == 2
