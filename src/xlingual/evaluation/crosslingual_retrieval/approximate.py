"""Cross-lingual retrieval by a search, checked: some queries of each task are ranked exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest
from xlingual.evaluation.approximation.checked import (
    CheckedScorer,
    by_sample,
    checked_sample,
)
from xlingual.evaluation.approximation.sampled import SampledRanks, estimated_ranks
from xlingual.evaluation.backretrieval.approximate import recall_of_nearest
from xlingual.evaluation.backretrieval.nearest import nearest_texts
from xlingual.evaluation.crosslingual_retrieval.matches import match_requests, rank_matches
from xlingual.evaluation.listed import SystemLists
from xlingual.evaluation.pair_run import PairRun, PairTask
from xlingual.evaluation.passes import TextUnion
from xlingual.evaluation.run import Tally, TextSides
from xlingual.evaluation.scorer import Scorable, Scorer
from xlingual.measures import MeanImageSimilarity, RankMeasure
from xlingual.ranking import Counts, Ranker, one_library_thread, similarity_of
from xlingual.ranking.approximate import Approximate
from xlingual.records import RankCounts
from xlingual.streams import stream


class RetrievalScorer(Scorer):
    """Scores what exact ranking found; one that checks a search looks at the texts."""

    def texts(self, encoder: str, vectors: TextSides | SystemLists) -> None:
        """Take the vectors of an encoder."""


class CheckedRetrieval(CheckedScorer, RetrievalScorer):
    """Scores of a search, by the exact ranks of the checked queries."""

    def __init__(self, run: PairRun, ranker: Approximate, measures: Sequence[RankMeasure]) -> None:
        super().__init__(run, ranker, measures, images=False)
        self._exact: dict[tuple[str, int], RankCounts] = {}

    def texts(self, encoder: str, vectors: TextSides | SystemLists) -> None:
        """Rank the checked queries of every task exactly."""
        assert not isinstance(vectors, SystemLists)  # refused where a search is asked for
        manifest, inner, tally = self.run.manifest, self.ranker.inner, self.run.tally
        pools = {number: len(self.run.tasks[number].sample.target) for number in self.queries}
        with self.run.stage("texts: check"), one_library_thread():
            for number, queries in self.queries.items():
                task = self.run.tasks[number]
                sample = checked_sample(task, queries)
                (matches,) = rank_matches(manifest, vectors, [sample], ranker=inner, tally=tally)
                self._exact[encoder, number] = matches.best()
                (found,) = nearest_texts(vectors, [sample], ranker=self.ranker, tally=tally)
                (exact,) = nearest_texts(vectors, [sample], ranker=inner, tally=tally)
                recall = recall_of_nearest(vectors, sample, np.arange(len(queries)), found, exact)
                self.recall[encoder, number] = recall
                if any(by_sample(self.ranker, measure, pools[number]) for measure in self.measures):
                    self.sampled[encoder, number] = sampled_ranks(
                        manifest, vectors, task, self.ranker.candidates, inner, tally
                    )
            self.warn_of_misses("the nearest texts", encoder, self.recall, pools)

    def exact_values(self, encoder: str, task: int, measure: Scorable) -> Floats:
        """Return the values of the checked queries, found exactly."""
        if isinstance(measure, MeanImageSimilarity):
            raise TypeError("there are no images")
        return measure.per_query(self._exact[encoder, task])


def sampled_ranks(
    manifest: Manifest, vectors: TextSides, task: PairTask, candidates: int, ranker: Ranker, tally: Tally
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
    similarity = similarity_of(union.sources.vectors, union.targets.vectors.take(used))
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
