"""Steps 3 and 4 of Backretrieval: the rank of a query's own picture, seen from the retrieved text's picture.

All encoders share the passes over pictures; so do language pairs with the same pictures, and the seeds of a
language pair. Where few sources are asked, only what these queries need is ranked, not every target picture:
the asked sources against all target pictures (the oracle), and the pictures that some way starts from against
all source pictures (the ranks).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.evaluation.backretrieval.images import PicturePass, PictureSpace, Sides, grouped, sides_of
from xlingual.evaluation.backretrieval.nearest import Nearest, tie_cap
from xlingual.evaluation.pair_run import Task
from xlingual.evaluation.ragged import sums
from xlingual.evaluation.run import Tally
from xlingual.evaluation.scorer import Scorable
from xlingual.measures import PictureSimilarity, RankMeasure, RecallAt, RecallShare
from xlingual.ranking import (
    CPU,
    Counts,
    PictureScores,
    Progress,
    Ranker,
    Reduction,
    Top,
    TopK,
    Transposed,
    as_scores,
)
from xlingual.records import RankCounts


def ways_back(
    pictures: PictureSpace,
    tasks: Sequence[Task],
    nearest: Sequence[Sequence[Nearest]],
    measures: Sequence[RankMeasure],
    *,
    ranker: Ranker = CPU,
    progress: Progress | None = None,
    tally: Tally | None = None,
) -> Iterator[SideRanks]:
    """Yield the ranks of the tasks, of those together that have the same pictures; each task comes once.

    `nearest` is [encoder][task]. The ranks hold what was computed of a pass: look at them before the next.
    """
    groups = grouped(sides_of(pictures, tasks), tasks)
    for done, group in enumerate(groups):
        part = _part(progress, done, groups)
        over = PicturePass(pictures, group, part)
        found = [SideRanks(over, sides, pictures, tasks, nearest, _depth(measures)) for sides in over.sides]
        if over.has_vectors and all(tasks[number].sample.is_part for side in group for number in side.tasks):
            for ranks in found:
                rank_asked(ranks, ranker, part, tally)
        else:
            _rank_all(over, found, measures, ranker, part)
        yield from found
        if tally is not None:
            tally.add(over.similarity)


@dataclass(frozen=True)
class Routes:
    """Ways from queries over target pictures back to their own: per entry its rank counts and similarity."""

    counts: RankCounts  # [e]
    similarity: Floats  # [e] of the query's own picture and the target's


@dataclass(frozen=True)
class Found:
    """What one encoder found in one task: nearest texts and the ways back."""

    nearest: Nearest
    routes: Routes

    def values(self, measure: Scorable) -> Floats:
        """Return the value of each query, float64 [n]."""
        if isinstance(measure, PictureSimilarity):
            return self.mean(self.routes.similarity)
        return self.mean(measure.per_query(self.routes.counts))

    def mean(self, values: Floats) -> Floats:
        """Return the mean of values of entries over the texts that tie for nearest, per query."""
        share = self.nearest.share * values
        return sums(self.nearest.query, share, len(self.nearest.n_tied))

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


class SideRanks:
    """The reductions of one set of sides: ranks of own pictures, the first K of each target, the oracle."""

    def __init__(
        self,
        over: PicturePass,
        sides: Sides,
        pictures: PictureSpace,
        tasks: Sequence[Task],
        nearest: Sequence[Sequence[Nearest]],
        depth: int,
    ) -> None:
        self.over, self.sides, self.pictures, self.tasks = over, sides, pictures, tasks
        height, width = shape = over.similarity.shape
        rows, columns = over.rows(sides.targets), over.columns(sides.sources)
        self.source_weights = np.bincount(columns, minlength=width).astype(np.int64)
        self.target_weights = np.bincount(rows, sides.target_texts, height).astype(np.int64)
        self.pairs, self._where = self._unique_pairs(nearest)
        self.counts = Counts.of(over.similarity, *np.divmod(self.pairs, width), weights=self.source_weights)
        cap = tie_cap(max(len(rows), len(columns)))
        self.top = Top(depth, shape, weights=self.source_weights, queries=distinct_values(rows), cap=cap)
        self.nearest_target = Top(
            1, (width, height), weights=self.target_weights, queries=distinct_values(columns), cap=cap
        )
        self.deep: Counts | None = None
        self.asked_alone = False  # `oracle` and `counts` are of the asked sources, and nothing is `listed`

    @property
    def reductions(self) -> list[Reduction]:
        """What the one pass has to fill."""
        return [self.counts, self.top, Transposed(self.nearest_target)]

    def source_columns(self, task: int) -> Ints:
        """Return the column of each source of a task."""
        return self.over.columns(self.pictures.code[self.tasks[task].sample.source])

    def target_rows(self, task: int) -> Ints:
        """Return the row of each target of a task."""
        return self.over.rows(self.pictures.code[self.tasks[task].sample.target])

    def _unique_pairs(self, nearest: Sequence[Sequence[Nearest]]) -> tuple[Ints, dict[tuple[int, int], Ints]]:
        """Return the pairs (target row, source column) of all encoders, each once, and where each went."""
        width = self.over.similarity.shape[1]
        keys: list[Ints] = []
        owners: list[tuple[int, int]] = []
        for task in self.sides.tasks:
            rows, columns = self.target_rows(task), self.source_columns(task)
            for encoder, found in enumerate(nearest):
                keys.append(rows[found[task].target] * width + columns[found[task].query])
                owners.append((encoder, task))
        pairs, inverse = np.unique(np.concatenate(keys), return_inverse=True)
        ends = np.cumsum([len(key) for key in keys])[:-1]
        return pairs, dict(zip(owners, np.split(inverse, ends), strict=True))

    def finish(self) -> None:
        """Decide what the screen left open."""
        self.listed: TopK = self.top.result()
        self.oracle: TopK = self.nearest_target.result()

    @property
    def is_capped(self) -> bool:
        """Whether some picture has more ties with its K-th than are listed."""
        return bool(self.listed.unlisted.any())

    def routes(self, encoder: int, task: int) -> Routes:
        """Return the way back of each entry of an encoder's nearest texts."""
        where = self._where[encoder, task]
        return Routes(
            self.rank_counts(self.counts.above[where], self.counts.tied[where]),
            as_scores(self.counts.keys_given[where]),
        )

    def oracle_counts(self) -> Counts:
        """Return the request for the ranks on the oracle's way back."""
        return Counts.of(
            self.over.similarity, self.oracle.candidate, self.oracle.query, weights=self.source_weights
        )

    def rank_counts(self, above: Ints, tied: Ints) -> RankCounts:
        """Return counts of own pictures, each the one relevant of all distinct source pictures."""
        one = np.ones(len(above), dtype=np.int64)
        return RankCounts(above, tied, one, one * len(self.sides.sources))


def _depth(measures: Sequence[RankMeasure]) -> int:
    return max((m.k for m in measures if isinstance(m, RecallAt)), default=1)


def _rank_all(
    over: PicturePass,
    found: Sequence[SideRanks],
    measures: Sequence[RankMeasure],
    ranker: Ranker,
    progress: Progress | None,
) -> None:
    """Fill the ranks of the sides of one pass.

    A second pass is made only for the oracle of measures that need ranks beyond the first K, or where too
    many pictures tie with the K-th to be listed.
    """
    reductions = [reduction for ranks in found for reduction in ranks.reductions]
    ranker.scan(over.similarity, reductions, progress=progress)
    for ranks in found:
        ranks.finish()
    ranked = any(not isinstance(m, RecallAt | RecallShare) for m in measures)
    if ranked or any(ranks.is_capped for ranks in found):
        deep = [ranks.oracle_counts() for ranks in found]
        ranker.scan(over.similarity, deep, progress=progress)
        for ranks, counts in zip(found, deep, strict=True):
            ranks.deep = counts


def _part(progress: Progress | None, done: int, groups: Sequence[object]) -> Progress | None:
    """Return the progress of one group as a part of that of all."""
    if progress is None:
        return None
    steps = 1000  # of each group
    return lambda now, total: progress(done * steps + steps * now // max(total, 1), len(groups) * steps)


def rank_asked(ranks: SideRanks, ranker: Ranker, progress: Progress | None, tally: Tally | None) -> None:
    """Find the oracle of the asked sources, then the ranks on all ways back; nothing is listed.

    The pictures must have vectors (`PicturePass.has_vectors`).
    """
    ranks.asked_alone = True
    asked = distinct_values(np.concatenate([ranks.source_columns(task) for task in ranks.sides.tasks]))
    ranks.oracle = nearest_targets(ranks, asked, ranker, progress, tally)
    used = distinct_values(np.concatenate([ranks.counts.query, ranks.oracle.candidate]))
    similarity = ranks.over.among(used, np.arange(ranks.over.similarity.shape[1]))
    assert similarity is not None
    row, column = np.divmod(ranks.pairs, ranks.over.similarity.shape[1])
    ranks.counts = Counts(
        np.searchsorted(used, row), column, ranks.counts.keys_given, weights=ranks.source_weights
    )
    ranks.deep = Counts.of(
        similarity,
        np.searchsorted(used, ranks.oracle.candidate),
        ranks.oracle.query,
        weights=ranks.source_weights,
    )
    ranker.scan(similarity, [ranks.counts, ranks.deep], progress=progress)
    _add(tally, similarity)


def nearest_targets(
    ranks: SideRanks, columns: Ints, ranker: Ranker, progress: Progress | None, tally: Tally | None
) -> TopK:
    """Return the nearest target pictures of source columns (sorted), ties drawn as where all are asked.

    The pictures must have vectors (`PicturePass.has_vectors`).
    """
    height = ranks.over.similarity.shape[0]
    similarity = ranks.over.among(np.arange(height), columns)
    assert similarity is not None
    cap = ranks.nearest_target.cap
    top = Top(1, (len(columns), height), weights=ranks.target_weights, cap=cap)
    ranker.scan(similarity, [Transposed(top)], progress=progress)
    _add(tally, similarity)
    found = top.result()
    return replace(found, query=columns[found.query])


def _add(tally: Tally | None, similarity: PictureScores) -> None:
    if tally is not None:
        tally.add(similarity)
