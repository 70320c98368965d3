"""How measures that need no translations agree with true retrieval, over encoders.

The unit of inference is the encoder, better its family: `value`, its interval and all tests use each
encoder's mean over seeds. The spread over seeds shows how much the division of the items matters; divided by
the root of their number it is Monte Carlo error, not what another set of encoders would give.

Interval and p of a difference are one method, for Pearson and Spearman alike: Zou's interval (2007), its
ingredients from the two-way bootstrap, and the p that belongs to this interval (Altman and Bland 2011): its
arm towards zero is as long as the t of its level in standard errors. So p is below .05 exactly where the 95 %
interval leaves out zero. Both are about the difference between the two coefficients over other families of
encoders and other items from the same sources.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Floats
from xlingual.evaluation.metric_validation.encoder_scores import (
    EncoderSeries,
    ScoreTable,
    joined,
    reason_of,
    spread,
    table_of,
)
from xlingual.evaluation.metric_validation.two_way import (
    KINDS,
    LEVEL,
    NoIntervalError,
    OnZ,
    on_z,
    pearson,
    replicated,
    transformed,
    usual_t,
    without_rounding,
    z_interval,
)
from xlingual.results import Interval
from xlingual.results.validation import (
    COEFFICIENTS,
    MEASURES,
    TRUTH,
    TRUTH_AT_1,
    Agreement,
    CoefficientDifference,
    DirectionDifference,
    RankingAccuracy,
    Subset,
)

_CONTRASTS = (("BkR", "CORR"), ("BkR", "SIM"))
METHOD = "two-way bootstrap, Zou 2007"
_ROUNDING = 1e-12
_NARROWER = np.linspace(0, 1, 201)  # narrower intervals, by their t as a share of the usual t


def subsets(series: Sequence[EncoderSeries], *, threshold: float = 0.5, seed: int = 0) -> dict[str, Subset]:
    """Return agreement over all encoders, those with a mean XLR below the threshold, and the others.

    An encoder without XLR is in neither of the two.
    """
    table = table_of(series, seed)
    truth = table.mean[TRUTH]
    return {
        "all": _subset(table, seed),
        "below": _subset(table.take(np.flatnonzero(truth < threshold)), seed),
        "above": _subset(table.take(np.flatnonzero(truth >= threshold)), seed),
    }


def agreement_by_seed_and_mean(
    series: Sequence[EncoderSeries], *, seed: int = 0
) -> dict[str, dict[str, Agreement]]:
    """Return the agreement of each measure with XLR; keys are a measure, then a coefficient."""
    return _agreements(table_of(series, seed), seed)


def directions(
    first: Sequence[EncoderSeries],
    second: Sequence[EncoderSeries],
    names: tuple[str, str],
    *,
    seed: int = 0,
) -> list[DirectionDifference]:
    """Return how the agreement of each measure differs between two directions, over the encoders of both.

    Where both have as many clusters, these are taken for the same ones in the same order: one draw.
    """
    one, two = table_of(first, seed), table_of(second, seed)
    both = [name for name in one.encoders if name in set(two.encoders)]
    one, two = (
        table.take(np.array([table.encoders.index(name) for name in both], dtype=np.int64))
        for table in (one, two)
    )
    return [
        DirectionDifference(measure, kind, *names, compare_directions(one, two, measure, kind, seed))
        for measure in MEASURES
        for kind in COEFFICIENTS
    ]


def _subset(table: ScoreTable, seed: int) -> Subset:
    return Subset(
        n_encoders=len(table),
        n_families=table.n_families,
        agreement=_agreements(table, seed),
        accuracy={measure: _accuracy(table, measure, seed) for measure in MEASURES},
        differences={
            f"{a}-{b}": {kind: compare_measures(table, a, b, kind, seed) for kind in COEFFICIENTS}
            for a, b in _CONTRASTS
        },
        agreement_at_1=_agreements(table, seed, TRUTH_AT_1) if TRUTH_AT_1 in table.mean else {},
    )


def _agreements(table: ScoreTable, seed: int, truth: str = TRUTH) -> dict[str, dict[str, Agreement]]:
    return {
        measure: {kind: _agreement(table, (truth, measure), kind, seed) for kind in COEFFICIENTS}
        for measure in MEASURES
    }


def _agreement(table: ScoreTable, names: tuple[str, str], kind: str, seed: int) -> Agreement:
    """Return one coefficient: over seeds, and of the means with its interval.

    `names` are the truth and the measure. It is over the encoders that have both; the note names the others.
    """
    table, without = table.having(names)
    mean, sd, se, note = _over_seeds(table, names, kind)
    reason = reason_of(table, names, without)
    if reason is not None:
        return Agreement(mean, sd, se, None, None, reason)
    value = float(KINDS[kind](table.mean[names[0]], table.mean[names[1]], None))
    ci, no_interval = _interval(table, names, kind, value, seed)
    return Agreement(mean, sd, se, value, ci, joined(note, no_interval, without))


def _over_seeds(
    table: ScoreTable, names: tuple[str, str], kind: str
) -> tuple[float | None, float | None, float | None, str | None]:
    """Return (mean, sd, se, note) of the coefficient of each seed, over the seeds that have one."""
    values, reasons = by_seed(table, names, kind)
    found, n_seeds = [value for value in values if value is not None], len(values)
    note = f"no coefficient in {len(reasons)} of {n_seeds} seeds ({reasons[0]})" if reasons else None
    if not found:
        return None, None, None, note
    if len(found) == 1:
        return found[0], None, None, note
    sd = spread(found)
    return float(np.mean(found)), sd, sd / float(np.sqrt(len(found))), note


def by_seed(table: ScoreTable, names: tuple[str, str], kind: str) -> tuple[list[float | None], list[str]]:
    """Return the coefficient of each seed, None where it has none, and the reasons of these."""
    found: list[float | None] = []
    reasons = []
    for i in range(len(table.per_seed[TRUTH])):
        reason = table.missing(names, i)
        if reason is None:
            truth, measured = (table.per_seed[name][i] for name in names)
            found.append(float(KINDS[kind](truth, measured, None)))
        else:
            found.append(None)
            reasons.append(reason)
    return found, reasons


def _accuracy(table: ScoreTable, measure: str, seed: int) -> RankingAccuracy:
    """Return how often the measure orders two encoders as XLR does."""
    table, without = table.having((TRUTH, measure))
    reason = reason_of(table, (), without)
    if reason is not None:
        return RankingAccuracy(None, None, 0, 0, 0, 0, reason)
    x, y = without_rounding(table.mean[TRUTH]), without_rounding(table.mean[measure])
    i, j = np.triu_indices(len(table), 1)
    a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
    both = int(np.count_nonzero((a == 0) & (b == 0)))
    one = int(np.count_nonzero((a == 0) != (b == 0)))
    concordant, discordant = (int(np.count_nonzero(a * b == sign)) for sign in (1, -1))
    if both == len(i):
        note = joined(f"all encoders have the same XLR and the same {measure}: there is no order", without)
        return RankingAccuracy(None, None, 0, 0, both, 0, note)
    value = (concordant + both) / len(i)
    ci, note = _interval(table, (TRUTH, measure), "accuracy", value, seed)
    return RankingAccuracy(value, ci, concordant, discordant, both, one, joined(note, without))


def _interval(
    table: ScoreTable, names: tuple[str, str], kind: str, value: float, seed: int
) -> tuple[Interval | None, str | None]:
    """Return (interval, None), or (None, why there is none)."""
    try:
        drawn = table.draw(seed)
        replicates = replicated(kind, table.replicates(names[0]), table.replicates(names[1]), drawn)
        return z_interval(kind, value, replicates, len(table), drawn.n_families), None
    except NoIntervalError as error:
        return None, str(error)


def compare_measures(table: ScoreTable, a: str, b: str, kind: str, seed: int) -> CoefficientDifference:
    """Return the coefficient of `a` with XLR less that of `b`, over the encoders that have all three."""
    table, without = table.having((TRUTH, a, b))
    reason = reason_of(table, (TRUTH, a, b), without)
    if reason is not None:
        return CoefficientDifference(None, None, None, None, reason)
    return _compared(kind, (table, a), (table, b), seed, without)


def compare_directions(
    one: ScoreTable, two: ScoreTable, measure: str, kind: str, seed: int
) -> CoefficientDifference:
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
    kind: str, first: tuple[ScoreTable, str], second: tuple[ScoreTable, str], seed: int, without: str | None
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
        one, two = (on_z(kind, *pair, n, drawn.n_families) for pair in zip(values, found, strict=True))
        ok = np.isfinite(found[0]) & np.isfinite(found[1])
        c = float(pearson(*(transformed(kind, replicates[ok], n) for replicates in found)))
        ci, p = _interval_and_p(one, two, c if np.isfinite(c) else 0.0)
    except NoIntervalError as error:
        return CoefficientDifference(difference, None, None, None, joined(str(error), without))
    test = f"{METHOD}, p of this interval; {drawn.n_families} families, items"
    return CoefficientDifference(difference, ci, p, test, without)


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
