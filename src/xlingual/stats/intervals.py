"""Confidence intervals of means and medians of queries that are not independent.

The estimate is a mean of group means (a group: one language pair and seed; often only one). Each query adds
its residual r = (v − mean of its group)/(size of its group · number of groups). Queries that share a cluster
(a picture, a paragraph, a retrieved target) are summed before squaring; several ways of clustering combine by
inclusion and exclusion (Cameron, Gelbach and Miller 2011, "Robust Inference with Multiway Clustering").
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from xlingual.records import Floats, Ints
from xlingual.results import Interval

LEVEL = 0.95


def mean_interval(
    values: Floats,
    clusters: Sequence[Ints],
    *,
    group: Ints | None = None,
    bounds: tuple[float, float] | None = None,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of the mean over groups of group means.

    `values` [n]; `clusters`: codes [n] for each way of clustering; `group` [n] codes 0…G−1 (None: one group).
    With `bounds` the interval is Wilson's with the effective number of queries, so that it stays inside and
    never has zero width; without, Student's t. Degrees of freedom: the smallest effective number of clusters
    of any way, less one (clusters of unequal size count for less: Carter, Schnepel and Steigerwald 2017).
    """
    group = np.zeros(len(values), dtype=np.int64) if group is None else group
    estimate, residuals = group_residuals(values, group)
    ways = _informative(clusters)
    variance = multiway_variance(residuals, ways)
    count = min((effective_clusters(way, residuals) for way in ways), default=float(len(values)))
    names = "Wilson" if bounds else "t"
    method = f"cluster-robust {names}, {len(ways)}-way" if ways else f"{names}, independent queries"
    if bounds is None:
        half = _t_quantile(level, count - 1) * float(np.sqrt(variance))
        return Interval(estimate - half, estimate + half, level, method)
    low, high = bounds
    scaled = (estimate - low) / (high - low)
    spread = variance / (high - low) ** 2
    low_scaled, high_scaled = _wilson(scaled, spread, count, level)
    return Interval(low + low_scaled * (high - low), low + high_scaled * (high - low), level, method)


def median_interval(values: Floats, clusters: Sequence[Ints], *, level: float = LEVEL) -> Interval:
    """Return the interval of a median: the quantiles where the interval of P(v ≤ median) ends.

    Woodruff 1952, "Confidence Intervals for Medians and Other Position Measures".
    """
    median = float(np.median(values))
    share = mean_interval((values <= median).astype(np.float64), clusters, bounds=(0.0, 1.0), level=level)
    centre = float(np.mean(values <= median))
    low, high = (np.clip(0.5 + (end - centre), 0, 1) for end in (share.low, share.high))
    ends = np.quantile(values, [low, high])
    return Interval(float(ends[0]), float(ends[1]), level, f"Woodruff, {share.method}")


def group_residuals(values: Floats, group: Ints) -> tuple[float, Floats]:
    """Return (mean over groups of group means, each value's contribution to its error [n])."""
    sizes = np.bincount(group)
    means = np.bincount(group, values) / sizes
    residuals: Floats = (values - means[group]) / (sizes[group] * len(sizes))
    return float(means.mean()), residuals


def multiway_variance(residuals: Floats, ways: Sequence[Ints]) -> float:
    """Return the variance of Σ residuals, clustered in all ways; without ways queries are independent.

    Inclusion–exclusion can fall below zero in small samples; then the largest one-way variance stands.
    """
    if not ways:
        return _one_way(residuals, np.arange(len(residuals)))
    total, largest = 0.0, 0.0
    for size in range(1, len(ways) + 1):
        for chosen in combinations(ways, size):
            variance = _one_way(residuals, _crossed(chosen))
            total += variance if size % 2 else -variance
            largest = max(largest, variance) if size == 1 else largest
    return total if total > 0 else largest


def effective_clusters(codes: Ints, residuals: Floats) -> float:
    """Return how many clusters of equal size would be as informative: n²/Σ n_g², at least 1."""
    sizes = np.bincount(np.unique(codes, return_inverse=True)[1])
    return float(len(residuals) ** 2 / np.sum(sizes.astype(np.float64) ** 2))


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
    n = p * (1 - p) / variance if variance > 0 and 0 < p < 1 else clusters
    z2 = _t_quantile(level, clusters - 1) ** 2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return float(max(centre - half, 0.0)), float(min(centre + half, 1.0))


def _t_quantile(level: float, freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, 1.0), 0.5 + level / 2))
