"""How well cosines agree with people: correlations under weights, their bootstrap, and tests of differences.

Clusters of pairs are drawn with replacement, the same draws for all encoders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.evaluation.estimates import Estimate, Gap
from xlingual.records import Floats, Ints
from xlingual.results import Interval
from xlingual.stats import Part, interval, variance
from xlingual.stats.dependent import of_difference, williams, zou_overlapping
from xlingual.stats.intervals import LEVEL, effective_clusters, rule_of_three, t_quantile

REPLICATES = 2000
MOST_UNDEFINED = 0.1  # share of the replicates
_CELLS = 2_000_000  # of a block of weights
_FLAT = 1e-12  # a variance of nothing, of variables whose variance is 1
_CALM = 1e-9  # a spread of nothing
_INSIDE = 1 - 1e-9
_FEW = 20  # clusters: of fewer, how dependent pairs are cannot be estimated
_ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)


@dataclass(frozen=True)
class Agreement(Estimate):
    """A correlation with people's scores, and those of its replicates [B].

    `tested` are the cosines and the scores [n] of Pearson's correlation in one file, whose differences have a
    test.
    """

    replicates: Floats
    cluster: Ints  # of each pair
    tested: tuple[Floats, Floats] | None = None

    @property
    def note(self) -> str | None:
        """Why there is no interval."""
        lost = 1 - np.count_nonzero(np.isfinite(self.replicates)) / len(self.replicates)
        return f"no interval: undefined in {lost:.0%} of the draws" if lost > MOST_UNDEFINED else None

    def interval(self, level: float = LEVEL) -> Interval | None:
        """Return tanh(z ± t·s): z Fisher's transform, s the standard deviation of the replicates' z.

        t has the effective number of clusters less one as degrees of freedom. Where no replicate differs (a
        perfect correlation), Wilson's interval on −1 to 1 with as many queries as clusters.
        """
        if self.note is not None:
            return None
        count, drawn = effective_clusters(self.cluster), len(np.unique(self.cluster))
        error = float(np.std(_z(self.replicates[np.isfinite(self.replicates)]), ddof=1))
        if error <= _CALM or abs(self.value) >= _INSIDE:
            none = Part(np.zeros(len(self.cluster)), (self.cluster,))
            return interval(self.value, [none], bounds=(-1.0, 1.0), level=level)
        half = t_quantile(level, count - 1) * error * float(np.sqrt(drawn / max(drawn - 1, 1)))
        what = "clusters" if drawn < len(self.cluster) else "pairs"
        low, high = np.tanh([np.arctanh(self.value) - half, np.arctanh(self.value) + half])
        return Interval(float(low), float(high), level, f"z ± t·s, bootstrap of {what}")

    @classmethod
    def mean(cls, several: Sequence[Agreement]) -> Agreement:
        """Return the mean over files, replicate by replicate."""
        if len(several) == 1:
            return several[0]
        replicates = np.mean([one.replicates for one in several], axis=0)
        cluster = np.concatenate([one.cluster for one in several])
        return cls(float(np.mean([one.value for one in several])), replicates, cluster)

    def minus(self, other: Agreement) -> Gap:
        """Return the difference: tested where it is of Pearson's in one file, else from the replicates.

        Tested by Williams, with Zou's interval; n is the number of pairs divided by the design effect of
        their clusters. Where the three correlations allow no answer, the interval is of the replicates.
        """
        if self.tested is None or other.tested is None:
            return self._resampled_minus(other)
        value, r_ab = self.value - other.value, float(pearson(self.tested[0], other.tested[0])[0])
        n, unit = _independent(self, other, (self.tested[0], other.tested[0]), self.tested[1])
        try:
            p = williams(self.value, other.value, r_ab, n)[1]
            ci = zou_overlapping(self.value, other.value, r_ab, n)
        except ValueError as error:
            return Gap(value, _percentiles(value, self, other), note=f"no test: {error}")
        return Gap(value, Interval(ci.low, ci.high, ci.level, "Zou 2007"), p, f"Williams, {unit}")

    def _resampled_minus(self, other: Agreement) -> Gap:
        """Return the difference with Zou's interval, its ingredients from the replicates."""
        value, own, others = self.value - other.value, self.interval(), other.interval()
        if own is not None and others is not None:
            ok = np.isfinite(self.replicates) & np.isfinite(other.replicates)
            z = _z(self.replicates[ok]), _z(other.replicates[ok])
            if min(np.std(side) for side in (*z, z[0] - z[1])) > _CALM:
                c = float(np.corrcoef(*z)[0, 1])
                both = (self.value, own), (other.value, others)
                return Gap(value, of_difference(*both, c, "Zou 2007 on the bootstrap"))
        return Gap(value, _percentiles(value, self, other))


def _z(values: Floats) -> Floats:
    return np.asarray(np.arctanh(np.clip(values, -_INSIDE, _INSIDE)))


def _independent(a: Agreement, b: Agreement, cosines: tuple[Floats, Floats], gold: Floats) -> tuple[int, str]:
    """Return as how many independent pairs those count, and in words.

    The design effect is the variance of the difference with clusters over that without; under 1 it is chance.
    """
    n, clusters = len(gold), len(np.unique(a.cluster))
    if clusters == n:
        return n, f"n = {n}"
    moved = influence(cosines[0], gold, a.value) - influence(cosines[1], gold, b.value)
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


def weights(cluster: Ints, rng: np.random.Generator, replicates: int = REPLICATES) -> Iterator[Floats]:
    """Yield how often each pair [n] counts in each replicate, float64 [some, n], block by block.

    As many clusters are drawn as there are; a pair counts as often as its cluster was drawn.
    """
    codes = np.unique(cluster, return_inverse=True)[1]
    count = int(codes.max()) + 1
    step = max(_CELLS // len(codes), 1)
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        drawn = rng.integers(0, count, (size, count)) + np.arange(size)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        yield times[:, codes].astype(np.float64)


def pearson(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    """Return Pearson's correlation of x [n] or [b, n] with y, for each row of the weights [b, n].

    NaN where either does not vary among what counts.
    """
    weight = np.ones((1, x.shape[-1])) if weight is None else weight
    total = np.maximum(weight.sum(axis=-1), _FLAT)  # nothing may count at all
    x, y = _standard(x), _standard(y)
    mean_x, mean_y = _sum(weight, x) / total, _sum(weight, y) / total
    xx = _sum(weight, x * x) / total - mean_x**2
    yy = _sum(weight, y * y) / total - mean_y**2
    xy = _sum(weight, x * y) / total - mean_x * mean_y
    varies = (xx > _FLAT) & (yy > _FLAT)
    r = np.divide(xy, np.sqrt(np.where(varies, xx * yy, 1.0)))
    return np.where(varies, np.clip(r, -1.0, 1.0), np.nan)


@dataclass(frozen=True)
class Ordered:
    """Numbers [n] in their order, for mean ranks under any weights."""

    order: Ints  # [n]
    group: Ints  # [n] in that order: which value, from 0
    ends: Ints  # the last place of each value

    @classmethod
    def of(cls, values: Floats) -> Ordered:
        """Sort the numbers; equal ones are one group."""
        order = np.argsort(values, kind="stable")
        new = np.diff(values[order], prepend=values[order[0]]) != 0
        group = np.cumsum(new)
        return cls(order, group, np.flatnonzero(np.append(new[1:], True)))

    def midranks(self, weight: Floats) -> Floats:
        """Return the mean rank [b, n] that equal numbers share, where each counts `weight` [b, n] times."""
        upto = np.cumsum(weight[:, self.order], axis=1)[:, self.ends]
        before = np.concatenate([np.zeros((len(weight), 1)), upto[:, :-1]], axis=1)
        ranks = np.empty_like(weight)
        ranks[:, self.order] = ((upto + before) / 2)[:, self.group]
        return ranks


def spearman(x: Ordered, y: Ordered, weight: Floats | None = None) -> Floats:
    """Return Spearman's correlation for each row of the weights [b, n]: Pearson's of mean ranks."""
    weight = np.ones((1, len(x.order))) if weight is None else weight
    return pearson(x.midranks(weight), y.midranks(weight), weight)


def influence(x: Floats, y: Floats, r: float) -> Floats:
    """Return how much each pair [n] moves Pearson's correlation: (u·v − r·(u² + v²)/2)/n, u and v of sd 1."""
    u, v = _standard(x), _standard(y)
    return np.asarray((u * v - r * (u * u + v * v) / 2) / len(x))


def _sum(weight: Floats, values: Floats) -> Floats:
    """Return Σ weight·value over the last axis, of values [n] or [b, n]."""
    if values.ndim == 1:
        return np.asarray(weight @ values)
    return np.asarray(np.einsum("bn,bn->b", weight, values))


def _standard(values: Floats) -> Floats:
    """Return the values with mean 0 and variance 1 over the last axis; 0 where they do not vary.

    What rounding leaves of a variance, relative to the values' size, counts as none.
    """
    centred = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True))
    size = np.max(np.abs(values), axis=-1, keepdims=True)
    varies = spread > 1e-12 * size
    return np.asarray(np.where(varies, centred / np.where(varies, spread, 1.0), 0.0))
