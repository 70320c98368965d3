"""The ranks of all systems in all directions: differences to baselines, and sums of recalls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import cast

import numpy as np
from msgspec import structs

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.estimates import Estimate, Score
from xlingual.evaluation.image_sentence.ranks import DEPTHS, PERCENT
from xlingual.evaluation.image_sentence.sides import Side
from xlingual.evaluation.numbers import OVERALL, BoardLine, Numbers, Subject
from xlingual.evaluation.trec import IMAGE
from xlingual.measures import MedianRank, RankMeasure, SuccessAt
from xlingual.records import RankCounts
from xlingual.results import Interval, Summary
from xlingual.results.views import Against, ImageSentenceViews
from xlingual.stats import ResidualPart
from xlingual.stats.intervals import LEVEL
from xlingual.streams import stream

RSUM = "rsum"
REPLICATES = 999
_CELLS = 1 << 22  # counts of a batch of replicates


def both_ways(language: str) -> tuple[Subject, Subject]:
    """Return the two directions of a language: sentence → image, image → sentence."""
    return Subject(language, IMAGE), Subject(IMAGE, language)


@dataclass(frozen=True)
class Direction:
    """The ranks of one system in one direction, slice by slice."""

    sides: list[Side]
    counts: list[RankCounts]

    @property
    def clusters(self) -> list[list[Ints]]:
        """The ways in which the queries of each slice are clustered."""
        return [[side.clusters] for side in self.sides]

    def chance(self, measure: RankMeasure) -> float:
        """Return the value of an encoder that knows nothing."""
        return float(np.mean([measure.aggregate(measure.per_query(side.by_chance)) for side in self.sides]))

    def same_queries(self, other: Direction) -> bool:
        """Return whether another system answered the same queries, of the same images."""
        return len(self.sides) == len(other.sides) and all(
            np.array_equal(a.rows, b.rows) and np.array_equal(a.clusters, b.clusters)
            for a, b in zip(self.sides, other.sides, strict=True)
        )


@dataclass
class Directions:
    """The directions of all systems, and the baseline of each language, None for none."""

    baselines: Mapping[str, str | None]
    by_system: dict[tuple[str, Subject], Direction] = field(default_factory=dict)

    def same_queries(self, system: str, reference: str) -> bool:
        """Return whether two systems answered the same queries wherever both were evaluated."""
        ways = self.by_system
        subjects = [subject for name, subject in ways if name == system and (reference, subject) in ways]
        return all(ways[system, subject].same_queries(ways[reference, subject]) for subject in subjects)

    def compare(self, numbers: Numbers) -> None:
        """Enter the difference of each system to the baseline of the language."""
        for (name, subject), measure in product(self.by_system, numbers.measures):
            baseline = self.baselines[subject.target if subject.source == IMAGE else subject.source]
            if baseline is None or baseline == name:
                continue
            number, reference = (numbers[each, measure.name, subject] for each in (name, baseline))
            against = self._against(name, baseline, number.estimate, reference.estimate)
            if isinstance(measure, MedianRank) and self.same_queries(name, baseline):
                ways = (self.by_system[each, subject] for each in (name, baseline))
                against = structs.replace(against, ci=_median_interval(measure, *ways))
            numbers[name, measure.name, subject] = replace(
                number,
                views=structs.replace(cast("ImageSentenceViews", number.views), against=against),
                row_views=ImageSentenceViews(against),
            )

    def _against(
        self, system: str, baseline: str, estimate: Estimate | None, reference: Estimate | None
    ) -> Against:
        """Return the difference to the baseline, its interval query by query if the queries are the same."""
        first, second = cast("Score", estimate), cast("Score", reference)
        gap = first.less(second) if self.same_queries(system, baseline) else None
        return Against(baseline, first.value - second.value, None if gap is None else gap.interval())

    def sums(self, numbers: Numbers) -> Iterator[Summary]:
        """Yield the sums of recalls in per cent, of each language over both directions, then their means."""
        lines: dict[str, list[BoardLine]] = {}
        for language, baseline in self.baselines.items():
            board: dict[str, BoardLine] = {}
            cells = list(product(both_ways(language), map(SuccessAt, DEPTHS)))
            for name in [name for name, subject in self.by_system if subject == cells[0][0]]:
                scores = [numbers[name, measure.name, subject].estimate for subject, measure in cells]
                chance = sum(self.by_system[name, subject].chance(measure) for subject, measure in cells)
                board[name] = BoardLine(_summed(scores), PERCENT * chance, n_pairs=2)
                lines.setdefault(name, []).append(board[name])
            for name, line in board.items():
                if baseline is not None and name != baseline:
                    against = self._against(name, baseline, line.estimate, board[baseline].estimate)
                    board[name] = replace(line, views=ImageSentenceViews(against))
            yield from numbers.leaderboard(RSUM, (language, IMAGE), board, higher=True)
        means = {
            name: BoardLine(
                Score.mean([cast("Score", line.estimate) for line in of_system]),
                float(np.mean([cast("float", line.chance) for line in of_system])),
                n_pairs=2 * len(of_system),
                note=numbers.partial.get(name),
            )
            for name, of_system in lines.items()
        }
        yield from numbers.leaderboard(RSUM, OVERALL, means, higher=True)


def _summed(scores: Sequence[Estimate | None]) -> Score:
    """Return the sum of the scores in per cent, with everything that its interval is made of."""
    mean, by = Score.mean([cast("Score", score) for score in scores]), PERCENT * len(scores)
    low, high = mean.bounds or (0.0, 1.0)
    parts = [ResidualPart(by * part.residuals, part.ways, part.weights) for part in mean.parts]
    return Score(by * mean.value, tuple(parts), (by * low, by * high), by * mean.span)


def _median_interval(measure: MedianRank, first: Direction, second: Direction) -> Interval:
    """Return the percentile interval of a difference of medians, clusters drawn anew with replacement."""
    differences = np.zeros(REPLICATES)
    slices = zip(first.sides, first.counts, second.counts, strict=True)
    for number, (side, *counts) in enumerate(slices):
        values = [measure.per_query(each) for each in counts]
        rng = stream(0, f"medians|slice {number}")
        ids, cluster = np.unique(side.clusters, return_inverse=True)
        step = max(1, _CELLS // len(cluster))
        for start in range(0, REPLICATES, step):
            count = min(step, REPLICATES - start)
            times = rng.multinomial(len(ids), np.full(len(ids), 1 / len(ids)), size=count)[:, cluster]
            medians = [_medians(measure, each, times) for each in values]
            differences[start : start + count] += (medians[0] - medians[1]) / len(first.sides)
    low, high = np.quantile(differences, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), LEVEL, "percentile bootstrap of clusters")


def _medians(measure: MedianRank, values: Floats, times: Ints) -> Floats:
    """Return the measure of `values` [n], each taken so many `times` [replicates, n]."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(times[:, order], axis=1)
    total = reached[:, -1:]
    low, high = (values[order][(reached > at).argmax(axis=1)] for at in ((total - 1) // 2, total // 2))
    return np.array([measure.rounded(float(median)) for median in (low + high) / 2])
