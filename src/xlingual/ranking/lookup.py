"""Scores looked up in sorted ones: how many of them are at most a limit."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Ints


def not_above(ordered: np.ndarray, start: Ints, size: Ints, limit: np.ndarray) -> Ints:
    """Return how many of `size` ordered scores from `start` on are at most the limit; all broadcast.

    The binary search of all pairs and segments at once.
    """
    found = np.zeros(start.shape, dtype=np.int64)
    step = 1 << int(size.max(initial=0)).bit_length() >> 1
    while step:
        probe = found + step
        inside = probe <= size
        scores = ordered[start + np.where(inside, probe, 1) - 1]
        np.copyto(found, probe, where=inside & (scores <= limit))
        step >>= 1
    return found
