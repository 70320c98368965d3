"""How large a difference so many queries can show, and how many queries a difference needs.

A difference divided by its standard error follows Student's noncentral t, with noncentrality effect/standard
error and the degrees of freedom of the clusters. All functions take the variance of the difference, the
square of that standard error. `two_sided=False` is the one-sided test of non-inferiority, where the effect is
the distance of the true difference from the margin.

J. Cohen. Statistical Power Analysis for the Behavioral Sciences, 2nd edition, 1988.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.stats.intervals import effective_clusters, variance
from xlingual.stats.paired import skewness_of, t_test, uncorrected
from xlingual.stats.paired_queries import Paired
from xlingual.stats.signflips import FlippedClusters

POWER = 0.8
ALPHA = 0.05
MOST_QUERIES = 10**9  # beyond, no number is given
_BOUND_FLIPS = 999  # that show the bound of the sign-flip test
_CLEAR = 1.5  # standard deviations of noise above which shared targets count
_FLIPS = 200  # that show the noise of what targets share
_NODES = 200  # of the integral; the error is under 1e-7 from 2 degrees of freedom on
_TAIL = 9.0  # standard deviations beyond which the chance is under 1e-18


@dataclass(frozen=True)
class Growth:
    """How the variance of a difference, and its degrees of freedom, change with the number of queries.

    At a fixed pool `own` shrinks as 1/N and `shared`, which comes from targets that several queries
    retrieved, stays. Clusters grow alike: the inverse of their effective number is a part that shrinks as 1/N
    and one that stays (the chance that two queries retrieve the same target).
    """

    n: int  # N0, distinct queries that were observed
    own: float  # variance at n queries, from own clusters
    shared: float  # variance that more queries do not remove
    inverse_own: float  # 1/effective number of own clusters at n queries
    inverse_retrieved: float = 0.0  # the same of retrieved targets: the part that shrinks,
    inverse_shared: float = 0.0  # and the part that stays
    caution: float = 1.0  # how many times Student's the bound of the sign-flip test is, at n queries

    @classmethod
    def of(cls, data: Paired, n: int) -> Growth:
        """Return the growth of two systems' difference, observed on `n` distinct queries."""
        own, shared = _variances(data)
        inverse = 1 / effective_clusters(data.own)
        retrieved = [way for way in (data.retrieved_a, data.retrieved_b) if way is not None]
        shrinks, stays = max((_inverse(way, n) for way in retrieved), key=sum, default=(0.0, 0.0))
        return cls(n, own, shared, inverse, shrinks, stays, _caution(data))

    def variance(self, n: float) -> float:
        """Return the variance of the difference with `n` queries."""
        return self.own * self.n / n + self.shared

    def freedom(self, n: float) -> float:
        """Return the degrees of freedom with `n` queries: effective clusters of the worst way, less one."""
        retrieved = self.inverse_retrieved * self.n / n + self.inverse_shared
        return 1 / max(self.inverse_own * self.n / n, retrieved) - 1

    def power(self, effect: float, n: float, alpha: float = ALPHA, *, two_sided: bool = True) -> float:
        """Return the power for a true difference with `n` queries."""
        caution = self._cautious(n) if two_sided else 1.0
        variance, freedom = self.variance(n), self.freedom(n)
        return power(effect, variance, freedom, alpha, two_sided=two_sided, caution=caution)

    def detectable(
        self, n: float = math.inf, wanted: float = POWER, alpha: float = ALPHA, *, two_sided: bool = True
    ) -> float:
        """Return the smallest difference that `n` queries show; without `n`, that any number shows."""
        variance = self.shared if math.isinf(n) else self.variance(n)
        stays = self.inverse_shared
        limit = 1 / stays - 1 if stays > 0 else math.inf
        freedom = limit if math.isinf(n) else self.freedom(n)
        caution = self._cautious(n) if two_sided else 1.0
        return detectable(variance, freedom, wanted, alpha, two_sided=two_sided, caution=caution)

    def _cautious(self, n: float) -> float:
        """Return how many times Student's bound the test asks for with `n` queries.

        The test is the more cautious of Student's and sign flips. Flips of few clusters whose answers are
        hits and misses take few values, which lie denser as 1/√N.
        """
        return 1 + (self.caution - 1) * math.sqrt(self.n / n)


def power(
    effect: float,
    variance: float,
    df: float,
    alpha: float = ALPHA,
    *,
    two_sided: bool = True,
    caution: float = 1.0,
) -> float:
    """Return the chance that a t-test at level `alpha` shows a true difference of `effect`.

    The difference must be `caution` times as far out as Student's t asks. Two-sided, either sign of a
    significant result counts, as usual. Zero variance shows any effect. Degrees of freedom are at least 1;
    they may be infinite.
    """
    if variance <= 0:
        return 1.0 if effect > 0 or (two_sided and effect != 0) else 0.0
    centre = effect / math.sqrt(variance)
    critical = caution * _t_quantile(1 - alpha / (2 if two_sided else 1), df)
    beyond = _noncentral_above(critical, centre, df)
    return beyond + (_noncentral_above(critical, -centre, df) if two_sided else 0.0)


def detectable(
    variance: float,
    df: float,
    wanted: float = POWER,
    alpha: float = ALPHA,
    *,
    two_sided: bool = True,
    caution: float = 1.0,
) -> float:
    """Return the smallest effect that is shown with the power `wanted`, which must lie above `alpha`."""
    from scipy.optimize import brentq

    _check(wanted, alpha)
    if variance <= 0:
        return 0.0

    def excess(centre: float) -> float:
        return power(centre, 1.0, df, alpha, two_sided=two_sided, caution=caution) - wanted

    most = 8.0
    while excess(most) < 0:
        most *= 2
    return float(brentq(excess, 0.0, most, xtol=1e-10)) * math.sqrt(variance)


def queries_needed(
    effect: float, growth: Growth, wanted: float = POWER, alpha: float = ALPHA, *, two_sided: bool = True
) -> int | None:
    """Return the least number of queries that show `effect` with the power `wanted`.

    None where no number does (or more than `MOST_QUERIES` would be needed): what shared targets add to the
    variance stays, however many queries there are.
    """
    _check(wanted, alpha)

    def enough(n: int) -> bool:
        return growth.power(effect, n, alpha, two_sided=two_sided) >= wanted

    too_few, most = 1, 2
    while not enough(most):
        if most >= MOST_QUERIES:
            return None
        too_few, most = most, most * 2
    while most - too_few > 1:
        middle = (too_few + most) // 2
        too_few, most = (too_few, middle) if enough(middle) else (middle, most)
    return most


def _variances(data: Paired) -> tuple[float, float]:
    """Return the variance of the difference that shrinks as 1/N, and what does not at a fixed pool.

    What stays are pairs of queries that *retrieve* the same target. Where items serve as sources in one
    sample and are retrieved in another, a source also depends on the queries that retrieve it; such pairs
    grow as N and so shrink like the rest. Taken as it is, but never negative, the sum over shared targets
    would be too large on average where these matter little; so it counts only where it clearly exceeds its
    noise, the standard deviation that random flips of clusters give it.
    """
    total = variance(data.parts())
    if data.retrieved_a is None or data.retrieved_b is None:
        return total, 0.0
    retrieved = (data.retrieved_a, data.retrieved_b)
    beyond = data.own.max() + 1 - min(way.min() for way in retrieved)
    apart = replace(data, retrieved_a=retrieved[0] + beyond, retrieved_b=retrieved[1] + beyond)
    clusters = FlippedClusters.of(apart, no_difference=False)
    n = len(distinct_values(data.own))
    signs = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), (n, _FLIPS))
    noise = float(np.std(clusters.shared(signs)))
    shared = float(clusters.shared(np.ones((n, 1)))[0])
    shared = min(shared * clusters.correction, total) if shared > _CLEAR * noise else 0.0
    return total - shared, shared


def _caution(data: Paired) -> float:
    """Return how many times Student's bound that of the test is, at least 1.

    The bound of the sign-flip test lies halfway between its largest value that is not significant and the
    smallest that is. That of the test corrected for skewness is for a difference of the observed sign.
    """
    difference, error, freedom, _ = t_test(data)
    student = _t_quantile(1 - ALPHA / 2, freedom)
    if error <= 0:
        return 1.0
    skewness = skewness_of(data, error) * (1 if difference >= 0 else -1)
    n = len(distinct_values(data.own))
    signs = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), (n, _BOUND_FLIPS))
    found = np.abs(FlippedClusters.of(data, no_difference=True).studentised(signs))
    found = np.sort(found[np.isfinite(found)])
    last = found[math.ceil((1 - ALPHA) * len(found)) - 1] if len(found) else 0.0
    beyond = found[found > last * (1 + 1e-9)]
    flips = (last + beyond[0]) / 2 if len(beyond) else last
    return max(float(flips), uncorrected(student, skewness), student) / student


def _inverse(way: Ints, n: int) -> tuple[float, float]:
    """Return 1/effective clusters as the part that shrinks as 1/n and the part that stays.

    Two of n queries chosen at random, with repetition, share a target if they are the same query, or with
    chance s: 1/G = 1/n + (1 − 1/n)·s.
    """
    inverse = 1 / effective_clusters(way)
    stays = max((inverse - 1 / n) / (1 - 1 / n), 0.0) if n > 1 else 0.0
    return inverse - stays, stays


def _noncentral_above(critical: float, centre: float, df: float) -> float:
    """Return P(T > critical) of the noncentral t, the mean of Φ(centre − critical·√(χ²/df)) over χ².

    Integrated by Gauss and Legendre, which holds for any centre; scipy's series gives nan for large ones.
    """
    from scipy.special import gammaln, ndtr

    df = max(df, 1.0)
    if math.isinf(df) or df > 1e6:
        return float(ndtr(centre - critical))
    # u = √(χ²/df) has mean about 1 and standard deviation about 1/√(2·df)
    spread = 1 / math.sqrt(2 * df)
    low, high = max(0.0, 1 - _TAIL * spread), 1 + _TAIL * spread
    x, weight = _nodes()
    u = (low + high) / 2 + (high - low) / 2 * x
    log_density = df * math.log(df) / 2 - (df / 2 - 1) * math.log(2) - gammaln(df / 2)
    density = np.exp(log_density + (df - 1) * np.log(u) - df * u * u / 2)
    share = np.sum(weight * density * ndtr(centre - critical * u)) * (high - low) / 2
    return min(float(share), 1.0)


@cache
def _nodes() -> tuple[Floats, Floats]:
    x, weight = np.polynomial.legendre.leggauss(_NODES)
    return x, weight


def _t_quantile(share: float, df: float) -> float:
    from scipy.special import ndtri, stdtrit

    return float(ndtri(share)) if math.isinf(df) else float(stdtrit(max(df, 1.0), share))


def _check(wanted: float, alpha: float) -> None:
    if not 0 < alpha < wanted < 1:
        raise ValueError(f"expected 0 < alpha < power < 1, got alpha {alpha} and power {wanted}")
