"""Backretrieval by a search, checked: some queries of each task go the exact way, there and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xlingual.embed import TextVectors
from xlingual.evaluation.approximation.choice import (
    Recall,
    Searched,
    by_sample,
    checked_sample,
    conditions,
    queries_of,
    stratum,
    warn_of_misses,
)
from xlingual.evaluation.approximation.pictures import ExactWays, exact_ways, sampled_ranks
from xlingual.evaluation.approximation.sampled import SampledRanks, SampledScore, sampled_score
from xlingual.evaluation.approximation.texts import recall_of_nearest
from xlingual.evaluation.found import Found
from xlingual.evaluation.nearest import Nearest, nearest_texts
from xlingual.evaluation.scores import Score
from xlingual.evaluation.setup import Tally, Task, by_pair
from xlingual.evaluation.side_ranks import SideRanks
from xlingual.measures import PictureSimilarity, RankMeasure, RecallAt
from xlingual.ranking.approximate import Approximate
from xlingual.records import Floats, Ints
from xlingual.stats.intervals import LEVEL, wilson


class BackretrievalCheck:
    """The checked queries of an evaluation: their exact values, and what they say about all.

    `texts` takes the nearest texts of each encoder, `pictures` the ranks of each task, then the rest can be
    asked for.
    """

    def __init__(
        self,
        ranker: Approximate,
        tasks: Sequence[Task],
        encoders: Sequence[str],
        measures: Sequence[RankMeasure],
        tally: Tally,
    ) -> None:
        self.ranker, self.tasks, self.encoders, self.measures = ranker, tasks, list(encoders), measures
        self.queries = queries_of(ranker, tasks, pictures=True)
        self._tally = tally
        self._nearest: dict[tuple[str, int], Nearest] = {}  # exact, of the checked queries
        self._recall: dict[tuple[str, int], float] = {}
        self._ways: dict[int, ExactWays] = {}
        self._found_back: dict[str, list[Recall]] = {}  # by encoder, of each task
        self._sampled: dict[tuple[str, int], SampledRanks] = {}
        self._approximate: dict[str, Sequence[Nearest]] = {}

    def texts(self, name: str, vectors: TextVectors, found: Sequence[Nearest]) -> None:
        """Find the nearest texts of the checked queries exactly; `found` [tasks] are those of the search."""
        self._approximate[name] = found
        recalls = []
        for numbers in by_pair(self.tasks).values():
            chosen = [number for number in numbers if number in self.queries]
            samples = [checked_sample(self.tasks[number], self.queries[number]) for number in chosen]
            if not chosen:
                continue
            exact = nearest_texts(vectors, samples, ranker=self.ranker.inner, tally=self._tally)
            for number, nearest in zip(chosen, exact, strict=True):
                task, queries = self.tasks[number], self.queries[number]
                recall = recall_of_nearest(vectors, task.sample, queries, found[number], nearest)
                self._nearest[name, number], self._recall[name, number] = nearest, recall
                recalls.append(Recall(task, recall, len(queries), len(task.sample.target)))
        warn_of_misses("the nearest texts", name, recalls, self.ranker)

    def pictures(self, ranks: SideRanks, number: int) -> None:
        """Go the checked queries' ways back exactly, while the ranks of a task are at hand."""
        if number not in self.queries:
            return
        queries, inner = self.queries[number], self.ranker.inner
        exact = [self._nearest[name, number] for name in self.encoders]
        ways = exact_ways(ranks, number, queries, exact, self._recalls_at(), inner, self._tally)
        self._ways[number] = ways
        pool = len(ranks.sides.sources)
        for name, found in zip(self.encoders, ways.recall, strict=True):
            recall = Recall(self.tasks[number], found, len(queries), pool)
            self._found_back.setdefault(name, []).append(recall)
        if len(self._ways) == len(self.queries):
            for name, recalls in self._found_back.items():
                what = "the pictures nearest to those of the retrieved texts"
                warn_of_misses(what, name, recalls, self.ranker)
        if any(by_sample(self.ranker, measure, pool) for measure in self.measures):
            nearest = [self._approximate[name][number] for name in self.encoders]
            several = sampled_ranks(ranks, number, nearest, self.ranker.candidates, inner, self._tally)
            for name, one in zip(self.encoders, several, strict=True):
                self._sampled[name, number] = replace(one, missed=self._missed(name, number))

    def _recalls_at(self) -> list[RecallAt]:
        return [measure for measure in self.measures if isinstance(measure, RecallAt)]

    def _missed(self, name: str, number: int) -> float:
        """Return which share of all queries has the wrong text, at most."""
        checked, n = len(self.queries[number]), len(self.tasks[number].sample.source)
        miss = 1 - self._recall[name, number]
        if checked == n:
            return miss
        return wilson(miss, miss * (1 - miss) / checked, checked, LEVEL)[1]

    def sampled(
        self, name: str, number: int, measure: RankMeasure | PictureSimilarity, ways: Sequence[Ints]
    ) -> SampledScore | None:
        """Return the score of a measure that is told from a sample of candidates, None for others."""
        if not self.is_sampled(name, number, measure):
            return None
        return sampled_score(measure, self._sampled[name, number], ways)  # type: ignore[arg-type]

    def is_sampled(self, name: str, number: int, measure: RankMeasure | PictureSimilarity) -> bool:
        """Return whether a measure is told from a sample of candidates: then no query's rank is known."""
        ranks = self._sampled.get((name, number))
        if ranks is None or isinstance(measure, PictureSimilarity):
            return False
        return by_sample(self.ranker, measure, ranks.pool)

    def checked(
        self, name: str, number: int, measure: RankMeasure | PictureSimilarity, found: Score, values: Floats
    ) -> Score:
        """Return the score of the values [n] that a search gave, with its error; as it is where exact."""
        if number not in self.queries:
            return found
        exact = self._exact(name, number).values(measure)
        error = stratum(self.tasks[number], measure, values, self.queries[number], exact)
        return replace(found, errors=(error,))

    def checked_oracle(
        self, number: int, measure: RankMeasure | PictureSimilarity, found: Score, values: Floats
    ) -> Score | None:
        """Return the oracle's score of the values [n] of a searched task, with its error; None: not known."""
        exact = self._ways[number].oracle.get(measure.name)
        if exact is None:
            return None
        error = stratum(self.tasks[number], measure, values, self.queries[number], exact)
        return replace(found, errors=(error,))

    def _exact(self, name: str, number: int) -> Found:
        routes = self._ways[number].routes[self.encoders.index(name)]
        return Found(self._nearest[name, number], routes)

    def searched(self, name: str, number: int, sampled: SampledScore | None) -> Searched | None:
        """Return what is told of a number, None where it is exact."""
        if number not in self.queries:
            return None
        way = self._ways[number].recall[self.encoders.index(name)]
        return Searched(
            search=str(self.ranker.search),
            depth=self.ranker.depth,
            candidates=None if sampled is None else self._sampled[name, number].drawn,
            n_checked=len(self.queries[number]),
            recall_nearest=self._recall[name, number],
            recall_way_back=way if sampled is None else None,
            error=None if sampled is None else sampled.error,
        )

    def conditions(self, number: int, sampled: SampledScore | None) -> Mapping[str, str]:
        """Return what is added to the conditions of a number."""
        return conditions(self.ranker, sampled=sampled is not None) if number in self.queries else {}
