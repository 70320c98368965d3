"""What is known of the k-th best of each query while candidates are seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.ranking.similarity import UNIT

NOTHING = np.iinfo(np.int64).min
EVERY_HASH = np.iinfo(np.uint64).max


@dataclass(frozen=True)
class Floors:
    """For each of n queries a key that k candidates reach: what is below it is not among the k best.

    `exact` says whether the key is exact; one that is not may be off by half a band. Where more candidates
    tie with an exact key than are listed, `last_hash` is the largest hash of the listed ones: ties of a
    larger hash are counted and not listed.
    """

    key: Ints  # [n], NOTHING where k were not seen
    exact: np.ndarray  # bool [n]
    last_hash: np.ndarray  # uint64 [n]

    @classmethod
    def none(cls, n: int) -> Floors:
        """Return the floors of n queries of which nothing is known."""
        return cls(np.full(n, NOTHING), np.zeros(n, dtype=bool), np.full(n, EVERY_HASH))

    def of(self, rows: slice) -> Floors:
        """Return a copy of the floors of some queries."""
        return Floors(self.key[rows].copy(), self.exact[rows].copy(), self.last_hash[rows].copy())

    def take_over(self, first: int, other: Floors) -> None:
        """Take in what is known of queries from `first` on, where it is more than is known here."""
        rows = slice(first, first + len(other.key))
        better = other.key > self.key[rows]
        for name in ("key", "exact", "last_hash"):
            own = getattr(self, name)[rows]
            own[better] = getattr(other, name)[better]

    def only_exact(self) -> Floors:
        """Return the same without the keys that are not exact."""
        return Floors(np.where(self.exact, self.key, NOTHING), self.exact, self.last_hash)

    def scores(self, rows: Ints, slack: int, *, exact: bool) -> Floats:
        """Return the score below which a pair is out, for each row, −inf where nothing is known.

        `slack` is a band in units; `exact` says whether the scores that are compared are exact.
        """
        key = self.key[rows]
        below = np.where(self.exact[rows] & exact, 0, slack)
        return np.where(key == NOTHING, -np.inf, (key - below) * UNIT)

    def raise_to(self, rows: Ints, kth: Ints, exact: np.ndarray, slack: int) -> Ints:
        """Take in the k-th best key of some queries, NOTHING where there is none; return the least to keep.

        `exact` says whether all lines of a query are exact. A key that is known inexactly is replaced by the
        next one, even by a lower one.
        """
        key, known = self.key[rows], self.exact[rows]
        better = (kth > key) | ((kth > NOTHING) & ~known)
        self.last_hash[rows[better & (kth != key)]] = EVERY_HASH
        key, known = np.where(better, kth, key), np.where(better, exact, known)
        self.key[rows], self.exact[rows] = key, known
        return np.where(key == NOTHING, key, key - np.where(exact & known, 0, slack))
