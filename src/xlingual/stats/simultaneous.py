"""Intervals of several means that hold together: no more than 5 in 100 samples have one that misses.

The widest of several studentised errors is found by the wild bootstrap of whole clusters (max-t): each
replicate flips the residuals of clusters at random, and the largest error among all means, in units of its
standard error, is noted; its quantile takes the place of Student's. Means that share queries stray together,
so the intervals are narrower than those of Bonferroni (Romano and Wolf, Journal of the American Statistical
Association 100, 2005; Montiel Olea and Plagborg-Møller, Journal of Applied Econometrics 34, 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.results import Interval
from xlingual.stats.intervals import LEVEL, ResidualPart, mean_interval, standard_error, t_quantile

DRAWS = 9999
_BLOCK = 1000  # replicates at once


@dataclass(frozen=True)
class Several:
    """Values of several overlapping sets of queries: of each set its values [n] and its clusters [n].

    Cluster numbers are of one name space: equal numbers in two sets are the same cluster.
    """

    values: Sequence[Floats]
    clusters: Sequence[Ints]


def max_t(
    several: Several, rng: np.random.Generator, *, level: float = LEVEL, draws: int = DRAWS
) -> list[Interval]:
    """Return the simultaneous intervals of the means, in the order of the sets.

    The critical value is never below that of Student's t with the fewest clusters of any set. A set without
    any variance gets its own interval by the rule of three for values of range 1, at the level that
    Bonferroni gives it.
    """
    means = [float(np.mean(values)) for values in several.values]
    alone = 1 - (1 - level) / len(means)
    codes = distinct_values(np.concatenate(several.clusters))
    sums = np.zeros((len(codes), len(means)))
    errors, counts = np.zeros(len(means)), []
    for place, (values, clusters) in enumerate(zip(several.values, several.clusters, strict=True)):
        residuals = (values - means[place]) / len(values)
        np.add.at(sums[:, place], np.searchsorted(codes, clusters), residuals)
        errors[place] = standard_error([ResidualPart(residuals, (clusters,))])
        counts.append(len(distinct_values(clusters)))
    varies = errors > 1e-12
    if not varies.any():
        critical = np.inf
    else:
        strays = _largest(sums[:, varies], rng, draws)
        least = min(count for count, own in zip(counts, varies, strict=True) if own)
        critical = max(
            float(np.quantile(strays, level, method="higher")), t_quantile(level, max(least - 1, 1))
        )
    method = f"max-t over {len(means)}, clusters"
    found = []
    for place, mean in enumerate(means):
        if varies[place]:
            half = critical * float(errors[place])
            found.append(Interval(mean - half, mean + half, level, method))
        else:
            ways = (several.clusters[place],)
            found.append(mean_interval(several.values[place], ways, level=alone))
    return found


def _largest(sums: Floats, rng: np.random.Generator, draws: int) -> Floats:
    """Return the largest studentised error among the sets, of each replicate [draws].

    Each replicate has its own standard errors, as the data have.
    """
    found = np.empty(draws)
    own = sums**2
    for start in range(0, draws, _BLOCK):
        stop = min(start + _BLOCK, draws)
        signs = rng.integers(0, 2, (stop - start, len(sums))).astype(np.float64) * 2 - 1
        total = signs @ sums
        # of flipped sums about their mean: the flips leave the squares as they are
        count = (sums != 0).sum(axis=0)
        variance = own.sum(axis=0) - total**2 / np.maximum(count, 1)
        error = np.sqrt(np.maximum(variance, 1e-300) * count / np.maximum(count - 1, 1))
        found[start:stop] = np.abs(total / error).max(axis=1)
    return found
