"""Dot products, or cosines, of sparse rows: as SPLADE and its like are scored."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.forms import COSINE
from xlingual.ranking.similarity import DECIMALS, ROUNDING, UNIT, Panel, Sides, by_queries
from xlingual.ranking.tiles import Array, Device
from xlingual.ranking.vectors import ChosenRows
from xlingual.records import digest

MOST = 1e6  # of a score: a float64 sum of that size is right to 9 decimals
LEAST = 1e-4  # of the largest possible score: five decimals are left
_ROWS = 128  # speed: queries multiplied at a time: a product stays small
_QUERIES = 64  # speed: queries whose pairs are decided at a time
_WIDE = 1 << 14  # speed: candidates of these at a time


class SparseRows(ChosenRows):
    """The chosen rows of sparse vectors, not scaled."""

    @cached_property
    def matrix(self) -> Any:  # noqa: ANN401  (of scipy)
        """The rows as float64 CSR."""
        return self.raw.matrix[self.rows].astype(np.float64)

    @cached_property
    def norms(self) -> Floats:
        """The length of each row, float64 [n]."""
        squares: Floats = self.matrix.power(2) @ np.ones(self.dim)
        return np.sqrt(squares)

    @cached_property
    def inverse_norms(self) -> Floats:
        """1/length of each row, float64 [n]; 0 for a zero row."""
        return np.divide(1.0, self.norms, out=np.zeros(len(self)), where=self.norms > 0)

    def identity(self) -> bytes:
        """Identify the rows, in order, and how they are compared."""
        rows = self.raw.matrix[self.rows]
        arrays = (rows.indptr.astype("<i8"), rows.indices.astype("<i8"), rows.data)
        return digest(f"{self.raw.compared_by} {self.dim}", *(array.tobytes() for array in arrays))


class SparseScores(Sides[SparseRows]):
    """Dot products of two sets of sparse rows, or their cosines; a row of zeros scores 0 with everything.

    A score is a float64 sum over the dimensions that both rows have, in ascending order, by one routine of
    scipy whatever the block, so it depends on the pair alone. Keys have 9 decimals whatever the scale, so
    that those of all samples compare; vectors whose scores that does not suit are refused (`check_sizes`).

    Tiles are the same sums rounded to float32: off by 2⁻²⁴ of the largest possible score L, the product of
    the greatest lengths of both sides (Cauchy and Schwarz; 1 for cosines). The band, 8 · 2⁻²⁴ · L + 2 units
    of the keys, holds the rounding of two scores, of the float32 limit that one of them becomes, and of keys.
    """

    def __init__(self, queries: SparseRows, candidates: SparseRows) -> None:
        super().__init__(queries, candidates)
        self.cosine = queries.raw.compared_by == COSINE
        check_sizes(self.largest)

    @cached_property
    def largest(self) -> float:
        """A bound of every score."""
        if self.cosine:
            return 1.0
        return float(self.queries.norms.max(initial=0.0) * self.candidates.norms.max(initial=0.0))

    @cached_property
    def band(self) -> float:
        """Two screen scores further apart than this have the same order as their exact scores."""
        return 8 * ROUNDING * self.largest + 2 * UNIT

    def panel(self, columns: slice, device: Device) -> Panel:
        """Prepare some candidates; the function screens queries against them."""
        right = self.candidates.matrix[columns].T.tocsr()

        def screen(rows: slice, room: np.ndarray | None) -> Array:
            shape = rows.stop - rows.start, right.shape[1]
            scores = np.empty(shape, np.float32) if room is None else room
            for low in range(rows.start, rows.stop, _ROWS):
                index = np.arange(low, min(low + _ROWS, rows.stop))
                product = self._product(index, right, columns)
                product.data = product.data.astype(np.float32)  # `product.astype` would sort each row
                product.toarray(out=scores[low - rows.start : low - rows.start + len(index)])
            self.count(screened=scores.size)
            return device.put(scores)

        return screen

    def keys(self, queries: Ints, candidates: Ints) -> Ints:
        """Compute the exact keys of pairs (queries[i], candidates[i]), int64 [p]."""
        self.count(decided=len(queries))
        keys = np.empty(len(queries), dtype=np.int64)
        for pairs, rows, row, columns, column in by_queries(queries, candidates, _QUERIES):
            for start in range(0, len(columns), _WIDE):
                here = np.flatnonzero((column >= start) & (column < start + _WIDE))
                block = self._key_block(rows, columns[start : start + _WIDE])
                keys[pairs[here]] = block[row[here], column[here] - start]
        return keys

    def key_block(self, queries: Ints, candidates: Ints) -> Floats:
        """Compute the exact keys of all pairs, whole numbers in float64 [a, b]."""
        self.count(decided=len(queries) * len(candidates))
        return self._key_block(queries, candidates)

    def _key_block(self, queries: Ints, candidates: Ints) -> Floats:
        keys = np.empty((len(queries), len(candidates)))
        right = self.candidates.matrix[candidates].T.tocsr()
        for low in range(0, len(queries), _ROWS):
            index = queries[low : low + _ROWS]
            self._product(index, right, candidates).toarray(out=keys[low : low + len(index)])
        keys /= UNIT
        return np.rint(keys, out=keys)

    def _product(self, queries: Ints, right: Any, candidates: Ints | slice) -> Any:  # noqa: ANN401  (of scipy)
        """Multiply some queries with candidates, whose columns are `right`: scores as float64 CSR."""
        product = self.queries.matrix[queries] @ right
        if self.cosine:
            product.data *= np.repeat(self.queries.inverse_norms[queries], np.diff(product.indptr))
            product.data *= self.candidates.inverse_norms[candidates][product.indices]
        return product


def check_sizes(largest: float) -> None:
    """Raise InputError where scores, whose largest possible size is given, are not to be told apart.

    Multiplying all vectors by a number changes no rank.
    """
    if largest > MOST or 0 < largest < LEAST:
        where = f"up to {largest:.2g}, above {MOST:,.0f}" if largest > MOST else f"{largest:.2g} at most"
        raise InputError(
            f"scores are {where}: they are decided to {DECIMALS} decimals, for which the largest must be "
            f"{LEAST:g} to {MOST:,.0f}; multiply all vectors by one number, which changes no rank"
        )
