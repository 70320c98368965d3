"""Models that were trained (or tuned) several times: what the trainings add to the error of a mean.

Trainings of one recipe differ by their seed alone, so they are independent draws: their variance divided by
their number adds to that of the queries, with degrees of freedom by Satterthwaite (1946, "An Approximate
Distribution of Estimates of Variance Components").
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.results import Interval
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
