"""Scores: a number with what is needed for its interval, for the mean of several, and for a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.measures import MedianRank, QueryMeasure
from xlingual.records import Floats, Ints
from xlingual.results import Interval
from xlingual.stats import interval, median_interval, standard_error


@dataclass(frozen=True)
class Score:
    """An estimate, how much each query adds to its error, and what makes queries dependent.

    `ways` are cluster codes [n] that mean the same in every score they are combined with. A median has no
    such residuals; its interval is `fixed`.
    """

    value: float
    residuals: Floats  # [n], sum 0
    ways: tuple[Ints, ...]  # each [n]
    bounds: tuple[float, float] | None
    span: float = 1.0
    fixed: Interval | None = None

    def interval(self) -> Interval:
        """Return the confidence interval."""
        if self.fixed is not None:
            return self.fixed
        return interval(self.value, self.residuals, self.ways, bounds=self.bounds, span=self.span)

    def standard_error(self) -> float:
        """Return the standard error."""
        return standard_error(self.residuals, self.ways)


def score(measure: QueryMeasure, values: Floats, ways: Sequence[Ints]) -> Score:
    """Return the score of a measure's values per query [n]."""
    value = measure.aggregate(values)
    low, high = measure.bounds
    if isinstance(measure, MedianRank):
        return Score(value, np.zeros(0), (), None, fixed=median_interval(values, ways))
    return Score(value, (values - value) / len(values), tuple(ways), measure.bounds, high - low)


def mean_of(scores: Sequence[Score]) -> Score:
    """Return the mean of the scores of several samples; clusters that recur in them are one.

    The mean of medians takes the mean of their intervals' ends, which is the widest it can be.
    """
    if len(scores) == 1:
        return scores[0]
    value = float(np.mean([s.value for s in scores]))
    first = scores[0]
    fixed = [s.fixed for s in scores if s.fixed is not None]
    if fixed:
        ends = Interval(
            float(np.mean([f.low for f in fixed])),
            float(np.mean([f.high for f in fixed])),
            fixed[0].level,
            f"mean of {fixed[0].method}",
        )
        return Score(value, np.zeros(0), (), None, fixed=ends)
    residuals = np.concatenate([s.residuals for s in scores]) / len(scores)
    ways = tuple(np.concatenate(way) for way in zip(*(s.ways for s in scores), strict=True))
    return Score(value, residuals, ways, first.bounds, first.span)


def difference(a: Score, b: Score) -> Score | None:
    """Return a − b on the same queries, clustered by what makes either dependent; None for medians."""
    if a.fixed is not None or b.fixed is not None:
        return None
    ways = list(a.ways)
    ways += [way for way in b.ways if not any(np.array_equal(way, known) for known in ways)]
    return Score(a.value - b.value, a.residuals - b.residuals, tuple(ways), None, a.span)
