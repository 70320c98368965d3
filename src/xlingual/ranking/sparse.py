"""Dot products, or cosines, of sparse rows: as SPLADE and its like are scored."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors, distinct_values
from xlingual.errors import InputError
from xlingual.forms import COSINE, SparseVectors
from xlingual.ranking.similarity import UNIT
from xlingual.ranking.sizes import ROUNDING, check_sizes

_ROWS = 128  # queries multiplied at a time: what a product holds stays small
_GATHER = 64  # queries whose pairs are decided at a time
_WIDE = 1 << 14  # candidates of these at a time


class SparseRows:
    """The chosen rows of sparse vectors, as `UnitVectors` has those of an array; not scaled."""

    def __init__(self, raw: SparseVectors, rows: Ints | None = None) -> None:
        self.raw = raw
        self.rows: Ints = np.arange(len(raw)) if rows is None else np.asarray(rows, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return self.raw.shape[1]

    def take(self, index: Ints) -> SparseRows:
        """Return some of the rows."""
        return SparseRows(self.raw, self.rows[index])

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


class SparseScores:
    """Dot products of two sets of sparse rows, or their cosines; a row of zeros scores 0 with everything.

    A score is a float64 sum over the dimensions that both rows have, in ascending order, by one routine of
    scipy whatever the block, so it depends on the pair alone; its exact key is the score rounded to 9
    decimals. The decimals are absolute, whatever the scale, so that keys of all samples and shards compare;
    vectors whose scores that would not suit (`sizes`) are refused.

    Tiles are the same sums rounded to float32: off by 2⁻²⁴ of the largest possible score L, the product of
    the greatest lengths of both sides (Cauchy and Schwarz; 1 for cosines). The band, 8 · 2⁻²⁴ · L + 2 units
    of the keys, holds the rounding of two scores, of the float32 limit that one of them becomes, and of keys.
    """

    def __init__(self, queries: SparseRows, candidates: SparseRows) -> None:
        if queries.dim != candidates.dim:
            raise InputError(
                f"queries have {queries.dim} dimensions and candidates {candidates.dim}: both must come from "
                "one encoder"
            )
        self.queries, self.candidates = queries, candidates
        self.cosine = queries.raw.compared_by == COSINE
        self.screened = self.decided = 0
        self._turned: dict[tuple[int, int], Any] = {}  # candidates as columns, by block
        self._lock = Lock()
        check_sizes(self.largest)

    @property
    def shape(self) -> tuple[int, int]:
        """(queries, candidates)."""
        return len(self.queries), len(self.candidates)

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

    def tile(self, rows: slice, columns: slice, out: Vectors) -> Vectors:
        """Return screen scores, float32 [rows, columns], in `out` of that shape."""
        for place, product in self._products(rows, columns):
            product.data = product.data.astype(np.float32)  # `product.astype` would sort each row
            product.toarray(out=out[place])
        with self._lock:
            self.screened += out.size
        return out

    def exact(self, queries: Ints, candidates: Ints) -> Ints:
        """Return the exact keys of pairs (queries[i], candidates[i]), int64 [p]."""
        with self._lock:
            self.decided += len(queries)
        keys = np.empty(len(queries), dtype=np.int64)
        order = np.argsort(queries, kind="stable")
        distinct, starts = np.unique(queries[order], return_index=True)
        bounds = np.append(starts, len(order))
        for low in range(0, len(distinct), _GATHER):
            high = min(low + _GATHER, len(distinct))
            pairs = order[bounds[low] : bounds[high]]
            right = distinct_values(candidates[pairs])
            row = np.searchsorted(distinct[low:high], queries[pairs])
            column = np.searchsorted(right, candidates[pairs])
            for start in range(0, len(right), _WIDE):
                here = np.flatnonzero((column >= start) & (column < start + _WIDE))
                block = self.block_keys(distinct[low:high], right[start : start + _WIDE])
                keys[pairs[here]] = block[row[here], column[here] - start]
        return keys

    def block(self, queries: Ints, candidates: Ints) -> Floats:
        """Return float64 scores [queries, candidates]."""
        product = self.queries.matrix[queries] @ self.candidates.matrix[candidates].T.tocsr()
        self._scale(product, queries, candidates)
        found: Floats = product.toarray()
        return found

    def blocks(self, queries: Ints, candidates: Ints) -> Iterator[tuple[slice, Floats]]:
        """Yield (columns, float64 scores [queries, columns]): all candidates at once."""
        yield slice(0, len(candidates)), self.block(queries, candidates)

    def block_keys(self, queries: Ints, candidates: Ints) -> Ints:
        """Return the exact keys of a block, int64 [queries, candidates]."""
        keys: Ints = np.rint(self.block(queries, candidates) / UNIT).astype(np.int64)
        return keys

    def exact_block(self, rows: slice, columns: slice, out: Floats) -> Floats:
        """Return the exact scores of a block, float64 [rows, columns], in `out`: keys times `UNIT`."""
        for place, product in self._products(rows, columns):
            product.toarray(out=out[place])
        np.rint(np.divide(out, UNIT, out=out), out=out)
        with self._lock:
            self.decided += out.size
        return np.multiply(out, UNIT, out=out)

    def _products(self, rows: slice, columns: slice) -> Iterator[tuple[slice, Any]]:
        """Yield the places of some rows, and their scores with the columns, float64 CSR of scipy."""
        right = self._columns(columns)
        for low in range(rows.start, rows.stop, _ROWS):
            part = slice(low, min(low + _ROWS, rows.stop))
            product = self.queries.matrix[part] @ right
            self._scale(product, np.arange(part.start, part.stop), slice(columns.start, columns.stop))
            yield slice(part.start - rows.start, part.stop - rows.start), product

    def _columns(self, columns: slice) -> Any:  # noqa: ANN401  (of scipy)
        """Return candidates as the columns of a CSR matrix; all blocks together hold each one once."""
        key = (columns.start, columns.stop)
        found = self._turned.get(key)
        if found is None:
            found = self._turned[key] = self.candidates.matrix[columns].T.tocsr()
        return found

    def _scale(self, product: Any, queries: Ints, candidates: Ints | slice) -> None:  # noqa: ANN401
        """Make cosines of a product, where these are wanted."""
        if self.cosine:
            product.data *= np.repeat(self.queries.inverse_norms[queries], np.diff(product.indptr))
            product.data *= self.candidates.inverse_norms[candidates][product.indices]
