"""Statistics: intervals of means, medians and correlations of queries that are not independent."""

from xlingual.stats.correlation import RankedTable, influence_sums, spearman, spearman_influence
from xlingual.stats.intervals import (
    Part,
    interval,
    mean_interval,
    median_interval,
    standard_error,
    variance,
)

__all__ = [
    "Part",
    "RankedTable",
    "influence_sums",
    "interval",
    "mean_interval",
    "median_interval",
    "spearman",
    "spearman_influence",
    "standard_error",
    "variance",
]
