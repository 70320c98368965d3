"""Steps 3 and 4 of Backretrieval: the rank of a query's own picture, seen from the retrieved text's picture.

One pass over the pictures serves all encoders, language pairs and seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.embed import PictureIndex
from xlingual.evaluation.nearest import Nearest
from xlingual.evaluation.ragged import members, sums
from xlingual.evaluation.setup import Task
from xlingual.measures import RankMeasure, RecallAt
from xlingual.ranking import (
    Cosine,
    Counts,
    Progress,
    Reduction,
    Top,
    TopK,
    Transposed,
    UnitVectors,
    as_scores,
    pairs,
    scan,
)
from xlingual.records import Floats, Ints, RankCounts


@dataclass(frozen=True)
class Routes:
    """Ways from queries over target pictures back to their own: per entry its rank counts and similarity."""

    counts: RankCounts  # [e]
    similarity: Floats  # [e] of the query's own picture and the target's


@dataclass(frozen=True)
class Reference:
    """What pictures alone say about one task, the same for every encoder; per query, float64 [n]."""

    n_pictures: int  # distinct source pictures D
    oracle: dict[str, Floats]  # by measure, SIM included
    oracle_target: Ints  # position of the target whose picture is nearest, -1 where several tie
    ceiling: dict[str, Floats]  # measures that have one: R@k and SIM
    chance_similarity: float  # mean similarity of a source and a target picture


@dataclass(frozen=True)
class _Scene:
    """One set of source pictures against one set of target pictures; several tasks may share it."""

    sources: Ints  # distinct pictures, sorted
    target_weights: Ints  # [all pictures] texts of the target side that show each
    tasks: list[int]


class WayBack:
    """The pictures of all tasks, ranked once.

    `targets` are pictures of target texts (the rows of the similarity), `sources` of source texts (columns);
    both are the distinct vectors of the distinct pictures.
    """

    def __init__(self, pictures: PictureIndex, tasks: Sequence[Task]) -> None:
        self.pictures, self.tasks = pictures, tasks
        self.scenes = self._scenes()
        pool = pictures.pool
        used_targets = np.flatnonzero(sum(scene.target_weights for scene in self.scenes))
        self._target_vectors = np.unique(pool.code[used_targets])
        self._source_vectors = np.unique(pool.code[np.concatenate([scene.sources for scene in self.scenes])])
        self.similarity = Cosine(
            UnitVectors(pool.vectors.raw, pool.vectors.rows[self._target_vectors]),
            UnitVectors(pool.vectors.raw, pool.vectors.rows[self._source_vectors]),
        )

    def source_pictures(self, task: Task) -> Ints:
        """Return the picture of each source of a task."""
        return self.pictures.code[task.sample.source]

    def target_pictures(self, task: Task) -> Ints:
        """Return the picture of each target of a task."""
        return self.pictures.code[task.sample.target]

    def rank(
        self,
        nearest: Sequence[Sequence[Nearest]],
        measures: Sequence[RankMeasure],
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> tuple[list[list[Routes]], list[Reference]]:
        """Return routes for [encoder][task] and references for [task].

        `nearest` is indexed [encoder][task]. One pass over the pictures; a second one only for the oracle of
        measures that need ranks beyond the first K, or where too many tie with the K-th to be listed.
        """
        depth = max((m.k for m in measures if isinstance(m, RecallAt)), default=1)
        requests = [_Request(self, scene, nearest, depth) for scene in self.scenes]
        scan(
            self.similarity,
            [reduction for request in requests for reduction in request.reductions],
            threads=threads,
            progress=progress,
        )
        for request in requests:
            request.finish()
        if any(not isinstance(m, RecallAt) for m in measures) or any(r.is_capped for r in requests):
            deep = [request.oracle_counts() for request in requests]
            scan(self.similarity, deep, threads=threads, progress=progress)
            for request, found in zip(requests, deep, strict=True):
                request.deep = found
        routes: list[list[Routes]] = [[] for _ in nearest]
        references: list[Reference | None] = [None] * len(self.tasks)
        for request in requests:
            for task in request.scene.tasks:
                references[task] = request.reference(task, measures)
        by_task = {task: request for request in requests for task in request.scene.tasks}
        for encoder, found_routes in enumerate(routes):
            found_routes += [
                by_task[task].routes(encoder, task, nearest[encoder][task]) for task in range(len(self.tasks))
            ]
        return routes, [reference for reference in references if reference is not None]

    def rows(self, pictures: Ints) -> Ints:
        """Return the rows of the similarity for target pictures."""
        return np.searchsorted(self._target_vectors, self.pictures.pool.code[pictures])

    def columns(self, pictures: Ints) -> Ints:
        """Return the columns of the similarity for source pictures."""
        return np.searchsorted(self._source_vectors, self.pictures.pool.code[pictures])

    def _scenes(self) -> list[_Scene]:
        """Gather tasks with the same source pictures and target pictures: their ranking is the same."""
        found: dict[tuple[bytes, bytes], _Scene] = {}
        for number, task in enumerate(self.tasks):
            sources = np.unique(self.source_pictures(task))
            weights = np.bincount(self.target_pictures(task), minlength=len(self.pictures))
            key = (sources.tobytes(), weights.tobytes())
            found.setdefault(key, _Scene(sources, weights.astype(np.int64), [])).tasks.append(number)
        return list(found.values())


class _Request:
    """The reductions of one scene, and what is read off them."""

    def __init__(
        self, back: WayBack, scene: _Scene, nearest: Sequence[Sequence[Nearest]], depth: int
    ) -> None:
        self.back, self.scene = back, scene
        shape = back.similarity.shape
        self.source_weights = np.bincount(back.columns(scene.sources), minlength=shape[1]).astype(np.int64)
        targets = np.flatnonzero(scene.target_weights)
        target_rows = back.rows(targets)
        self.target_weights = np.bincount(target_rows, scene.target_weights[targets], shape[0]).astype(
            np.int64
        )
        self._pairs, self._where = self._unique_pairs(nearest)
        self.counts = Counts.of(
            back.similarity, *np.divmod(self._pairs, shape[1]), weights=self.source_weights
        )
        self.top = Top(depth, shape, weights=self.source_weights, queries=np.unique(target_rows))
        self.nearest_target = Top(
            1,
            (shape[1], shape[0]),
            weights=self.target_weights,
            queries=np.unique(back.columns(scene.sources)),
        )
        self.deep: Counts | None = None

    @property
    def reductions(self) -> list[Reduction]:
        """What the one pass has to fill."""
        return [self.counts, self.top, Transposed(self.nearest_target)]

    def _unique_pairs(self, nearest: Sequence[Sequence[Nearest]]) -> tuple[Ints, dict[tuple[int, int], Ints]]:
        """Return the pairs (target row, source column) of all encoders, each once, and where each went."""
        width = self.back.similarity.shape[1]
        keys: list[Ints] = []
        owners: list[tuple[int, int]] = []
        for encoder, found in enumerate(nearest):
            for number in self.scene.tasks:
                task = self.back.tasks[number]
                rows = self.back.rows(self.back.target_pictures(task)[found[number].target])
                columns = self.back.columns(self.back.source_pictures(task)[found[number].query])
                keys.append(rows * width + columns)
                owners.append((encoder, number))
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

    def routes(self, encoder: int, task: int, nearest: Nearest) -> Routes:
        """Return the way back of each entry of an encoder's nearest texts."""
        where = self._where[encoder, task]
        return Routes(
            self._rank_counts(self.counts.above[where], self.counts.tied[where]),
            as_scores(self.counts.keys_given[where]),
        )

    def oracle_counts(self) -> Counts:
        """Return the request for the ranks on the oracle's way back."""
        return Counts.of(
            self.back.similarity, self.oracle.candidate, self.oracle.query, weights=self.source_weights
        )

    def reference(self, number: int, measures: Sequence[RankMeasure]) -> Reference:
        """Return oracle, ceiling and chance of a task, per query."""
        task = self.back.tasks[number]
        columns = self.back.columns(self.back.source_pictures(task))
        oracle: dict[str, Floats] = {}
        ceiling: dict[str, Floats] = {}
        share = self.oracle.weight / np.bincount(self.oracle.query, self.oracle.weight)[self.oracle.query]
        size = self.back.similarity.shape[1]
        for measure in measures:
            if self.deep is not None:
                values = measure.per_query(self._rank_counts(self.deep.above, self.deep.tied))
            elif isinstance(measure, RecallAt):
                values = self._listed_values(measure)
            if isinstance(measure, RecallAt):
                ceiling[measure.name] = self._ceiling(measure)[columns]
            oracle[measure.name] = sums(self.oracle.query, share * values, size)[columns]
        scores = pairs(self.back.similarity, self.oracle.candidate, self.oracle.query)
        oracle["SIM"] = sums(self.oracle.query, share * scores, size)[columns]
        ceiling["SIM"] = oracle["SIM"]  # the nearest target picture is the most similar there is
        return Reference(
            n_pictures=len(self.scene.sources),
            oracle=oracle,
            oracle_target=self._oracle_target(task, columns),
            ceiling=ceiling,
            chance_similarity=self._chance_similarity(task),
        )

    def _listed_values(self, measure: RecallAt) -> Floats:
        """Return R@k of each oracle pair, from the lists of the first K: what is not listed is no hit."""
        width = self.back.similarity.shape[1]
        listed = self.listed.query * width + self.listed.candidate
        order = np.argsort(listed)
        wanted = self.oracle.candidate * width + self.oracle.query
        place = np.searchsorted(listed[order], wanted)
        place[place == len(listed)] = 0
        line = order[place]
        hits = measure.per_query(self._rank_counts(self.listed.above[line], self.listed.tied[line]))
        return np.where(listed[line] == wanted, hits, 0.0)

    def _ceiling(self, measure: RecallAt) -> Floats:
        """Return, for each source column, the best chance of a hit that any target gives.

        Where more tie with the K-th than are listed, any column may be among them: a bound.
        """
        best = np.zeros(self.back.similarity.shape[1])
        hits = measure.per_query(self._rank_counts(self.listed.above, self.listed.tied))
        np.maximum.at(best, self.listed.candidate, hits)
        last = np.ones(self.back.similarity.shape[0])  # by target row: the chance at its K-th place
        np.minimum.at(last, self.listed.query, hits)
        capped = self.listed.unlisted > 0
        bound: Floats = np.maximum(best, last[capped].max(initial=0.0))
        return bound

    def _oracle_target(self, task: Task, columns: Ints) -> Ints:
        """Return the position among the task's targets of each query's nearest picture, -1 for ties."""
        query, line = members(self.oracle.query, columns)
        rows = self.back.rows(self.back.target_pictures(task))
        first = np.full(self.back.similarity.shape[0], -1, dtype=np.int64)
        first[rows[::-1]] = np.arange(len(rows))[::-1]
        found = np.full(len(columns), -1, dtype=np.int64)
        found[query] = first[self.oracle.candidate[line]]
        tied = np.zeros(len(columns), dtype=np.int64)
        tied[query] = self.oracle.tied[line]
        return np.where(tied == 1, found, -1)

    def _chance_similarity(self, task: Task) -> float:
        """Return the mean similarity of all pairs of a source and a target: the product of mean vectors."""
        similarity = self.back.similarity
        rows = self.back.rows(self.back.target_pictures(task))
        columns = self.back.columns(self.back.source_pictures(task))
        return float(
            similarity.queries.mean(np.bincount(rows, minlength=similarity.shape[0]))
            @ similarity.candidates.mean(np.bincount(columns, minlength=similarity.shape[1]))
        )

    def _rank_counts(self, above: Ints, tied: Ints) -> RankCounts:
        one = np.ones(len(above), dtype=np.int64)
        return RankCounts(above, tied, one, one * len(self.scene.sources))
