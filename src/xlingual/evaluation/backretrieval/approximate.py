"""Backretrieval by a search, checked: some queries of each task go the exact way, there and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.data.samples import Sample
from xlingual.evaluation.approximation.checked import (
    CheckedScorer,
    by_sample,
    checked_sample,
    stratum,
)
from xlingual.evaluation.approximation.sampled import SampledRanks, estimated_ranks
from xlingual.evaluation.backretrieval.baselines import BackretrievalScorer, ReferenceScores
from xlingual.evaluation.backretrieval.nearest import Nearest, nearest_texts
from xlingual.evaluation.backretrieval.way_back import Routes, WayBackRanks, WaysFound, nearest_targets
from xlingual.evaluation.listed import SystemLists
from xlingual.evaluation.numbers import Baseline
from xlingual.evaluation.pair_run import PairRun, by_pair
from xlingual.evaluation.run import Tally, TextSides
from xlingual.evaluation.scorer import Scorable
from xlingual.measures import RankMeasure, RecallAt
from xlingual.ragged import distinct_of, starts, sums
from xlingual.ranking import (
    Counts,
    ImageScores,
    Ranker,
    Top,
    one_library_thread,
    similarity_of,
)
from xlingual.ranking.approximate import Approximate
from xlingual.stats.intervals import LEVEL, wilson
from xlingual.streams import stream


class CheckedBackretrieval(CheckedScorer, BackretrievalScorer):
    """Scores of a search, by the checked queries: their nearest texts, then their ways back."""

    def __init__(self, run: PairRun, ranker: Approximate, measures: Sequence[RankMeasure]) -> None:
        super().__init__(run, ranker, measures, images=True)
        self._nearest: dict[tuple[str, int], Nearest] = {}  # exact, of the checked queries
        self._ways: dict[int, ExactWays] = {}
        self._pools: dict[int, int] = {}  # distinct source images, by task
        self._approximate: dict[str, Sequence[Nearest]] = {}

    @property
    def _encoders(self) -> list[str]:
        return list(self.run.text_encoders)

    def texts(self, encoder: str, vectors: TextSides | SystemLists, found: Sequence[Nearest]) -> None:
        """Find the nearest texts of the checked queries exactly; `found` [tasks] are those of the search."""
        assert not isinstance(vectors, SystemLists)  # refused where a search is asked for
        self._approximate[encoder], tasks = found, self.run.tasks
        with self.run.stage("texts: check"), one_library_thread():
            for numbers in by_pair(tasks).values():
                chosen = [number for number in numbers if number in self.queries]
                samples = [checked_sample(tasks[number], self.queries[number]) for number in chosen]
                if not chosen:
                    continue
                exact = nearest_texts(vectors, samples, ranker=self.ranker.inner, tally=self.run.tally)
                for number, nearest in zip(chosen, exact, strict=True):
                    task, queries = tasks[number], self.queries[number]
                    recall = recall_of_nearest(vectors, task.sample, queries, found[number], nearest)
                    self._nearest[encoder, number], self.recall[encoder, number] = nearest, recall
            targets = {number: len(tasks[number].sample.target) for number in self.queries}
            self.warn_of_misses("the nearest texts", encoder, self.recall, targets)

    def images(self, ranks: WayBackRanks, task: int) -> None:
        """Go the checked queries' ways back exactly, while the ranks of a task are at hand."""
        if task not in self.queries:
            return
        queries, inner, tally = self.queries[task], self.ranker.inner, self.run.tally
        exact = [self._nearest[name, task] for name in self._encoders]
        recalls_at = [measure for measure in self.measures if isinstance(measure, RecallAt)]
        ways = exact_ways(ranks, task, queries, exact, recalls_at, inner, tally)
        self._ways[task] = ways
        self._pools[task] = pool = len(ranks.pools.sources)
        self.recall_back |= {(name, task): one for name, one in zip(self._encoders, ways.recall, strict=True)}
        if len(self._ways) == len(self.queries):
            for name in self._encoders:
                what = "the images nearest to those of the retrieved texts"
                self.warn_of_misses(what, name, self.recall_back, self._pools)
        if any(by_sample(self.ranker, measure, pool) for measure in self.measures):
            nearest = [self._approximate[name][task] for name in self._encoders]
            several = sampled_ranks(ranks, task, nearest, self.ranker.candidates, inner, tally)
            for name, one in zip(self._encoders, several, strict=True):
                self.sampled[name, task] = replace(one, missed=self._missed(name, task))

    def _missed(self, name: str, number: int) -> float:
        """Return which share of all queries has the wrong text, at most."""
        checked, miss = len(self.queries[number]), 1 - self.recall[name, number]
        if checked == len(self.run.tasks[number].sample.source):
            return miss
        return wilson(miss, miss * (1 - miss) / checked, checked, LEVEL)[1]

    def exact_values(self, encoder: str, task: int, measure: Scorable) -> Floats:
        """Return the values of the checked queries, found exactly."""
        routes = self._ways[task].routes[self._encoders.index(encoder)]
        return WaysFound(self._nearest[encoder, task], routes).values(measure)

    def knows_ranks(self, encoder: str, task: int, measure: Scorable) -> bool:
        """Return whether the rank of every single query is known: not from a sample of candidates."""
        return not self.is_sampled(encoder, task, measure)

    def baseline(
        self, task: int, measure: Scorable, found: ReferenceScores, clusters: Sequence[Ints]
    ) -> Baseline:
        """Return chance, and the oracle with its error; no ceiling, which missed texts might exceed."""
        exactly = super().baseline(task, measure, found, clusters)
        if task not in self.queries:
            return exactly
        values, exact = found.oracle.get(measure.name), self._ways[task].oracle.get(measure.name)
        if exactly.oracle is None or values is None or exact is None:
            return Baseline(exactly.chance)
        error = stratum(self.run.tasks[task], measure, values, self.queries[task], exact)
        return Baseline(exactly.chance, replace(exactly.oracle, errors=(error,)))


def recall_of_nearest(
    vectors: TextSides, sample: Sample, queries: Ints, found: Nearest, exact: Nearest
) -> float:
    """Return the share of the checked queries whose text found is as near as the truly nearest; ties count.

    `found` is of all sources of the sample, `exact` of the checked ones.
    """
    place = np.searchsorted(found.query, queries)
    present = place < len(found.query)
    present[present] = found.query[place[present]] == queries[present]
    first = starts(exact.query, len(queries))[:-1]
    ours, theirs = found.target[place[present]], exact.target[first[present]]
    used, number = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    similarity = similarity_of(
        vectors.queries.unit(sample.source[queries]), vectors.candidates.unit(sample.target[used])
    )
    answered = np.flatnonzero(present)
    keys = [similarity.exact(answered, which) for which in np.split(number, 2)]
    return float(np.count_nonzero(keys[0] >= keys[1]) / len(queries))


@dataclass(frozen=True)
class ExactWays:
    """The exact ways back of the checked queries of a task, and their oracle."""

    routes: list[Routes]  # of each encoder
    recall: list[float]  # of each encoder: share of the nearest images that the search found
    oracle: dict[str, Floats]  # by measure, [checked]


def exact_ways(
    ranks: WayBackRanks,
    task: int,
    queries: Ints,
    nearest: Sequence[Nearest],
    measures: Sequence[RecallAt],
    ranker: Ranker,
    tally: Tally,
) -> ExactWays:
    """Return the exact ways back of the checked queries, from their nearest texts by each encoder.

    Only the images of these texts are ranked against, and only for the oracle these queries against all.
    """
    columns, width = ranks.source_columns(task)[queries], ranks.over.similarity.shape[1]
    nearest_of, share = _oracle(ranks, distinct_values(columns), ranker, tally)
    keys = [ranks.keys(task, one, columns) for one in nearest]
    routes, best = _exact_pass(ranks, [*keys, nearest_of], ranker, tally)
    listed = ranks.listed.query * width + ranks.listed.candidate
    seen = [best[np.isin(best // width, key // width)] for key in keys]
    recall = [float(np.isin(truth, listed).mean()) for truth in seen]
    distinct, own = np.unique(nearest_of % width, return_inverse=True)
    back = routes.pop()
    values = {measure.name: measure.per_query(back.counts) for measure in measures} | {"SIM": back.similarity}
    where = np.searchsorted(distinct, columns)
    oracle = {name: sums(own, share * found, len(distinct))[where] for name, found in values.items()}
    return ExactWays(routes, recall, oracle)


def _oracle(ranks: WayBackRanks, columns: Ints, ranker: Ranker, tally: Tally) -> tuple[Ints, Floats]:
    """Return the nearest target images of source columns, as pairs, and their shares: 1 for each column."""
    found = ranks.oracle  # exact where all scores are given
    if ranks.over.has_vectors:
        found = nearest_targets(ranks, columns, ranker, None, tally)
    lines = np.isin(found.query, columns)
    query, weight = found.query[lines], found.weight[lines]
    pairs = found.candidate[lines] * ranks.over.similarity.shape[1] + query
    return pairs, weight / np.bincount(query, weight)[query]


def _exact_pass(
    ranks: WayBackRanks, keys: Sequence[Ints], ranker: Ranker, tally: Tally
) -> tuple[list[Routes], Ints]:
    """Return the ways of several sets of pairs, and the best source columns of all their target rows.

    Pairs are target row · width + source column, and so are the best columns, each with its row.
    """
    width, weights = ranks.over.similarity.shape[1], ranks.source_weights
    pairs, places = distinct_of(keys)
    row, column = np.divmod(pairs, width)
    used = distinct_values(row)
    restricted = ranks.over.among(used, np.arange(width))
    similarity: ImageScores = restricted or ranks.over.similarity
    row = row if restricted is None else np.searchsorted(used, row)
    counts = Counts.of(similarity, row, column, weights=weights)
    queries = used if restricted is None else None
    top = Top(ranks.top.k, similarity.shape, weights=weights, queries=queries, cap=ranks.top.cap)
    ranker.scan(similarity, [counts, top])
    if restricted is not None:
        tally.add(similarity)
    best = top.result()
    best_row = best.query if restricted is None else used[best.query]
    routes = [ranks.routes_of(counts, where) for where in places]
    return routes, best_row * width + best.candidate


def sampled_ranks(
    ranks: WayBackRanks,
    task: int,
    nearest: Sequence[Nearest],
    candidates: int,
    ranker: Ranker,
    tally: Tally,
) -> list[SampledRanks]:
    """Return, for each encoder, the ranks of all queries estimated from a sample of the source images."""
    sources, columns = ranks.pools.sources, ranks.source_columns(task)
    sample = ranks.tasks[task].sample
    drawn = stream(sample.seed, "drawn pictures").permutation(len(sources))[:candidates]
    is_drawn = np.zeros(len(sources), dtype=np.int64)
    is_drawn[drawn] = 1
    height, width = ranks.over.similarity.shape
    weights = np.bincount(ranks.over.columns(sources), is_drawn, width).astype(np.int64)
    used = np.flatnonzero(weights)
    pairs, places = distinct_of([ranks.keys(task, one, columns) for one in nearest])
    row, column = np.divmod(pairs, width)
    place = np.searchsorted(used, column)
    place[place == len(used)] = 0
    restricted = ranks.over.among(np.arange(height), used)
    exact = ranks.over.similarity.exact(row, column)
    if restricted is None:
        counts = Counts(row, column, exact, weights=weights)
        ranker.scan(ranks.over.similarity, [counts])
    else:
        counts = Counts(row, np.where(used[place] == column, place, -1), exact, weights=weights[used])
        ranker.scan(restricted, [counts])
        tally.add(restricted)
    image = np.searchsorted(sources, ranks.images.code[sample.source])
    found = []
    for one, lines in zip(nearest, places, strict=True):
        self_drawn = is_drawn[image[one.query]]  # one's own image is no competitor
        above = counts.above[lines] + (counts.tied[lines] - self_drawn) / 2
        rank = estimated_ranks(above, len(drawn) - self_drawn, len(sources) - 1)
        values = sums(one.query, one.share * rank, len(one.n_tied))
        found.append(SampledRanks(values, len(drawn), len(sources)))
    return found
