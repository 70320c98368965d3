"""Statistics: intervals of means, medians and correlations of queries that are not independent."""

from xlingual.stats.correlation import RankedTable, spearman, spearman_influence
from xlingual.stats.intervals import (
    interval,
    mean_interval,
    median_interval,
    multiway_variance,
    standard_error,
)

__all__ = [
    "RankedTable",
    "interval",
    "mean_interval",
    "median_interval",
    "multiway_variance",
    "spearman",
    "spearman_influence",
    "standard_error",
]
