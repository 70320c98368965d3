"""Whether two measures agree with XLR equally well, and one measure equally well in two directions.

Interval and p are one method, for Pearson and Spearman alike: Zou's interval of a difference (2007), its
ingredients from the two-way bootstrap, and the p that belongs to this interval (Altman and Bland 2011): its
arm towards zero is as long as the t of its level in standard errors. So p is below .05 exactly where the 95 %
interval leaves out zero. Both are about the difference between the two coefficients over other families of
encoders and other items from the same sources.
"""

from __future__ import annotations

import numpy as np

from xlingual.evaluation.metric_validation.coefficients import pearson
from xlingual.evaluation.metric_validation.encoder_scores import Table, joined, reason_of
from xlingual.evaluation.metric_validation.two_way import (
    KINDS,
    LEVEL,
    NoIntervalError,
    OnZ,
    on_z,
    replicated,
    transformed,
    usual_t,
)
from xlingual.records import Floats
from xlingual.results import Interval
from xlingual.results.validation import TRUTH, CoefficientDifference

METHOD = "two-way bootstrap, Zou 2007"
_ROUNDING = 1e-12
_NARROWER = np.linspace(0, 1, 201)  # intervals that one holds, by their t as a share of its own


def compare_measures(table: Table, a: str, b: str, kind: str, seed: int) -> CoefficientDifference:
    """Return the coefficient of `a` with XLR less that of `b`, over the encoders that have all three."""
    table, without = table.having((TRUTH, a, b))
    reason = reason_of(table, (TRUTH, a, b), without)
    if reason is not None:
        return CoefficientDifference(None, None, None, None, reason)
    return _compared(kind, (table, a), (table, b), seed, without)


def compare_directions(one: Table, two: Table, measure: str, kind: str, seed: int) -> CoefficientDifference:
    """Return the measure's coefficient with XLR in the first direction less that in the second.

    The tables have the same encoders in the same order; those that lack a score in one are left out of both.
    """
    names = (TRUTH, measure)
    (_, first), (_, second) = one.having(names), two.having(names)
    there = np.all([~np.isnan(table.mean[name]) for table in (one, two) for name in names], axis=0)
    one, two = (table.take(np.flatnonzero(there)) for table in (one, two))
    without = joined(*dict.fromkeys((first, second)))
    reason = reason_of(one, names, without) or reason_of(two, names, without)
    if reason is not None:
        return CoefficientDifference(None, None, None, None, reason)
    return _compared(kind, (one, measure), (two, measure), seed, without)


def _compared(
    kind: str, first: tuple[Table, str], second: tuple[Table, str], seed: int, without: str | None
) -> CoefficientDifference:
    """Return the difference of the coefficients of two (table, measure), with interval, p and notes."""
    both = first, second
    values = [float(KINDS[kind](table.mean[TRUTH], table.mean[name], None)) for table, name in both]
    difference = values[0] - values[1]
    try:
        drawn = first[0].draw(seed)
        found = [
            replicated(kind, table.replicates(TRUTH), table.replicates(name), drawn) for table, name in both
        ]
        if np.allclose(found[0], found[1], rtol=0, atol=1e-12, equal_nan=True):
            raise NoIntervalError("no interval: both coefficients are equal in every replicate")
        n = len(first[0])
        sides = [on_z(kind, *pair, n, drawn.n_families) for pair in zip(values, found, strict=True)]
        ci, p = _interval_and_p(sides[0], sides[1], _together(kind, found, n))
    except NoIntervalError as error:
        return CoefficientDifference(difference, None, None, None, joined(str(error), without))
    test = f"{METHOD}, p of this interval; {drawn.n_families} families, items"
    return CoefficientDifference(difference, ci, p, test, without)


def _together(kind: str, found: list[Floats], n_encoders: int) -> float:
    """Return the correlation between the two coefficients' z over replicates."""
    ok = np.isfinite(found[0]) & np.isfinite(found[1])
    c = float(pearson(*(transformed(kind, replicates[ok], n_encoders) for replicates in found)))
    return c if np.isfinite(c) else 0.0


def _interval_and_p(one: OnZ, two: OnZ, c: float) -> tuple[Interval, float]:
    """Return Zou's interval at the usual level, and the two-sided p that goes with it.

    low = d − √((r₁ − l₁)² + (u₂ − r₂)² − 2c(r₁ − l₁)(u₂ − r₂)), high likewise with u₁ and l₂. With a c near 1
    that need not grow with the level, so the interval holds those of all lower levels too.
    """
    from scipy.special import stdtr

    t = usual_t(one.n_families)
    (low_1, high_1), (low_2, high_2) = one.ends(t * _NARROWER), two.ends(t * _NARROWER)
    down = float(_side(one.value - low_1, high_2 - two.value, c).max())
    up = float(_side(high_1 - one.value, two.value - low_2, c).max())
    difference = one.value - two.value
    arm = max(down if difference > 0 else up, _ROUNDING)
    p = 2 * float(stdtr(one.n_families - 1, -t * abs(difference) / arm)) if difference else 1.0
    return Interval(max(difference - down, -2.0), min(difference + up, 2.0), LEVEL, METHOD), p


def _side(a: Floats, b: Floats, c: float) -> Floats:
    return np.sqrt(np.maximum(a * a + b * b - 2 * min(max(c, -1.0), 1.0) * a * b, 0.0))
