"""Gains over several splits of the same data, with an interval.

Splits overlap, so their gains are no independent sample, and their range is no interval. Two rules:

- by items: each item's gain is its mean over the splits in which it was tested; the interval is that of the
  mean over items, clustered where they are not independent (Cameron and Miller, J. of Human Resources 50,
  2015). It says where the gain would land for other items, with the transforms of these splits.
- corrected resampled t-test (Nadeau and Bengio, Machine Learning 52, 2003): the variance of the gains over J
  splits, times 1/J + (tested / not tested), with J − 1 degrees of freedom. It counts too that other data to
  fit and choose on would give other transforms, and is wide with few splits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xlingual.results import Interval
from xlingual.stats import mean_interval
from xlingual.stats.intervals import t_quantile


def by_items(
    runs: Sequence[Mapping[str, float]], cluster: Mapping[str, int] | None = None
) -> tuple[float, Interval]:
    """Return the mean over items of their means over the runs [item → value], and its interval.

    >>> mean, ci = by_items([{"a": 1.0, "b": 0.0}, {"a": 0.0, "c": 1.0}])
    >>> mean, round(ci.low, 2), round(ci.high, 2)
    (0.5, -0.74, 1.74)
    """
    values: dict[str, list[float]] = {}
    for run in runs:
        for item, value in run.items():
            values.setdefault(item, []).append(value)
    means = np.array([np.mean(each) for each in values.values()])
    ways = () if cluster is None else (np.array([cluster[item] for item in values]),)
    return float(means.mean()), mean_interval(means, ways)


def corrected(gains: Sequence[float], tested: float) -> Interval:
    """Return the interval of the mean gain over splits of which the share `tested` is not fitted on.

    >>> found = corrected([0.1, 0.2, 0.3], 0.5)
    >>> round(found.low, 3), round(found.high, 3)
    (-0.297, 0.697)
    """
    n = len(gains)
    error = np.sqrt(np.var(gains, ddof=1) * (1 / n + tested / (1 - tested)))
    half, mean = t_quantile(0.95, n - 1) * float(error), float(np.mean(gains))
    return Interval(mean - half, mean + half, 0.95, "corrected resampled t")


def shown(mean: float, ci: Interval) -> str:
    """Return "+0.038 [+0.030, +0.046]"."""
    return f"{mean:+.3f} [{ci.low:+.3f}, {ci.high:+.3f}]".replace("-", "−")
