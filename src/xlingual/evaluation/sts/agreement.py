"""How well cosines agree with people, with an interval, and whether two encoders' agreements differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.estimates import Estimate, Gap
from xlingual.results import Interval
from xlingual.stats import ResidualPart, interval, variance
from xlingual.stats.dependent import of_difference, williams, zou_overlapping
from xlingual.stats.intervals import LEVEL, effective_clusters, rule_of_three, t_quantile
from xlingual.stats.weighted import influence, pearson

DECIMALS = 9  # cosines that are equal to so many are tied
MOST_UNDEFINED = 0.1  # share of the replicates
_CALM = 1e-9  # a spread of nothing
_INSIDE = 1 - 1e-9
_BLOCK = 4096
_FEW = 20  # clusters: of fewer, how dependent pairs are cannot be estimated
_ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)


def cosines(vectors: np.ndarray, first: Ints, second: Ints) -> Floats:
    """Return the cosine [n] of each pair of rows of vectors [m, d], in float64, rounded to 9 decimals.

    A zero vector has cosine 0 to everything.
    """
    out = np.empty(len(first))
    for start in range(0, len(first), _BLOCK):
        part = slice(start, start + _BLOCK)
        a, b = (vectors[side[part]].astype(np.float64) for side in (first, second))
        norms = np.sqrt(np.sum(a * a, axis=1)) * np.sqrt(np.sum(b * b, axis=1))
        out[part] = np.sum(a * b, axis=1) / np.where(norms > 0, norms, 1.0)
    return np.round(out, DECIMALS) + 0.0  # no −0


@dataclass(frozen=True)
class ScoreAgreement(Estimate):
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
            none = ResidualPart(np.zeros(len(self.cluster)), (self.cluster,))
            return interval(self.value, [none], bounds=(-1.0, 1.0), level=level)
        half = t_quantile(level, count - 1) * error * float(np.sqrt(drawn / max(drawn - 1, 1)))
        what = "clusters" if drawn < len(self.cluster) else "pairs"
        low, high = np.tanh([np.arctanh(self.value) - half, np.arctanh(self.value) + half])
        return Interval(float(low), float(high), level, f"z ± t·s, bootstrap of {what}")

    @classmethod
    def mean(cls, several: Sequence[ScoreAgreement]) -> ScoreAgreement:
        """Return the mean over files, replicate by replicate."""
        if len(several) == 1:
            return several[0]
        replicates = np.mean([one.replicates for one in several], axis=0)
        cluster = np.concatenate([one.cluster for one in several])
        return cls(float(np.mean([one.value for one in several])), replicates, cluster)

    def minus(self, other: ScoreAgreement) -> Gap:
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

    def _resampled_minus(self, other: ScoreAgreement) -> Gap:
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


def _independent(
    a: ScoreAgreement, b: ScoreAgreement, cosines: tuple[Floats, Floats], gold: Floats
) -> tuple[int, str]:
    """Return as how many independent pairs those count, and in words.

    The design effect is the variance of the difference with clusters over that without; under 1 it is chance.
    """
    n, clusters = len(gold), len(np.unique(a.cluster))
    if clusters == n:
        return n, f"n = {n}"
    moved = influence(cosines[0], gold, a.value) - influence(cosines[1], gold, b.value)
    plain = variance([ResidualPart(moved)])
    effect = variance([ResidualPart(moved, (a.cluster,))]) / plain if plain > 0 else 1.0
    worth = n / max(effect, 1.0)
    found = int(min(worth, clusters) if clusters < _FEW else worth)
    return found, f"n = {found} of {n} pairs" if found < n else f"n = {n}"


def _percentiles(value: float, a: ScoreAgreement, b: ScoreAgreement) -> Interval:
    """Return the percentiles of the replicates' differences; the rule of three where none differs."""
    moved = a.replicates - b.replicates
    moved = moved[np.isfinite(moved)]
    low, high = np.quantile(moved, _ENDS) if len(moved) else (value, value)
    if high - low > _CALM:
        return Interval(min(float(low), value), max(float(high), value), LEVEL, "percentiles, bootstrap")
    return rule_of_three(value, effective_clusters(a.cluster), 2.0, LEVEL, "clusters of pairs")
