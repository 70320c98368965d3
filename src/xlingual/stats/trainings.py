"""Models that were trained (or tuned) several times: what the trainings add to the error of a mean.

Trainings of one recipe differ by their seed alone, so they are independent draws: their variance divided by
their number adds to that of the queries, with degrees of freedom by Satterthwaite (1946, "An Approximate
Distribution of Estimates of Variance Components").
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.results import Interval
from xlingual.results.runs import Gain, OfRuns

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
