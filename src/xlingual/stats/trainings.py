"""Models that were trained (or tuned) several times: what the trainings add to the error of a mean.

Trainings of one recipe differ by their seed alone, so they are independent draws: their variance divided by
their number adds to that of the queries, with degrees of freedom by Satterthwaite (1946, "An Approximate
Distribution of Estimates of Variance Components").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from xlingual.results import Interval
from xlingual.results.runs import Gain, OfRuns
from xlingual.stats.corrections import holm
from xlingual.stats.intervals import LEVEL, t_quantile

NOTHING = 1e-12  # what rounding leaves of a standard error of zero


def with_trainings(error: float, freedom: float, each: Sequence[float]) -> tuple[float, float]:
    """Return standard error and degrees of freedom with what trainings add to those of the queries."""
    if len(each) < 2:
        return error, freedom
    of_trainings = float(np.var(each, ddof=1)) / len(each)
    total = error**2 + of_trainings
    if total <= NOTHING**2:
        return 0.0, freedom
    return float(np.sqrt(total)), total**2 / (error**4 / freedom + of_trainings**2 / (len(each) - 1))


def spread(each: Sequence[float]) -> float | None:
    """Return the standard deviation over trainings (n − 1); None for one."""
    return float(np.std(each, ddof=1)) if len(each) > 1 else None


def of_runs(each: Sequence[float], ci: Interval | None = None, gain: Gain | None = None) -> OfRuns:
    """Return the record of a number that each training has."""
    return OfRuns(float(np.mean(each)), list(each), spread(each), ci, gain)


def corrected(table: Sequence[Mapping[str, OfRuns]]) -> list[dict[str, OfRuns]]:
    """Return the rows of a table with the p-values of all its differences corrected (Holm)."""
    known = [one.gain.p for row in table for one in row.values() if one.gain and one.gain.p is not None]
    adjusted = iter(holm(np.array(known, dtype=np.float64)).tolist())

    def changed(one: OfRuns) -> OfRuns:
        if one.gain is None or one.gain.p is None:
            return one
        return replace(one, gain=replace(one.gain, p_adjusted=next(adjusted)))

    return [{name: changed(one) for name, one in row.items()} for row in table]


def over_trainings(
    each: Sequence[float], error: float, freedom: float, how: str
) -> tuple[float, Interval | None, float | None]:
    """Return the mean of trainings, its interval, and the two-sided p of a mean of zero (Student's t).

    `error` and `freedom` are those of the mean over trainings as far as queries (sentences, pairs) go. Where
    nothing varies there is neither interval nor p.
    """
    from scipy.special import stdtr

    value = float(np.mean(each))
    error, freedom = with_trainings(error, freedom, each)
    if error <= NOTHING:
        return value, None, None
    half = t_quantile(LEVEL, freedom) * error
    method = f"t, {how}" + (f" and {len(each)} trainings" if len(each) > 1 else "")
    return (
        value,
        Interval(value - half, value + half, LEVEL, method),
        float(2 * stdtr(freedom, -abs(value) / error)),
    )
