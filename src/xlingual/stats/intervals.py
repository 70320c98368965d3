"""Confidence intervals of means and medians of queries that are not independent.

A score is an estimate and the residuals of its queries: how much each adds to the estimate's error, summing
to zero. For a mean of n values that is (v − mean)/n. Queries that share a cluster (a picture, a paragraph, a
retrieved target) are summed before squaring; several ways of clustering combine by inclusion and exclusion
(Cameron, Gelbach and Miller 2011, "Robust Inference with Multiway Clustering").
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from xlingual.records import Floats, Ints
from xlingual.results import Interval

LEVEL = 0.95
_NO_VARIANCE = 1e-24  # what rounding leaves of a variance of zero


def mean_interval(
    values: Floats,
    ways: Sequence[Ints] = (),
    *,
    bounds: tuple[float, float] | None = None,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of the mean of `values` [n], clustered by `ways` (codes [n] each)."""
    mean = float(np.mean(values))
    return interval(mean, (values - mean) / len(values), ways, bounds=bounds, level=level)


def interval(
    estimate: float,
    residuals: Floats,
    ways: Sequence[Ints] = (),
    *,
    bounds: tuple[float, float] | None = None,
    span: float = 1.0,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of an estimate from its residuals [n], clustered by `ways` (codes [n] each).

    With `bounds` the interval is Wilson's with the effective number of queries, so that it stays inside and
    never has zero width; without, Student's t, and where nothing varies the rule of three for values of range
    `span`. Degrees of freedom: the smallest effective number of clusters of any way, less one (clusters of
    unequal size count for less: Carter, Schnepel and Steigerwald 2017).
    """
    ways = _informative(ways)
    variance = multiway_variance(residuals, ways)
    count = min((effective_clusters(way) for way in ways), default=float(len(residuals)))
    clustering = f"{len(ways)}-way clusters" if ways else "independent queries"
    if bounds is None:
        half = _t_quantile(level, count - 1) * float(np.sqrt(variance))
        if variance <= _NO_VARIANCE:
            return _rule_of_three(estimate, count, span, level, clustering)
        return Interval(estimate - half, estimate + half, level, f"t, {clustering}")
    low, high = bounds
    ends = _wilson((estimate - low) / (high - low), variance / (high - low) ** 2, count, level)
    width = high - low
    return Interval(low + ends[0] * width, low + ends[1] * width, level, f"Wilson, {clustering}")


def median_interval(values: Floats, ways: Sequence[Ints] = (), *, level: float = LEVEL) -> Interval:
    """Return the interval of a median: the quantiles where the interval of P(v ≤ median) ends.

    Woodruff 1952, "Confidence Intervals for Medians and Other Position Measures".
    """
    below = (values <= np.median(values)).astype(np.float64)
    share = mean_interval(below, ways, bounds=(0.0, 1.0), level=level)
    centre = float(below.mean())
    ends = np.quantile(values, np.clip([0.5 + share.low - centre, 0.5 + share.high - centre], 0, 1))
    return Interval(float(ends[0]), float(ends[1]), level, f"Woodruff, {share.method}")


def standard_error(residuals: Floats, ways: Sequence[Ints] = ()) -> float:
    """Return the standard error of an estimate from its residuals [n]."""
    return float(np.sqrt(multiway_variance(residuals, _informative(ways))))


def multiway_variance(residuals: Floats, ways: Sequence[Ints]) -> float:
    """Return the variance of Σ residuals, clustered in all ways; without ways queries are independent.

    Inclusion–exclusion falls below the truth, even below zero, in small samples: the largest one-way
    variance is the least that is believed.
    """
    if not ways:
        return _one_way(residuals, np.arange(len(residuals)))
    total, largest = 0.0, 0.0
    for size in range(1, len(ways) + 1):
        for chosen in combinations(ways, size):
            variance = _one_way(residuals, _crossed(chosen))
            total += variance if size % 2 else -variance
            largest = max(largest, variance) if size == 1 else largest
    return max(total, largest)


def effective_clusters(codes: Ints) -> float:
    """Return how many clusters of equal size would be as informative: n²/Σ n_g², at least 1."""
    sizes = np.bincount(np.unique(codes, return_inverse=True)[1])
    return float(len(codes) ** 2 / np.sum(sizes.astype(np.float64) ** 2))


def _one_way(residuals: Floats, codes: Ints) -> float:
    _, labels = np.unique(codes, return_inverse=True)
    sums = np.bincount(labels, residuals)
    if len(sums) < 2:
        return 0.0
    return float(np.sum(sums**2) * len(sums) / (len(sums) - 1))


def _crossed(ways: Sequence[Ints]) -> Ints:
    """Return codes of the finest common clusters of several ways."""
    codes: Ints = np.zeros(len(ways[0]), dtype=np.int64)
    for way in ways:
        _, labels = np.unique(way, return_inverse=True)
        codes = np.unique(codes * (labels.max(initial=0) + 1) + labels, return_inverse=True)[1]
    return codes


def _informative(clusters: Sequence[Ints]) -> list[Ints]:
    """Leave out ways in which every query is alone: they say nothing beyond independence."""
    return [codes for codes in clusters if len(np.unique(codes)) < len(codes)]


def _wilson(p: float, variance: float, clusters: float, level: float) -> tuple[float, float]:
    """Return Wilson's interval (1927) with n = p(1−p)/variance, the effective number of queries.

    Where the values do not vary (all at a bound, or one cluster), n is the number of clusters.
    """
    p = min(max(p, 0.0), 1.0)
    n = p * (1 - p) / variance if variance > _NO_VARIANCE and 0 < p < 1 else clusters
    z2 = _t_quantile(level, clusters - 1) ** 2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return float(max(centre - half, 0.0)), float(min(centre + half, 1.0))


def _rule_of_three(estimate: float, count: float, span: float, level: float, clustering: str) -> Interval:
    """Return the interval where nothing varied: what so many clusters would still not have shown."""
    half = span * (1 - (1 - level) ** (1 / max(count, 1.0)))
    return Interval(estimate - half, estimate + half, level, f"rule of three, {clustering}")


def _t_quantile(level: float, freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, 1.0), 0.5 + level / 2))
