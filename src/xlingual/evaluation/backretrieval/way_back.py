"""Steps 3 and 4 of Backretrieval: the rank of a query's own image, seen from the retrieved text's image.

All encoders share the passes over images; so do language pairs with the same images, and the seeds of a
language pair. Where only some sources are queries (`queries`), only what these need is ranked, not every
target image: the query images against all target images (the oracle), and the images of retrieved texts
against all source images (the ranks).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.data.manifest import Manifest
from xlingual.evaluation.backretrieval.images import ImagePass, ImagePools, ImageSpace, groups_of
from xlingual.evaluation.backretrieval.nearest import Nearest, cluster_ids, tie_cap
from xlingual.evaluation.estimates import score
from xlingual.evaluation.numbers import Baseline
from xlingual.evaluation.pair_run import PairTask
from xlingual.evaluation.passes import part_of
from xlingual.evaluation.run import Tally
from xlingual.measures import MeanImageSimilarity, RankMeasure, RecallAt, RecallShare
from xlingual.ragged import distinct_of, members, sums
from xlingual.ranking import (
    Cosine,
    Counts,
    FunctionScores,
    Progress,
    Ranker,
    Top,
    TopK,
    as_scores,
    pairs,
    rank,
)
from xlingual.records import RankCounts

SIM = MeanImageSimilarity()


@dataclass(frozen=True)
class WayBack:
    """The nearest texts of one encoder in one task, and where the ways back from their images lead."""

    nearest: Nearest
    counts: RankCounts  # [e] of the query's own image, for each entry of `nearest`
    similarity: Floats  # [e] of the query's own image and the target's
    pool: int  # images among which a query's own is ranked

    def values(self, measure: RankMeasure | MeanImageSimilarity) -> Floats:
        """Compute the value of each query, float64 [n]; a query without a nearest text has the worst.

        Its own image counts as missed: all others are above it. Its similarity is 0.
        """
        if isinstance(measure, MeanImageSimilarity):
            return self.mean(self.similarity)
        values = self.mean(measure.per_query(self.counts))
        size, single = np.full(1, self.pool), np.ones(1, dtype=np.int64)
        values[self.nearest.n_tied == 0] = measure.per_query(RankCounts(size, single, single, size))
        return values

    def mean(self, values: Floats) -> Floats:
        """Return the mean of values of entries over the texts that tie for nearest, per query."""
        return sums(self.nearest.query, self.nearest.share * values, len(self.nearest.n_tied))

    def n_tied(self) -> int:
        """Count the queries that have a tie, for nearest text or on the way back."""
        tied = self.nearest.n_tied > 1
        tied[self.nearest.query[self.counts.tied > 1]] = True
        return int(tied.sum())


def ways_back(
    images: ImageSpace,
    tasks: Sequence[PairTask],
    nearest: Sequence[Sequence[Nearest]],
    measures: Sequence[RankMeasure],
    *,
    ranker: Ranker,
    tally: Tally,
    progress: Progress | None = None,
) -> Iterator[PoolRanks]:
    """Yield the ranks of the tasks, of those together that have the same images; each task comes once.

    `nearest` is [encoder][task]. The ranks hold what was computed of a pass: look at them before the next.
    """
    groups = groups_of(images, tasks)
    depth = max((measure.k for measure in measures if isinstance(measure, RecallAt)), default=1)
    for done, group in enumerate(groups):
        part = part_of(progress, done, len(groups))
        image_pass = ImagePass(images, group, part)
        of_pools = [PoolRanks(image_pass, pools, images, tasks, nearest, depth) for pools in group]
        if isinstance(image_pass.similarity, Cosine) and all(
            tasks[number].sample.is_part for pools in group for number in pools.tasks
        ):
            for ranks in of_pools:
                ranks.rank_queries(ranker, part, tally)
        else:
            watchers = [watcher for ranks in of_pools for watcher in ranks.watchers]
            rank(image_pass.similarity, watchers, ranker, progress=part)
            for ranks in of_pools:
                ranks.listed, ranks.oracle = ranks.top.result(), ranks.nearest_target.result()
            # the lists of the first K say the oracle's R@K; other measures, and long ties, need another pass
            if any(not isinstance(measure, RecallAt | RecallShare) for measure in measures) or any(
                ranks.is_capped for ranks in of_pools
            ):
                deep = [
                    ranks.oracle_counts(image_pass.similarity, ranks.oracle.candidate) for ranks in of_pools
                ]
                rank(image_pass.similarity, deep, ranker, progress=part)
        yield from of_pools
        tally.add(image_pass.similarity)


class PoolRanks:
    """The ranks of one pair of image pools: of own images, the first K of each target, and the oracle."""

    listed: TopK  # the first K source images of each target image; not with `queries_only`
    oracle: TopK  # the nearest target images of each source image

    def __init__(
        self,
        image_pass: ImagePass,
        pools: ImagePools,
        images: ImageSpace,
        tasks: Sequence[PairTask],
        nearest: Sequence[Sequence[Nearest]],
        depth: int,
    ) -> None:
        self._pass, self.pools, self.tasks, self._nearest = image_pass, pools, tasks, nearest
        self.similarity = image_pass.similarity
        height, width = shape = self.similarity.shape
        rows, columns = image_pass.rows(pools.targets), image_pass.columns(pools.sources)
        self.source_weights = np.bincount(columns, minlength=width).astype(np.int64)
        self.target_weights = np.bincount(rows, pools.target_texts, height).astype(np.int64)
        samples = {number: tasks[number].sample for number in pools.tasks}
        self.rows = {n: image_pass.rows(images.code[sample.target]) for n, sample in samples.items()}
        self.columns = {n: image_pass.columns(images.code[sample.source]) for n, sample in samples.items()}
        places = [(encoder, number) for number in pools.tasks for encoder in range(len(nearest))]
        texts = [(number, nearest[encoder][number]) for encoder, number in places]
        keys = [self.rows[n][text.target] * width + self.columns[n][text.query] for n, text in texts]
        self._pairs, where = distinct_of(keys)  # (target row, source column) of all encoders, each once
        self._where = dict(zip(places, where, strict=True))
        self.counts = Counts.of(self.similarity, *np.divmod(self._pairs, width), weights=self.source_weights)
        cap, asked = tie_cap(max(len(rows), len(columns))), (distinct_values(rows), distinct_values(columns))
        self.top = Top(depth, shape, weights=self.source_weights, queries=asked[0], cap=cap)
        self.nearest_target = Top(
            1, shape, weights=self.target_weights, queries=asked[1], cap=cap, columns=True
        )
        self.watchers = self.counts, self.top, self.nearest_target
        self.deep: Counts | None = None  # of the oracle's pairs
        self.queries_only = False  # `oracle` and `counts` are of the queries alone

    @property
    def is_capped(self) -> bool:
        """Whether some image has more ties with its K-th than are listed."""
        return bool(self.listed.unlisted.any())

    def oracle_counts(self, similarity: Cosine | FunctionScores, rows: Ints) -> Counts:
        """Ask where the queries' own images stand for the oracle's target images, rows of a similarity."""
        self.deep = Counts.of(similarity, rows, self.oracle.query, weights=self.source_weights)
        return self.deep

    def rank_queries(self, ranker: Ranker, progress: Progress | None, tally: Tally) -> None:
        """Find the oracle of the queries, then the ranks on all ways back; images must have vectors."""
        self.queries_only = True
        height, width = self.similarity.shape
        queries = distinct_values(np.concatenate(list(self.columns.values())))
        similarity = self._pass.among(np.arange(height), queries)
        cap = self.nearest_target.cap
        top = Top(1, similarity.shape, weights=self.target_weights, cap=cap, columns=True)
        rank(similarity, [top], ranker, progress=progress)
        tally.add(similarity)
        oracle = top.result()
        self.oracle = replace(oracle, query=queries[oracle.query])
        row, column = np.divmod(self._pairs, width)
        used = distinct_values(np.concatenate([row, oracle.candidate]))
        similarity = self._pass.among(used, np.arange(width))
        places = np.searchsorted(used, row), column
        self.counts = Counts(*places, self.counts.key, weights=self.source_weights)
        deep = self.oracle_counts(similarity, np.searchsorted(used, oracle.candidate))
        rank(similarity, [self.counts, deep], ranker, progress=progress)
        tally.add(similarity)

    def way_back(self, encoder: int, number: int) -> WayBack:
        """Return the ways back of an encoder's nearest texts in a task."""
        where, counts = self._where[encoder, number], self.counts
        ranks = self._rank_counts(counts.above[where], counts.tied[where])
        pool = len(self.pools.sources)
        return WayBack(self._nearest[encoder][number], ranks, as_scores(counts.key[where]), pool)

    def _rank_counts(self, above: Ints, tied: Ints) -> RankCounts:
        """Return counts of own images, each the one relevant of all distinct source images."""
        single = np.ones(len(above), dtype=np.int64)
        return RankCounts(above, tied, single, single * len(self.pools.sources))

    def baselines(
        self, number: int, measures: Sequence[RankMeasure], manifest: Manifest
    ) -> dict[str, Baseline]:
        """Compute chance, oracle and ceiling of a task from images alone, the same for every encoder.

        Chance is the value of an encoder to which all targets are equal: for R@k the mean over all queries
        and targets; for other measures, and where only some sources are queries, that of a random order of D
        images. The oracle takes the targets of the nearest image. R@p% has one only where another measure
        needs ranks; R@k has a ceiling where all target images were ranked.
        """
        rows, columns, oracle = self.rows[number], self.columns[number], self.oracle
        height, width = self.similarity.shape
        share = oracle.weight / np.bincount(oracle.query, oracle.weight)[oracle.query]
        # the position of the target whose image is nearest to each query's, -1 where several tie
        query, line = members(oracle.query, columns)
        first, target = np.full(height, -1, dtype=np.int64), np.full(len(columns), -1, dtype=np.int64)
        first[rows[::-1]] = np.arange(len(rows))[::-1]
        single = oracle.tied[line] == 1
        target[query[single]] = first[oracle.candidate[line[single]]]
        clusters = cluster_ids(manifest, number, self.tasks[number], target)
        pool = np.array([len(self.pools.sources)])
        baselines: dict[str, Baseline] = {}
        for measure in measures:
            chance = float(measure.per_query(self._rank_counts(pool * 0, pool))[0])
            values, ceiling = None, None
            if isinstance(measure, RecallAt) and not self.queries_only:
                mean, values, ceiling = self._of_lists(measure, columns)
                chance = chance if self.is_capped else mean
            if self.deep is not None:
                values = measure.per_query(self._rank_counts(self.deep.above, self.deep.tied))
            per_query = None if values is None else sums(oracle.query, share * values, width)[columns]
            best = None if per_query is None else score(measure, per_query, clusters)
            baselines[measure.name] = Baseline(chance, best, ceiling)
        similar = pairs(self.similarity, oracle.candidate, oracle.query)
        per_query = sums(oracle.query, share * similar, width)[columns]
        chance = self.similarity.mean(  # of all pairs of a source and a target
            np.bincount(rows, minlength=height), np.bincount(columns, minlength=width)
        )
        best = score(SIM, per_query, clusters)
        baselines[SIM.name] = Baseline(chance, best, float(per_query.mean()))  # none is more similar
        return baselines

    def _of_lists(self, measure: RecallAt, columns: Ints) -> tuple[float, Floats, float]:
        """Compute chance, the hits of the oracle's pairs, and the ceiling from the first K of each target."""
        (height, width), listed = self.similarity.shape, self.listed
        hits = measure.per_query(self._rank_counts(listed.above, listed.tied))
        sources = np.bincount(columns, minlength=width)
        # fsum: the same number however long the lists are
        total = math.fsum(self.target_weights[listed.query] * sources[listed.candidate] * hits)
        chance = total / float(self.target_weights.sum() * sources.sum())
        keys, oracle = listed.query * width + listed.candidate, self.oracle
        order, pair = np.argsort(keys), oracle.candidate * width + oracle.query
        line = order[np.minimum(np.searchsorted(keys[order], pair), len(keys) - 1)]
        of_oracle = np.where(keys[line] == pair, hits[line], 0.0)  # a pair that is not listed is no hit
        best, last = np.zeros(width), np.ones(height)  # by target row: the chance at its K-th place
        np.maximum.at(best, listed.candidate, hits)
        np.minimum.at(last, listed.query, hits)
        # where more tie with the K-th than are listed, any column may be among them: a bound
        best = np.maximum(best, last[listed.unlisted > 0].max(initial=0.0))
        return chance, of_oracle, float(best[columns].mean())
