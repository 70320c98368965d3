"""Which rows of an array are identical, and which are equal once they are scaled to unit length."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Protocol

import numpy as np

from xlingual.arrays import Floats, Ints

_CHUNK = 1024  # rows looked at at a time: a few MiB for the usual dimensions
DECIMALS = 12  # to which unit vectors are rounded before they are compared
_Rows = Callable[[Ints], np.ndarray]  # numbers [n] → what is compared, [n, d]


class Unit(Protocol):
    """Vectors that are scaled to unit length when they are used, as `UnitVectors`."""

    def __len__(self) -> int: ...

    @property
    def dim(self) -> int:
        """Number of dimensions."""

    @property
    def inverse_norms(self) -> Floats:
        """1/length of each row, float64 [n]; 0 for a zero row."""

    def stored(self, index: Ints) -> Floats:
        """Return the stored rows as float64 [len(index), d], not normalised."""

    def along(self, direction: Floats) -> Floats:
        """Return the component of each unit vector along a direction [d], float64 [n]."""


def identical_rows(raw: np.ndarray, rows: Ints | None = None) -> tuple[Ints, Ints]:
    """Return (first [u], code [n]) of the chosen rows of `raw`: bit-identical ones share a code (−0 is 0).

    `first` is the first position of each distinct row, `code` the distinct row of each.
    """
    rows = np.arange(len(raw)) if rows is None else np.asarray(rows, dtype=np.int64)
    checksum = [_checksum(raw[rows[i : i + _CHUNK]]) for i in range(0, len(rows), _CHUNK)]
    sums = np.concatenate(checksum or [np.empty(0, dtype=np.uint64)])
    same = _same(sums, np.arange(len(rows)), lambda index: raw[rows[index]])
    return _numbered(same)


def equal_rows(unit: Unit) -> tuple[Ints, Ints]:
    """Return (first [u], code [n]) of vectors: those with unit vectors equal to 12 decimals share a code.

    Unit vectors are rounded to 12 decimals in float64, so that to be equal is an equivalence. Only rows whose
    projections on one random direction are close are compared: rows that are equal have close ones.
    """
    n, place = len(unit), unit.along(np.random.default_rng(0).uniform(-1, 1, unit.dim))
    order = np.argsort(place, kind="stable")
    close = (
        np.diff(place[order]) <= 4 * 10.0**-DECIMALS * unit.dim
    )  # twice the most that equal ones differ by
    near = np.sort(order[np.append(close, False) | np.append(False, close)])
    checksum = [
        _checksum(_rounded(unit, near[start : start + _CHUNK])) for start in range(0, len(near), _CHUNK)
    ]
    same = np.arange(n)
    if len(near):
        same[near] = _same(np.concatenate(checksum), near, lambda index: _rounded(unit, index))
    return _numbered(same)


def _rounded(unit: Unit, index: Ints) -> Floats:
    """Return unit vectors in units of the last decimal, whole numbers [len(index), d]."""
    wide = unit.stored(index)
    wide *= unit.inverse_norms[index, None] * 10.0**DECIMALS
    return np.rint(wide, out=wide)


def _same(checksum: np.ndarray, numbers: Ints, rows: _Rows) -> Ints:
    """Return, for each row, the first row that is the same; `numbers` [n] are those of the rows, ascending.

    Rows are compared by a checksum first: those whose checksum an earlier row has are compared with it, and
    the few that differ from it by a hash.
    """
    order = np.argsort(checksum, kind="stable")
    new = np.append(True, checksum[order[1:]] != checksum[order[:-1]])
    same = np.empty(len(numbers), dtype=np.int64)
    same[order] = order[np.maximum.accumulate(np.where(new, np.arange(len(numbers)), 0))]
    later = np.flatnonzero(same != np.arange(len(numbers)))
    label: dict[bytes, int] = {}
    for start in range(0, len(later), _CHUNK):
        part = later[start : start + _CHUNK]
        own = rows(numbers[part])
        differ = (own != rows(numbers[same[part]])).any(axis=1)
        for position, row in zip(part[differ].tolist(), own[differ], strict=True):
            same[position] = label.setdefault(_row_hash(row), position)
    found: Ints = numbers[same]
    return found


def _numbered(same: Ints) -> tuple[Ints, Ints]:
    """Return (first, code) from the first row that is the same as each."""
    first = np.flatnonzero(same == np.arange(len(same)))
    return first, np.searchsorted(first, same)


def _checksum(block: np.ndarray) -> np.ndarray:
    """Return one integer for each row: equal rows have equal ones (−0 counts as 0), others hardly ever."""
    plain = np.ascontiguousarray(block + block.dtype.type(0))
    words = plain.view(np.uint16 if plain.dtype.itemsize == 2 else np.uint32).astype(np.uint64)
    weights = np.random.default_rng(0).integers(1 << 63, size=words.shape[1], dtype=np.uint64)
    sums: np.ndarray = np.einsum("ij,j->i", words, weights)
    return sums


def _row_hash(row: np.ndarray) -> bytes:
    plain = np.ascontiguousarray(row + row.dtype.type(0))
    return hashlib.blake2b(plain.tobytes(), digest_size=16).digest()
