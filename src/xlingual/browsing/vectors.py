"""Vectors that are at hand while one looks: nearest texts and images of any vector, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.ranking import UNIT, Cosine, UnitVectors

Encode: TypeAlias = Callable[[int | str, str], Vectors | None]  # a row or a typed text, its language → [d]
MANY = 10  # neighbours of a text


@dataclass(frozen=True)
class Found:
    """What is nearest: rows of the manifest with their scores, the nearest first, of so many."""

    rows: list[int]
    scores: list[float]
    among: int


class Space:
    """Vectors of rows of a manifest, by group (a language); lines are ordered by group.

    Args:
        rows: of the manifest [n].
        group: of each row [n].
        vectors: float32 [n, d].
        asks: gives the vector of a row or of a typed text as a query; None where there is none.

    """

    def __init__(self, rows: Ints, group: Ints, vectors: np.ndarray, asks: Encode) -> None:
        order = np.argsort(group, kind="stable")
        self.rows, self._raw, self.asks = rows[order], UnitVectors(vectors, order), asks
        self._unit = self._raw.screen(0, len(order))
        self._bounds = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 2))
        self._line = {int(row): line for line, row in enumerate(self.rows.tolist())}
        self._band = Cosine(self._raw, self._raw).band
        self.lock = Lock()  # an encoder works for one visitor at a time

    def __len__(self) -> int:
        return len(self.rows)

    def has(self, row: int) -> bool:
        """Return whether the row has a vector."""
        return row in self._line

    def size(self, group: int) -> int:
        """Return how many rows of a group there are."""
        return int(self._bounds[group + 1] - self._bounds[group]) if group + 1 < len(self._bounds) else 0

    def vector(self, row: int) -> Vectors:
        """Return the stored vector of a row, float32 [d]."""
        found: Vectors = self._raw.raw[self._raw.rows[self._line[row]]]
        return found

    def sample(self, most: int, keep: list[int], seed: int = 0) -> tuple[Ints, Vectors]:
        """Return rows, at most so many and those to keep, with their unit vectors."""
        lines = np.arange(len(self))
        if len(lines) > most:
            lines = np.random.default_rng(seed).choice(len(self), most, replace=False)
        lines = np.union1d(lines, [self._line[row] for row in keep if row in self._line]).astype(np.int64)
        return self.rows[lines], self._unit[lines]

    def nearest(
        self,
        vectors: Vectors,
        group: int,
        k: int = MANY,
        *,
        without: int | None = None,
        only: np.ndarray | None = None,
    ) -> list[Found]:
        """Return the k nearest rows of a group for each vector [m, d], without one row; `only` some lines.

        Float32 screens, float64 decides, as everywhere: equal scores stand in the order of the data.
        """
        low, high = int(self._bounds[group]), int(self._bounds[group + 1])
        left = UnitVectors(np.atleast_2d(vectors))
        screened = left.screen(0, len(left)) @ self._unit[low:high].T
        exact, found = Cosine(left, self._raw), []
        left_out = np.zeros(high - low, dtype=bool) if only is None else ~only[low:high]
        if without in self._line and low <= self._line[without] < high:
            left_out[self._line[without] - low] = True
        among = high - low - int(left_out.sum())
        for number, scores in enumerate(screened):
            scores[left_out] = -np.inf
            kept = min(k, among)
            limit = np.partition(scores, -kept)[-kept] - self._band if kept else np.inf
            lines = np.flatnonzero(scores >= limit) + low
            keys = exact.exact(np.full(len(lines), number), lines)
            order = np.lexsort((self.rows[lines], -keys))[:kept]
            rows = self.rows[lines[order]].tolist()
            found.append(Found(rows, (keys[order] * UNIT).tolist(), among))
        return found

    def rank(
        self, vector: Vectors, group: int, rows: list[int], only: np.ndarray | None = None
    ) -> int | None:
        """Return the best rank of some rows of a group for a vector [d], None where none has a vector."""
        low, high = int(self._bounds[group]), int(self._bounds[group + 1])
        own = [self._line[row] for row in rows if low <= self._line.get(row, -1) < high]
        if not own:
            return None
        left = UnitVectors(np.atleast_2d(vector))
        scores: Floats = (left.screen(0, 1) @ self._unit[low:high].T)[0]
        if only is not None:
            scores[~only[low:high]] = -np.inf
        exact = Cosine(left, self._raw)
        best = int(exact.exact(np.zeros(len(own), dtype=np.int64), np.array(own)).max())
        surely = int((scores > best * UNIT + self._band).sum())
        doubtful = np.flatnonzero(np.abs(scores - best * UNIT) <= self._band) + low
        keys = exact.exact(np.zeros(len(doubtful), dtype=np.int64), doubtful)
        return surely + int((keys > best).sum()) + 1
