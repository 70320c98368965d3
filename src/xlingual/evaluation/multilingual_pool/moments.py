"""Moments of vectors: number, sum and Gram matrix, in coordinates that spare the digits of float32 products."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from xlingual.records import Floats, Ints, Vectors

# coordinates [b, k] of some vectors, the sum of the squares of all their dimensions, their clusters [b]
Block: TypeAlias = tuple[Vectors, float, Ints]


@dataclass(frozen=True, eq=False)
class Frame:
    """The coordinates in which vectors are multiplied: shifted by `centre` and, perhaps, projected.

    A shift changes no model with an intercept and no covariance, but without it float32 products would spend
    their digits on what all vectors have in common.
    """

    centre: Vectors  # [d]
    basis: Vectors | None  # [d, k], orthonormal columns; None: all dimensions are kept

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors, d."""
        return len(self.centre)

    @property
    def kept(self) -> int:
        """Number of coordinates, k."""
        return self.dim if self.basis is None else self.basis.shape[1]

    def coordinates(self, unit: Vectors) -> tuple[Vectors, float]:
        """Return the coordinates [n, k] of unit vectors [n, d] and the sum of the squares of all d."""
        shifted: Vectors = np.subtract(unit, self.centre, dtype=np.float32)
        squares = float(np.einsum("ij,ij->i", shifted, shifted).sum(dtype=np.float64))
        if self.basis is None:
            return shifted, squares
        projected: Vectors = np.matmul(shifted, self.basis, dtype=np.float32)
        return projected, squares


@dataclass(frozen=True, eq=False)
class Moments:
    """Number, sum [k], Gram matrix [k, k] and sum of squares (over all d dimensions) of some vectors."""

    n: int
    total: Floats
    gram: Floats
    squares: float

    @property
    def mean(self) -> Floats:
        """The mean vector, float64 [k]; zero where there are no vectors."""
        return self.total / max(self.n, 1)

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.n + other.n, self.total + other.total, self.gram + other.gram, self.squares + other.squares
        )

    def scatter(self) -> Floats:
        """Return Σ (x − mean)(x − mean)ᵀ, float64 [k, k]."""
        gram: Floats = self.gram - np.outer(self.total, self.mean)
        return gram


def moments_of(frame: Frame, blocks: Iterable[Block]) -> Moments:
    """Return the moments of the blocks: float32 products, summed over blocks in float64."""
    n, squares = 0, 0.0
    total, gram = np.zeros(frame.kept), np.zeros((frame.kept, frame.kept))
    for block, own_squares, _ in blocks:
        n += len(block)
        squares += own_squares
        total += block.sum(axis=0, dtype=np.float64)
        gram += block.T @ block
    return Moments(n, total, gram, squares)
