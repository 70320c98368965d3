"""Two systems on the same queries, and whether the difference of their means is real.

Queries are not independent: they belong to their own cluster and, in Backretrieval, to that of the target
that a system retrieved (see `intervals`); standard errors count both. Distributions say how far a difference
strays by luck, in units of its standard error: Student's, plain and corrected for skewness, with the
*effective number of clusters*, which knows of few targets that many queries share; and that of random sign
flips of clusters, which knows the answers themselves, however skew or rare (MacKinnon, Nielsen and Webb
2021, "Wild Bootstrap and Asymptotic Inference With Multiway Clustering"). In simulations each alone is at
times too sure; the most cautious is believed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from xlingual.arrays import Floats, distinct_values, numbered
from xlingual.results import Interval
from xlingual.stats.intervals import (
    LEVEL,
    effective_clusters,
    t_quantile,
    variance,
)
from xlingual.stats.paired_queries import Paired
from xlingual.stats.signflips import FlippedClusters, Signs

FEWEST_CLUSTERS = 5  # with fewer there is no test
_CELLS = 4_000_000  # of a block of replicates
_NOTHING = 1e-12  # what rounding leaves of a standard error of zero


@dataclass(frozen=True)
class PairedTest:
    """A difference, its standard error, and how far differences stray by luck in units of it.

    `strays` (ascending) are the studentised differences, without their sign, of flipped residuals; empty
    where nothing varies. A one-sided p is the largest of three: of Student's t, of the strays, and of
    Student's t corrected for skewness, since a skew difference strays farther to one side (Hall 1992, "On
    the Removal of Skewness by Transformation"). `p` is twice the smaller of the two one-sided ones, or that
    of the sign-flip test where it is larger. Intervals and bounds exclude what these p exclude.
    """

    difference: float
    standard_error: float
    p: float
    n_clusters: int
    freedom: float
    span: float
    strays: Floats = field(repr=False)
    skewness: float = 0.0  # of the difference, as an estimate

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the interval of the difference; the rule of three where nothing varies.

        It contains zero where the sign-flip test, which knows of no difference, finds none.
        """
        low, high = self.lower((1 - level) / 2), self.upper((1 - level) / 2)
        if self.p > 1 - level:
            low, high = min(low, 0.0), max(high, 0.0)
        method = "cluster bootstrap-t" if len(self.strays) else "rule of three"
        return Interval(low, high, level, f"{method}, {self.n_clusters} clusters")

    def lower(self, alpha: float) -> float:
        """Return the bound that the difference is shown to be above at level `alpha`, one-sided."""
        return max(self.difference - self._reach(alpha, self.skewness), -self.span)

    def upper(self, alpha: float) -> float:
        """Return the bound that the difference is shown to be below at level `alpha`, one-sided."""
        return min(self.difference + self._reach(alpha, -self.skewness), self.span)

    def p_above(self, bound: float) -> float:
        """Return the one-sided p of "the difference is not above `bound`"."""
        return self._tail(self.difference - bound, self.skewness)

    def p_below(self, bound: float) -> float:
        """Return the one-sided p of "the difference is not below `bound`"."""
        return self._tail(bound - self.difference, -self.skewness)

    def p_equivalent(self, margin: float) -> float:
        """Return the p of "the difference is not within ± margin": the larger of two one-sided ones."""
        return max(self.p_above(-margin), self.p_below(margin))

    def _tail(self, distance: float, skewness: float) -> float:
        from scipy.special import stdtr

        if not len(self.strays):  # so many clusters would have shown a difference as large with this chance
            share = min(max(distance / self.span, 0.0), 1.0)
            return float((1 - share) ** (self.freedom + 1))
        far = distance / self.standard_error
        beyond = (np.count_nonzero(self.strays >= abs(far)) + 1) / (len(self.strays) + 1) / 2
        nearer = corrected(far, skewness)
        return max(float(stdtr(self.freedom, -nearer)), beyond if far >= 0 else 1 - beyond)

    def _reach(self, alpha: float, skewness: float) -> float:
        """Return how far off a bound must be for a one-sided p of `alpha`: the inverse of `_tail`."""
        if not len(self.strays):
            return float(self.span * (1 - alpha ** (1 / (self.freedom + 1))))
        student = t_quantile(1 - 2 * alpha, self.freedom)
        far = max(student, self._flips_beyond(2 * alpha), uncorrected(student, skewness))
        return far * self.standard_error

    def _flips_beyond(self, alpha: float) -> float:
        """Return the largest stray whose two-sided p, (c + 1)/(n + 1), is still above `alpha`."""
        n = len(self.strays)
        significant = int(np.floor(alpha * (n + 1) + 1e-9)) - 1  # so many may be as far out
        return float(self.strays[n - 1 - significant]) if 0 <= significant < n else float("inf")


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


def skewed_t_test(data: Paired) -> float:
    """Return the two-sided p of a test without resampling: Student's t, or that corrected for skewness.

    It is `PairedTest.p` without its sign flips, which matter where clusters are few. Where nothing varies p
    is 1.
    """
    from scipy.special import stdtr

    difference, error, freedom, p = t_test(data)
    if not error:
        return 1.0
    far, skewness = difference / error, skewness_of(data, error)
    sides = (stdtr(freedom, -corrected(far, skewness)), stdtr(freedom, -corrected(-far, -skewness)))
    return max(p, min(2 * float(min(sides)), 1.0))


def paired_test(
    data: Paired, *, rng: np.random.Generator, replicates: int = 4999, span: float = 1.0
) -> PairedTest:
    """Test the difference of two systems on the same queries.

    The sign-flip test swaps the answers of the two systems to all queries of a cluster at random; p is
    (c + 1)/(n + 1) for c of n replicates at least as far from zero as what was observed. The interval flips
    residuals about each system's own mean instead (the wild cluster bootstrap-t of Cameron, Gelbach and
    Miller 2008, "Bootstrap-Based Improvements for Inference with Clustered Errors"). `span` is the width of
    the measure's range.
    """
    difference, error, freedom, _ = t_test(data)
    n = len(distinct_values(data.own))
    if error <= _NOTHING:
        return _with_p(PairedTest(difference, 0.0, 0.0, n, freedom, span, np.empty(0)))
    swapped, centred = (FlippedClusters.of(data, no_difference=null) for null in (True, False))
    p_flips, scatter, drawn = [], [], Signs(rng)
    for size in _blocks(n, replicates):
        signs = drawn.draw(n, size)
        p_flips.append(swapped.studentised(signs))
        scatter.append(centred.studentised(signs))
    # rounding must not make a replicate that equals what was observed smaller than it
    far = np.abs(np.concatenate(p_flips)) >= abs(difference) / error * (1 - 1e-9)
    p = (np.count_nonzero(far) + 1) / (replicates + 1)
    strays = np.sort(np.abs(np.concatenate(scatter)))
    return _with_p(PairedTest(difference, error, p, n, freedom, span, strays, skewness_of(data, error)))


def _with_p(test: PairedTest) -> PairedTest:
    """Return a test whose p is that of its sign flips, or of its one-sided tests where that is larger."""
    return replace(test, p=max(test.p, min(2 * test.p_above(0.0), 2 * test.p_below(0.0), 1.0)))


def corrected(far: float, skewness: float) -> float:
    """Return how far a value of Student's t is when luck strays farther to its side than to the other.

    Hall's transformation t + γt²/3 + γ²t³/27 + γ/6, which rises everywhere, for γ < 0; t itself otherwise.
    """
    if skewness > -_NOTHING:
        return far
    return ((1 + skewness * far / 3) ** 3 - 1) / skewness + skewness / 6


def uncorrected(far: float, skewness: float) -> float:
    """Return x with `corrected(x)` = far."""
    if skewness > -_NOTHING:
        return far
    return float(3 / skewness * (np.cbrt(1 + skewness * (far - skewness / 6)) - 1))


def skewness_of(data: Paired, error: float) -> float:
    """Return Σ s³/error³ over sums s of residuals by own cluster.

    What retrieved targets add to the third power is left out: it is too noisy to be of use.
    """
    first, second = data.parts()
    sums = np.bincount(numbered(data.own), first.residuals + second.residuals)
    return float(np.sum(sums**3) / error**3)


def _freedom(data: Paired) -> float:
    ways = [way for way in (data.own, data.retrieved_a, data.retrieved_b) if way is not None]
    return max(min(effective_clusters(way, data.weight) for way in ways) - 1, 1.0)


def _blocks(n: int, replicates: int) -> Iterator[int]:
    """Yield the sizes of blocks of replicates that fit into memory."""
    size = max(_CELLS // n, 1)
    for start in range(0, replicates, size):
        yield min(size, replicates - start)
