"""Measures of every relevant candidate's rank: average precision and set recall.

Ties are the expectation under random tie-breaking, in closed form, group by group (`docs/measures.md`). Two
relevant candidates of a query are in one tie group exactly where as many candidates are above them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from xlingual.measures.harmonic import harmonic_difference
from xlingual.records import Floats, Ints, TargetCounts


@dataclass(frozen=True)
class AveragePrecision:
    """AP, the mean over the R relevant candidates of the precision at their ranks; its mean is mAP.

    A tie group of n candidates, r of them relevant, with G candidates above of which ρ are relevant, adds
    (r/n)·[n·c + (ρ + 1 − c(G + 1))·(H(G + n) − H(G))], c = (r − 1)/(n − 1) or 0; the sum is divided by R.
    With a cut k (XTREME's definition) only the first k ranks count: m = clip(k − G, 0, n) stands for n inside
    the brackets, and the sum is divided by min(R, k). trec_eval's `map_cut` divides by R instead.

    >>> AveragePrecision().name, AveragePrecision(20).name
    ('AP', 'AP@20/min')
    """

    cut: int | None = None
    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def __post_init__(self) -> None:
        if self.cut is not None:
            _check_cut("AP@k/min", self.cut)

    @property
    def name(self) -> str:
        """Canonical name."""
        return "AP" if self.cut is None else f"AP@{self.cut}/min"

    def per_query(self, counts: TargetCounts) -> Floats:
        """Return the expected average precision of each query, float64 [n] in 0..1."""
        return average_precision(counts, self.cut)

    def aggregate(self, values: Floats) -> float:
        """Return the mean over queries (mAP)."""
        return float(np.mean(values))


@dataclass(frozen=True)
class SetRecallAt:
    """SetR@k, the share of a query's relevant candidates that are among the first k.

    Each relevant candidate with G above and n tied is there with probability clip((k − G)/n, 0, 1). With one
    relevant candidate it equals R@k, the hit rate; with more than k it cannot reach 1.

    >>> SetRecallAt(10).name
    'SetR@10'
    """

    k: int
    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def __post_init__(self) -> None:
        _check_cut("SetR@k", self.k)

    @property
    def name(self) -> str:
        """Canonical name."""
        return f"SetR@{self.k}"

    def per_query(self, counts: TargetCounts) -> Floats:
        """Return the expected share found of each query, float64 [n] in 0..1."""
        found = np.clip(self.k - counts.above, 0, counts.tied) / counts.tied
        total = np.bincount(counts.query, weights=found, minlength=len(counts))
        shares: Floats = total / _relevant(counts)
        return shares

    def aggregate(self, values: Floats) -> float:
        """Return the mean over queries."""
        return float(np.mean(values))


def average_precision(counts: TargetCounts, cut: int | None = None) -> Floats:
    """Return the expected average precision of each query, float64 [n] in 0..1.

    With `cut` = k only the first k ranks count and the divisor is min(R, k) instead of R. Raises ValueError
    for a query without a relevant candidate, of which average precision is not defined.
    """
    relevant = _relevant(counts)
    group = _groups(counts)
    divisor = relevant
    places = group.tied
    if cut is not None:
        divisor = np.minimum(relevant, cut)
        places = np.clip(cut - group.above, 0, group.tied)
    beside = (group.relevant - 1) / np.maximum(
        group.tied - 1, 1
    )  # c: P(another place of the group is relevant)
    weight = group.relevant_above + 1 - beside * (group.above + 1.0)
    inner = places * beside + weight * harmonic_difference(group.above, places)
    total = np.bincount(group.query, weights=group.relevant / group.tied * inner, minlength=len(counts))
    values: Floats = total / divisor
    return values


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
    new = np.ones(len(order), dtype=bool)
    new[1:] = (query[1:] != query[:-1]) | (above[1:] != above[:-1])
    start = np.flatnonzero(new)
    first_of_query = np.searchsorted(query, query[start])
    size = np.diff(start, append=len(order))
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


def _check_cut(name: str, k: int) -> None:
    if type(k) is not int or k < 1:  # 2.5 or True would print a name that is none
        raise ValueError(f"{name} needs a whole number k of at least 1, got {k!r}")
