"""Measures of every relevant candidate's rank: average precision, set recall and precision.

Ties are the expectation under random tie-breaking, in closed form, group by group (see
`docs/reference/measures.md`). Two relevant candidates of a query are in one tie group exactly where as many
candidates are above them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.measures.harmonic import harmonic_difference
from xlingual.measures.rank import DepthShare, QueryMean, SuccessAt, SuccessShare, check_cut
from xlingual.ragged import groups
from xlingual.records import RankCounts, TargetCounts


@dataclass(frozen=True)
class AveragePrecision(QueryMean):
    """AP, the mean over the R relevant candidates of the precision at their ranks; its mean is mAP.

    A tie group of n candidates, r of them relevant, with G candidates above, ρ of them relevant, adds
    (r/n)·[n·c + (ρ + 1 − c(G + 1))·(H(G + n) − H(G))], c = (r − 1)/(n − 1) or 0; the sum is divided by R.
    With a cut k only the first k ranks count: m = clip(k − G, 0, n) stands for n inside the brackets. AP@k
    keeps the divisor R (trec_eval's `map_cut`, ir_measures' AP@k); AP@k/min divides by min(R, k) (XTREME).

    >>> AveragePrecision().name, AveragePrecision(20).name, AveragePrecision(20, of_least=True).name
    ('AP', 'AP@20', 'AP@20/min')
    """

    cut: int | None = None
    of_least: bool = False  # divide by min(R, k) instead of R

    def __post_init__(self) -> None:
        if self.cut is not None:
            check_cut("AP@k/min" if self.of_least else "AP@k", self.cut)
        elif self.of_least:
            raise ValueError("AP without a cut has the divisor R: min(R, k) needs a k")

    @property
    def name(self) -> str:
        """Canonical name."""
        return "AP" if self.cut is None else f"AP@{self.cut}{'/min' if self.of_least else ''}"

    def per_query(self, counts: TargetCounts) -> Floats:
        """Return the expected average precision of each query, float64 [n] in 0..1."""
        return average_precision(counts, self.cut, of_least=self.of_least)


@dataclass(frozen=True)
class RecallAt(QueryMean):
    """R@k, set recall: the share of a query's relevant candidates that are among the first k.

    Each relevant candidate with G above and n tied is there with probability clip((k − G)/n, 0, 1). With one
    relevant candidate it equals Success@k, the hit rate; with more than k it cannot reach 1.

    >>> RecallAt(10).name
    'R@10'
    """

    k: int

    def __post_init__(self) -> None:
        check_cut("R@k", self.k)

    @property
    def name(self) -> str:
        """Canonical name."""
        return f"R@{self.k}"

    def per_query(self, counts: TargetCounts | RankCounts) -> Floats:
        """Return the expected share found of each query, float64 [n] in 0..1.

        Counts of the best relevant candidate will do where a query has no other one.
        """
        if isinstance(counts, RankCounts):
            return SuccessAt(self.k).per_query(_of_one(counts))
        return _found(counts, np.full(len(counts), self.k)) / _relevant(counts)


@dataclass(frozen=True)
class RecallShare(DepthShare):
    """R@p%, set recall among the best p percent: R@k with k = ⌈p·pool/100⌉.

    >>> RecallShare(0.1).name, RecallShare(0.1).k(123_456)
    ('R@0.1%', 124)
    """

    prefix: ClassVar[str] = "R"

    def per_query(self, counts: TargetCounts | RankCounts) -> Floats:
        """Return the expected share found of each query, float64 [n] in 0..1; counts as R@k takes them."""
        if isinstance(counts, RankCounts):
            return SuccessShare(self.percent).per_query(_of_one(counts))
        pools, place = np.unique(counts.pool, return_inverse=True)
        depth = np.array([self.k(pool) for pool in pools.tolist()], dtype=np.int64)
        return _found(counts, depth[place]) / _relevant(counts)


@dataclass(frozen=True)
class PrecisionAt(QueryMean):
    """P@k, the share of the first k that is relevant. The divisor is k, in a pool of fewer candidates too.

    Each relevant candidate with G above and n tied is there with probability clip((k − G)/n, 0, 1). With R
    relevant candidates it cannot exceed R/k.

    >>> PrecisionAt(5).name
    'P@5'
    """

    k: int

    def __post_init__(self) -> None:
        check_cut("P@k", self.k)

    @property
    def name(self) -> str:
        """Canonical name."""
        return f"P@{self.k}"

    def per_query(self, counts: TargetCounts) -> Floats:
        """Return the expected precision of each query, float64 [n] in 0..1."""
        return _found(counts, np.full(len(counts), self.k)) / self.k


def average_precision(counts: TargetCounts, cut: int | None = None, *, of_least: bool = False) -> Floats:
    """Return the expected average precision of each query, float64 [n] in 0..1.

    With `cut` = k only the first k ranks count; with `of_least` the divisor is then min(R, k) instead of R.
    Raises ValueError for a query without a relevant candidate, where average precision is not defined.
    """
    relevant = _relevant(counts)
    group = _groups(counts)
    divisor = relevant
    places = group.tied
    if cut is not None:
        divisor = np.minimum(relevant, cut) if of_least else relevant
        places = np.clip(cut - group.above, 0, group.tied)
    places = np.where(group.above < counts.pool[group.query], places, 0)  # what was not found adds nothing
    beside = (group.relevant - 1) / np.maximum(
        group.tied - 1, 1
    )  # c: P(another place of the group is relevant)
    weight = group.relevant_above + 1 - beside * (group.above + 1.0)
    inner = places * beside + weight * harmonic_difference(group.above, places)
    total = np.bincount(group.query, weights=group.relevant / group.tied * inner, minlength=len(counts))
    values: Floats = total / divisor
    return values


def _of_one(counts: RankCounts) -> RankCounts:
    """Return the counts; raise ValueError where a query may have further relevant candidates."""
    if counts.others or counts.relevant.max(initial=1) > 1:
        raise ValueError("R@k of queries with several relevant candidates needs the ranks of all of them")
    return counts


def _found(counts: TargetCounts, depth: Ints) -> Floats:
    """Return how many relevant candidates of each query [n] are expected among its first `depth` [n]."""
    among = np.clip(depth[counts.query] - counts.above, 0, counts.tied) / counts.tied
    among[counts.above >= counts.pool[counts.query]] = 0.0  # what was not found is at no depth
    return np.bincount(counts.query, weights=among, minlength=len(counts)).astype(np.float64)


class _Groups(NamedTuple):
    """The tie groups that hold a relevant candidate, by query and then rank: int64 [g] each."""

    query: Ints
    above: Ints
    tied: Ints
    relevant: Ints
    relevant_above: Ints


def _groups(counts: TargetCounts) -> _Groups:
    order = _by_rank(counts)
    query, above = counts.query[order], counts.above[order]
    start, size = groups(query, above)
    first_of_query = np.searchsorted(query, query[start])
    return _Groups(query[start], above[start], counts.tied[order][start], size, start - first_of_query)


def _by_rank(counts: TargetCounts) -> Ints:
    """Return the order of the pairs by query, then rank; several times faster with both in one number."""
    if not len(counts.query):
        return np.zeros(0, dtype=np.int64)
    width = int(counts.above.max()) + 1
    if width * len(counts) > np.iinfo(np.int64).max:
        return np.lexsort((counts.above, counts.query))
    return np.argsort(counts.query * width + counts.above)


def _relevant(counts: TargetCounts) -> Ints:
    """Return how many relevant candidates each query has, int64 [n]."""
    relevant = np.bincount(counts.query, minlength=len(counts))
    if len(relevant) and not relevant.all():
        raise ValueError(f"query {int(np.argmin(relevant))} has no relevant candidate")
    return relevant
