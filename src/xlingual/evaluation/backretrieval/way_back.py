"""Steps 3 and 4 of Backretrieval: the rank of a query's own image, seen from the retrieved text's image.

All encoders share the passes over images; so do language pairs with the same images, and the seeds of a
language pair. Rows of a pass are target images and columns source images: distinct vectors, which different
images may share. Where only some sources are queries (`queries`), not every target image is ranked: first
all of them against the query images (the oracle), then the images of retrieved texts and of the oracle
against all source images (the ranks).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.data.check import MANY, shared_images, shared_sentence
from xlingual.data.images import items_of_images, near_equal, sketched
from xlingual.data.manifest import Manifest
from xlingual.embed.sides import ImageIndex
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.backretrieval.nearest import Nearest, cluster_ids, tie_cap
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.numbers import Baseline
from xlingual.evaluation.pair_run import PairRun, PairTask
from xlingual.evaluation.passes import one_pass, part_of
from xlingual.evaluation.run import Tally
from xlingual.measures import MeanImageSimilarity, RankMeasure, RecallAt, RecallShare
from xlingual.ragged import distinct_of, members, sums
from xlingual.ranking import (
    Cosine,
    Counts,
    Progress,
    Ranker,
    Top,
    TopK,
    as_scores,
    one_library_thread,
    pairs,
    rank,
)
from xlingual.ranking.similarity import DECIMALS
from xlingual.records import RankCounts

SIM = MeanImageSimilarity()
NEAR_IDENTICAL = 0.005  # median cosine distance of two images, below which all look the same
_BACKGROUND = 300  # images whose distances from each other are the background


def images_of(run: PairRun) -> tuple[str, str, ImageIndex]:
    """Return name and identity of the image encoder, and the images of all tasks.

    Near-duplicates are looked for on the way, and near-equal images that many items show.
    """
    name, identity, index = run.images()
    points, image = distinct_values(index.points), np.append(index.points, -1)[index.code]
    image = np.where(image < 0, image, np.searchsorted(points, image))
    parts = [index.pool.vectors.take(points[at : at + 4096]) for at in range(0, len(points), 4096)]
    unit = [sketched(part.stored(np.arange(len(part))) * part.inverse_norms[:, None]) for part in parts]
    equal = near_equal(np.concatenate(unit), items_of_images(image, run.manifest.item), MANY)
    if shared := shared_images(run.manifest, np.append(equal, -1)[image]):
        warn(f"{run.manifest.source}: {shared_sentence(shared)}")
    run.join_near_duplicates(index)
    return name, identity, index


def refuse_small_pools(
    images: ImageIndex, tasks: Sequence[PairTask], measures: Sequence[RankMeasure]
) -> None:
    """Raise InputError where every query would be a hit: k is not below the number of distinct images."""
    depth = max((m.k for m in measures if isinstance(m, RecallAt)), default=0)
    for task in tasks:
        count = len(distinct_values(images.code[task.sample.pool]))
        if depth >= count:
            raise InputError(
                f"R@{depth} needs more than {depth} distinct source images, pair "
                f"{task.source}-{task.target} has {count} (items with both languages are divided between "
                "sources and targets): every query would be a hit; give more items, "
                f"a smaller k ({parameter('measures', ['R@k'])}), or name other pairs ({parameter('pairs')})"
            )


def usual_distance(images: ImageIndex) -> float | None:
    """Compute the median cosine distance of two images, of at most 300; None for fewer than two."""
    lines = np.linspace(0, len(images) - 1, min(len(images), _BACKGROUND)).astype(np.int64)
    if len(lines) < 2:
        return None
    vectors = images.pool.vectors.take(images.points[lines])
    unit = vectors.stored(np.arange(len(lines))) * vectors.inverse_norms[:, None]
    with one_library_thread():  # threads of a library wait busily for more after a product
        cosine = (unit @ unit.T)[np.triu_indices(len(lines), 1)]
    return abs(round(float(np.median(1 - cosine)), DECIMALS))  # the same with any number of threads


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
        values[self.nearest.n_tied == 0] = measure.per_query(
            _alone(np.array([self.pool]), np.ones(1, dtype=np.int64), self.pool)
        )
        return values

    def mean(self, values: Floats) -> Floats:
        """Average values of entries over the texts that tie for nearest, per query."""
        return sums(self.nearest.query, self.nearest.share * values, len(self.nearest.n_tied))

    def n_tied(self) -> int:
        """Count the queries that have a tie, for nearest text or on the way back."""
        tied = self.nearest.n_tied > 1
        tied[self.nearest.query[self.counts.tied > 1]] = True
        return int(tied.sum())


def _groups_of(images: ImageIndex, tasks: Sequence[PairTask]) -> list[list[list[int]]]:
    """Group the numbers of tasks with the same images, and these groups where they share one product.

    The seeds of a language pair share one, where that is cheaper.
    """
    pools: dict[tuple[bytes, bytes], list[int]] = {}
    for number, task in enumerate(tasks):
        sources, targets = (images.code[rows] for rows in (task.sample.pool, task.sample.target))
        pools.setdefault((distinct_values(sources).tobytes(), np.sort(targets).tobytes()), []).append(number)
    by_pair: dict[tuple[str, str], list[list[int]]] = {}
    for numbers in pools.values():
        by_pair.setdefault(tasks[numbers[0]].pair, []).append(numbers)
    groups: list[list[list[int]]] = []
    for several in by_pair.values():
        samples = [tasks[numbers[0]].sample for numbers in several]
        areas = [
            (distinct_values(images.code[sample.pool]), distinct_values(images.code[sample.target]))
            for sample in samples
        ]
        groups += [several] if one_pass(areas) else [[numbers] for numbers in several]
    return groups


def ways_back(
    images: ImageIndex,
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
    groups, code = _groups_of(images, tasks), images.points
    depth = max((measure.k for measure in measures if isinstance(measure, RecallAt)), default=1)
    listed = all(isinstance(measure, RecallAt | RecallShare) for measure in measures)
    for done, group in enumerate(groups):
        part, samples = part_of(progress, done, len(groups)), [tasks[numbers[0]].sample for numbers in group]
        rows, columns = (
            distinct_values(code[images.code[np.concatenate(sides)]])
            for sides in ([sample.target for sample in samples], [sample.pool for sample in samples])
        )
        whole = images.between(rows, columns)
        ranks = [PoolRanks(images, (rows, columns), whole, numbers, tasks, nearest) for numbers in group]
        if all(tasks[number].sample.is_part for numbers in group for number in numbers):
            for each in ranks:
                each.rank_queries(images, (rows, columns), ranker, part, tally)
        else:
            tops = [(each.first_images(depth), each.oracle_targets()) for each in ranks]
            watchers = [one for each, top in zip(ranks, tops, strict=True) for one in (each.counts, *top)]
            rank(whole, watchers, ranker, progress=part)
            for each, (first, oracle) in zip(ranks, tops, strict=True):
                each.listed, each.oracle = first.result(), oracle.result()
            # the lists of the first K say the oracle's R@K; other measures, and long ties, need another pass
            if not listed or any(each.is_capped for each in ranks):
                deep = [each.oracle_counts(whole, each.oracle.candidate) for each in ranks]
                rank(whole, deep, ranker, progress=part)
        yield from ranks
        tally.add(whole)


class PoolRanks:
    """The ranks of one pair of image pools: of own images, the first K of each target, and the oracle."""

    oracle: TopK  # the nearest target images of each source image, or of each query's
    listed: TopK | None = None  # the first K source images of each target image, where all are ranked
    deep: Counts | None = None  # where the queries' own images stand for the oracle's

    def __init__(
        self,
        images: ImageIndex,
        points: tuple[Ints, Ints],  # of the rows and columns of the similarity
        similarity: Cosine,
        numbers: Sequence[int],  # of the tasks
        tasks: Sequence[PairTask],
        nearest: Sequence[Sequence[Nearest]],
    ) -> None:
        self.similarity, self.numbers, self.tasks, self._nearest = similarity, numbers, tasks, nearest
        (height, width), samples = similarity.shape, {number: tasks[number].sample for number in numbers}
        code = images.points[images.code]
        self.rows = {n: np.searchsorted(points[0], code[sample.target]) for n, sample in samples.items()}
        self.columns = {n: np.searchsorted(points[1], code[sample.source]) for n, sample in samples.items()}
        first = samples[numbers[0]]  # the others have the same images
        sources, targets = (distinct_values(images.code[rows]) for rows in (first.pool, first.target))
        columns, self.pool = np.searchsorted(points[1], images.points[sources]), len(sources)
        self.source_weights = np.bincount(columns, minlength=width).astype(np.int64)
        self.target_weights = np.bincount(self.rows[numbers[0]], minlength=height).astype(np.int64)
        self.cap = tie_cap(max(len(targets), len(sources)))
        self._asked = distinct_values(self.rows[numbers[0]]), distinct_values(columns)
        places = [(encoder, number) for number in numbers for encoder in range(len(nearest))]
        keys = []
        for encoder, number in places:
            texts = nearest[encoder][number]
            keys.append(self.rows[number][texts.target] * width + self.columns[number][texts.query])
        self._pairs, where = distinct_of(keys)  # (target row, source column) of all encoders, each once
        self._where = dict(zip(places, where, strict=True))
        self.counts = Counts.of(similarity, *np.divmod(self._pairs, width), weights=self.source_weights)

    def first_images(self, depth: int) -> Top:
        """Ask for the first source images of each target image."""
        shape, weights = self.similarity.shape, self.source_weights
        return Top(depth, shape, weights=weights, queries=self._asked[0], cap=self.cap)

    def oracle_targets(self) -> Top:
        """Ask for the nearest target images of each source image."""
        shape, weights = self.similarity.shape, self.target_weights
        return Top(1, shape, weights=weights, queries=self._asked[1], cap=self.cap, columns=True)

    def oracle_counts(self, similarity: Cosine, rows: Ints) -> Counts:
        """Ask where the queries' own images stand for the oracle's target images, rows of a similarity."""
        self.deep = Counts.of(similarity, rows, self.oracle.query, weights=self.source_weights)
        return self.deep

    def rank_queries(
        self,
        images: ImageIndex,
        points: tuple[Ints, Ints],
        ranker: Ranker,
        part: Progress | None,
        tally: Tally,
    ) -> None:
        """Find the oracle of the queries, then the ranks on all ways back."""
        queries = distinct_values(np.concatenate(list(self.columns.values())))
        similarity = images.between(points[0], points[1][queries])
        top = Top(1, similarity.shape, weights=self.target_weights, cap=self.cap, columns=True)
        rank(similarity, [top], ranker, progress=part)
        tally.add(similarity)
        oracle = top.result()
        self.oracle = replace(oracle, query=queries[oracle.query])
        row, column = np.divmod(self._pairs, self.similarity.shape[1])
        used = distinct_values(np.concatenate([row, oracle.candidate]))
        similarity = images.between(points[0][used], points[1])
        self.counts = Counts(np.searchsorted(used, row), column, self.counts.key, weights=self.source_weights)
        deep = self.oracle_counts(similarity, np.searchsorted(used, oracle.candidate))
        rank(similarity, [self.counts, deep], ranker, progress=part)
        tally.add(similarity)

    @property
    def is_capped(self) -> bool:
        """Whether some image has more ties with its K-th than are listed."""
        return self.listed is not None and bool(self.listed.unlisted.any())

    def way_back(self, encoder: int, number: int) -> WayBack:
        """Select the ways back of an encoder's nearest texts in a task."""
        where, counts, pool = self._where[encoder, number], self.counts, self.pool
        ranks = _alone(counts.above[where], counts.tied[where], pool)
        return WayBack(self._nearest[encoder][number], ranks, as_scores(counts.key[where]), pool)

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
        clusters = cluster_ids(manifest, number, self.tasks[number].sample, target)

        def best(measure: RankMeasure | MeanImageSimilarity, values: Floats) -> Score:
            return score(measure, sums(oracle.query, share * values, width)[columns], clusters)

        equal, baselines = _alone(np.zeros(1, dtype=np.int64), np.full(1, self.pool), self.pool), {}
        for measure in measures:
            chance, values, ceiling = float(measure.per_query(equal)[0]), None, None
            if isinstance(measure, RecallAt) and self.listed is not None:
                mean, values, ceiling = self._of_lists(measure, self.listed, columns)
                chance = chance if self.is_capped else mean
            if self.deep is not None:
                values = measure.per_query(_alone(self.deep.above, self.deep.tied, self.pool))
            baselines[measure.name] = Baseline(
                chance, None if values is None else best(measure, values), ceiling
            )
        chance = self.similarity.mean(  # of all pairs of a source and a target
            np.bincount(rows, minlength=height), np.bincount(columns, minlength=width)
        )
        similar = best(SIM, pairs(self.similarity, oracle.candidate, oracle.query))
        baselines[SIM.name] = Baseline(chance, similar, similar.value)  # none is more similar
        return baselines

    def _of_lists(self, measure: RecallAt, listed: TopK, columns: Ints) -> tuple[float, Floats, float]:
        """Compute chance, the hits of the oracle's pairs, and the ceiling from the first K of each target."""
        height, width = self.similarity.shape
        hits = measure.per_query(_alone(listed.above, listed.tied, self.pool))
        sources = np.bincount(columns, minlength=width)
        # fsum: the same number however long the lists are
        total = math.fsum(self.target_weights[listed.query] * sources[listed.candidate] * hits)
        chance = total / float(self.target_weights.sum() * sources.sum())
        keys, oracle = listed.query * width + listed.candidate, self.oracle
        order, pair = np.argsort(keys), oracle.candidate * width + oracle.query
        line = order[np.minimum(np.searchsorted(keys[order], pair), len(keys) - 1)]
        of_oracle = np.where(keys[line] == pair, hits[line], 0.0)  # a pair that is not listed is no hit
        most, last = np.zeros(width), np.ones(height)  # by target row: the chance at its K-th place
        np.maximum.at(most, listed.candidate, hits)
        np.minimum.at(last, listed.query, hits)
        # where more tie with the K-th than are listed, any column may be among them: a bound
        most = np.maximum(most, last[listed.unlisted > 0].max(initial=0.0))
        return chance, of_oracle, float(most[columns].mean())


def _alone(above: Ints, tied: Ints, pool: int) -> RankCounts:
    """Count own images, each the one relevant of all distinct source images."""
    single = np.ones(len(above), dtype=np.int64)
    return RankCounts(above, tied, single, single * pool)
