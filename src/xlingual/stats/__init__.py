"""Statistics: intervals of means, medians and correlations of queries that are not independent."""

from xlingual.stats.correlation import RankedTable, spearman_interval
from xlingual.stats.intervals import group_residuals, mean_interval, median_interval, multiway_variance

__all__ = [
    "RankedTable",
    "group_residuals",
    "mean_interval",
    "median_interval",
    "multiway_variance",
    "spearman_interval",
]
