"""How measures that need no translations agree with true retrieval, over encoders.

The unit of inference is the encoder, better its family: `value`, its interval and all tests use each
encoder's mean over seeds. The spread over seeds tells how much the division of the items matters; divided by
the root of their number it is Monte Carlo error, not what another set of encoders would give.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from xlingual.evaluation.metric_validation.coefficients import even, pearson, spearman
from xlingual.evaluation.metric_validation.differences import compare_directions, compare_measures
from xlingual.evaluation.metric_validation.encoder_scores import (
    EncoderSeries,
    Table,
    joined,
    reason_of,
    table_of,
)
from xlingual.evaluation.metric_validation.seed_scores import spread
from xlingual.evaluation.metric_validation.two_way import NoIntervalError, replicated, z_interval
from xlingual.records import Ints
from xlingual.results import Interval
from xlingual.results.validation import (
    COEFFICIENTS,
    MEASURES,
    TRUTH,
    TRUTH_AT_1,
    Agreement,
    DirectionDifference,
    RankingAccuracy,
    Subset,
)

__all__ = ["EncoderSeries", "agreement_by_seed_and_mean", "directions", "subsets"]

_FUNCTIONS = {"pearson": pearson, "spearman": spearman}
_CONTRASTS = (("BkR", "CORR"), ("BkR", "SIM"))


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
    series: Sequence[EncoderSeries], *, seed: int = 0, interval: bool = True
) -> dict[str, dict[str, Agreement]]:
    """Return the agreement of each measure with XLR; keys are a measure, then a coefficient."""
    return _agreements(table_of(series, seed, draw=interval), seed, interval)


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
    one, two = one.take(_places(one, both)), two.take(_places(two, both))
    return [
        DirectionDifference(measure, kind, *names, compare_directions(one, two, measure, kind, seed))
        for measure in MEASURES
        for kind in COEFFICIENTS
    ]


def _places(table: Table, encoders: Sequence[str]) -> Ints:
    return np.array([table.encoders.index(name) for name in encoders], dtype=np.int64)


def _subset(table: Table, seed: int) -> Subset:
    return Subset(
        n_encoders=len(table),
        n_families=table.n_families,
        agreement=_agreements(table, seed, interval=True),
        accuracy={measure: _accuracy(table, measure, seed) for measure in MEASURES},
        differences={
            f"{a}-{b}": {kind: compare_measures(table, a, b, kind, seed) for kind in COEFFICIENTS}
            for a, b in _CONTRASTS
        },
        agreement_at_1=(
            _agreements(table, seed, interval=True, truth=TRUTH_AT_1) if TRUTH_AT_1 in table.mean else {}
        ),
    )


def _agreements(
    table: Table, seed: int, interval: bool, truth: str = TRUTH
) -> dict[str, dict[str, Agreement]]:
    return {
        measure: {kind: _agreement(table, (truth, measure), kind, seed, interval) for kind in COEFFICIENTS}
        for measure in MEASURES
    }


def _agreement(table: Table, names: tuple[str, str], kind: str, seed: int, interval: bool) -> Agreement:
    """Return one coefficient: over seeds, and of the means with its interval.

    `names` are the truth and the measure. It is over the encoders that have both; the note names the others.
    """
    table, without = table.having(names)
    mean, sd, se, note = _over_seeds(table, names, kind)
    reason = reason_of(table, names, without)
    if reason is not None:
        return Agreement(mean, sd, se, None, None, reason)
    value = float(_FUNCTIONS[kind](*(table.mean[name] for name in names)))
    ci, no_interval = _interval(table, names, kind, value, seed) if interval else (None, None)
    return Agreement(mean, sd, se, value, ci, joined(note, no_interval, without))


def _over_seeds(
    table: Table, names: tuple[str, str], kind: str
) -> tuple[float | None, float | None, float | None, str | None]:
    """Return (mean, sd, se, note) of the coefficient of each seed, over the seeds that have one."""
    found, reasons = [], []
    n_seeds = len(table.per_seed[TRUTH])
    for i in range(n_seeds):
        reason = table.missing(names, i)
        if reason is None:
            found.append(float(_FUNCTIONS[kind](*(table.per_seed[name][i] for name in names))))
        else:
            reasons.append(reason)
    note = f"no coefficient in {len(reasons)} of {n_seeds} seeds ({reasons[0]})" if reasons else None
    if not found:
        return None, None, None, note
    if len(found) == 1:
        return found[0], None, None, note
    sd = spread(found)
    return float(np.mean(found)), sd, sd / float(np.sqrt(len(found))), note


def _accuracy(table: Table, measure: str, seed: int) -> RankingAccuracy:
    """Return how often the measure orders two encoders as XLR does."""
    table, without = table.having((TRUTH, measure))
    reason = reason_of(table, (), without)
    if reason is not None:
        return RankingAccuracy(None, None, 0, 0, 0, 0, reason)
    x, y = even(table.mean[TRUTH]), even(table.mean[measure])
    pairs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in combinations(range(len(table)), 2)]
    both = sum(bool(a == 0 and b == 0) for a, b in pairs)
    one = sum(bool((a == 0) != (b == 0)) for a, b in pairs)
    concordant = sum(bool(a * b > 0) for a, b in pairs)
    discordant = len(pairs) - both - one - concordant
    if both == len(pairs):
        note = joined(f"all encoders have the same XLR and the same {measure}: there is no order", without)
        return RankingAccuracy(None, None, 0, 0, both, 0, note)
    value = (concordant + both) / len(pairs)
    ci, note = _interval(table, (TRUTH, measure), "accuracy", value, seed)
    return RankingAccuracy(value, ci, concordant, discordant, both, one, joined(note, without))


def _interval(
    table: Table, names: tuple[str, str], kind: str, value: float, seed: int
) -> tuple[Interval | None, str | None]:
    """Return (interval, None), or (None, why there is none)."""
    try:
        drawn = table.draw(seed)
        replicates = replicated(kind, table.replicates(names[0]), table.replicates(names[1]), drawn)
        return z_interval(kind, value, replicates, len(table), drawn.n_families), None
    except NoIntervalError as error:
        return None, str(error)
