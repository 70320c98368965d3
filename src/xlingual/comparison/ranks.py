"""Ranks with intervals: what tests of all pairs of encoders leave open."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from xlingual.comparison.outcome import Rules
from xlingual.comparison.queries import Queries
from xlingual.stats.paired import FEWEST_CLUSTERS, t_test


def rank_intervals(queries: Queries, rules: Rules) -> dict[str, tuple[int, int]]:
    """Return the lowest and the highest rank of each encoder.

    Lowest = 1 + the encoders that are significantly better, highest = E − those significantly worse, by
    Student's t tests of all E(E − 1)/2 pairs with the same clusters as the main test, corrected for their
    number. (Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for Ranks with Applications to Mobility
    across Neighbourhoods and Academic Achievement across Countries".)
    """
    encoders = queries.encoders
    pairs = list(combinations(range(len(encoders)), 2))
    p = np.ones(len(pairs))
    if queries.n_clusters >= FEWEST_CLUSTERS:
        for number, (i, j) in enumerate(pairs):
            if not np.array_equal(queries.values[i], queries.values[j]):
                p[number] = t_test(queries.paired(encoders[i], encoders[j]))[3]
    better = np.zeros(len(encoders), dtype=np.int64)  # how many are significantly better than each
    worse = np.zeros(len(encoders), dtype=np.int64)
    means = queries.means
    for (i, j), adjusted in zip(pairs, rules.adjusted(p), strict=True):
        if adjusted <= rules.alpha:
            high, low = (i, j) if means[i] > means[j] else (j, i)
            better[low] += 1
            worse[high] += 1
    return {
        encoder: (1 + int(better[i]), len(encoders) - int(worse[i])) for i, encoder in enumerate(encoders)
    }
