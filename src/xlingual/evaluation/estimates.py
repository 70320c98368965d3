"""Estimates: a number with its interval, the mean of several (seeds, pairs), the paired difference of two.

`Score` is the estimate whose error comes from its queries; a task whose numbers are no means over queries has
an estimate of its own (`sts.agreement`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.measures import MedianRank, QueryMeasure
from xlingual.results import Interval
from xlingual.stats import Part, interval, median_interval, standard_error
from xlingual.stats.checked import Stratum, error_interval, weighted, with_error
from xlingual.stats.corrections import simultaneous_level
from xlingual.stats.intervals import LEVEL, t_quantile


@dataclass(frozen=True)
class Gap:
    """One estimate less another on the same queries; p is two-sided, None where there is no test.

    `error`: how far the difference of approximate values may be off.
    """

    value: float
    ci: Interval
    p: float | None = None
    test: str | None = None
    note: str | None = None
    error: float | None = None


@dataclass(frozen=True)
class Estimate(ABC):
    """A number and what its interval is made of."""

    value: float

    @property
    def note(self) -> str | None:
        """Why there is no interval."""
        return None

    @abstractmethod
    def interval(self, level: float = LEVEL) -> Interval | None:
        """Return the confidence interval, None where there is none."""

    @classmethod
    @abstractmethod
    def mean(cls, several: Sequence[Any]) -> Estimate:
        """Return the mean of the estimates of several samples; what recurs in them is one."""

    @abstractmethod
    def minus(self, other: Any) -> Gap | None:  # noqa: ANN401  (an estimate of its own kind)
        """Return how far this is above another on the same queries; None where that is not known."""

    def simultaneous(self, n: int) -> Interval | None:
        """Return the interval that holds its target together with those of `n` − 1 others; None of one."""
        return None if n < 2 else self.interval(simultaneous_level(n, LEVEL))


@dataclass(frozen=True)
class Score(Estimate):
    """The estimate of a number over queries, and what its interval is made of.

    `parts` are the residuals of its queries and the nodes they hang on; nodes mean the same in every score it
    is combined with. A median has no residuals; its interval is `fixed`. `counted_twice`: see
    `stats.interval`. `errors`: of an approximate value, how far it is off (`stats.checked`).
    """

    parts: tuple[Part, ...]
    bounds: tuple[float, float] | None
    span: float = 1.0
    counted_twice: float = 0.0
    fixed: Interval | None = None
    errors: tuple[Stratum, ...] = ()

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the confidence interval; it holds the error of an approximate value too.

        The interval of a median is known at one level; at another it is as much wider, or narrower, as a
        normal variable's would be.
        """
        if self.fixed is not None:
            return _at_level(self.value, self.fixed, level)
        found = interval(
            self.value,
            self.parts,
            bounds=self.bounds,
            span=self.span,
            counted_twice=self.counted_twice,
            level=level,
        )
        if not self.errors:
            return found
        wider = with_error(self.value, found, self.errors)
        least, most = self.bounds or (wider.low, wider.high)
        return Interval(max(wider.low, least), min(wider.high, most), wider.level, wider.method)

    @classmethod
    def mean(cls, several: Sequence[Score]) -> Score:
        """Return the mean of the scores of several samples: see `mean_of`."""
        return mean_of(several)

    def minus(self, other: Score) -> Gap | None:
        """Return the difference on the same queries; None for medians."""
        gap = difference(self, other)
        if gap is None:
            return None
        off = error_interval(gap.errors) if gap.errors else None
        return Gap(gap.value, gap.interval(), error=None if off is None else max(-off.low, off.high))

    def standard_error(self) -> float:
        """Return the standard error."""
        return standard_error(self.parts)


def _at_level(value: float, ci: Interval, level: float) -> Interval:
    """Return the interval of a median rank at another level, by the ratio of normal quantiles."""
    if level == ci.level:
        return ci
    many = float("inf")
    wider = t_quantile(level, many) / t_quantile(ci.level, many)
    low, high = (value + (end - value) * wider for end in (ci.low, ci.high))
    return Interval(max(low, 1.0), high, level, ci.method)  # ranks begin at 1


def score(measure: QueryMeasure, values: Floats, ways: Sequence[Ints]) -> Score:
    """Return the score of a measure's values per query [n], whose queries hang on the nodes `ways`."""
    value = measure.aggregate(values)
    low, high = measure.bounds
    if isinstance(measure, MedianRank):
        found = median_interval(values, ways)
        low, high = measure.rounded(found.low), measure.rounded(found.high)
        ends = Interval(low, high, found.level, found.method)
        return Score(value, (), None, fixed=ends)
    part = Part((values - value) / len(values), tuple(ways))
    return Score(value, (part,), measure.bounds, high - low)


def mean_of(scores: Sequence[Score]) -> Score:
    """Return the mean of the scores of several samples; nodes that recur in them are one.

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
        return Score(value, (), None, fixed=ends)
    parts = [part for s in scores for part in s.parts]
    residuals = np.concatenate([part.residuals for part in parts]) / len(scores)
    ways = tuple(np.concatenate(way) for way in zip(*(part.ways for part in parts), strict=True))
    weights = np.concatenate([_weights(part) for part in parts]) / len(scores)
    twice = sum(s.counted_twice for s in scores) / len(scores) ** 2
    part = Part(residuals, ways, weights)
    errors = tuple(stratum for s in scores for stratum in weighted(s.errors, 1 / len(scores)))
    return Score(value, (part,), first.bounds, first.span, twice, errors=errors)


def _weights(part: Part) -> Floats:
    """Return what each query counts for in its own score."""
    n = len(part.residuals)
    return np.full(n, 1 / n) if part.weights is None else part.weights


def difference(a: Score, b: Score) -> Score | None:
    """Return a − b on the same queries; None for medians."""
    if a.fixed is not None or b.fixed is not None:
        return None
    negated = tuple(Part(-part.residuals, part.ways, part.weights) for part in b.parts)
    errors = a.errors + weighted(b.errors, -1.0)
    return Score(a.value - b.value, a.parts + negated, None, a.span, errors=errors)


def mean_known(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values, None where one is."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None
