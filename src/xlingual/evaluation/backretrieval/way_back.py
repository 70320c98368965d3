"""Steps 3 and 4 of Backretrieval: the rank of a query's own image, seen from the retrieved text's image.

All encoders share the passes over images; so do language pairs with the same images, and the seeds of a
language pair. Where only some sources are queries (`queries`), only what these need is ranked, not every
target image: the query images against all target images (the oracle), and the images of retrieved texts
against all source images (the ranks).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.evaluation.backretrieval.images import ImagePass, ImagePools, ImageSpace, groups_of
from xlingual.evaluation.backretrieval.nearest import Nearest, tie_cap
from xlingual.evaluation.pair_run import PairTask
from xlingual.evaluation.passes import part_of
from xlingual.evaluation.run import Tally
from xlingual.measures import MeanImageSimilarity, RankMeasure, RecallAt, RecallShare
from xlingual.ragged import distinct_of, sums
from xlingual.ranking import Cosine, Counts, Progress, Ranker, Top, TopK, Watcher, as_scores, rank
from xlingual.records import RankCounts

Scorable = RankMeasure | MeanImageSimilarity


def ways_back(
    images: ImageSpace,
    tasks: Sequence[PairTask],
    nearest: Sequence[Sequence[Nearest]],
    measures: Sequence[RankMeasure],
    *,
    ranker: Ranker,
    tally: Tally,
    progress: Progress | None = None,
) -> Iterator[WayBackRanks]:
    """Yield the ranks of the tasks, of those together that have the same images; each task comes once.

    `nearest` is [encoder][task]. The ranks hold what was computed of a pass: look at them before the next.
    """
    groups = groups_of(images, tasks)
    depth = max((measure.k for measure in measures if isinstance(measure, RecallAt)), default=1)
    for done, group in enumerate(groups):
        part = part_of(progress, done, len(groups))
        over = ImagePass(images, group, part)
        found = [WayBackRanks(over, pools, images, tasks, nearest, depth) for pools in group]
        if isinstance(over.similarity, Cosine) and all(
            tasks[number].sample.is_part for pools in group for number in pools.tasks
        ):
            for ranks in found:
                rank_queries(ranks, ranker, part, tally)
        else:
            _rank_all(over, found, measures, ranker, part)
        yield from found
        tally.add(over.similarity)


@dataclass(frozen=True)
class Routes:
    """Ways from queries over target images back to their own: per entry its rank counts and similarity."""

    counts: RankCounts  # [e]
    similarity: Floats  # [e] of the query's own image and the target's
    pool: int  # images among which a query's own is ranked


@dataclass(frozen=True)
class WaysFound:
    """The nearest texts and the ways back of one encoder in one task."""

    nearest: Nearest
    routes: Routes

    def values(self, measure: Scorable) -> Floats:
        """Return the value of each query, float64 [n]; of one for which no text was found the worst.

        Its own image counts as missed: all others are above it. Its similarity is 0.
        """
        if isinstance(measure, MeanImageSimilarity):
            return self.mean(self.routes.similarity)
        found = self.mean(measure.per_query(self.routes.counts))
        found[self.nearest.n_tied == 0] = measure.per_query(_missed(self.routes.pool))
        return found

    def mean(self, values: Floats) -> Floats:
        """Return the mean of values of entries over the texts that tie for nearest, per query."""
        return sums(self.nearest.query, self.nearest.share * values, len(self.nearest.n_tied))

    def single(self, values: Ints) -> Ints:
        """Return the value of each query's one entry, -1 where several texts tie for nearest."""
        found = np.full(len(self.nearest.n_tied), -1, dtype=np.int64)
        found[self.nearest.query] = values
        return np.where(self.nearest.n_tied == 1, found, -1)

    def n_tied(self) -> int:
        """Return how many queries have a tie, for nearest text or on the way back."""
        tied = self.nearest.n_tied > 1
        tied[self.nearest.query[self.routes.counts.tied > 1]] = True
        return int(tied.sum())


def _missed(pool: int) -> RankCounts:
    """Return the counts of one image that was not found, as lists of search systems have them."""
    size, one = np.full(1, pool), np.ones(1, dtype=np.int64)
    return RankCounts(size, one, one, size)


class WayBackRanks:
    """The ranks of one pair of image pools: of own images, the first K of each target, and the oracle."""

    def __init__(
        self,
        over: ImagePass,
        pools: ImagePools,
        images: ImageSpace,
        tasks: Sequence[PairTask],
        nearest: Sequence[Sequence[Nearest]],
        depth: int,
    ) -> None:
        self.over, self.pools, self.images, self.tasks = over, pools, images, tasks
        height, width = shape = over.similarity.shape
        rows, columns = over.rows(pools.targets), over.columns(pools.sources)
        self.source_weights = np.bincount(columns, minlength=width).astype(np.int64)
        self.target_weights = np.bincount(rows, pools.target_texts, height).astype(np.int64)
        keys_of = [(encoder, task) for task in pools.tasks for encoder in range(len(nearest))]
        keys = [
            self.keys(task, nearest[encoder][task], self.source_columns(task)) for encoder, task in keys_of
        ]
        self.pairs, where = distinct_of(keys)  # those of all encoders, each once
        self._where = dict(zip(keys_of, where, strict=True))
        self.counts = Counts.of(over.similarity, *np.divmod(self.pairs, width), weights=self.source_weights)
        cap = tie_cap(max(len(rows), len(columns)))
        self.top = Top(depth, shape, weights=self.source_weights, queries=distinct_values(rows), cap=cap)
        self.nearest_target = Top(
            1, shape, weights=self.target_weights, queries=distinct_values(columns), cap=cap, columns=True
        )
        self.deep: Counts | None = None
        self.queries_only = False  # `oracle` and `counts` are of the queries alone; no `listed`

    def source_columns(self, task: int) -> Ints:
        """Return the column of each source of a task."""
        return self.over.columns(self.images.code[self.tasks[task].sample.source])

    def target_rows(self, task: int) -> Ints:
        """Return the row of each target of a task."""
        return self.over.rows(self.images.code[self.tasks[task].sample.target])

    def keys(self, task: int, nearest: Nearest, columns: Ints) -> Ints:
        """Return the pair of each of the nearest texts and its query, as target row · width + source column.

        `columns` are those of the queries.
        """
        width = self.over.similarity.shape[1]
        return self.target_rows(task)[nearest.target] * width + columns[nearest.query]

    def finish(self) -> None:
        """Score exactly what float32 left undecided."""
        self.listed: TopK = self.top.result()
        self.oracle: TopK = self.nearest_target.result()

    @property
    def is_capped(self) -> bool:
        """Whether some image has more ties with its K-th than are listed."""
        return bool(self.listed.unlisted.any())

    def routes(self, encoder: int, task: int) -> Routes:
        """Return the way back of each entry of an encoder's nearest texts."""
        where = self._where[encoder, task]
        return self.routes_of(self.counts, where)

    def routes_of(self, counts: Counts, where: Ints) -> Routes:
        """Return the ways back at these places of counts."""
        return Routes(
            self.rank_counts(counts.above[where], counts.tied[where]),
            as_scores(counts.key[where]),
            len(self.pools.sources),
        )

    def rank_counts(self, above: Ints, tied: Ints) -> RankCounts:
        """Return counts of own images, each the one relevant of all distinct source images."""
        one = np.ones(len(above), dtype=np.int64)
        return RankCounts(above, tied, one, one * len(self.pools.sources))


def _rank_all(
    over: ImagePass,
    found: Sequence[WayBackRanks],
    measures: Sequence[RankMeasure],
    ranker: Ranker,
    progress: Progress | None,
) -> None:
    """Fill the ranks of the pools of one pass.

    A second pass is made only for the oracle of measures that need ranks beyond the first K, or where too
    many images tie with the K-th to be listed.
    """
    watchers: list[Watcher] = []
    for ranks in found:
        watchers += [ranks.counts, ranks.top, ranks.nearest_target]
    rank(over.similarity, watchers, ranker, progress=progress)
    for ranks in found:
        ranks.finish()
    ranked = any(not isinstance(m, RecallAt | RecallShare) for m in measures)
    if ranked or any(ranks.is_capped for ranks in found):
        for ranks in found:
            oracle, weights = ranks.oracle, ranks.source_weights
            ranks.deep = Counts.of(over.similarity, oracle.candidate, oracle.query, weights=weights)
        deep = [ranks.deep for ranks in found if ranks.deep is not None]
        rank(over.similarity, deep, ranker, progress=progress)


def rank_queries(ranks: WayBackRanks, ranker: Ranker, progress: Progress | None, tally: Tally) -> None:
    """Find the oracle of the queries, then the ranks on all ways back; nothing is listed.

    The images must have vectors.
    """
    ranks.queries_only = True
    queries = distinct_values(np.concatenate([ranks.source_columns(task) for task in ranks.pools.tasks]))
    ranks.oracle = nearest_targets(ranks, queries, ranker, progress, tally)
    row, column = np.divmod(ranks.pairs, ranks.over.similarity.shape[1])
    used = distinct_values(np.concatenate([row, ranks.oracle.candidate]))
    similarity = ranks.over.among(used, np.arange(ranks.over.similarity.shape[1]))
    assert similarity is not None
    keys, weights = ranks.counts.key, ranks.source_weights
    ranks.counts = Counts(np.searchsorted(used, row), column, keys, weights=weights)
    nearest = np.searchsorted(used, ranks.oracle.candidate)
    ranks.deep = Counts.of(similarity, nearest, ranks.oracle.query, weights=weights)
    rank(similarity, [ranks.counts, ranks.deep], ranker, progress=progress)
    tally.add(similarity)


def nearest_targets(
    ranks: WayBackRanks, columns: Ints, ranker: Ranker, progress: Progress | None, tally: Tally
) -> TopK:
    """Return the nearest target images of source columns (sorted), ties drawn as over all sources.

    The images must have vectors.
    """
    height = ranks.over.similarity.shape[0]
    similarity = ranks.over.among(np.arange(height), columns)
    assert similarity is not None
    cap = ranks.nearest_target.cap
    top = Top(1, similarity.shape, weights=ranks.target_weights, cap=cap, columns=True)
    rank(similarity, [top], ranker, progress=progress)
    tally.add(similarity)
    found = top.result()
    return replace(found, query=columns[found.query])
