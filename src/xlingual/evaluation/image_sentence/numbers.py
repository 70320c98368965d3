"""The numbers of image–sentence ranking: each direction's, differences to baselines, and sums of recalls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from msgspec import structs

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest
from xlingual.errors import listed
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.image_sentence.captions import ShownImages, Slice, both_ways
from xlingual.evaluation.image_sentence.ranks import DEPTHS, PERCENT
from xlingual.evaluation.image_sentence.systems import EncoderPair
from xlingual.evaluation.numbers import OVERALL, Baseline, BoardLine, Number, Numbers, Subject
from xlingual.evaluation.perquery import QueryRows
from xlingual.evaluation.trec import IMAGE
from xlingual.measures import MedianRank, RankMeasure, SuccessAt
from xlingual.records import RankCounts
from xlingual.results import Interval, Results, Summary
from xlingual.results.views import Against, HubCounts, ImageSentenceViews
from xlingual.stats import ResidualPart
from xlingual.streams import stream

RSUM = "rsum"
LEVEL = 0.95
REPLICATES = 999
_CELLS = 1 << 22  # counts of a batch of replicates


@dataclass(frozen=True)
class Direction:
    """The ranks of one system in one direction: counts and queries of each slice."""

    subject: Subject
    counts: list[RankCounts]
    by_chance: list[RankCounts]
    rows: list[Ints]  # of the queries
    clusters: list[Ints]

    @property
    def n_tied(self) -> int:
        """How many queries have an irrelevant candidate that ties with the best relevant one."""
        return sum(one.n_tied for one in self.counts)

    @property
    def pool(self) -> int:
        """How many candidates a query has; the mean over slices, rounded."""
        return round(float(np.mean([one.pool[0] for one in self.counts])))

    def chance(self, measure: RankMeasure) -> float:
        """Return the value of an encoder that knows nothing."""
        return float(np.mean([measure.aggregate(measure.per_query(one)) for one in self.by_chance]))

    def same_queries(self, other: Direction) -> bool:
        """Return whether another system answered the same queries, of the same images."""
        return len(self.rows) == len(other.rows) and all(
            np.array_equal(a, b)
            for mine, others in ((self.rows, other.rows), (self.clusters, other.clusters))
            for a, b in zip(mine, others, strict=True)
        )


def direction(
    subject: Subject, shown: ShownImages, slices: Sequence[Slice], counts: Sequence[RankCounts]
) -> Direction:
    """Return one direction of a system in a language; `counts` are those of each slice."""
    if subject.target == IMAGE:
        return Direction(
            subject,
            list(counts),
            [_chance(one.text, len(one.texts), len(one.images)) for one in slices],
            [one.texts for one in slices],
            [shown.row_cluster[one.texts] for one in slices],
        )
    return Direction(
        subject,
        list(counts),
        [_chance(one.image, len(one.images), len(one.texts)) for one in slices],
        [shown.first_row[one.images] for one in slices],
        [shown.image_cluster[one.images] for one in slices],
    )


def _chance(query: Ints, n_queries: int, pool: int) -> RankCounts:
    """Return the counts of an encoder to which all candidates are equal; `query` [p] of relevant pairs."""
    size = np.full(n_queries, pool)
    return RankCounts(np.zeros_like(size), size, np.bincount(query, minlength=n_queries), size)


class ImageNumbers:
    """The numbers of all systems; `baselines` names that of each language, None for none."""

    def __init__(
        self,
        task: str,
        measures: Sequence[RankMeasure],
        systems: Sequence[EncoderPair],
        baselines: Mapping[str, str | None],
    ) -> None:
        self.measures, self.systems, self.baselines = measures, systems, baselines
        self.languages = list(baselines)
        self.found: dict[tuple[str, Subject], Direction] = {}
        own = {one.name: [tag for tag in self.languages if tag in one.languages] for one in systems}
        most = set().union(*own.values())
        self.numbers = Numbers(
            task,
            measures,
            [subject for language in self.languages for subject in both_ways(language)],
            {one.name: one.image_name for one in systems},
            partial={
                name: f"over {listed(languages, 20)} only: the encoder is for no other"
                for name, languages in own.items()
                if len(languages) < len(most)
            },
            compared=len(self.languages),
            same_queries=self.same_queries,
        )

    def add(
        self,
        system: str,
        direction: Direction,
        signatures: Mapping[RankMeasure, str],
        hubs: HubCounts | None = None,
    ) -> None:
        """Enter the numbers of a system in one direction; its hubs stand with the first measure."""
        self.found[system, direction.subject] = direction
        for measure, signature in signatures.items():
            values = [measure.per_query(one) for one in direction.counts]
            scores = [
                score(measure, each, [clusters])
                for each, clusters in zip(values, direction.clusters, strict=True)
            ]
            self.numbers[system, measure.name, direction.subject] = Number(
                Score.mean(scores),
                signature,
                n_source=sum(len(rows) for rows in direction.rows),
                n_target=direction.pool,
                n_tied=direction.n_tied,
                baseline=Baseline(direction.chance(measure)),
                views=_views(scores, hubs if measure == self.measures[0] else None),
            )
            for rows, counts, each in zip(direction.rows, direction.counts, values, strict=True):
                self.numbers.add_queries(
                    system,
                    measure,
                    direction.subject,
                    query=rows,
                    above=counts.above,
                    tied=counts.tied,
                    value=each,
                )

    def results(self, manifest: Manifest, row_cluster: Ints) -> Results:
        """Return all numbers; `row_cluster` [rows] are the cluster ids of the queries."""
        for measure in self.measures:
            self._compare_with_baselines(measure)
        rows = QueryRows(manifest.ids, manifest.item, manifest.item_ids, row_cluster, manifest.labels)
        results = self.numbers.results(rows)
        if {SuccessAt(k) for k in DEPTHS} <= set(self.measures):
            results.summary += self._sums()
        return results

    def same_queries(self, one: str, other: str) -> bool:
        """Return whether two systems answered the same queries wherever both were evaluated."""
        subjects = [subject for name, subject in self.found if name == one and (other, subject) in self.found]
        return all(self.found[one, subject].same_queries(self.found[other, subject]) for subject in subjects)

    def _score(self, system: str, measure: str, subject: Subject) -> Score:
        found = self.numbers[system, measure, subject].estimate
        assert isinstance(found, Score)
        return found

    def _compare_with_baselines(self, measure: RankMeasure) -> None:
        """Enter the difference of each system to the baseline of the language."""
        for language, baseline in self.baselines.items():
            if baseline is None:
                continue
            others = [one.name for one in self.systems if language in one.languages and one.name != baseline]
            for name, subject in product(others, both_ways(language)):
                against = self._against(measure, name, baseline, subject)
                number = self.numbers[name, measure.name, subject]
                self.numbers[name, measure.name, subject] = replace(
                    number,
                    views=structs.replace(number.views or ImageSentenceViews(), against=against),
                    row_views=ImageSentenceViews(against),
                )

    def _against(self, measure: RankMeasure, name: str, baseline: str, subject: Subject) -> Against:
        """Return the difference to the baseline, its interval query by query; of medians by the bootstrap."""
        own, other = (self._score(who, measure.name, subject) for who in (name, baseline))
        ci, found = None, (self.found[name, subject], self.found[baseline, subject])
        if found[0].same_queries(found[1]):
            gap = own.less(other)
            if gap is not None:
                ci = gap.interval()
            elif isinstance(measure, MedianRank):
                ci = _median_interval(measure, *found)
        return Against(baseline, own.value - other.value, ci)

    def _sums(self) -> Iterator[Summary]:
        """Yield the sums of recalls in per cent, of each language over both directions, then their means."""
        sums = {language: self._sums_in(language) for language in self.languages}
        for language, own in sums.items():
            yield from self.numbers.leaderboard(RSUM, (language, IMAGE), own, higher=True)
        means = {}
        for system in self.systems:
            lines = [own[system.name] for own in sums.values() if system.name in own]
            if not lines:
                continue
            means[system.name] = BoardLine(
                Score.mean([line.estimate for line in lines if isinstance(line.estimate, Score)]),
                float(np.mean([line.chance for line in lines if line.chance is not None])),
                n_pairs=2 * len(lines),
                note=self.numbers.partial.get(system.name),
            )
        yield from self.numbers.leaderboard(RSUM, OVERALL, means, higher=True)

    def _sums_in(self, language: str) -> dict[str, BoardLine]:
        """Return the sum of recalls of each system that has a language, compared with its baseline."""
        own = {one.name: self._sum(one.name, language) for one in self.systems if language in one.languages}
        baseline, lines = self.baselines[language], {}
        for name, (summed, chance) in own.items():
            views = None
            if baseline in own and name != baseline:
                other, _ = own[baseline]
                gap = summed.less(other) if self.same_queries(name, baseline) else None
                ci = None if gap is None else gap.interval()
                views = ImageSentenceViews(Against(baseline, summed.value - other.value, ci))
            lines[name] = BoardLine(summed, chance, n_pairs=2, views=views)
        return lines

    def _sum(self, system: str, language: str) -> tuple[Score, float]:
        """Return the sum of R@1, R@5 and R@10 over both directions, in per cent, and that of chance."""
        cells = list(product(both_ways(language), map(SuccessAt, DEPTHS)))
        chances = [self.found[system, subject].chance(measure) for subject, measure in cells]
        scores = [self._score(system, measure.name, subject) for subject, measure in cells]
        return summed(scores, PERCENT), PERCENT * sum(chances)


def _views(scores: Sequence[Score], hubs: HubCounts | None) -> ImageSentenceViews | None:
    folds = [one.value for one in scores] if len(scores) > 1 else None
    return None if folds is None and hubs is None else ImageSentenceViews(folds=folds, hubs=hubs)


def _median_interval(measure: MedianRank, one: Direction, other: Direction) -> Interval:
    """Return the percentile interval of a difference of medians, clusters drawn anew with replacement."""
    differences = np.zeros(REPLICATES)
    for subject, (*counts, clusters) in enumerate(zip(one.counts, other.counts, one.clusters, strict=True)):
        a, b = (measure.per_query(each) for each in counts)
        rng = stream(0, f"medians|slice {subject}")
        own, cluster = np.unique(clusters, return_inverse=True)
        step = max(1, _CELLS // len(a))
        for start in range(0, REPLICATES, step):
            count = min(step, REPLICATES - start)
            times = rng.multinomial(len(own), np.full(len(own), 1 / len(own)), size=count)[:, cluster]
            medians = [_medians(measure, values, times) for values in (a, b)]
            differences[start : start + count] += (medians[0] - medians[1]) / len(one.counts)
    low, high = np.quantile(differences, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), LEVEL, "percentile bootstrap of clusters")


def _medians(measure: MedianRank, values: Floats, times: Ints) -> Floats:
    """Return the measure of `values` [n], each taken so many `times` [replicates, n]."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(times[:, order], axis=1)
    total = reached[:, -1:]
    low, high = (values[order][(reached > at).argmax(axis=1)] for at in ((total - 1) // 2, total // 2))
    return np.array([measure.rounded(float(median)) for median in (low + high) / 2])


def summed(scores: Sequence[Score], factor: float) -> Score:
    """Return the sum of the scores times a factor, with everything that its interval is made of."""
    mean, by = Score.mean(scores), factor * len(scores)
    low, high = mean.bounds or (0.0, 1.0)
    return Score(
        by * mean.value,
        tuple(ResidualPart(by * part.residuals, part.ways, part.weights) for part in mean.parts),
        (by * low, by * high),
        by * mean.span,
    )
