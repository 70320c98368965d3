"""Rank measures, with ties resolved as the expectation under random tie-breaking.

One tie group matters for each query: the one that holds the best relevant candidate. With G candidates above
it, n tied in it and r of those relevant, the closed forms below are exact (`docs/reference/measures.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from xlingual.arrays import Floats
from xlingual.records import RankCounts


class QueryMean:
    """What measures share whose number is the mean of values from 0 to 1 over queries."""

    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def aggregate(self, values: Floats) -> float:
        """Return the mean over queries."""
        return float(np.mean(values))


@dataclass(frozen=True)
class SuccessAt(QueryMean):
    """Success@k, the hit rate: whether any relevant candidate is among the first k.

    P(hit) = 1 − C(n−r, m)/C(n, m) with m = clip(k−G, 0, n); for r = 1 this is clip((k−G)/n, 0, 1). With one
    relevant candidate it equals R@k, set recall; with several it is larger.

    >>> SuccessAt(10).name
    'Success@10'
    """

    k: int

    def __post_init__(self) -> None:
        check_cut("Success@k", self.k)

    @property
    def name(self) -> str:
        """Canonical name."""
        return f"Success@{self.k}"

    def per_query(self, counts: RankCounts) -> Floats:
        """Return the expected hit of each query, float64 [n] in 0..1."""
        m = np.clip(self.k - counts.above, 0, counts.tied)
        m = np.where(counts.above < counts.pool, m, 0)  # what was not found is at no depth
        miss = np.ones(len(counts))
        for i in range(int(counts.relevant.max(initial=0))):
            factor = np.clip(counts.tied - m - i, 0, None) / np.maximum(counts.tied - i, 1)
            miss = np.where(i < counts.relevant, miss * factor, miss)
        hit: Floats = 1.0 - miss
        return hit


@dataclass(frozen=True)
class DepthShare(QueryMean):
    """What R@p% and Success@p% share: k = ⌈p·pool/100⌉, for pools too large for a k of 10.

    Pools of unequal size have a k each. It is compared over pools as R@10 is not, and says less about what a
    user sees.
    """

    percent: float
    prefix: ClassVar[str]

    def __post_init__(self) -> None:
        if not 0.001 <= self.percent < 100:
            raise ValueError(
                f"{self.prefix}@p% needs a share from 0.001 to below 100 percent, got {self.percent!r}"
            )

    @property
    def name(self) -> str:
        """Canonical name."""
        return f"{self.prefix}@{self.percent:g}%"

    def k(self, pool: int) -> int:
        """Return how many of `pool` candidates are looked at: the share rounded up, 1 at least."""
        exact = pool * round(self.percent * 1_000_000)  # in whole numbers: 0.1 % of 3000 is 3, not 4
        return max(1, -(-exact // 100_000_000))


@dataclass(frozen=True)
class SuccessShare(DepthShare):
    """Success@p%, the hit rate among the best p percent: Success@k with k = ⌈p·pool/100⌉.

    >>> SuccessShare(0.1).name, SuccessShare(0.1).k(123_456)
    ('Success@0.1%', 124)
    """

    prefix: ClassVar[str] = "Success"

    def per_query(self, counts: RankCounts) -> Floats:
        """Return the expected hit of each query, float64 [n] in 0..1."""
        hit: Floats = np.empty(len(counts))
        for pool in np.unique(counts.pool).tolist():
            own = counts.pool == pool
            part = RankCounts(*(a[own] for a in (counts.above, counts.tied, counts.relevant, counts.pool)))
            hit[own] = SuccessAt(self.k(pool)).per_query(part)
        return hit


@dataclass(frozen=True)
class ReciprocalRank(QueryMean):
    """RR, one over the rank of the first relevant candidate; its mean is MRR. RR@k is 0 beyond rank k.

    E = Σ_{j=1}^{n−r+1} C(n−j, r−1)/C(n, r)/(G+j); for r = 1 this is (H(G+n) − H(G))/n with the harmonic
    numbers H. With a cut k only j ≤ m = clip(k−G, 0, n) count; for r = 1 that is (H(G+m) − H(G))/n.

    >>> ReciprocalRank().name, ReciprocalRank(10).name
    ('RR', 'RR@10')
    """

    cut: int | None = None

    def __post_init__(self) -> None:
        if self.cut is not None:
            check_cut("RR@k", self.cut)

    @property
    def name(self) -> str:
        """Canonical name."""
        return "RR" if self.cut is None else f"RR@{self.cut}"

    def per_query(self, counts: RankCounts) -> Floats:
        """Return the expected reciprocal rank of each query, float64 [n] in 0..1."""
        places = counts.tied if self.cut is None else np.clip(self.cut - counts.above, 0, counts.tied)
        places = np.where(counts.above < counts.pool, places, 0)  # what was not found is worth nothing
        last = counts.above + places
        harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, int(last.max(initial=0)) + 1))])
        values: Floats = (harmonic[last] - harmonic[counts.above]) / counts.tied
        several = counts.relevant > 1
        columns = np.stack([counts.above, counts.tied, counts.relevant, places], axis=1)[several]
        distinct, place = np.unique(columns, axis=0, return_inverse=True)
        expected = np.array([_expected_reciprocal(*group) for group in distinct.tolist()])
        values[several] = expected[place.reshape(-1)] if len(expected) else 0.0
        return values


@dataclass(frozen=True)
class MedianRank:
    """MedR, the median over queries of the (mid-)rank of the first relevant candidate; lower is better.

    The expected rank of the first of r relevant among n tied is G + (n+1)/(r+1); for r = 1 the mid-rank
    G + (n+1)/2. With `floor` (MedR/floor) the aggregate is a whole number, as the literature on ranking
    images and sentences has it: ⌊median of the ranks counted from 0⌋ + 1.

    >>> MedianRank(floor=True).aggregate(np.array([1.0, 2.0, 3.0, 8.0])), MedianRank(floor=True).name
    (2.0, 'MedR/floor')
    """

    floor: bool = False
    higher_is_better: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (1.0, float("inf"))

    @property
    def name(self) -> str:
        """Canonical name."""
        return "MedR/floor" if self.floor else "MedR"

    def per_query(self, counts: RankCounts) -> Floats:
        """Return the expected rank of each query, float64 [n], from 1."""
        ranks: Floats = counts.above + (counts.tied + 1) / (counts.relevant + 1)
        return ranks

    def aggregate(self, values: Floats) -> float:
        """Return the median over queries."""
        return self.rounded(float(np.median(values)))

    def rounded(self, median: float) -> float:
        """Return a median of ranks from 1 as this measure reports it; the order of medians is kept."""
        return float(np.floor(median - 1) + 1) if self.floor else median


@dataclass(frozen=True)
class MeanImageSimilarity:
    """SIM, the mean similarity of a query's own image and its retrieved text's image.

    Backretrieval without the way back; it needs the scores of pairs, not ranks.
    """

    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    name: ClassVar[str] = "SIM"

    def aggregate(self, values: Floats) -> float:
        """Return the mean over queries."""
        return float(np.mean(values))


@dataclass(frozen=True)
class DistanceCorrelation:
    """CORR, Spearman's correlation of text and image distances over pairs of a source and a target.

    A number for a whole sample: it has no value per query.
    """

    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    name: ClassVar[str] = "CORR"


def check_cut(name: str, k: int) -> None:
    """Raise ValueError for a k that is no whole number from 1."""
    if type(k) is not int or k < 1:  # R@2.5 or R@True would print a name that is none
        raise ValueError(f"{name} needs a whole number k of at least 1, got {k!r}")


def _expected_reciprocal(above: int, tied: int, relevant: int, places: int) -> float:
    """Return E[1/rank of the first relevant] of one tie group, 0 beyond its first `places`."""
    j = np.arange(1, tied - relevant + 2)
    steps = (tied - j[:-1] - relevant + 1) / (tied - j[:-1])
    first_is_j = relevant / tied * np.cumprod(np.concatenate([[1.0], steps]))  # P(the first is at place j)
    return float(np.sum((first_is_j / (above + j))[:places]))
