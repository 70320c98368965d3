"""Ranks with intervals: what tests of all pairs of encoders leave open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np

from xlingual.arrays import Floats
from xlingual.comparison.outcome import Rules
from xlingual.comparison.queries import Queries
from xlingual.stats.paired import FEWEST_CLUSTERS, t_test

_NEAR = 10.0  # times under alpha where the test by sign flips is made too; beyond alpha it changes nothing

Pairs = dict[tuple[str, str], float]  # two encoders, in the order of the queries' encoders → p


def pairwise_p(
    queries: Queries,
    known: Mapping[str, float],
    baseline: str,
    rules: Rules,
    test: Callable[[str, str], float],
) -> Pairs:
    """Return the p-values, not corrected, of all E(E − 1)/2 pairs of encoders.

    `known` are those of the tests against `baseline` that were made. Others are by Student's t, with the same
    clusters; where that, once corrected, lies under alpha by less than ten times, or nothing varies, `test`
    decides (called with two encoders; the same test as against the baseline).
    """
    found: Pairs = {}
    for a, b in combinations(queries.encoders, 2):
        if baseline in (a, b):
            found[a, b] = known[b if a == baseline else a]
        elif queries.n_clusters < FEWEST_CLUSTERS or queries.agree(a, b):
            found[a, b] = 1.0
        else:
            _, error, _, p = t_test(queries.paired(a, b))
            found[a, b] = p if error > 0 else test(a, b)
    adjusted = rules.adjusted(np.array(list(found.values())))
    for (a, b), p in zip(list(found), adjusted, strict=True):
        if rules.alpha / _NEAR <= p <= rules.alpha and baseline not in (a, b):
            found[a, b] = max(found[a, b], test(a, b))
    return found


def rank_intervals(queries: Queries, pairs: Pairs, rules: Rules) -> dict[str, tuple[int, int]]:
    """Return the lowest and the highest rank of each encoder.

    Lowest = 1 + the encoders that are significantly better, highest = E − those significantly worse, by the
    p-values of all E(E − 1)/2 pairs, corrected for their number. (Mogstad, Romano, Shaikh and Wilhelm 2024,
    "Inference for Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement across
    Countries".)
    """
    value = dict(zip(queries.encoders, queries.means, strict=True))
    better = dict.fromkeys(queries.encoders, 0)  # how many are significantly better than each
    worse = dict.fromkeys(queries.encoders, 0)
    p = np.array(list(pairs.values()))
    for (a, b), adjusted in zip(pairs, rules.adjusted(p), strict=True):
        if adjusted <= rules.alpha and value[a] != value[b]:
            high, low = (a, b) if value[a] > value[b] else (b, a)
            better[low] += 1
            worse[high] += 1
    return {name: (1 + better[name], len(value) - worse[name]) for name in queries.encoders}


def not_against(baseline: str, pairs: Pairs) -> Floats:
    """Return the p-values of the pairs that the baseline is not one of."""
    return np.array([p for names, p in pairs.items() if baseline not in names])
