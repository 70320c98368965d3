"""Similarities between queries and candidates: float32 tiles to screen, float64 keys to decide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from threading import Lock
from typing import Protocol, runtime_checkable

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors, distinct_values
from xlingual.errors import InputError
from xlingual.ranking.shared_lists import SharedLists, shared_lists
from xlingual.ranking.vectors import UnitVectors

DECIMALS = 9
UNIT = 10.0**-DECIMALS  # keys are scores in this unit
_GATHER = 256  # pairs decided at a time: two float64 blocks stay in the cache
_HIGH, _WIDE = 128, 512  # queries and candidates decided at a time: their scores stay in the cache
_COLUMNS = 4 * _GATHER  # candidates of a block multiplied at a time
_BATCHED = 256  # vectors of small products made together
_PROBE = 128  # rows and columns on which the screen's error is looked at beforehand
_ROUNDING = 2.0**-53  # of a float64 number, relative
_DENSE = 8  # when over one pair in so many of a block is asked for, one float64 product is cheaper


class Similarity(Protocol):
    """Scores of n queries and m candidates, a tile at a time."""

    @property
    def shape(self) -> tuple[int, int]:
        """(queries, candidates)."""

    @property
    def band(self) -> float:
        """Two screen scores further apart than this have the same order as their exact scores."""

    def tile(self, rows: slice, columns: slice, out: Vectors) -> Vectors:
        """Return screen scores, float32 [rows, columns], in `out` of that shape."""

    def exact(self, queries: Ints, candidates: Ints) -> Ints:
        """Return the exact keys of pairs, int64 [p]: equal keys are ties."""


@runtime_checkable
class ExactBlocks(Protocol):
    """A similarity that decides all pairs of a block sooner than one by one: for data with many ties."""

    def exact_block(self, rows: slice, columns: slice, out: Floats) -> Floats:
        """Return the exact scores of a block, float64 [rows, columns], in `out`: keys times `UNIT`."""


class ImageScores(Similarity, Protocol):
    """A similarity of images, which gives means of scores too."""

    @property
    def screened(self) -> int:
        """Pairs in tiles so far."""

    @property
    def decided(self) -> int:
        """Pairs scored exactly so far."""

    def mean(self, query_weights: Ints, candidate_weights: Ints) -> float:
        """Return the mean score of all pairs, weighted by how often each side counts."""


class Cosine:
    """Cosine similarity of two sets of vectors; a zero vector has similarity 0 to everything.

    The exact key of a pair is its float64 cosine rounded to 9 decimals, as an integer. Being rounded,
    equality is an equivalence; being computed from the pair alone, it does not depend on tiles, threads or
    shards.
    """

    def __init__(self, queries: UnitVectors, candidates: UnitVectors) -> None:
        if queries.dim != candidates.dim:
            raise InputError(
                f"queries have {queries.dim} dimensions and candidates {candidates.dim}: both must come from "
                "one encoder"
            )
        self.queries = queries
        self.candidates = candidates
        self.screened = 0  # pairs in tiles
        self.decided = 0  # pairs scored in float64
        self._lock = Lock()  # tiles run side by side

    @property
    def shape(self) -> tuple[int, int]:
        """(queries, candidates)."""
        return len(self.queries), len(self.candidates)

    @cached_property
    def band(self) -> float:
        """At least twice the largest error of a float32 product of unit vectors.

        The error of a sum near 1 grows with √d: 1.1e-6 was measured at d = 300 on vectors with a few large
        dimensions (`python -m benchmarks screen_error`). Vectors for which the errors add up instead of
        averaging out show it in a probe of evenly spaced pairs, and get a wider band.
        """
        usual = 2e-7 * math.sqrt(self.queries.dim) + 4e-7
        return max(usual, 4 * self._probed_error())

    def _probed_error(self) -> float:
        """Return the largest difference of screen and exact scores over up to 128 × 128 pairs."""
        sides = [np.unique(np.linspace(0, size - 1, _PROBE).astype(np.int64)) for size in self.shape if size]
        if len(sides) < 2:
            return 0.0
        left, right = (
            np.concatenate([unit.screen(i, i + 1) for i in side.tolist()])
            for unit, side in zip((self.queries, self.candidates), sides, strict=True)
        )
        return float(np.abs(np.matmul(left, right.T) - self.block(*sides)).max())

    def tile(self, rows: slice, columns: slice, out: Vectors) -> Vectors:
        """Return screen scores, float32 [rows, columns], in `out` of that shape."""
        with self._lock:
            self.screened += out.size
        left = self.queries.screen(rows.start, rows.stop)
        right = self.candidates.screen(columns.start, columns.stop)
        scores: Vectors = np.matmul(left, right.T, out=out)
        return scores

    def exact(self, queries: Ints, candidates: Ints) -> Ints:
        """Return the exact keys of pairs (queries[i], candidates[i]), int64 [p]."""
        zero = (self.queries.inverse_norms[queries] == 0) | (self.candidates.inverse_norms[candidates] == 0)
        if zero.any():
            keys = np.zeros(len(queries), dtype=np.int64)
            if not zero.all():
                keys[~zero] = self.exact(queries[~zero], candidates[~zero])
            return keys
        with self._lock:
            self.decided += len(queries)
        left, right = distinct_values(queries), distinct_values(candidates)
        if len(queries) * _DENSE > len(left) * len(right) and len(queries) > _GATHER:
            return self._by_product(queries, candidates, right)
        if len(queries) > _GATHER and (lists := shared_lists(queries, candidates)) is not None:
            return self._by_list(queries, candidates, lists)
        return self._by_pair(queries, candidates)

    def _by_pair(self, queries: Ints, candidates: Ints) -> Ints:
        keys = np.empty(len(queries), dtype=np.int64)
        scale = self.queries.inverse_norms[queries] * self.candidates.inverse_norms[candidates]
        for start in range(0, len(queries), _GATHER):
            part = slice(start, start + _GATHER)
            left = self.queries.stored(queries[part])
            right = self.candidates.stored(candidates[part])
            keys[part] = _key(np.einsum("ij,ij->i", left, right) * scale[part])
        return keys

    def _by_product(self, queries: Ints, candidates: Ints, right: Ints) -> Ints:
        """Decide many pairs of one block by float64 products.

        A product may differ from the pair's own sum in the last bits. Where that could move a score over a
        rounding boundary, the pair is decided on its own, so that both ways give the same keys.
        """
        keys = np.empty(len(queries), dtype=np.int64)
        order = np.argsort(queries, kind="stable")
        distinct, starts = np.unique(queries[order], return_index=True)
        bounds = np.append(starts, len(order))
        columns = np.searchsorted(right, candidates)
        for low in range(0, len(distinct), _GATHER):
            high = min(low + _GATHER, len(distinct))
            pairs = order[bounds[low] : bounds[high]]
            scores = self.block(distinct[low:high], right)
            keys[pairs] = self._settle(
                scores[np.searchsorted(distinct[low:high], queries[pairs]), columns[pairs]],
                queries[pairs],
                candidates[pairs],
            )
        return keys

    def _by_list(self, queries: Ints, candidates: Ints, lists: SharedLists) -> Ints:
        """Decide pairs of queries that share their candidates by small float64 products, to the same keys."""
        keys = np.empty(len(queries), dtype=np.int64)
        scale = self.queries.inverse_norms[queries] * self.candidates.inverse_norms[candidates]
        for pairs in lists.batches(_BATCHED):
            n, q, c = pairs.shape
            left = self.queries.stored(queries[pairs[:, :, 0]].ravel()).reshape(n, q, -1)
            right = self.candidates.stored(candidates[pairs[:, 0]].ravel()).reshape(n, c, -1)
            scores, own = np.matmul(left, right.transpose(0, 2, 1)).ravel(), pairs.ravel()
            keys[own] = self._settle(scores * scale[own], queries[own], candidates[own])
        return keys

    def mean(self, query_weights: Ints, candidate_weights: Ints) -> float:
        """Return the mean cosine of all pairs, weighted by how often each side counts.

        It is the product of the mean vectors.
        """
        return float(self.queries.mean(query_weights) @ self.candidates.mean(candidate_weights))

    def block(self, queries: Ints, candidates: Ints) -> Floats:
        """Return float64 cosines [queries, candidates]."""
        found = np.empty((len(queries), len(candidates)))
        for columns, scores in self.blocks(queries, candidates):
            found[:, columns] = scores
        return found

    def blocks(self, queries: Ints, candidates: Ints) -> Iterator[tuple[slice, Floats]]:
        """Yield (columns, float64 cosines [queries, columns]), some candidates at a time.

        The cosines may be changed; the next take their place in memory.
        """
        left = self.queries.stored(queries)
        left *= self.queries.inverse_norms[queries, None]
        room = np.empty(len(queries) * min(_COLUMNS, len(candidates)))
        for start in range(0, len(candidates), _COLUMNS):
            part = candidates[start : start + _COLUMNS]
            right = self.candidates.stored(part)
            right *= self.candidates.inverse_norms[part, None]
            scores = room[: len(queries) * len(part)].reshape(len(queries), len(part))
            yield slice(start, start + len(part)), np.matmul(left, right.T, out=scores)

    def block_keys(self, queries: Ints, candidates: Ints) -> Ints:
        """Return the exact keys of a block, int64 [queries, candidates], the same as one by one."""
        found = np.empty((len(queries), len(candidates)), dtype=np.int64)
        for place, keys in self._keys_by_block(queries, candidates):
            found[place] = keys
        return found

    def exact_block(self, rows: slice, columns: slice, out: Floats) -> Floats:
        """Return the exact scores of a block, float64 [rows, columns], in `out`: keys times `UNIT`."""
        queries, candidates = np.arange(rows.start, rows.stop), np.arange(columns.start, columns.stop)
        for place, keys in self._keys_by_block(queries, candidates):
            np.multiply(keys, UNIT, out=out[place])
        with self._lock:
            self.decided += out.size
        return out

    def _keys_by_block(self, queries: Ints, candidates: Ints) -> Iterator[tuple[tuple[slice, slice], Floats]]:
        """Yield ((rows, columns), exact keys as whole numbers in float64) of all pairs, piece by piece.

        What lies near a rounding boundary is decided from the pair alone, unless sums have no rounding.
        """
        left, left_scale = self.queries.stored(queries), self.queries.inverse_norms[queries, None]
        certain = self._sums_are_exact
        if not certain:
            left *= left_scale / UNIT
        for start in range(0, len(candidates), _WIDE):
            columns = candidates[start : start + _WIDE]
            right, right_scale = self.candidates.stored(columns), self.candidates.inverse_norms[columns]
            if not certain:
                right *= right_scale[:, None]
            for low in range(0, len(queries), _HIGH):
                scores = left[low : low + _HIGH] @ right.T
                if certain:  # the steps of `_by_pair`
                    scores *= left_scale[low : low + _HIGH] * right_scale
                    scores /= UNIT
                keys = np.rint(scores)
                if not certain:
                    scores -= keys
                    doubtful = np.flatnonzero(np.abs(scores, out=scores) > 0.5 - self._doubt)
                    i, j = np.divmod(doubtful, len(columns))
                    keys[i, j] = self._by_pair(queries[low + i], columns[j])
                yield (slice(low, low + _HIGH), slice(start, start + _WIDE)), keys

    @cached_property
    def _doubt(self) -> float:
        """How near a rounding boundary, in units, a product and the pair's own sum may round to two sides.

        Each is off by d roundings at most, for vectors of unit length (Higham, Accuracy and Stability of
        Numerical Algorithms, section 3.1), and by some of lengths, scales and units.
        """
        return (2 * self.queries.dim + 16) * _ROUNDING / UNIT + 1e-6

    @cached_property
    def _sums_are_exact(self) -> bool:
        """Whether no sum of products is rounded, in whatever order: all numbers are whole and small."""
        bits = [self.queries.bits, self.candidates.bits]
        known = [one for one in bits if one is not None]
        return len(known) == 2 and sum(known) + math.ceil(math.log2(self.queries.dim + 1)) <= 53

    def _settle(self, scores: Floats, queries: Ints, candidates: Ints) -> Ints:
        scaled = scores / UNIT
        keys = np.rint(scaled).astype(np.int64)
        doubtful = np.flatnonzero(np.abs(scaled - keys) > 0.5 - self._doubt)
        if len(doubtful):
            keys[doubtful] = self._by_pair(queries[doubtful], candidates[doubtful])
        return keys


def _key(scores: Floats) -> Ints:
    keys: Ints = np.rint(scores / UNIT).astype(np.int64)
    return keys


def as_scores(keys: Ints) -> Floats:
    """Return the scores that keys stand for."""
    scores: Floats = np.divide(keys, 10**DECIMALS, dtype=np.float64)
    return scores


def pairs(similarity: Similarity, queries: Ints, candidates: Ints) -> Floats:
    """Return the exact scores of pairs (queries[i], candidates[i]), float64 [p], to 9 decimals."""
    return as_scores(similarity.exact(queries, candidates))
