"""Unit vectors by blocks: float32 to screen, float64 to decide."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.ranking.tiles import Array, Device

CHUNK = 1024  # speed: rows converted to float64 at a time: a few MiB for the usual dimensions
CACHE_BYTES = 1 << 27  # speed: larger float32 copies of unit length are made again by blocks
_WHOLE = 16  # speed: bits of whole numbers that are looked for in the first vectors
_SMALL = ("inverse_norms", "bits")  # what travels with the rows
_LARGE = 1e12  # a length beyond this or its inverse is scaled in float64


class ChosenRows(ABC):
    """Chosen rows of vectors of some form, in order; the vectors are not copied."""

    def __init__(self, raw: Any, rows: Ints | None = None) -> None:  # noqa: ANN401  (of the form)
        self.raw = raw
        self.rows: Ints = np.arange(len(raw)) if rows is None else np.asarray(rows, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return int(self.raw.shape[1])

    def take(self, index: Ints) -> Self:
        """Select some of the rows."""
        return type(self)(self.raw, self.rows[index])

    @abstractmethod
    def identity(self) -> bytes:
        """Identify the rows, in order, with their type and dimensions."""


class UnitVectors(ChosenRows):
    """The chosen rows of an array, each scaled to unit length when it is used; a zero row stays zero.

    Blocks of rows are converted on demand, so that memory stays bounded for arrays of any size, memory-mapped
    ones included.
    """

    def __init__(self, raw: np.ndarray, rows: Ints | None = None) -> None:
        super().__init__(raw, rows)
        self._moved: dict[str, Array] = {}

    def take(self, index: Ints) -> Self:
        """Select some of the rows, with their lengths where they are there."""
        taken = super().take(index)
        if "inverse_norms" in self.__dict__:
            taken.__dict__["inverse_norms"] = self.inverse_norms[index]
        return taken

    def __getstate__(self) -> dict[str, Any]:
        """Give what travels: the chosen rows alone, of mapped files too, without copies on devices."""
        state = {"raw": np.asarray(self.raw[self.rows]), "rows": np.arange(len(self)), "_moved": {}}
        return state | {name: self.__dict__[name] for name in _SMALL if name in self.__dict__}

    @cached_property
    def inverse_norms(self) -> Floats:
        """1/length of each row, float64 [n]; 0 for a zero row, whose similarity to everything is then 0."""
        squares = np.concatenate([_squares(block) for block in self._blocks()] or [np.empty(0)])
        return _inverse(np.sqrt(squares))

    def along(self, direction: Floats) -> Floats:
        """Compute the component of each unit vector along a direction [d], float64 [n]."""
        lengths, squares = np.empty(len(self)), np.empty(len(self))
        for start, block in zip(range(0, len(self), CHUNK), self._blocks(), strict=True):
            part = slice(start, start + len(block))
            lengths[part], squares[part] = block @ direction, _squares(block)
        self.__dict__.setdefault("inverse_norms", _inverse(np.sqrt(squares)))
        return lengths * self.inverse_norms

    def _blocks(self) -> Iterator[Floats]:
        """Yield all rows, not normalised, some at a time."""
        for start in range(0, len(self), CHUNK):
            yield self.stored(np.arange(start, min(start + CHUNK, len(self))))

    def stored(self, index: Ints) -> Floats:
        """Convert the stored rows to float64 [len(index), d], not normalised."""
        wide: Floats = self.raw[self.rows[index]].astype(np.float64)
        return wide

    @cached_property
    def bits(self) -> int | None:
        """Bits of the largest number where all are whole multiples of one power of two; else None.

        So are binary codes and counts: sums of their products have no rounding, in any order.
        """
        unit, most = 0.0, 0.0
        for block in self._blocks():
            most = max(most, float(np.abs(block).max(initial=0.0)))
            if unit == 0.0 < most:
                unit = 2.0 ** (math.frexp(most)[1] - _WHOLE)
            if unit and not (np.rint(block / unit) == block / unit).all():
                return None
        bits = math.frexp(most / unit)[1] if unit else 0
        return bits if bits <= _WHOLE + 8 else None

    def mean(self, weights: Ints) -> Floats:
        """Compute the weighted mean of the unit vectors, float64 [d]."""
        total: Floats = np.zeros(self.dim)
        scale = weights * self.inverse_norms
        for start in range(0, len(self), CHUNK):
            index = np.arange(start, min(start + CHUNK, len(self)))
            total += scale[index] @ self.stored(index)
        total /= weights.sum()
        return total

    def screened(self, index: Ints) -> Vectors:
        """Compute some rows as float32 unit vectors [len(index), d], the numbers of tiles."""
        return self._cached[index] if self._cached is not None else self._normalised(index)

    def on(self, device: Device, rows: slice) -> Array:
        """Move unit vectors of consecutive rows to a device, float32 [rows, d]; small sets stay there."""
        if self._cached is None:
            return device.put(self._normalised(np.arange(rows.start, rows.stop)))
        if device.is_numpy:
            return self._cached[rows]
        if device.name not in self._moved:
            self._moved[device.name] = device.put(self._cached)
        return self._moved[device.name][rows]

    def identity(self) -> bytes:
        """Identify the stored rows, in order, with their type and dimensions."""
        hasher = hashlib.blake2b(f"{self.raw.dtype.str} {self.dim} ".encode(), digest_size=16)
        for start in range(0, len(self), CHUNK):
            hasher.update(np.ascontiguousarray(self.raw[self.rows[start : start + CHUNK]]).data)
        return hasher.digest()

    @cached_property
    def _cached(self) -> Vectors | None:
        if len(self) * self.dim * 4 > CACHE_BYTES:
            return None
        return self._normalised(np.arange(len(self)))

    def _normalised(self, index: Ints) -> Vectors:
        out: Vectors = np.empty((len(index), self.dim), dtype=np.float32)
        for low in range(0, len(index), CHUNK):
            part = index[low : low + CHUNK]
            scale, block = self.inverse_norms[part, None], self.raw[self.rows[part]]
            if block.dtype != np.float32 or not _in_float32(scale):
                block = block.astype(np.float64)  # float32 could overflow or lose digits
            np.multiply(block, scale, out=out[low : low + CHUNK], dtype=block.dtype, casting="unsafe")
        return out


def _in_float32(scale: Floats) -> bool:
    """Decide whether vectors with these inverse lengths may be scaled in float32."""
    return not len(scale) or bool(scale.max() <= _LARGE and scale.min() >= 1 / _LARGE)


def _squares(block: Floats) -> Floats:
    squares: Floats = np.einsum("ij,ij->i", block, block)
    return squares


def _inverse(norms: Floats) -> Floats:
    return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
