"""Repairs of hubs that know hubs by a bank of training queries b.

    csls                2·cos(x, y) − mean of the k largest cos(b, y)
    inverted-softmax    cos(x, y) − (1/β)·log mean_b exp(β·cos(b, y))
    qb-norm             the same for queries whose nearest candidate is a hub of the bank, else cos(x, y)
    local-scaling       −‖x − y‖² / (distance of y to its k-th nearest b)
    mutual-proximity    the probability that a b is less similar to x and another one to y (`Proximity`)

What is the same for all candidates of a query x orders nothing, and is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.forms import COSINE
from xlingual.ranking.banks import BankPass, Sample
from xlingual.ranking.csls import mean_keys
from xlingual.ranking.kinds import TextSimilarity, similarity_of
from xlingual.ranking.offsets import Adjustment, Offsets
from xlingual.ranking.ranked import TopK
from xlingual.ranking.scalings import LEAST_DEVIATION, NEAREST_SCALE, ONE, Proximity, Scaled
from xlingual.ranking.scan import Reduction
from xlingual.ranking.similarity import UNIT, Cosine
from xlingual.ranking.top import Top

LEAST_BETA, LARGEST_BETA = 0.001, 10_000.0
_CAP = 1000  # candidates that may tie with the k-th best of a query of the bank


@dataclass(frozen=True)
class BankCsls:
    """CSLS with r_S by the bank: 2·cos(x, y) less the mean of y's `k` largest cosines to queries of the bank.

    r_T(x) is one number for all candidates of x, and left out (Conneau and others, ICLR 2018).
    """

    k: int = 10

    def __post_init__(self) -> None:
        _check("csls", k=self.k)

    @property
    def name(self) -> str:
        """What signatures call it."""
        return f"csls?k={self.k}"

    def adjustments(self, given: BankPass, samples: Sequence[Sample]) -> list[Adjustment]:
        """Return the offsets, which are the same for every sample."""
        found, similarity = given.nearest(self.k)
        means = mean_keys(found, min(self.k, len(given.bank)), lambda y, b: similarity.exact(b, y))
        return [Offsets(2, _zeros(given), means)] * len(samples)


@dataclass(frozen=True)
class InvertedSoftmax:
    """cos(x, y) − (1/β)·log mean_b exp(β·cos(b, y)).

    That is (1/β)·log of exp(β·cos(x, y)) / Σ_b exp(β·cos(b, y)), but for a number that all pairs share
    (Smith, Turban, Hamblin and Hammerla, Offline bilingual word vectors, orthogonal transformations and the
    inverted softmax, ICLR 2017); their α_x is one number for all candidates of x, and left out.
    """

    beta: float = 20.0

    def __post_init__(self) -> None:
        _check("inverted-softmax", beta=self.beta)

    @property
    def name(self) -> str:
        """What signatures call it."""
        return f"inverted-softmax?beta={self.beta:g}"

    def adjustments(self, given: BankPass, samples: Sequence[Sample]) -> list[Adjustment]:
        """Return the offsets, which are the same for every sample."""
        (means,) = given.over_bank(self.log_means)
        return [Offsets(1, _zeros(given), means)] * len(samples)

    def log_means(self, keys: Ints, weights: Ints) -> tuple[Floats, ...]:
        """Return (1/β)·log mean exp(β·cosine) over the bank, [items], from keys [items, N]."""
        most = keys.max(axis=1)
        terms = np.exp(self.beta * UNIT * (keys - most[:, None])) * weights
        return (most + np.log(terms.sum(axis=1) / weights.sum()) / (self.beta * UNIT),)


@dataclass(frozen=True)
class QbNorm:
    """The inverted softmax, for queries alone whose nearest candidate is one that the bank prefers.

    Preferred are candidates among the `k` nearest of a query of the bank (Bogolin, Croitoru, Jin, Liu and
    Albanie, Cross modal retrieval with querybank normalisation, CVPR 2022, section 3.3: dynamic inverted
    softmax). Other queries are ranked by the cosine. So a score depends on the candidates too: they decide
    which are preferred, and which is nearest. Of several nearest ones that tie, one that is preferred is
    enough; all that tie with the k-th are preferred, unless these are over 1,000.
    """

    beta: float = 20.0
    k: int = 1

    def __post_init__(self) -> None:
        _check("qb-norm", self.k, self.beta)

    @property
    def name(self) -> str:
        """What signatures call it."""
        return f"qb-norm?beta={self.beta:g}&k={self.k}"

    def adjustments(self, given: BankPass, samples: Sequence[Sample]) -> list[Adjustment]:
        """Return the offsets of each sample, with the queries that they are taken off for."""
        (means,) = given.over_bank(InvertedSoftmax(self.beta).log_means)
        preferred = self._preferred(given, samples)
        shape = given.similarity.shape
        reductions = [
            Top(1, shape, weights=weights, queries=np.flatnonzero(queries), cap=1)
            for (queries, candidates), chosen in zip(samples, preferred, strict=True)
            for weights in (candidates, candidates * chosen)
        ]
        given.ranker.scan(given.similarity, reductions)
        best = [self._best(given.similarity, reduction.result()) for reduction in reductions]
        gates = [(one == other) * ONE for one, other in zip(best[::2], best[1::2], strict=True)]
        return [Offsets(1, _zeros(given), means, gate) for gate in gates]

    def _preferred(self, given: BankPass, samples: Sequence[Sample]) -> list[np.ndarray]:
        """Return which candidates of each sample the bank prefers, bool [m]."""
        similarity = similarity_of(given.bank.vectors, given.similarity.candidates)
        reductions = [Top(self.k, similarity.shape, weights=held, cap=_CAP) for _, held in samples]
        asked: list[Reduction] = [*reductions]
        given.ranker.scan(similarity, asked)
        given.count(similarity)
        preferred = []
        for reduction in reductions:
            found = reduction.result()
            crowded = (found.unlisted[found.query] > 0) & (found.above + found.tied >= self.k)
            chosen = np.zeros(similarity.shape[1], dtype=np.bool_)
            chosen[found.candidate[~crowded]] = True
            preferred.append(chosen)
        return preferred

    @staticmethod
    def _best(similarity: TextSimilarity, found: TopK) -> Ints:
        """Return the key of the best candidate of each query; of one without any a number that is no key."""
        best = np.full(similarity.shape[0], np.iinfo(np.int64).min)
        best[found.query] = similarity.exact(found.query, found.candidate)
        return best


@dataclass(frozen=True)
class LocalScaling:
    """−‖x − y‖² / σ(y), σ(y) the distance of y to its `k`-th nearest query of the bank.

    Of exp(−‖x − y‖² / (σ(x)·σ(y))) the scale σ(x) orders no candidates of x, and is left out (Zelnik-Manor
    and Perona, Self-tuning spectral clustering, NIPS 2004; Schnitzer, Flexer, Schedl and Widmer, JMLR 2012).
    Where the bank has fewer than k, the last of them. A distance below .01 counts as .01.
    """

    k: int = 10

    def __post_init__(self) -> None:
        _check("local-scaling", k=self.k)

    @property
    def name(self) -> str:
        """What signatures call it."""
        return f"local-scaling?k={self.k}"

    def adjustments(self, given: BankPass, samples: Sequence[Sample]) -> list[Adjustment]:
        """Return the scales, which are the same for every sample."""
        _refuse_other_than_cosine(given.similarity, self.name)
        found, similarity = given.nearest(self.k)
        last = np.append(np.flatnonzero(np.diff(found.query)), len(found.query) - 1)
        keys = similarity.exact(found.candidate[last], found.query[last])
        scales = np.sqrt(np.maximum(2.0 * (ONE - keys), 0) * ONE)
        return [Scaled(np.maximum(np.rint(scales).astype(np.int64), NEAREST_SCALE))] * len(samples)


@dataclass(frozen=True)
class MutualProximity:
    """The probability that a query of the bank is less similar to x, and another one to y, than x is to y.

    Both are normal distributions, by mean and standard deviation (that of a population) of the cosines of x
    to the bank, and of y to the bank, and independent (Schnitzer, Flexer, Schedl and Widmer, Local and global
    scaling reduce hubs in space, JMLR 13, 2012, section 4.2). Standard deviations below .001 count as .001; a
    vector to which the whole bank is equally similar has probability ½.
    """

    @property
    def name(self) -> str:
        """What signatures call it."""
        return "mutual-proximity"

    def adjustments(self, given: BankPass, samples: Sequence[Sample]) -> list[Adjustment]:
        """Return means and deviations, which are the same for every sample."""
        _refuse_other_than_cosine(given.similarity, self.name)
        sides = [*given.over_bank(self.moments, queries=True), *given.over_bank(self.moments)]
        return [Proximity(*sides)] * len(samples)

    @staticmethod
    def moments(keys: Ints, weights: Ints) -> tuple[Floats, ...]:
        """Return mean and standard deviation over the bank, [items], from keys [items, N]."""
        total = weights.sum()
        mean = np.rint((keys * weights).sum(axis=1) / total)
        squares = (keys - mean[:, None]) ** 2 * weights
        deviation = np.sqrt(squares.sum(axis=1) / total)
        constant = keys.min(axis=1) == keys.max(axis=1)
        return mean, np.where(constant, 0.0, np.maximum(deviation, LEAST_DEVIATION))


def _check(name: str, k: int = 1, beta: float = 1.0) -> None:
    """Raise ValueError where a parameter makes no sense."""
    if k < 1:
        raise ValueError(f"{name}: k must be 1 at least, found {k}")
    if not LEAST_BETA <= beta <= LARGEST_BETA:
        raise ValueError(f"{name}: beta must be from {LEAST_BETA:g} to {LARGEST_BETA:g}, found {beta}")


def _refuse_other_than_cosine(similarity: TextSimilarity, name: str) -> None:
    """Raise InputError where vectors are not compared by the cosine: scales are those of cosines."""
    if not isinstance(similarity, Cosine) and similarity.queries.raw.compared_by != COSINE:
        raise InputError(
            f"--similarity {name} is a function of cosines, and these vectors are compared by "
            f"{similarity.queries.raw.compared_by}: take csls, inverted-softmax or qb-norm, or an encoder "
            "with one dense vector for each text"
        )


def _zeros(given: BankPass) -> Ints:
    return np.zeros(given.similarity.shape[0], dtype=np.int64)
