"""Corrections of hubs, known by a bank of training queries b: what is near to everything is taken off.

    csls                2·cos(x, y) − mean of the k largest cos(b, y)
    inverted-softmax    cos(x, y) − (1/β)·log mean_b exp(β·cos(b, y))

What is the same for all candidates of a query x orders nothing, and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.ranking.banks import BankPass
from xlingual.ranking.offsets import Offsets
from xlingual.ranking.ranked import TopK
from xlingual.ranking.similarity import UNIT

LEAST_BETA, LARGEST_BETA = 0.001, 10_000.0


@dataclass(frozen=True)
class Csls:
    """CSLS with r_S by the bank: 2·cos(x, y) less the mean of y's `k` largest cosines to queries of the bank.

    r_T(x) is one number for all candidates of x, and left out (Conneau, Lample, Ranzato, Denoyer and Jégou,
    Word translation without parallel data, ICLR 2018, section 2.3).
    """

    k: int = 10

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"csls: k must be 1 at least, found {self.k}")

    @property
    def name(self) -> str:
        """What signatures call it."""
        return f"csls?k={self.k}"

    def offsets(self, given: BankPass) -> Offsets:
        """Return the offsets of the candidates."""
        found, similarity = given.nearest(self.k)
        return Offsets(2, mean_keys(found, min(self.k, len(given.bank)), lambda y, b: similarity.exact(b, y)))


@dataclass(frozen=True)
class InvertedSoftmax:
    """cos(x, y) − (1/β)·log mean_b exp(β·cos(b, y)).

    That is (1/β)·log of exp(β·cos(x, y)) / Σ_b exp(β·cos(b, y)), but for a number that all pairs share
    (Smith, Turban, Hamblin and Hammerla, Offline bilingual word vectors, orthogonal transformations and the
    inverted softmax, ICLR 2017); their α_x is one number for all candidates of x, and left out.
    """

    beta: float = 20.0

    def __post_init__(self) -> None:
        if not LEAST_BETA <= self.beta <= LARGEST_BETA:
            raise ValueError(
                f"inverted-softmax: beta must be from {LEAST_BETA:g} to {LARGEST_BETA:g}, found {self.beta}"
            )

    @property
    def name(self) -> str:
        """What signatures call it."""
        return f"inverted-softmax?beta={self.beta:g}"

    def offsets(self, given: BankPass) -> Offsets:
        """Return the offsets of the candidates."""
        return Offsets(1, given.over_bank(self.log_means))

    def log_means(self, keys: Ints, weights: Ints) -> Floats:
        """Return (1/β)·log mean exp(β·cosine) over the bank, [items], from keys [items, N]."""
        most = keys.max(axis=1)
        terms = np.exp(self.beta * UNIT * (keys - most[:, None])) * weights
        means: Floats = most + np.log(terms.sum(axis=1) / weights.sum()) / (self.beta * UNIT)
        return means


def mean_keys(found: TopK, count: int, exact: Callable[[Ints, Ints], Ints]) -> Ints:
    """Return the mean key of the first `count` candidates of each query, int64 [n]; 0 for one without any.

    One line of each level of ties stands for all of the level.
    """
    new = np.ones(len(found.query), dtype=bool)
    new[1:] = (np.diff(found.query) != 0) | (np.diff(found.above) != 0)
    lines = np.flatnonzero(new)
    query, above = found.query[lines], found.above[lines]
    taken = np.minimum(count, above + found.tied[lines]) - above
    total = np.zeros(len(found.unlisted), dtype=np.int64)
    np.add.at(total, query, taken * exact(query, found.candidate[lines]))
    means: Ints = np.rint(total / max(count, 1)).astype(np.int64)
    return means
