"""The best candidates of a block of queries, while scores come in list by list."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Ints, Vectors

_ENOUGH = 1 << 21  # offers kept before they are settled


class Best:
    """Keeps the `depth` best (number, score) of each of n queries, best first; number −1: none."""

    def __init__(self, n: int, depth: int) -> None:
        self.number: Ints = np.full((n, depth), -1, dtype=np.int64)
        self.score: Vectors = np.full((n, depth), -np.inf, dtype=np.float32)
        self._offers: list[tuple[Ints, Ints, Vectors]] = []
        self._waiting = 0

    def offer(self, query: Ints, first: int, scores: Vectors) -> None:
        """Take in the scores [queries, m] of candidates first … first + m − 1, each offered once."""
        i, j = np.divmod(np.flatnonzero(scores > self.score[query, -1][:, None]), scores.shape[1])
        self._offers.append((query[i], j + first, scores[i, j]))
        self._waiting += len(i)
        if self._waiting > _ENOUGH:
            self.settle()

    def settle(self) -> None:
        """Order the offered candidates; from here on only better scores than the worst kept are taken."""
        if not self._waiting:
            return
        query, number, score = (np.concatenate(parts) for parts in zip(*self._offers, strict=True))
        self._offers, self._waiting = [], 0
        present = np.flatnonzero(np.bincount(query))
        depth = self.number.shape[1]
        query = np.concatenate([query, np.repeat(present, depth)])
        number = np.concatenate([number, self.number[present].ravel()])
        score = np.concatenate([score, self.score[present].ravel()])
        order = np.argsort((query << 32) + _falling(score))  # one sort of both is the fastest
        starts = np.cumsum(np.bincount(query)[present])
        starts = np.concatenate([[0], starts[:-1]])
        kept = order[(starts[:, None] + np.arange(depth)).ravel()]
        self.number[present] = number[kept].reshape(-1, depth)
        self.score[present] = score[kept].reshape(-1, depth)


def _falling(score: Vectors) -> Ints:
    """Return whole numbers from 0 to 2³² − 1 in the opposite order of the scores."""
    bits = np.ascontiguousarray(-score).view(np.int32)  # of a float of its sign, they have its order
    signed: Ints = np.where(bits < 0, np.int32(-(2**31)) - bits - 1, bits).astype(np.int64)
    return signed + 2**31
