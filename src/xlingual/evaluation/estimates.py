"""Estimates: a number with its interval, the mean of several (seeds, pairs), the paired difference of two.

`Score` is the estimate whose error comes from its queries; a task whose numbers are no means over queries has
another class of estimates (`sts.agreement`).
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
from xlingual.stats import ResidualPart, interval, median_interval, standard_error
from xlingual.stats.corrections import simultaneous_level
from xlingual.stats.intervals import LEVEL, t_quantile


@dataclass(frozen=True)
class Gap:
    """One estimate less another on the same queries; p is two-sided, None where there is no test."""

    value: float
    ci: Interval
    p: float | None = None
    test: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class Estimate(ABC):
    """A number, and its interval."""

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
    def minus(self, other: Any) -> Gap | None:  # noqa: ANN401  (an estimate of the same class)
        """Return how far this is above another on the same queries; None where that is not known."""

    def simultaneous(self, n: int) -> Interval | None:
        """Return the interval that holds its target together with those of `n` − 1 others; None for n = 1."""
        return None if n < 2 else self.interval(simultaneous_level(n, LEVEL))


@dataclass(frozen=True)
class Score(Estimate):
    """The estimate of a number over queries, with the residuals that its interval is computed from.

    `parts` are the residuals of its queries and their cluster ids, which mean the same in every score it
    is combined with. A median has no residuals; its interval is `fixed`. `counted_twice` and `padded`:
    see `stats.interval`.
    """

    parts: tuple[ResidualPart, ...]
    bounds: tuple[float, float] | None
    span: float = 1.0
    counted_twice: float = 0.0
    fixed: Interval | None = None
    padded: bool = False

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the confidence interval.

        The interval of a median is known at one level; at another it is as much wider, or narrower, as a
        normal variable's would be.
        """
        if self.fixed is not None:
            return _at_level(self.value, self.fixed, level)
        return interval(
            self.value,
            self.parts,
            bounds=self.bounds,
            span=self.span,
            counted_twice=self.counted_twice,
            padded=self.padded,
            level=level,
        )

    @classmethod
    def mean(cls, several: Sequence[Score]) -> Score:
        """Return the mean of the scores of several samples; clusters that recur in them are one.

        The mean of medians takes the mean of their intervals' ends, which is the widest it can be.
        """
        first, n = several[0], len(several)
        if n == 1:
            return first
        value = float(np.mean([one.value for one in several]))
        fixed = [one.fixed for one in several if one.fixed is not None]
        if fixed:
            low, high = (float(np.mean([getattr(ends, end) for ends in fixed])) for end in ("low", "high"))
            ends = Interval(low, high, fixed[0].level, f"mean of {fixed[0].method}")
            return cls(value, (), None, fixed=ends)
        parts = [part for one in several for part in one.parts]
        part = ResidualPart(
            np.concatenate([part.residuals for part in parts]) / n,
            tuple(np.concatenate(ids) for ids in zip(*(part.ways for part in parts), strict=True)),
            np.concatenate([_weights(part) for part in parts]) / n,
        )
        twice = sum(one.counted_twice for one in several) / n**2
        return cls(value, (part,), first.bounds, first.span, twice)

    def less(self, other: Score) -> Score | None:
        """Return the score of the difference on the same queries; None for medians."""
        if self.fixed is not None or other.fixed is not None:
            return None
        negated = tuple(ResidualPart(-part.residuals, part.ways, part.weights) for part in other.parts)
        return Score(self.value - other.value, self.parts + negated, None, self.span)

    def minus(self, other: Score) -> Gap | None:
        """Return the difference on the same queries, its interval within the possible; None for medians."""
        gap = self.less(other)
        if gap is None:
            return None
        ci = gap.interval()
        if self.bounds is not None and other.bounds is not None:
            ci = Interval(max(ci.low, -self.span), min(ci.high, self.span), ci.level, ci.method)
        return Gap(gap.value, ci)

    def standard_error(self) -> float:
        """Return the standard error."""
        return standard_error(self.parts)


def _at_level(value: float, ci: Interval, level: float) -> Interval:
    """Return the interval of a median rank at another level, by the ratio of normal quantiles."""
    if level == ci.level:
        return ci
    wider = t_quantile(level, float("inf")) / t_quantile(ci.level, float("inf"))
    low, high = (value + (end - value) * wider for end in (ci.low, ci.high))
    return Interval(max(low, 1.0), high, level, ci.method)  # ranks begin at 1


def score(measure: QueryMeasure, values: Floats, clusters: Sequence[Ints]) -> Score:
    """Return the score of a measure's values per query [n].

    `clusters` are the cluster ids [n] of the queries, an array for each way in which they are clustered.
    """
    value = measure.aggregate(values)
    if isinstance(measure, MedianRank):
        found = median_interval(values, clusters)
        low, high = measure.rounded(found.low), measure.rounded(found.high)
        return Score(value, (), None, fixed=Interval(low, high, found.level, found.method))
    part, (low, high) = ResidualPart((values - value) / len(values), tuple(clusters)), measure.bounds
    return Score(value, (part,), measure.bounds, high - low)


def _weights(part: ResidualPart) -> Floats:
    """Return the weight of each query in its score."""
    n = len(part.residuals)
    return np.full(n, 1 / n) if part.weights is None else part.weights


def mean_known(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values, None where one is."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None
