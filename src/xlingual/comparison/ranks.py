"""Ranks with intervals: what tests of all pairs of encoders leave open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Floats
from xlingual.comparison.outcome import Rules
from xlingual.comparison.queries import Queries
from xlingual.stats.all_pairs import AllPairs
from xlingual.stats.paired import FEWEST_CLUSTERS, t_test

_NEAR = 10.0  # times under alpha where the test by sign flips is made too; beyond alpha it changes nothing

Pair = tuple[str, str]  # two encoders, in the order of the queries' encoders
View = Callable[[Floats], NDArray[Any]]  # what is used of corrected p-values [pairs]
Test = Callable[[str, str], float]  # of two encoders, its p
Bounds = Callable[[AllPairs, int, int], "tuple[float, float] | None"]  # of the p of such a test


class PairTests:
    """The p-values of all pairs of encoders: bounds `low` and `high` [pairs], equal where p is known.

    Corrections for several tests rise with every p, so a decision that both bounds share is that of the exact
    values. Only where they differ does `exact` compute one.
    """

    def __init__(
        self, pairs: Sequence[Pair], low: Floats, high: Floats, rules: Rules, exact: Callable[[Pair], float]
    ) -> None:
        self.pairs = tuple(pairs)
        self.low, self.high, self._rules, self._exact = low, high, rules, exact
        self._other: dict[Pair, Callable[[Pair], float]] = {}

    def replace(self, place: int, low: float, high: float, exact: Callable[[Pair], float]) -> None:
        """Give a pair another test."""
        self.low[place], self.high[place] = low, high
        self._other[self.pairs[place]] = exact

    def find(self, places: NDArray[Any]) -> None:
        """Compute the exact p-values of the pairs at some places."""
        for place in places.tolist():
            if self.low[place] < self.high[place]:
                pair = self.pairs[place]
                self.low[place] = self.high[place] = self._other.get(pair, self._exact)(pair)

    def adjusted(self, view: View) -> NDArray[Any]:
        """Return what `view` shows of the corrected p-values, computing exact ones until it is certain."""
        while True:
            low, high = self._rules.adjusted(self.low), self._rules.adjusted(self.high)
            shown = view(high)
            unsure = np.flatnonzero(view(low) != shown)
            if not len(unsure):
                return shown
            open_ones = self.low < self.high
            places = unsure[open_ones[unsure]]
            if not len(places):  # what others say decides: those that the correction can compare them with
                least, most = low[unsure].min() / len(self.pairs), high[unsure].max()
                near = open_ones & (self.high >= least) & (self.low <= most)
                places = np.flatnonzero(near if near.any() else open_ones)
            self.find(places)

    def without(self, baseline: str) -> Floats:
        """Return the p-values of the pairs that the baseline is not one of.

        Those that matter to the corrected p-values of the baseline's pairs are exact, others a bound.
        """
        of_baseline = np.array([baseline in pair for pair in self.pairs])
        self.adjusted(lambda p: np.where(of_baseline, p, 0.0))
        bounds_of_others: Floats = self.high[~of_baseline]
        return bounds_of_others


def pairwise_p(
    queries: Queries,
    known: Mapping[str, float],
    baseline: str,
    rules: Rules,
    test: Test,
    bounds: Bounds | None = None,
) -> PairTests:
    """Return the p-values, not corrected, of all E(E − 1)/2 pairs of encoders.

    `known` are those of the tests against `baseline` that were made. Others are by Student's t, with the same
    clusters; where that, once corrected, lies under alpha by less than ten times, or nothing varies, `test`
    decides (called with two encoders; the same test as against the baseline). `bounds` says between which two
    numbers the p of `test` lies, where that is known without it.
    """
    names = queries.encoders
    pairs = list(combinations(names, 2))
    first, second = np.triu_indices(len(names), 1)
    tested = queries.n_clusters >= FEWEST_CLUSTERS and not all(baseline in pair for pair in pairs)
    found = queries.all_pairs if tested else None
    low = np.ones(len(pairs)) if found is None else found.low[first, second]
    high = np.ones(len(pairs)) if found is None else found.high[first, second]

    def by_t(pair: Pair) -> float:
        if queries.agree(*pair):
            return 1.0
        _, error, _, p = t_test(queries.paired(*pair))
        return p if error > 0 else test(*pair)

    tests = PairTests(pairs, low, high, rules, by_t)
    for place, (a, b) in enumerate(pairs):
        if baseline in (a, b):
            low[place] = high[place] = known[b if a == baseline else a]
    if found is not None:
        tests.find(np.flatnonzero(found.flat[first, second]))
    near = tests.adjusted(lambda p: (p >= rules.alpha / _NEAR) & (p <= rules.alpha))
    for place in np.flatnonzero(near).tolist():
        if baseline in pairs[place]:
            continue
        ends = None if bounds is None or found is None else bounds(found, first[place], second[place])
        by_both = max(low[place], ends[0] if ends else 0.0), max(high[place], ends[1] if ends else 1.0)
        tests.replace(place, *by_both, lambda pair: max(by_t(pair), test(*pair)))
    return tests


def rank_intervals(queries: Queries, tests: PairTests, rules: Rules) -> dict[str, tuple[int, int]]:
    """Return the lowest and the highest rank of each encoder.

    Lowest = 1 + the encoders that are significantly better, highest = E − those significantly worse, by the
    p-values of all E(E − 1)/2 pairs, corrected for their number. (Mogstad, Romano, Shaikh and Wilhelm 2024,
    "Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement across
    Countries".)
    """
    value = dict(zip(queries.encoders, queries.means, strict=True))
    better = dict.fromkeys(queries.encoders, 0)  # how many are significantly better than each
    worse = dict.fromkeys(queries.encoders, 0)
    significant = tests.adjusted(lambda p: p <= rules.alpha)
    for (a, b), differ in zip(tests.pairs, significant.tolist(), strict=True):
        if differ and value[a] != value[b]:
            high, low = (a, b) if value[a] > value[b] else (b, a)
            better[low] += 1
            worse[high] += 1
    return {name: (1 + better[name], len(value) - worse[name]) for name in queries.encoders}
