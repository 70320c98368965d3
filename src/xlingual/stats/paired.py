"""Two systems on the same queries, and whether the difference of their means is real.

Queries are not independent: they hang on their own cluster and, in Backretrieval, on the target that a system
retrieved (see `intervals`). Standard errors count both. Resampling goes by own clusters, and what is
resampled is the difference *in units of its standard error*, computed anew for each replicate: it has nearly
the same distribution whatever else the queries share (MacKinnon, Nielsen and Webb 2021, "Wild Bootstrap and
Asymptotic Inference With Multiway Clustering").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from xlingual.records import Floats, Ints
from xlingual.results import Interval
from xlingual.stats.intervals import LEVEL, Part, effective_clusters, rule_of_three, variance
from xlingual.stats.reweighted import ReweightedClusters

FEWEST_CLUSTERS = 5  # below, nothing can be told
_CELLS = 4_000_000  # of a block of replicates
_NOTHING = 1e-12  # what rounding leaves of a standard error of zero


@dataclass(frozen=True)
class Paired:
    """Values [n] of two systems for the same n queries, and what makes queries dependent.

    `weight` [n] sums to 1: what each query counts for in the mean. `own` [n] is the node of the query's own
    cluster; `retrieved_a` and `retrieved_b` [n] those of what a system retrieved, in the same name space,
    None where nothing is retrieved.
    """

    a: Floats
    b: Floats
    weight: Floats
    own: Ints
    retrieved_a: Ints | None = None
    retrieved_b: Ints | None = None

    @property
    def difference(self) -> float:
        """The mean of a less the mean of b."""
        return float(self.weight @ (self.a - self.b))

    def parts(self) -> tuple[Part, Part]:
        """Return the residuals of both means, the second negated, on their nodes."""
        return (
            Part(self.weight * (self.a - self.weight @ self.a), _ways(self.own, self.retrieved_a)),
            Part(-self.weight * (self.b - self.weight @ self.b), _ways(self.own, self.retrieved_b)),
        )


@dataclass(frozen=True)
class PairedTest:
    """A difference, its standard error, and how differences in units of it scatter by luck.

    `p` is the two-sided p of the sign-flip test; `resampled` (ascending) are the studentised differences of
    the cluster bootstrap, from which intervals and one-sided p follow; empty where nothing varies.
    """

    difference: float
    standard_error: float
    p: float
    n_clusters: int
    freedom: float
    span: float
    resampled: Floats = field(repr=False)

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the studentised bootstrap interval; the rule of three where nothing varies."""
        if not len(self.resampled):
            return rule_of_three(self.difference, self.freedom + 1, self.span, level, "paired queries")
        tail = (1 - level) / 2
        least = np.quantile(self.resampled, tail, method="lower")
        most = np.quantile(self.resampled, 1 - tail, method="higher")
        ends = self.difference - np.array([most, least]) * self.standard_error
        low, high = np.clip(ends, -self.span, self.span)
        method = f"studentised bootstrap of {self.n_clusters} clusters"
        return Interval(float(low), float(high), level, method)

    def p_above(self, bound: float) -> float:
        """Return the one-sided p of "the difference is not above `bound`"."""
        return self._tail(self.difference - bound, self.resampled)

    def p_below(self, bound: float) -> float:
        """Return the one-sided p of "the difference is not below `bound`"."""
        return self._tail(bound - self.difference, -self.resampled)

    def p_equivalent(self, margin: float) -> float:
        """Return the p of "the difference is not within ± margin": the larger of two one-sided ones."""
        return max(self.p_above(-margin), self.p_below(margin))

    def _tail(self, distance: float, resampled: Floats) -> float:
        if not len(resampled):  # so many clusters would have shown a difference as large with this chance
            share = min(max(distance / self.span, 0.0), 1.0)
            return float((1 - share) ** (self.freedom + 1))
        beyond = np.count_nonzero(resampled >= distance / self.standard_error)
        return float(beyond + 1) / (len(resampled) + 1)


def t_test(data: Paired) -> tuple[float, float, float, float]:
    """Return (difference, standard error, degrees of freedom, two-sided p) by Student's t, no resampling.

    Degrees of freedom: the smallest effective number of clusters of any way, less one. Where nothing varies p
    is 1.
    """
    from scipy.special import stdtr

    difference, error = data.difference, float(np.sqrt(variance(data.parts())))
    freedom = _freedom(data)
    if error <= _NOTHING:
        return difference, 0.0, freedom, 1.0
    return difference, error, freedom, float(2 * stdtr(freedom, -abs(difference) / error))


def variance_parts(data: Paired) -> tuple[float, float]:
    """Return the variance of the difference from own clusters alone, and what shared targets add to it.

    The first shrinks as 1/N with more queries; the second, at a fixed pool, does not.
    """
    first, second = data.parts()
    alone = variance([Part(first.residuals + second.residuals, (data.own,))])
    return alone, max(variance([first, second]) - alone, 0.0)


def paired_test(
    data: Paired, *, rng: np.random.Generator, replicates: int = 4999, span: float = 1.0
) -> PairedTest:
    """Test the difference of two systems on the same queries.

    The interval resamples own clusters with replacement (Cameron, Gelbach and Miller 2008, "Bootstrap-Based
    Improvements for Inference with Clustered Errors"); the sign-flip test swaps the two systems' answers to
    all queries of a cluster at random. p = (c + 1)/(n + 1) for c of n replicates at least as far from zero.
    `span` is the width of the measure's range.
    """
    difference, error, freedom, _ = t_test(data)
    clusters = ReweightedClusters.of(data)
    if error <= _NOTHING:
        return PairedTest(difference, 0.0, 1.0, clusters.n, freedom, span, np.empty(0))
    flipped, drawn = [], []
    for size in _blocks(clusters.n, replicates):
        flipped.append(clusters.swapped(rng.choice(np.array([-1.0, 1.0]), (clusters.n, size))))
        counts = rng.multinomial(clusters.n, np.full(clusters.n, 1 / clusters.n), size).T
        drawn.append(clusters.resampled(counts.astype(np.float64)))
    # rounding must not make a replicate that equals what was observed smaller than it
    far = np.abs(np.concatenate(flipped)) >= abs(difference) / error * (1 - 1e-9)
    p = (np.count_nonzero(far) + 1) / (replicates + 1)
    resampled = np.sort(np.concatenate(drawn))
    return PairedTest(difference, error, p, clusters.n, freedom, span, resampled)


def _ways(own: Ints, retrieved: Ints | None) -> tuple[Ints, ...]:
    return (own,) if retrieved is None else (own, retrieved)


def _freedom(data: Paired) -> float:
    ways = [way for way in (data.own, data.retrieved_a, data.retrieved_b) if way is not None]
    shared = [way for way in ways if len(np.unique(way)) < len(way)]
    return min((effective_clusters(way) for way in shared), default=float(len(data.own))) - 1


def _blocks(n: int, replicates: int) -> Iterator[int]:
    """Yield the sizes of blocks of replicates that fit into memory."""
    size = max(_CELLS // n, 1)
    for start in range(0, replicates, size):
        yield min(size, replicates - start)
