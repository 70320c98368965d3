"""A user's own similarity of pictures: any function of two batches, in place of vectors and their cosine."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from xlingual.errors import InputError, XlingualError
from xlingual.records import Pictures

MOST = 1e9  # of a score, so that it can be compared to 9 decimals


class OwnSimilarity:
    """`function(first, second)` → real numbers [n, m]: how alike are the pictures of two batches.

    Both are `Pictures`: `.images` are opened PIL images (RGB, upright), `.source` bytes or paths, `.ids` the
    rows that show them. Larger means more alike; the scale does not matter. `identity` names the function and
    its version.
    """

    def __init__(self, function: Callable[[Pictures, Pictures], Any], identity: str) -> None:
        self.function, self.identity = function, identity

    def similarity(self, first: Pictures, second: Pictures, /) -> np.ndarray:
        """Return the scores, float64 [n, m]; raise InputError where they are not what they must be."""
        try:
            given = self.function(first, second)
        except XlingualError:
            raise
        except Exception as error:  # whatever a user's own code raises
            raise InputError(
                f"{self.identity}: failed on {len(first)} × {len(second)} pictures, the first of rows "
                f"{first.ids[0]!r} and {second.ids[0]!r} ({type(error).__name__}: {_one_line(error)})"
            ) from error
        scores = np.asarray(given)
        if scores.dtype.kind not in "fiu" or scores.shape != (len(first), len(second)):
            raise InputError(
                f"{self.identity}: expected numbers of shape ({len(first)}, {len(second)}), found "
                f"{scores.dtype} {scores.shape}"
            )
        bad = np.argwhere(~(np.abs(scores.astype(np.float64)) <= MOST))
        if len(bad):
            i, j = bad[0]
            raise InputError(
                f"{self.identity}: the similarity of the pictures of rows {first.ids[i]!r} and "
                f"{second.ids[j]!r} is {scores[i, j]}: expected a number of at most {MOST:,.0f}"
            )
        return scores.astype(np.float64)


def is_similarity(entry: object) -> bool:
    """Tell whether an object compares two batches: it has a method `similarity`, or must be given two.

    A function that can do with one batch is an encoder.
    """
    if isinstance(entry, type) or hasattr(entry, "encode"):
        return False
    return callable(getattr(entry, "similarity", None)) or (callable(entry) and _needs_two(entry))


def own_similarity(entry: Any, identity: str | None = None) -> OwnSimilarity:  # noqa: ANN401  (a user's own)
    """Return the similarity that a function, or an object with a method `similarity`, stands for."""
    told = identity or getattr(entry, "identity", None)
    if told is not None and (not isinstance(told, str) or not told):
        raise InputError(f"the identity of a similarity must be a non-empty str, found {told!r}")
    if told is None:
        named = entry if hasattr(entry, "__qualname__") else type(entry)
        told = f"python:{named.__module__}.{named.__qualname__}"
    method = getattr(entry, "similarity", None)
    return OwnSimilarity(method if callable(method) else entry, told)


def _needs_two(function: Callable[..., Any]) -> bool:
    """Tell whether a function has exactly two parameters without a default that are given by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions that are not written in Python do not tell
        return False
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.default is p.empty and p.kind in by_position for p in parameters) == 2


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
