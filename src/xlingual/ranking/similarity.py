"""Similarities of queries and candidates: float32 scores screen pairs, float64 keys decide them.

Scores that differ by more than the band have the order of their exact scores. *Keys* decide the others: the
float64 score of the pair alone, rounded to 9 decimals, as a whole number. Equal keys are ties. A key depends
on its pair only, so tiles, threads and devices never change a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.errors import InputError
from xlingual.ranking.tiles import Array, Device
from xlingual.ranking.vectors import ChosenRows, UnitVectors
from xlingual.records import digest

DECIMALS = 9
UNIT = 10.0**-DECIMALS  # of keys
ROUNDING = 2.0**-24  # of a float32 number, relative
GATHER = 256  # speed: pairs whose keys are computed one by one at a time: their vectors stay in the cache
_QUERIES = 64  # speed: whose pairs are computed by one product
_SPARE = 16  # speed: a product of more pairs than so many times those asked for is not worth it
_COLUMNS = 1024  # speed: candidates converted to float64 at a time
_PROBE = 128  # speed: queries and candidates on which the screen's error is measured

Rows = TypeVar("Rows", bound=ChosenRows)
Panel = Callable[[slice, np.ndarray | None], Array]  # (queries, memory for numpy) → scores [a, b]


class Similarity(Protocol):
    """Scores of n queries and m candidates."""

    @property
    def shape(self) -> tuple[int, int]:
        """(queries, candidates)."""

    @property
    def band(self) -> float:
        """Pairs whose scores differ by more have the order of their keys."""

    def panel(self, columns: slice, device: Device) -> Panel:
        """Prepare some candidates; the function screens queries against them, float32 on the device."""

    def keys(self, queries: Ints, candidates: Ints) -> Ints:
        """Compute the exact keys of pairs (queries[i], candidates[i]), int64 [p]."""

    def key_block(self, queries: Ints, candidates: Ints) -> np.ndarray:
        """Compute the exact keys of all pairs, whole numbers [a, b] in float64 or int64."""

    def identity(self) -> bytes | None:
        """Identify all scores: equal bytes mean equal scores. None where that is not possible."""


class Tally:
    """Counts the pairs that were screened and decided; threads share it."""

    def __init__(self) -> None:
        self.screened = self.decided = 0
        self._lock = Lock()

    def count(self, screened: int = 0, decided: int = 0) -> None:
        """Add pairs."""
        with self._lock:
            self.screened += screened
            self.decided += decided

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())


class Sides(Tally, Generic[Rows]):
    """What similarities of two sets of rows of one form have in common."""

    def __init__(self, queries: Rows, candidates: Rows) -> None:
        super().__init__()
        if queries.dim != candidates.dim:
            raise InputError(
                f"queries have {queries.dim} dimensions and candidates {candidates.dim}: both must come from "
                "one encoder"
            )
        self.queries, self.candidates = queries, candidates

    @property
    def shape(self) -> tuple[int, int]:
        """(queries, candidates)."""
        return len(self.queries), len(self.candidates)

    def identity(self) -> bytes:
        """Identify the rows of both sides."""
        return digest(type(self).__name__, self.queries.identity(), self.candidates.identity())

    def probe(self, most: int) -> tuple[Ints, Ints]:
        """Choose evenly spaced queries and candidates, on which the screen's error is measured."""
        rows, columns = (distinct_values(np.linspace(0, n - 1, most).astype(np.int64)) for n in self.shape)
        return rows, columns


class Cosine(Sides[UnitVectors]):
    """Cosines of two sets of vectors; a zero vector has similarity 0 to everything."""

    @cached_property
    def band(self) -> float:
        """At least twice the largest error of a float32 product of unit vectors.

        The error of a sum near 1 grows with √d: 1.1e-6 was measured at d = 300 on vectors with a few large
        dimensions. Vectors for which the errors add up instead of averaging out show it in a probe of evenly
        spaced pairs, and get a wider band.
        """
        usual = 2e-7 * math.sqrt(self.queries.dim) + 4e-7
        if 0 in self.shape:
            return usual
        rows, columns = self.probe(_PROBE)
        left, right = self.queries.screened(rows), self.candidates.screened(columns)
        return max(usual, 4 * float(np.abs(left @ right.T - self.block(rows, columns)).max()))

    def panel(self, columns: slice, device: Device) -> Panel:
        """Prepare some candidates; the function screens queries against them."""
        right = self.candidates.on(device, columns)

        def screen(rows: slice, room: np.ndarray | None) -> Array:
            left = self.queries.on(device, rows)
            self.count(screened=len(left) * len(right))
            return left @ right.T if room is None else np.matmul(left, right.T, out=room)

        return screen

    def keys(self, queries: Ints, candidates: Ints) -> Ints:
        """Compute the exact keys of pairs, int64 [p]: by products where queries share their candidates."""
        self.count(decided=len(queries))
        if len(queries) < _QUERIES:  # speed
            return self._pair_keys(queries, candidates)
        keys, singles = np.empty(len(queries), np.int64), [np.zeros(0, np.int64)]
        for pairs, rows, row, columns, column in by_queries(queries, candidates, _QUERIES):
            if len(pairs) < _QUERIES or len(rows) * len(columns) > _SPARE * len(pairs):  # speed
                singles.append(pairs)
            else:
                keys[pairs] = self._key_block(rows, columns)[row, column]
        alone = np.concatenate(singles)
        keys[alone] = self._pair_keys(queries[alone], candidates[alone])
        return keys

    def _pair_keys(self, queries: Ints, candidates: Ints) -> Ints:
        """Compute the keys of pairs one by one: this defines them."""
        keys = np.empty(len(queries), np.int64)
        scale = self.queries.inverse_norms[queries] * self.candidates.inverse_norms[candidates]
        for start in range(0, len(queries), GATHER):
            part = slice(start, start + GATHER)
            left, right = self.queries.stored(queries[part]), self.candidates.stored(candidates[part])
            keys[part] = np.rint(np.einsum("ij,ij->i", left, right) * scale[part] / UNIT)
        return keys

    def key_block(self, queries: Ints, candidates: Ints) -> Floats:
        """Compute the exact keys of all pairs, whole numbers in float64 [a, b]."""
        self.count(decided=len(queries) * len(candidates))
        return self._key_block(queries, candidates)

    def _key_block(self, queries: Ints, candidates: Ints) -> Floats:
        """Compute keys by one product; a pair near a rounding boundary is computed alone.

        Products of whole numbers have no rounding, and need no second look (`UnitVectors.bits`).
        """
        left, right = self.queries.stored(queries), self.candidates.stored(candidates)
        left_scale, right_scale = (
            self.queries.inverse_norms[queries],
            self.candidates.inverse_norms[candidates],
        )
        if self._is_whole:  # the steps of `_pair_keys`
            keys = left @ right.T
            keys *= left_scale[:, None] * right_scale
            keys /= UNIT
            return np.rint(keys, out=keys)
        left *= left_scale[:, None] / UNIT
        right *= right_scale[:, None]
        scores = left @ right.T
        keys = np.rint(scores)
        scores -= keys
        rows, columns = np.divmod(
            np.flatnonzero(np.abs(scores, out=scores) > 0.5 - self._doubt), len(candidates)
        )
        keys[rows, columns] = self._pair_keys(queries[rows], candidates[columns])
        return keys

    @property
    def _doubt(self) -> float:
        """How near a rounding boundary, in units, a product and the pair's own sum may round to two sides.

        Each is off by d roundings at most, for vectors of unit length (Higham, Accuracy and Stability of
        Numerical Algorithms, section 3.1), and by some of lengths, scales and units.
        """
        return (2 * self.queries.dim + 16) * 2.0**-53 / UNIT + 1e-6

    @cached_property
    def _is_whole(self) -> bool:
        """Whether no sum of products is rounded, in whatever order: all numbers are whole and small."""
        left, right = self.queries.bits, self.candidates.bits
        if left is None or right is None:
            return False
        return left + right + math.ceil(math.log2(self.queries.dim + 1)) <= 53

    def block(self, queries: Ints, candidates: Ints) -> Floats:
        """Compute float64 cosines [a, b], which are not rounded."""
        cosines = np.empty((len(queries), len(candidates)))
        left = self.queries.stored(queries) * self.queries.inverse_norms[queries, None]
        for start in range(0, len(candidates), _COLUMNS):
            part = candidates[start : start + _COLUMNS]
            right = self.candidates.stored(part) * self.candidates.inverse_norms[part, None]
            np.matmul(left, right.T, out=cosines[:, start : start + _COLUMNS])
        return cosines

    def mean(self, query_weights: Ints, candidate_weights: Ints) -> float:
        """Average the cosines of all pairs, weighted by how often each side counts.

        It is the product of the mean vectors.
        """
        return float(self.queries.mean(query_weights) @ self.candidates.mean(candidate_weights))


def by_queries(queries: Ints, candidates: Ints, most: int) -> Iterator[tuple[Ints, Ints, Ints, Ints, Ints]]:
    """Cut pairs into those of at most so many queries: (pairs, rows, row, columns, column).

    `rows[row]` are the queries of the pairs, `columns[column]` their candidates. Queries that begin with the
    same candidate are next to each other, as translations of a question share its answers.
    """
    first = np.full(int(queries.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, queries, candidates)
    order = np.lexsort((queries, first[queries]))
    starts = np.flatnonzero(np.diff(queries[order], prepend=-1))
    for pairs in np.split(order, starts[most::most]) if len(order) else []:
        rows, row = np.unique(queries[pairs], return_inverse=True)
        columns, column = np.unique(candidates[pairs], return_inverse=True)
        yield pairs, rows, row, columns, column


def as_scores(keys: Ints) -> Floats:
    """Convert keys to the scores that they stand for."""
    scores: Floats = np.divide(keys, 10**DECIMALS, dtype=np.float64)
    return scores


def pairs(similarity: Similarity, queries: Ints, candidates: Ints) -> Floats:
    """Compute the exact scores of pairs (queries[i], candidates[i]), float64 [p], to 9 decimals."""
    return as_scores(similarity.keys(queries, candidates))
