"""Confidence intervals of means and medians of queries that are not independent.

A score is an estimate and the residuals of its queries: how much each adds to the estimate's error, summing
to zero. For a mean of n values that is (v − mean)/n. Each query belongs to one or two clusters: its own
(an item, an image, a paragraph) and that of the target it retrieved. Queries that share a cluster are not
independent, and one cluster may be the source of one query and the target of another: clusters are the nodes
of a graph, queries its edges. The variance is that of all pairs of queries that share a node; where the two
ways of clustering are of separate kinds it is the inclusion–exclusion of Cameron, Gelbach and Miller (2011,
"Robust Inference with Multiway Clustering"), where they are of one kind the dyadic variance of Aronow, Samii
and Assenova (2015, "Cluster-Robust Variance Estimation for Dyadic Data").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import atan, cos, exp, lgamma, pi, sqrt, tan
from statistics import NormalDist

import numpy as np

from xlingual.arrays import Floats, Ints, numbered
from xlingual.results import Interval

LEVEL = 0.95
FEW_CLUSTERS = 20  # effective ones, below which `padded` intervals are widened
PADDING = 0.25  # of a cluster
_FAR = np.int64(1 << 31)  # beyond the number of nodes
_MANY = 1000.0  # degrees of freedom from which Student's t is expanded around the normal distribution
_NO_VARIANCE = 1e-24  # what rounding leaves of a variance of zero


@dataclass(frozen=True)
class ResidualPart:
    """Residuals [n] of queries, and their cluster ids [n] in one or two ways (codes of one name space).

    Without `ways` queries are independent. A difference of two estimates has two parts, one of them negated.
    `weights` [n] are what each query counts for in the estimate; None: all the same.
    """

    residuals: Floats
    ways: tuple[Ints, ...] = ()
    weights: Floats | None = None


def mean_interval(
    values: Floats,
    ways: Sequence[Ints] = (),
    *,
    bounds: tuple[float, float] | None = None,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of the mean of `values` [n], whose queries have the cluster ids `ways`."""
    mean = float(np.mean(values))
    return interval(
        mean, [ResidualPart((values - mean) / len(values), tuple(ways))], bounds=bounds, level=level
    )


def interval(
    estimate: float,
    parts: Sequence[ResidualPart],
    *,
    bounds: tuple[float, float] | None = None,
    span: float = 1.0,
    counted_twice: float = 0.0,
    padded: bool = False,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of an estimate from the residuals of its parts.

    With `bounds` the interval is Wilson's with the effective number of queries, so that it stays inside and
    never has zero width; without, Student's t, and where nothing varies the rule of three for values of range
    `span`. Degrees of freedom: the smallest effective number of clusters of any way, less one (clusters of
    unequal size count for less: Carter, Schnepel and Steigerwald 2017). `counted_twice` is taken off the
    variance. With few clusters, `padded` is for values that are nearly all at a bound: see `padded_wilson`.
    """
    known = [[_Way(way, part.weights) for way in part.ways] for part in parts]
    var = max(_variance(parts, known) - counted_twice, 0.0)
    ways = [way for each in known for way in each if way.informative]
    clustered = bool(ways)
    if not ways:  # each query is a cluster
        ways = [_alone(part) for part in parts]
    count = min(way.effective for way in ways)
    clustering = (
        f"{max(len(part.ways) for part in parts)}-way clusters" if clustered else "independent queries"
    )
    if bounds is None:
        half = t_quantile(level, count - 1) * float(np.sqrt(var))
        if var <= _NO_VARIANCE:
            return rule_of_three(estimate, count, span, level, clustering)
        return Interval(estimate - half, estimate + half, level, f"t, {clustering}")
    low, high = bounds
    width = high - low
    form = padded_wilson if padded and count < FEW_CLUSTERS else wilson
    ends = form((estimate - low) / width, var / width**2, count, level)
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


def standard_error(parts: Sequence[ResidualPart]) -> float:
    """Return the standard error of an estimate from the residuals of its parts."""
    return float(np.sqrt(variance(parts)))


def variance(parts: Sequence[ResidualPart]) -> float:
    """Return Σ r_i r_j over all pairs of queries that share a node, times `small_sample_factor`.

    A pair is counted for each node it shares, less once where it shares both its nodes: in the same roles,
    or, in a difference, in opposite ones too. (In a mean, opposite roles stay counted twice: in simulations
    the exact count covers 89-94 % over ten seeds of 100 items, this one 92-98 %; in a difference 95 % and
    98 %.) Small samples can push the sum below the truth, even below zero: the variance by one way of
    clustering alone is the least that is believed.
    """
    return _variance(parts, [[_Way(way, part.weights) for way in part.ways] for part in parts])


def _variance(parts: Sequence[ResidualPart], known: Sequence[Sequence[_Way]]) -> float:
    """Return the variance of parts; `known` are the ways of each."""
    flat = [way for part, ways in zip(parts, known, strict=True) for way in ways or [_alone(part)]]
    factor = _small_sample_factor(flat)
    if factor == 0:
        return 0.0
    if len(flat) == 1:
        return float(np.sum(_by_label(flat[0].codes, parts[0].residuals) ** 2)) * factor
    joined = _labelled(parts)
    nodes: list[_Sum] = [(way, r) for r, ways in joined for way in ways[:1]]
    edges: list[_Sum] = []
    # for a difference only the first way, the queries' own clusters, means the same in both parts
    least = _squares(nodes)
    for residuals, ways in joined:
        if len(ways) == 2:
            apart = ways[0] != ways[1]  # a query whose two clusters are one counts there once
            first, second, r = ways[0][apart], ways[1][apart], residuals[apart]
            nodes.append((second, r))
            if len(joined) == 2:  # of a difference, an edge is one whichever way it is gone
                first, second = np.minimum(first, second), np.maximum(first, second)
            edges.append((first * _FAR + second, r))
            least = max(least, _squares([(ways[1], residuals)])) if len(joined) == 1 else least
    return max(_squares(nodes) - _squares(edges), least) * factor


def small_sample_factor(ways: Sequence[tuple[Ints, Floats | None]]) -> float:
    """Return G/(G − 1) for the effective number of clusters G, the smallest of any way and at least 2.

    A way is the codes [n] of its clusters and the weights [n] of the queries, None where all are the same. 0
    where a way has one cluster: then nothing is known. The residuals of large clusters are too small: they
    have pulled the mean towards themselves. With clusters of equal size G is their number.
    """
    return _small_sample_factor([_Way(way, weights) for way, weights in ways])


def _small_sample_factor(ways: Sequence[_Way]) -> float:
    if not ways or min(way.clusters for way in ways) < 2:
        return 0.0
    clusters = max(min(way.effective for way in ways), 2.0)
    return clusters / (clusters - 1)


class _Way:
    """One way of clustering: codes [n] of the clusters of queries, and the queries' weights [n] or None."""

    def __init__(self, codes: Ints, weights: Floats | None) -> None:
        self.codes, self.weights = codes, weights
        self.sizes = _by_label(codes)

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(self.sizes)

    @property
    def informative(self) -> bool:
        """Whether any two queries share a cluster: otherwise these clusters add nothing."""
        return self.clusters < len(self.codes)

    @cached_property
    def effective(self) -> float:
        """How many clusters of equal size would be as informative."""
        sizes = self.sizes if self.weights is None else _by_label(self.codes, self.weights)
        return float(sizes.sum() ** 2 / np.sum(sizes**2))


def _alone(part: ResidualPart) -> _Way:
    """Return the way in which each query is a cluster."""
    return _Way(np.arange(len(part.residuals)), part.weights)


_Sum = tuple[Ints, Floats]  # labels [n] and residuals [n], to be summed by label


def _labelled(parts: Sequence[ResidualPart]) -> list[tuple[Floats, list[Ints]]]:
    """Return the residuals and ways of each part, with nodes numbered from 0 over all parts."""
    ways = [part.ways or (np.arange(len(part.residuals)),) for part in parts]
    flat = [way for each in ways for way in each]
    labels = numbered(np.concatenate(flat))
    pieces = iter(np.split(labels, np.cumsum([len(way) for way in flat])[:-1]))
    return [(part.residuals, [next(pieces) for _ in each]) for part, each in zip(parts, ways, strict=True)]


def _squares(sums: Sequence[_Sum]) -> float:
    """Return Σ over labels of (Σ residuals of the label)²."""
    if not sums:
        return 0.0
    labels = np.concatenate([label for label, _ in sums])
    return float(np.sum(_by_label(labels, np.concatenate([r for _, r in sums])) ** 2))


def _by_label(labels: Ints, values: Floats | None = None) -> Floats:
    """Return for each label that occurs the sum of its values [n], in order; how often it occurs without."""
    if len(labels) == 0 or labels.min() < 0 or labels.max() > 8 * len(labels) + 64:  # too wide to count
        labels = numbered(labels)
    times = np.bincount(labels)
    sums = times if values is None else np.bincount(labels, values)
    return sums[times > 0].astype(np.float64)


def effective_clusters(codes: Ints, weights: Floats | None = None) -> float:
    """Return how many clusters of equal size would be as informative: (Σ w_g)²/Σ w_g², at least 1.

    w_g is the number of queries of a cluster, or the sum of their `weights` [n].
    """
    return _Way(codes, weights).effective


def wilson(p: float, variance: float, clusters: float, level: float) -> tuple[float, float]:
    """Return Wilson's interval (1927) with n = p(1−p)/variance, the effective number of queries.

    Where the values do not vary (all at a bound, or one cluster), n is the number of clusters.
    """
    p = min(max(p, 0.0), 1.0)
    n = p * (1 - p) / variance if variance > _NO_VARIANCE and 0 < p < 1 else clusters
    z2 = t_quantile(level, clusters - 1) ** 2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return float(max(centre - half, 0.0)), float(min(centre + half, 1.0))


def padded_wilson(p: float, variance: float, clusters: float, level: float) -> tuple[float, float]:
    """Return Wilson's interval, widened to that with a quarter of a cluster more at the middle of the range.

    Where few clusters are not nearly at a bound, samples without one look better and surer than they are:
    with eight clusters Wilson's interval covers .75–.92, this .93–.99 (`python -m tests.simulations pool`).
    """
    whole = clusters + PADDING  # as Agresti and Coull (1998) add queries
    centre, count = (clusters * p + PADDING / 2) / whole, whole**2 / (clusters + PADDING**2)
    squares = variance * (clusters - 1) * clusters + (p - centre) ** 2 * clusters
    padded = (squares + ((0.5 - centre) * PADDING) ** 2) / whole**2 * count / (count - 1)
    ends = wilson(p, variance, clusters, level), wilson(centre, padded, count, level)
    return min(low for low, _ in ends), max(high for _, high in ends)


def rule_of_three(estimate: float, count: float, span: float, level: float, clustering: str) -> Interval:
    """Return the interval where nothing varied: what so many clusters would still not have shown.

    `span` is the width of the measure's range, beyond which no difference can be.
    """
    half = span * (1 - (1 - level) ** (1 / max(count, 1.0)))
    low, high = max(estimate - half, -span), min(estimate + half, span)
    return Interval(low, high, level, f"rule of three, {clustering}")


@lru_cache(4096)
def t_quantile(level: float, freedom: float) -> float:
    """Return how far Student's t with at least one degree of freedom strays from 0 with this chance.

    With t = √n·tan θ that chance is 2Γ((n + 1)/2)/(√π·Γ(n/2)) times the integral of cosⁿ⁻¹ from 0
    to θ: θ follows by Newton's method, with 40 nodes of Gauss and Legendre. For many degrees of freedom it is
    the expansion around the normal quantile (Abramowitz and Stegun 26.7.5). scipy.special, which has the
    quantile too, takes longer to import than a small evaluation takes.
    """
    n, z = max(freedom, 1.0), NormalDist().inv_cdf(0.5 + level / 2)
    if n > _MANY:
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + sum(term / n**power for power, term in enumerate(terms, start=1))
    nodes, weights = _gauss()
    factor = 2 * exp(lgamma((n + 1) / 2) - lgamma(n / 2)) / sqrt(pi)
    theta = atan(z / sqrt(n))
    for _ in range(100):
        chance = factor * theta / 2 * float(weights @ np.cos(theta / 2 * (1 + nodes)) ** (n - 1))
        step = (level - chance) / (factor * cos(theta) ** (n - 1))
        theta += step
        if abs(step) < 1e-15:
            break
    return sqrt(n) * tan(theta)


@lru_cache
def _gauss() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(40)
    return nodes, weights
