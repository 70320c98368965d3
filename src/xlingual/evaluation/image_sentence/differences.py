"""Differences between two systems on the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.evaluation.scores import Score, difference, mean_of
from xlingual.measures import MedianRank, RankMeasure
from xlingual.records import Floats, Ints
from xlingual.results import Interval
from xlingual.stats import Part
from xlingual.streams import stream

LEVEL = 0.95
REPLICATES = 999
_CELLS = 1 << 22  # counts of a batch of replicates


@dataclass(frozen=True)
class Answers:
    """What one system scored in one direction by one measure: a block for each slice."""

    measure: RankMeasure
    queries: list[Ints]
    values: list[Floats]
    nodes: list[Ints]
    scores: list[Score]

    @property
    def score(self) -> Score:
        """The mean over the slices."""
        return mean_of(self.scores)

    def same_queries(self, other: Answers) -> bool:
        """Tell whether another system answered the same queries, of the same pictures."""
        return len(self.queries) == len(other.queries) and all(
            np.array_equal(a, b)
            for mine, others in ((self.queries, other.queries), (self.nodes, other.nodes))
            for a, b in zip(mine, others, strict=True)
        )


@dataclass(frozen=True)
class Gap:
    """A system's value minus the baseline's; no interval where they did not answer the same queries."""

    value: float
    ci: Interval | None


def gap(one: Answers, baseline: Answers) -> Gap:
    """Return how far a system is above the baseline, query by query; below for ranks is better."""
    value = one.score.value - baseline.score.value
    if not one.same_queries(baseline):
        return Gap(value, None)
    if isinstance(one.measure, MedianRank):
        return Gap(value, _median_interval(one.measure, one, baseline))
    found = difference(one.score, baseline.score)
    return Gap(value, None if found is None else found.interval())


def _median_interval(measure: MedianRank, one: Answers, other: Answers) -> Interval:
    """Return the percentile interval of a difference of medians, clusters drawn anew with replacement."""
    differences = np.zeros(REPLICATES)
    for place, (a, b, nodes) in enumerate(zip(one.values, other.values, one.nodes, strict=True)):
        rng = stream(0, f"medians|slice {place}")
        own, cluster = np.unique(nodes, return_inverse=True)
        step = max(1, _CELLS // len(a))
        for start in range(0, REPLICATES, step):
            count = min(step, REPLICATES - start)
            times = rng.multinomial(len(own), np.full(len(own), 1 / len(own)), size=count)[:, cluster]
            medians = [_medians(measure, values, times) for values in (a, b)]
            differences[start : start + count] += (medians[0] - medians[1]) / len(one.values)
    ends = np.quantile(differences, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(ends[0]), float(ends[1]), LEVEL, "percentile bootstrap of clusters")


def _medians(measure: MedianRank, values: Floats, times: Ints) -> Floats:
    """Return the measure of `values` [n], each taken so many `times` [replicates, n]."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(times[:, order], axis=1)
    total = reached[:, -1:]
    middle = [(reached > place).argmax(axis=1) for place in ((total - 1) // 2, total // 2)]
    found: Floats = (values[order][middle[0]] + values[order][middle[1]]) / 2
    return np.array([measure.rounded(float(median)) for median in found])


def summed(scores: Sequence[Score], factor: float) -> Score:
    """Return the sum of the scores times a factor, with everything that its interval is made of."""
    mean, by = mean_of(scores), factor * len(scores)
    low, high = mean.bounds or (0.0, 1.0)
    return Score(
        by * mean.value,
        tuple(Part(by * part.residuals, part.ways, part.weights) for part in mean.parts),
        (by * low, by * high),
        by * mean.span,
    )
