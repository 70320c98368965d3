"""Unit vectors by blocks: float32 to screen, float64 to decide, and equal rows collapsed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors

CHUNK = 1024  # rows converted to float64 at a time: a few MiB for the usual dimensions
CACHE_BYTES = 1 << 27  # normalised float32 copies up to this size are kept, larger ones made again by blocks
_LARGE = 1e12  # a length beyond this or its inverse is scaled in float64


class UnitVectors:
    """The chosen rows of an array, each scaled to unit length when it is used; a zero row stays zero.

    The array is not copied: blocks of rows are converted on demand, so that memory stays bounded for arrays
    of any size, memory-mapped ones included.
    """

    def __init__(self, raw: np.ndarray, rows: Ints | None = None) -> None:
        self.raw = raw
        self.rows: Ints = np.arange(len(raw)) if rows is None else np.asarray(rows, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return int(self.raw.shape[1])

    def take(self, index: Ints) -> UnitVectors:
        """Return some of the rows."""
        return UnitVectors(self.raw, self.rows[index])

    @cached_property
    def inverse_norms(self) -> Floats:
        """1/length of each row, float64 [n]; 0 for a zero row, whose similarity to everything is then 0."""
        norms = np.empty(len(self))
        for start in range(0, len(self), CHUNK):
            block = self.stored(np.arange(start, min(start + CHUNK, len(self))))
            norms[start : start + CHUNK] = np.sqrt(np.einsum("ij,ij->i", block, block))
        return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)

    def stored(self, index: Ints) -> Floats:
        """Return the stored rows as float64 [len(index), d], not normalised."""
        wide: Floats = self.raw[self.rows[index]].astype(np.float64)
        return wide

    def rows_at(self, index: Ints) -> Vectors:
        """Return rows of unit length, float32 [len(index), d]."""
        if (made := self.__dict__.get("_cached")) is not None:  # by a screen; the same numbers
            found: Vectors = made[index]
            return found
        rows = self.raw[self.rows[index]].astype(np.float32, copy=False)
        unit: Vectors = rows * self.inverse_norms[index].astype(np.float32)[:, None]
        return unit

    def mean(self, weights: Ints) -> Floats:
        """Return the weighted mean of the unit vectors, float64 [d]."""
        total: Floats = np.zeros(self.dim)
        scale = weights * self.inverse_norms
        for start in range(0, len(self), CHUNK):
            index = np.arange(start, min(start + CHUNK, len(self)))
            total += scale[index] @ self.stored(index)
        total /= weights.sum()
        return total

    def screen(self, start: int, stop: int) -> Vectors:
        """Return rows start to stop as float32 unit vectors [stop − start, d]."""
        cached = self._cached
        return self._normalised(start, stop) if cached is None else cached[start:stop]

    @cached_property
    def _cached(self) -> Vectors | None:
        if len(self) * self.dim * 4 > CACHE_BYTES:
            return None
        return self._normalised(0, len(self))

    def _normalised(self, start: int, stop: int) -> Vectors:
        out: Vectors = np.empty((stop - start, self.dim), dtype=np.float32)
        for low in range(start, stop, CHUNK):
            high = min(low + CHUNK, stop)
            scale = self.inverse_norms[low:high, None]
            block = self.raw[self.rows[low:high]]
            if block.dtype != np.float32 or scale.max() > _LARGE or scale.min() < 1 / _LARGE:
                block = block.astype(np.float64)  # float32 could overflow or lose digits
            np.multiply(
                block, scale, out=out[low - start : high - start], dtype=block.dtype, casting="unsafe"
            )
        return out


@dataclass(frozen=True)
class Pool:
    """Rows of an array with bit-identical ones collapsed: `vectors` are the distinct rows.

    `code[i]` is the distinct row that row i of the pool equals; all zero rows are one. A constant encoder
    thus costs one row.
    """

    vectors: UnitVectors
    code: Ints  # [n] → distinct row

    @classmethod
    def of(cls, raw: np.ndarray, rows: Ints | None = None) -> Pool:
        """Collapse the chosen rows of `raw` [*, d]."""
        rows = np.arange(len(raw)) if rows is None else np.asarray(rows, dtype=np.int64)
        first, code = _distinct(raw, rows)
        return cls(UnitVectors(raw, rows[first]), code)

    def weights(self, members: Ints) -> Ints:
        """Return how many of the pool's rows `members` equal each distinct row, int64 [distinct]."""
        return np.bincount(self.code[members], minlength=len(self.vectors)).astype(np.int64)


def _distinct(raw: np.ndarray, rows: Ints) -> tuple[Ints, Ints]:
    """Return (first [u], code [n]): the first position of each distinct row, and each row's distinct number.

    Rows are compared by a checksum first: only those whose checksum an earlier row has are compared with it,
    and the few that differ from it by a hash.
    """
    checksum = np.concatenate([_checksum(raw[rows[i : i + CHUNK]]) for i in range(0, len(rows), CHUNK)])
    order = np.argsort(checksum, kind="stable")
    new = np.append(True, checksum[order[1:]] != checksum[order[:-1]])
    same = np.empty(len(rows), dtype=np.int64)  # the first position with the same checksum
    same[order] = order[np.maximum.accumulate(np.where(new, np.arange(len(rows)), 0))]
    later = np.flatnonzero(same != np.arange(len(rows)))
    label: dict[bytes, int] = {}
    for start in range(0, len(later), CHUNK):
        part = later[start : start + CHUNK]
        equal = (raw[rows[part]] == raw[rows[same[part]]]).all(axis=1)
        for position in part[~equal].tolist():
            same[position] = label.setdefault(_row_hash(raw[rows[position]]), position)
    first = np.flatnonzero(same == np.arange(len(rows)))
    return first, np.searchsorted(first, same)


def _checksum(block: np.ndarray) -> np.ndarray:
    """Return one integer for each row: equal rows have equal ones (−0 counts as 0)."""
    plain = np.ascontiguousarray(block + block.dtype.type(0))
    words = plain.view(np.uint16 if plain.dtype.itemsize == 2 else np.uint32)
    sums: np.ndarray = words.sum(axis=1, dtype=np.uint64)
    return sums


def _row_hash(row: np.ndarray) -> bytes:
    plain = np.ascontiguousarray(row + row.dtype.type(0))
    return hashlib.blake2b(plain.tobytes(), digest_size=16).digest()
