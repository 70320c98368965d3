"""Median ranks and percentiles from a uniform sample of the candidates.

A share p of the candidates is above a query's own; among s of them drawn at random, c ~ Binomial(s, p). So
the rank 1 + p·(pool − 1) has the interval of Clopper and Pearson (1934): none of 10,000 above at a million
still means rank ≤ 301 at 95 %. That is why R@10 is never estimated from a sample (Krichene and Rendle, KDD
2020). All queries share the sample, so its error does not average out over them: a number over queries is as
far off as if every query were off to the same side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.estimates import Score
from xlingual.measures import MedianRank, RankMeasure, RecallShare, SuccessShare
from xlingual.results import Interval
from xlingual.stats import mean_interval, median_interval
from xlingual.stats.intervals import LEVEL

_EXPECTED = 5.0  # drawn candidates within the k best, for R@p% to be estimated


@dataclass(frozen=True)
class SampledRanks:
    """Estimated (mid-)ranks [n] of queries from `drawn` of the `pool` candidates.

    `missed`: the share of queries for which a search may have found the wrong text, at most.
    """

    rank: Floats
    drawn: int
    pool: int
    missed: float = 0.0

    @property
    def whole(self) -> bool:
        """Whether all candidates were drawn, so that the ranks are exact."""
        return self.drawn >= self.pool

    def ends(self, rank: Floats, level: float = LEVEL) -> tuple[Floats, Floats]:
        """Return the ends [n] of the intervals of estimated ranks [n]."""
        from scipy.stats import beta

        if self.whole:
            return rank, rank
        others = self.pool - 1
        count = np.clip((rank - 1) / others * self.drawn, 0, self.drawn)
        tail = np.where((count <= 0) | (count >= self.drawn), 1 - level, (1 - level) / 2)
        low = np.where(count > 0, beta.ppf(tail, np.maximum(count, 1e-9), self.drawn - count + 1), 0.0)
        full = count >= self.drawn
        high = np.where(full, 1.0, beta.ppf(1 - tail, count + 1, np.where(full, 1.0, self.drawn - count)))
        return 1 + low * others, 1 + high * others


def estimated_ranks(above: Floats, drawn: Ints | Floats, others: Ints | int) -> Floats:
    """Return 1 + the share of drawn candidates above × all others, of each query [n]."""
    return np.asarray(1 + above / np.maximum(drawn, 1) * others)


@dataclass(frozen=True)
class SampledScore:
    """A number from a sample of candidates: None with a note where the sample is too small."""

    score: Score | None
    values: Floats  # [n]
    error: float
    note: str | None = None


def sampled_score(measure: RankMeasure, ranks: SampledRanks, clusters: Sequence[Ints]) -> SampledScore:
    """Return the score of MedR, R@p% or Success@p% of queries that are in the `clusters`."""
    if isinstance(measure, RecallShare | SuccessShare):
        return _share(measure, ranks, clusters)
    if isinstance(measure, MedianRank):
        return _median(measure, ranks, clusters)
    raise TypeError(f"{measure.name} cannot be estimated from a sample of candidates")


def _median(measure: MedianRank, ranks: SampledRanks, clusters: Sequence[Ints]) -> SampledScore:
    rank, missed = ranks.rank, ranks.missed
    value, found = float(np.median(rank)), median_interval(rank, clusters)
    low = float(np.quantile(rank, max(0.0, float(np.mean(rank < found.low)) - missed)))
    high = float(np.quantile(rank, min(1.0, float(np.mean(rank <= found.high)) + missed)))
    around = np.quantile(rank, np.clip([0.5 - missed, 0.5 + missed], 0, 1))
    lows, highs = ranks.ends(np.array([min(low, found.low), max(high, found.high), *around]))
    if not ranks.whole and (value - 1) / (ranks.pool - 1) * ranks.drawn < 1:
        return SampledScore(
            None,
            ranks.rank,
            0.0,
            f"{measure.name} is at most {math.ceil(highs[1]):,} ({found.level:.0%}); a sample of "
            f"{ranks.drawn:,} of {ranks.pool:,} candidates cannot show more: raise --candidates",
        )
    ends = replace(
        found,
        low=measure.rounded(float(lows[0])),
        high=measure.rounded(float(highs[1])),
        method=_method(found, ranks),
    )
    score = Score(measure.rounded(value), (), None, fixed=ends)
    return SampledScore(score, ranks.rank, float(max(value - lows[2], highs[3] - value)))


def _share(
    measure: RecallShare | SuccessShare, ranks: SampledRanks, clusters: Sequence[Ints]
) -> SampledScore:
    k = measure.k(ranks.pool)
    values = (ranks.rank <= k).astype(np.float64)
    if not ranks.whole and k * ranks.drawn / ranks.pool < _EXPECTED:
        return SampledScore(
            None,
            values,
            0.0,
            f"a sample of {ranks.drawn:,} of {ranks.pool:,} candidates is too small for {measure.name}: "
            f"raise --candidates to {math.ceil(_EXPECTED * ranks.pool / k):,}",
        )
    distinct, place = np.unique(ranks.rank, return_inverse=True)
    lows, highs = ranks.ends(distinct)
    surely, maybe = ((ends <= k).astype(np.float64)[place] for ends in (highs, lows))
    least, most = (mean_interval(hits, clusters, bounds=(0.0, 1.0)) for hits in (surely, maybe))
    ends = replace(
        least,
        low=max(0.0, least.low - ranks.missed),
        high=min(1.0, most.high + ranks.missed),
        method=_method(least, ranks),
    )
    value = float(values.mean())
    score = Score(value, (), None, fixed=ends)
    off = max(value - float(surely.mean()), float(maybe.mean()) - value)
    return SampledScore(score, values, off + ranks.missed)


def _method(found: Interval, ranks: SampledRanks) -> str:
    return found.method if ranks.whole else f"{found.method}, {ranks.drawn:,} candidates drawn"
