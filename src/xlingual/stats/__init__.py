"""Statistics: intervals and tests for queries that are not independent."""

from xlingual.stats.correlation import RankedTable, influence_sums, spearman, spearman_influence
from xlingual.stats.intervals import (
    ResidualPart,
    interval,
    mean_interval,
    median_interval,
    standard_error,
    variance,
)
from xlingual.stats.paired import PairedTest, paired_test, t_test
from xlingual.stats.paired_queries import Paired

__all__ = [
    "Paired",
    "PairedTest",
    "RankedTable",
    "ResidualPart",
    "influence_sums",
    "interval",
    "mean_interval",
    "median_interval",
    "paired_test",
    "spearman",
    "spearman_influence",
    "standard_error",
    "t_test",
    "variance",
]
