"""A similarity whose scores somebody gives: each pair is asked for once, and its exact key kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from tempfile import TemporaryFile

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.ranking.similarity import UNIT, as_scores

_SIDE = 64  # items on each side that are asked for at a time
_MEMORY = 1 << 28  # keys of more bytes lie in a temporary file
_ROWS = 512  # of the keys looked at together


class GivenScores:
    """Scores of n queries and m candidates that a function gives, of any kind and any scale.

    `scores(queries, candidates)` returns real numbers [q, c] of at most 10⁹ for item numbers [q] and [c]. It
    is called here, once for each pair, 64 × 64 at a time, in one thread. The exact key of a pair is its score
    rounded to 9 decimals, kept for all n × m pairs (8 bytes each), so that no score is computed again: this
    is for functions that cost more than memory does.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        scores: Callable[[Ints, Ints], np.ndarray],
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.shape = shape
        self._keys = _room(shape)
        self.screened = self.decided = shape[0] * shape[1]  # every pair, once
        for low in range(0, shape[0], _SIDE):
            rows = np.arange(low, min(low + _SIDE, shape[0]))
            for left in range(0, shape[1], _SIDE):
                columns = np.arange(left, min(left + _SIDE, shape[1]))
                given = np.asarray(scores(rows, columns)).astype(np.float64)
                block = self._keys[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
                np.rint(given / UNIT, out=block, casting="unsafe")
            if progress is not None:
                progress((int(rows[-1]) + 1) * shape[1], self.screened)

    @cached_property
    def band(self) -> float:
        """Eight roundings to float32 of the largest score: that of two scores, and of their limit."""
        blocks = range(0, self.shape[0], _ROWS)
        most = max((int(np.abs(self._keys[low : low + _ROWS]).max(initial=0)) for low in blocks), default=0)
        return 8 * 2.0**-24 * most * UNIT

    def tile(self, rows: slice, columns: slice, out: Vectors) -> Vectors:
        """Return the scores as float32 [rows, columns], in `out` of that shape."""
        np.multiply(self._keys[rows, columns], UNIT, out=out, casting="unsafe")
        return out

    def exact(self, queries: Ints, candidates: Ints) -> Ints:
        """Return the exact keys of pairs (queries[i], candidates[i]), int64 [p]."""
        keys: Ints = np.asarray(self._keys[queries, candidates])
        return keys

    def exact_block(self, rows: slice, columns: slice, out: Floats) -> Floats:
        """Return the exact scores of a block, float64 [rows, columns], in `out`: keys times `UNIT`."""
        return np.multiply(self._keys[rows, columns], UNIT, out=out)

    def mean(self, query_weights: Ints, candidate_weights: Ints) -> float:
        """Return the mean score of all pairs, weighted by how often each side counts."""
        total = 0.0
        for low in range(0, self.shape[0], _ROWS):
            scores = as_scores(self._keys[low : low + _ROWS])
            total += float(query_weights[low : low + _ROWS] @ (scores @ candidate_weights))
        return total / (float(query_weights.sum()) * float(candidate_weights.sum()))


def _room(shape: tuple[int, int]) -> Ints:
    """Return an array for the keys, in a file that nobody else sees where it is large."""
    if shape[0] * shape[1] * 8 <= _MEMORY:
        return np.empty(shape, dtype=np.int64)
    return np.memmap(TemporaryFile(), dtype=np.int64, shape=shape)
