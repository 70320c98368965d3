"""Cross-lingual retrieval by a search, checked: some queries of each task are ranked exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from xlingual.data.manifest import Manifest
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
from xlingual.evaluation.approximation.sampled import (
    SampledRanks,
    SampledScore,
    estimated_ranks,
    sampled_score,
)
from xlingual.evaluation.approximation.texts import recall_of_nearest
from xlingual.evaluation.matches import match_requests, rank_matches
from xlingual.evaluation.nearest import TextUnion, nearest_texts
from xlingual.evaluation.scores import Score
from xlingual.evaluation.setup import Tally, Task
from xlingual.measures import RankMeasure
from xlingual.ranking import Cosine, Counts, Ranker, UnitVectors
from xlingual.ranking.approximate import Approximate
from xlingual.records import Floats, Ints, RankCounts
from xlingual.streams import stream


class RetrievalCheck:
    """The checked queries of an evaluation: their exact ranks, and what they say about all."""

    def __init__(
        self,
        ranker: Approximate,
        manifest: Manifest,
        tasks: Sequence[Task],
        measures: Sequence[RankMeasure],
        tally: Tally,
    ) -> None:
        self.ranker, self.manifest, self.tasks, self.measures = ranker, manifest, tasks, measures
        self.queries = queries_of(ranker, tasks, pictures=False)
        self._tally = tally
        self._exact: dict[tuple[str, int], RankCounts] = {}
        self._recall: dict[tuple[str, int], float] = {}
        self._sampled: dict[tuple[str, int], SampledRanks] = {}

    def texts(self, name: str, vectors: TextVectors) -> None:
        """Rank the checked queries of every task exactly."""
        inner, recalls = self.ranker.inner, []
        for number, queries in self.queries.items():
            task = self.tasks[number]
            sample = checked_sample(task, queries)
            (matches,) = rank_matches(self.manifest, vectors, [sample], ranker=inner, tally=self._tally)
            self._exact[name, number] = matches.best()
            (found,) = nearest_texts(vectors, [sample], ranker=self.ranker, tally=self._tally)
            (exact,) = nearest_texts(vectors, [sample], ranker=inner, tally=self._tally)
            recall = recall_of_nearest(vectors, sample, np.arange(len(queries)), found, exact)
            self._recall[name, number] = recall
            pool = len(task.sample.target)
            recalls.append(Recall(task, recall, len(queries), pool))
            if any(by_sample(self.ranker, measure, pool) for measure in self.measures):
                drawn = self.ranker.candidates
                self._sampled[name, number] = sampled_ranks(
                    self.manifest, vectors, task, drawn, inner, self._tally
                )
        warn_of_misses("the nearest texts", name, recalls, self.ranker)

    def sampled(
        self, name: str, number: int, measure: RankMeasure, ways: Sequence[Ints]
    ) -> SampledScore | None:
        """Return the score of a measure that is told from a sample of candidates, None for others."""
        ranks = self._sampled.get((name, number))
        if ranks is None or not by_sample(self.ranker, measure, ranks.pool):
            return None
        return sampled_score(measure, ranks, ways)

    def checked(self, name: str, number: int, measure: RankMeasure, found: Score, values: Floats) -> Score:
        """Return the score of the values [n] that a search gave, with its error; as it is where exact."""
        if number not in self.queries:
            return found
        exact = measure.per_query(self._exact[name, number])
        error = stratum(self.tasks[number], measure, values, self.queries[number], exact)
        return replace(found, errors=(error,))

    def searched(self, name: str, number: int, sampled: SampledScore | None) -> Searched | None:
        """Return what is told of a number, None where it is exact."""
        if number not in self.queries:
            return None
        return Searched(
            search=str(self.ranker.search),
            depth=self.ranker.depth,
            candidates=None if sampled is None else self._sampled[name, number].drawn,
            n_checked=len(self.queries[number]),
            recall_nearest=self._recall[name, number],
            error=None if sampled is None else sampled.error,
        )

    def conditions(self, number: int, sampled: SampledScore | None) -> Mapping[str, str]:
        """Return what is added to the conditions of a number."""
        return conditions(self.ranker, sampled=sampled is not None) if number in self.queries else {}


def sampled_ranks(
    manifest: Manifest, vectors: TextVectors, task: Task, candidates: int, ranker: Ranker, tally: Tally
) -> SampledRanks:
    """Return the rank of each source's best match, estimated from a sample of the targets."""
    sample = task.sample
    union = TextUnion(vectors, [sample])
    (request,) = match_requests(union, [sample], manifest)
    _, codes = union.codes(sample)
    n, m = len(sample.source), len(sample.target)
    drawn = stream(sample.seed, "drawn texts").permutation(m)[:candidates]
    weights = np.bincount(codes[drawn], minlength=len(union.targets.vectors)).astype(np.int64)
    used = np.flatnonzero(weights)
    source, target = np.divmod(request.pairs, len(union.targets.vectors))
    keys = request.counts.keys_given
    place = np.minimum(np.searchsorted(used, target), len(used) - 1)
    known = np.where(used[place] == target, place, -1)
    few = UnitVectors(union.targets.vectors.raw, union.targets.vectors.rows[used])
    similarity = Cosine(union.sources.vectors, few)
    counts = Counts(source, known, keys, weights=weights[used])
    ranker.scan(similarity, [counts])
    tally.add(similarity)
    is_drawn = np.zeros(m, dtype=np.int64)
    is_drawn[drawn] = 1
    return _best(request.query, keys, counts, is_drawn[request.match], n, m, len(drawn))


def _best(
    query: Ints, keys: Ints, counts: Counts, is_drawn: Ints, n: int, pool: int, drawn: int
) -> SampledRanks:
    """Return the rank of the best of each query's matches; parallel arrays of (query, match)."""
    best = np.full(n, np.iinfo(np.int64).min)
    np.maximum.at(best, query, keys)
    first = keys == best[query]
    above, tied = np.zeros(n), np.zeros(n)
    above[query[first]], tied[query[first]] = counts.above[first], counts.tied[first]
    matches = np.bincount(query, minlength=n)
    drawn_matches = np.bincount(query, is_drawn, n)
    level = np.bincount(query[first], minlength=n)  # matches that share the best score
    tied -= np.bincount(query[first], is_drawn[first], n)
    others, seen = pool - matches, drawn - drawn_matches
    # expected places before the first of `level` matches among those tied with it, as the exact rank has it
    return SampledRanks(estimated_ranks(above + tied / (level + 1), seen, others), drawn, pool)
