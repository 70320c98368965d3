"""How well cosines agree with people, with an interval, and whether two encoders' agreements differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.evaluation.sts.replicates import influence
from xlingual.records import Floats, Ints
from xlingual.results import Interval
from xlingual.stats import Part, interval, variance
from xlingual.stats.corrections import simultaneous_level
from xlingual.stats.dependent import of_difference, williams, zou_overlapping
from xlingual.stats.intervals import effective_clusters, rule_of_three, t_quantile

LEVEL = 0.95
MOST_UNDEFINED = 0.1  # share of the replicates
_CALM = 1e-9  # a spread of nothing
_INSIDE = 1 - 1e-9
_FEW = 20  # clusters: of fewer, how dependent pairs are cannot be estimated
_ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)


@dataclass(frozen=True)
class Agreement:
    """A correlation with the scores, those of its replicates [B], and its interval; None and a note else."""

    value: float | None
    replicates: Floats
    cluster: Ints  # of each pair
    ci: Interval | None = None
    note: str | None = None

    @classmethod
    def of(cls, value: float, replicates: Floats, cluster: Ints, flat: bool) -> Agreement:
        """Return the agreement of cosines that do (`flat`) or do not all have one value."""
        if flat or not np.isfinite(value):
            return cls(None, replicates, cluster, note="no correlation: all cosines are equal")
        ci, note = _interval(value, replicates, cluster)
        return cls(value, replicates, cluster, ci, note)

    def simultaneous(self, n: int) -> Interval | None:
        """Return the interval that holds its target together with those of `n` − 1 others; None of one."""
        if self.value is None or n < 2:
            return None
        return _interval(self.value, self.replicates, self.cluster, simultaneous_level(n, LEVEL))[0]


def mean_of(found: Sequence[Agreement]) -> Agreement:
    """Return the mean over files, replicate by replicate; without a value where a file has none."""
    if len(found) == 1:
        return found[0]
    replicates = np.mean([one.replicates for one in found], axis=0)
    cluster = np.concatenate([one.cluster for one in found])
    values = [one.value for one in found if one.value is not None]
    if len(values) < len(found):
        note = next((one.note for one in found if one.value is None), None)
        return Agreement(None, replicates, cluster, note=note)
    value = float(np.mean(values))
    ci, note = _interval(value, replicates, cluster)
    return Agreement(value, replicates, cluster, ci, note)


def _interval(
    value: float, replicates: Floats, cluster: Ints, level: float = LEVEL
) -> tuple[Interval | None, str | None]:
    """Return tanh(z ± t·s): z Fisher's transform, s the standard deviation of the replicates' z.

    t has the effective number of clusters less one as degrees of freedom. Where no replicate differs (a
    perfect correlation), Wilson's interval on −1 to 1 with as many queries as clusters.
    """
    finite = replicates[np.isfinite(replicates)]
    lost = 1 - len(finite) / len(replicates)
    if lost > MOST_UNDEFINED:
        return None, f"no interval: undefined in {lost:.0%} of the draws"
    count = effective_clusters(cluster)
    error = float(np.std(_z(finite), ddof=1))
    if error <= _CALM or abs(value) >= _INSIDE:
        none = Part(np.zeros(len(cluster)), (cluster,))
        return interval(value, [none], bounds=(-1.0, 1.0), level=level), None
    drawn = len(np.unique(cluster))
    half = t_quantile(level, count - 1) * error * float(np.sqrt(drawn / max(drawn - 1, 1)))
    what = "clusters" if drawn < len(cluster) else "pairs"
    low, high = np.tanh([np.arctanh(value) - half, np.arctanh(value) + half])
    return Interval(float(low), float(high), level, f"z ± t·s, bootstrap of {what}"), None


def _z(values: Floats) -> Floats:
    return np.asarray(np.arctanh(np.clip(values, -_INSIDE, _INSIDE)))


@dataclass(frozen=True)
class Difference:
    """One encoder's agreement less another's; p is two-sided, None where there is no test."""

    value: float
    ci: Interval
    p: float | None
    test: str | None
    note: str | None = None


def resampled_difference(a: Agreement, b: Agreement) -> Difference | None:
    """Return a − b with Zou's interval, its ingredients from the replicates; None without both values."""
    if a.value is None or b.value is None:
        return None
    value = a.value - b.value
    if a.ci is not None and b.ci is not None:
        ok = np.isfinite(a.replicates) & np.isfinite(b.replicates)
        z = _z(a.replicates[ok]), _z(b.replicates[ok])
        if min(np.std(side) for side in (*z, z[0] - z[1])) > _CALM:
            c = float(np.corrcoef(*z)[0, 1])
            ci = of_difference((a.value, a.ci), (b.value, b.ci), c, "Zou 2007 on the bootstrap")
            return Difference(value, ci, None, None)
    return Difference(value, _percentiles(value, a, b), None, None)


def dependent_difference(
    a: Agreement, b: Agreement, cosines: tuple[Floats, Floats], gold: Floats, r_ab: float
) -> Difference | None:
    """Return a − b, two Pearson's correlations with one gold [n]: Williams' test and Zou's interval.

    `cosines` are both encoders', `r_ab` their correlation. n is the number of pairs divided by the design
    effect of their clusters. Where the three correlations allow no answer, the interval is of the replicates.
    """
    if a.value is None or b.value is None:
        return None
    n, unit = _independent(a, b, cosines, gold)
    value = a.value - b.value
    try:
        p = williams(a.value, b.value, r_ab, n)[1]
        ci = zou_overlapping(a.value, b.value, r_ab, n)
    except ValueError as error:
        return Difference(value, _percentiles(value, a, b), None, None, f"no test: {error}")
    return Difference(value, Interval(ci.low, ci.high, ci.level, "Zou 2007"), p, f"Williams, {unit}")


def _independent(a: Agreement, b: Agreement, cosines: tuple[Floats, Floats], gold: Floats) -> tuple[int, str]:
    """Return as how many independent pairs those count, and in words.

    The design effect is the variance of the difference with clusters over that without; under 1 it is chance.
    """
    n, clusters = len(gold), len(np.unique(a.cluster))
    if clusters == n:
        return n, f"n = {n}"
    moved = influence(cosines[0], gold, a.value or 0.0) - influence(cosines[1], gold, b.value or 0.0)
    plain = variance([Part(moved)])
    effect = variance([Part(moved, (a.cluster,))]) / plain if plain > 0 else 1.0
    worth = n / max(effect, 1.0)
    found = int(min(worth, clusters) if clusters < _FEW else worth)
    return found, f"n = {found} of {n} pairs" if found < n else f"n = {n}"


def _percentiles(value: float, a: Agreement, b: Agreement) -> Interval:
    """Return the percentiles of the replicates' differences; the rule of three where none differs."""
    moved = a.replicates - b.replicates
    moved = moved[np.isfinite(moved)]
    low, high = np.quantile(moved, _ENDS) if len(moved) else (value, value)
    if high - low > _CALM:
        return Interval(min(float(low), value), max(float(high), value), LEVEL, "percentiles, bootstrap")
    return rule_of_three(value, effective_clusters(a.cluster), 2.0, LEVEL, "clusters of pairs")
