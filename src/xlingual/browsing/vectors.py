"""Vectors that are at hand while one looks: nearest texts and images of any vector, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.ranking import UNIT, Cosine, UnitVectors, one_library_thread

Encode: TypeAlias = Callable[[int | str, str], Vectors | None]  # a row or a typed text, its language → [d]
MANY = 10  # neighbours of a text


@dataclass(frozen=True)
class Found:
    """What is nearest: rows of the manifest with their scores, the nearest first, of so many."""

    rows: list[int]
    scores: list[float]
    among: int
    rank: int | None = None  # of what was asked for


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
        vector: Vectors,
        group: int,
        k: int = MANY,
        *,
        without: int | None = None,
        only: np.ndarray | None = None,
        own: Sequence[int] = (),
    ) -> Found:
        """Return the k nearest rows of a group for a vector [d], without one row.

        `only` says which lines count, bool [n]; `own` are rows whose best rank is asked for. Float32 screens,
        float64 decides, as everywhere: equal scores stand in the order of the data.
        """
        low, high = int(self._bounds[group]), int(self._bounds[group + 1])
        left = UnitVectors(np.atleast_2d(vector))
        with one_library_thread():  # pages are many and short: threads would wait for each other
            scores: Floats = self._unit[low:high] @ left.screen(0, 1)[0]
        left_out = np.zeros(high - low, dtype=bool) if only is None else ~only[low:high]
        if without is not None and low <= self._line.get(without, -1) < high:
            left_out[self._line[without] - low] = True
        scores[left_out] = -np.inf
        among = high - low - int(left_out.sum())
        kept, exact = min(k, among), Cosine(left, self._raw)
        limit = np.partition(scores, -kept)[-kept] - self._band if kept else np.inf
        lines = np.flatnonzero(scores >= limit) + low
        keys = exact.exact(np.zeros(len(lines), dtype=np.int64), lines)
        order = np.lexsort((self.rows[lines], -keys))[:kept]
        places = [line for row in own if low <= (line := self._line.get(row, -1)) < high]
        rank = self._rank(exact, scores, low, places) if places else None
        return Found(self.rows[lines[order]].tolist(), (keys[order] * UNIT).tolist(), among, rank)

    def _rank(self, exact: Cosine, scores: Floats, low: int, places: Sequence[int]) -> int:
        """Return the best rank of some lines, for the screen scores of a group that begins at `low`."""
        best = int(exact.exact(np.zeros(len(places), dtype=np.int64), np.array(places)).max())
        surely = int((scores > best * UNIT + self._band).sum())
        doubtful = np.flatnonzero(np.abs(scores - best * UNIT) <= self._band) + low
        keys = exact.exact(np.zeros(len(doubtful), dtype=np.int64), doubtful)
        return surely + int((keys > best).sum()) + 1
