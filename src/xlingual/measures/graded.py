"""Measures of graded and of incomplete judgements: nDCG, bpref, and the share of judged candidates.

Ties are the expectation under random tie-breaking, in closed form (McSherry and Najork, ECIR 2008, for
nDCG): every place of a tie group holds the mean gain of the group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.measures.rank import QueryMean, check_cut
from xlingual.ragged import groups
from xlingual.records import JudgedCounts

Gain = Literal["linear", "exp-log2"]


@dataclass(frozen=True)
class NDCG(QueryMean):
    """nDCG@k, the discounted gain of the first k over that of the best order of the judged candidates.

    The gain of a grade g is g, as in trec_eval, or 2^g − 1 (`exp-log2`, Burges et al., ICML 2005); that of a
    grade below 0 is 0. A candidate at rank i adds gain/log2(i + 1); one with G above and n tied adds
    gain·(D(min(G + n, k)) − D(min(G, k)))/n, D(x) = Σ_{i≤x} 1/log2(i + 1). NaN for a query without gain.

    >>> NDCG(10).name, NDCG(10, "exp-log2").name, NDCG().name
    ('nDCG@10', "nDCG(dcg='exp-log2')@10", 'nDCG')
    """

    cut: int | None = None
    gain: Gain = "linear"

    def __post_init__(self) -> None:
        if self.cut is not None:
            check_cut("nDCG@k", self.cut)

    @property
    def name(self) -> str:
        """Canonical name, as ir_measures has it."""
        kind = "" if self.gain == "linear" else f"(dcg={self.gain!r})"
        return f"nDCG{kind}" if self.cut is None else f"nDCG{kind}@{self.cut}"

    def per_query(self, counts: JudgedCounts) -> Floats:
        """Return the expected nDCG of each query, float64 [n] in 0..1; NaN where nothing has a gain."""
        n, gains = len(counts), self._gains(counts.query, counts.grade)
        useful = gains > 0
        query, gains, above = counts.query[useful], gains[useful], counts.above[useful]
        tied, returned = counts.tied[useful], above < counts.pool[query]
        best = _place_within(query, gains)
        cut = int(max((above + tied).max(initial=1), best.max(initial=0) + 1))
        cut = cut if self.cut is None else min(self.cut, cut)
        discount = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2, cut + 2)))])  # D(0), …, D(cut)
        last, first = (discount[np.minimum(places, cut)] for places in (above + tied, above))
        ideal = discount[np.minimum(best + 1, cut)] - discount[np.minimum(best, cut)]
        got = np.bincount(query, gains * returned * (last - first) / tied, n)
        most = np.bincount(query, gains * ideal, n)
        values: Floats = np.divide(got, most, out=np.full(n, np.nan), where=most > 0)
        return values

    def _gains(self, query: Ints, grade: Ints) -> Floats:
        """Return the gain of each line; those of `exp-log2` over the highest power of two of the query.

        So no grade is too high; the ratio that is nDCG stays the same.
        """
        positive = np.maximum(grade, 0).astype(np.float64)
        if self.gain == "linear" or not len(grade):
            return positive
        top = np.zeros(int(query.max()) + 1)
        np.maximum.at(top, query, positive)
        gains: Floats = np.exp2(positive - top[query]) - np.exp2(-top[query])
        return gains


@dataclass(frozen=True)
class Bpref(QueryMean):
    """bpref: how seldom judged irrelevant candidates are above relevant ones (Buckley and Voorhees, 2004).

    The mean over the R relevant candidates of 1 − min(w, R)/min(W, R), with w of the W judged irrelevant ones
    above it, as trec_eval has it; 0 for one that was not returned. With w above and t tied the number above
    is w, …, w + t with equal probability. Candidates that nobody judged do not count. NaN for a query without
    a relevant candidate.

    >>> Bpref().name
    'Bpref'
    """

    least: int = 1  # grade from which a candidate is relevant
    name: ClassVar[str] = "Bpref"

    def per_query(self, counts: JudgedCounts) -> Floats:
        """Return the expected bpref of each query, float64 [n] in 0..1; NaN without a relevant candidate."""
        n, relevant = len(counts), counts.grade >= self.least
        found = np.bincount(counts.query[relevant], minlength=n)
        wrong = np.bincount(counts.query[~relevant], minlength=n)
        above, tied = _wrong_around(counts, ~relevant)
        query = counts.query[relevant]
        R, least = found[query], np.minimum(found, wrong)[query]
        w, t = above[relevant], tied[relevant]
        below = np.clip(R - w, 0, t + 1)  # of the t + 1 cases those with fewer than R above
        expected = (below * w + below * (below - 1) / 2 + (t + 1 - below) * R) / (t + 1)
        value = 1.0 - np.divide(expected, least, out=np.zeros(len(query)), where=least > 0)
        value[counts.above[relevant] >= counts.pool[query]] = 0.0
        total = np.bincount(query, value, n)
        values: Floats = np.divide(total, found, out=np.full(n, np.nan), where=found > 0)
        return values


@dataclass(frozen=True)
class JudgedAt(QueryMean):
    """Judged@k, the share of the first k candidates that were judged, relevant or not.

    The divisor is k, or the number of candidates that the system returned where that is smaller
    (ir_measures); 0 where it returned none. Low values say that other numbers judge what nobody looked at.

    >>> JudgedAt(10).name
    'Judged@10'
    """

    k: int

    def __post_init__(self) -> None:
        check_cut("Judged@k", self.k)

    @property
    def name(self) -> str:
        """Canonical name."""
        return f"Judged@{self.k}"

    def per_query(self, counts: JudgedCounts) -> Floats:
        """Return the expected share of each query, float64 [n] in 0..1."""
        among = np.clip(self.k - counts.above, 0, counts.tied) / counts.tied
        among[counts.above >= counts.pool[counts.query]] = 0.0
        found = np.bincount(counts.query, among, len(counts))
        values: Floats = found / np.clip(counts.listed, 1, self.k)
        return values


def _place_within(query: Ints, gains: Floats) -> Ints:
    """Return the place of each line among those of its query by falling gain, from 0."""
    order = np.lexsort((-gains, query))
    ordered = query[order]
    place = np.empty(len(query), dtype=np.int64)
    place[order] = np.arange(len(query)) - np.repeat(*groups(ordered))
    return place


def _wrong_around(counts: JudgedCounts, wrong: np.ndarray) -> tuple[Ints, Ints]:
    """Return how many judged irrelevant candidates of its query are above each line, and tie with it."""
    order = np.lexsort((counts.above, counts.query))
    query, above = counts.query[order], counts.above[order]
    first, size = groups(query, above)
    total = np.concatenate([[0], np.cumsum(wrong[order])])  # before each line, and in all
    tied = total[first + size] - total[first]
    before = total[first] - total[np.searchsorted(query, query[first])]
    result = np.empty((2, len(order)), dtype=np.int64)
    result[:, order] = np.repeat(before, size), np.repeat(tied, size)
    return result[0], result[1]
