"""The scores that a metric validation needs: all encoders, seeds, measures and levels of images, in one pass.

Every encoder encodes once. Its texts are compared once for all samples of a language pair, non-matching and
matching; rankings of images are shared by all encoders. A level of weakened images repeats only what
depends on images.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sample
from xlingual.embed.sides import ImageIndex, TextVectors
from xlingual.evaluation.backretrieval.baselines import ReferenceScores, reference
from xlingual.evaluation.backretrieval.nearest import Nearest, NearestRequest, cluster_ids, nearest_texts
from xlingual.evaluation.backretrieval.way_back import WaysFound, ways_back
from xlingual.evaluation.crosslingual_retrieval.matches import match_requests, matches_and_places
from xlingual.evaluation.distance_correlation import (
    KEPT_BYTES,
    Correlation,
    ImageRanks,
    RankedTables,
    SamplePairs,
    correlation,
)
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.metric_validation.degrade import Weakened, Weakening, neighbours_kept
from xlingual.evaluation.pair_run import PairRun, PairTask, by_pair
from xlingual.evaluation.passes import TextUnion, one_pass
from xlingual.evaluation.run import Tally, TextSides
from xlingual.measures import MeanImageSimilarity, RecallAt, SuccessAt
from xlingual.ranking import Progress, Ranker, Watcher, one_library_thread, rank
from xlingual.records import RankCounts

SIM = MeanImageSimilarity()
_RANK_BYTES = 4  # of a pair in a ranked table


@dataclass
class MeasuredScores:
    """Scores by (encoder, task), those that depend on images by level first; a task is a pair and seed."""

    truth: dict[tuple[str, int], Score] = field(default_factory=dict)
    truth_at_1: dict[tuple[str, int], Score] = field(default_factory=dict)  # empty where K is 1
    recall: dict[tuple[Weakening, str, int], Score] = field(default_factory=dict)
    similarity: dict[tuple[Weakening, str, int], Score] = field(default_factory=dict)
    correlations: dict[tuple[Weakening, str, int], Correlation] = field(default_factory=dict)
    references: dict[tuple[Weakening, int], ReferenceScores] = field(default_factory=dict)
    oracles: dict[tuple[Weakening, int], Score] = field(default_factory=dict)
    n_pictures: list[int] = field(default_factory=list)  # distinct source images, by task
    kept: dict[Weakening, float | None] = field(
        default_factory=dict
    )  # neighbours that images keep at a level


def at_1(measure: RecallAt) -> RecallAt | None:
    """Return the measure at K = 1, None where it is that already."""
    return replace(measure, k=1) if measure.k > 1 else None


class ValidationPass:
    """One pass over all encoders; `matching` holds the matching task of each task."""

    def __init__(
        self,
        run: PairRun,
        matching: Sequence[PairTask],
        images: ImageIndex,
        measure: RecallAt,
        levels: Sequence[Weakening],
    ) -> None:
        self._run, self.matching, self.measure, self.levels = run, matching, measure, levels
        self._workers = ThreadPoolExecutor(run.options.threads)  # a thread starts with its first work
        self.tasks, self.cluster = run.tasks, run.manifest.cluster
        counts = [len(np.unique(images.code[task.sample.source])) for task in self.tasks]
        self.measured = MeasuredScores(n_pictures=counts)
        weakened = Weakened(images, levels, run.options.seed)
        self._pairs = [SamplePairs.of(task.sample) for task in self.tasks]
        with run.stage("images: weaken"):
            self._views = {level: self._images_at(weakened, level) for level in levels}
            for level, views in self._views.items() if len(levels) > 1 else ():
                view = next(iter(views.values()))
                self.measured.kept[level] = neighbours_kept(images, view, measure.k, run.options.seed)
        self._ranks = {
            (level, seed): ImageRanks(view, self.tasks, self._pairs)
            for level, views in self._views.items()
            for seed, view in views.items()
        }

    def run(self) -> MeasuredScores:
        """Return all scores."""
        nearest: dict[str, list[Nearest]] = {}
        kept: dict[str, TextVectors] = {}
        first, *later = self._chunks()
        with self._workers:
            for name, vectors in self._run.encoded():
                nearest[name], matches = self._texts(name, vectors)
                self._enter_truth(name, matches)
                alike = self._run.without_role(name, vectors)  # a correlation of distances has no queries
                self._correlate(name, alike, first)
                if later:
                    kept[name] = alike
            for chunk in later:  # the image ranks of all tasks together would not fit into memory
                for ranks in self._ranks.values():
                    ranks.forget()
                for name, vectors in kept.items():
                    self._correlate(name, vectors, chunk)
        for level in self.levels:
            self._way_back(level, nearest)
        return self.measured

    def _images_at(self, weakened: Weakened, level: Weakening) -> dict[int | None, ImageIndex]:
        """Return the images at a level by seed; None stands for every seed."""
        if not level.by_seed:
            return {None: weakened.at(level, 0)}
        return {seed: weakened.at(level, seed) for seed in {task.sample.seed for task in self.tasks}}

    def _chunks(self) -> list[list[int]]:
        """Return the tasks in parts whose ranked images fit into memory; equal seeds stay together."""
        by_seed: dict[int, list[int]] = {}
        for number, task in enumerate(self.tasks):
            by_seed.setdefault(task.sample.seed, []).append(number)
        chunks: list[list[int]] = []
        room = -1
        for numbers in by_seed.values():
            size = sum(len(self._pairs[n]) for n in numbers) * len(self.levels) * _RANK_BYTES
            if size > room:
                chunks.append([])
                room = KEPT_BYTES
            chunks[-1] += numbers
            room -= size
        return chunks

    def _texts(self, name: str, vectors: TextSides) -> tuple[list[Nearest], list[RankCounts]]:
        """Return the nearest texts and the ranks of matches of one encoder, by task."""
        run, progress = self._run, self._run.progress(f"ranking texts: {name}")
        nearest: list[Nearest] = []
        matches: list[RankCounts] = []
        with run.stage("texts: rank"), one_library_thread():
            for numbers in by_pair(self.tasks).values():
                samples = [[side[n].sample for n in numbers] for side in (self.tasks, self.matching)]
                found = text_steps(
                    run.manifest,
                    vectors,
                    *samples,
                    ranker=run.options.ranker,
                    tally=run.tally,
                    progress=progress,
                )
                nearest += found[0]
                matches += found[1]
        return nearest, matches

    def _enter_truth(self, name: str, matches: Sequence[RankCounts]) -> None:
        for number, (task, counts) in enumerate(zip(self.matching, matches, strict=True)):
            clusters = [self.cluster[task.sample.source]]
            hit, first = SuccessAt(self.measure.k), SuccessAt(1)  # R@k where an item has one target text
            self.measured.truth[name, number] = score(hit, hit.per_query(counts), clusters)
            if at_1(self.measure) is not None:
                self.measured.truth_at_1[name, number] = score(first, first.per_query(counts), clusters)

    def _correlate(self, name: str, vectors: TextVectors, chunk: Sequence[int]) -> None:
        """Enter the correlations of one encoder in some tasks, at all levels; texts are ranked once."""
        run = self._run
        report = run.progress(f"correlating distances: {name}")
        with run.stage("correlate"), one_library_thread():
            self._prepare(chunk)
            done = 0
            for numbers in by_pair([self.tasks[n] for n in chunk]).values():
                chosen = [chunk[n] for n in numbers]
                sides = [(self.tasks[n].sample.source, self.tasks[n].sample.target) for n in chosen]
                texts = RankedTables(vectors.unit, sides, [self._pairs[n] for n in chosen])

                for number, found in zip(chosen, self._correlated(chosen, texts), strict=True):
                    for level, each in zip(self.levels, found, strict=True):
                        self.measured.correlations[level, name, number] = each
                    done += 1
                    report(done, len(chunk))

    def _correlated(self, chosen: Sequence[int], texts: RankedTables) -> Iterable[list[Correlation]]:
        """Yield the correlations of some tasks at all levels; threads work on tasks side by side."""

        def one(position: int) -> list[Correlation]:
            number, table = chosen[position], texts[position]
            task, pairs, seed = self.tasks[number], self._pairs[number], self.tasks[number].sample.seed
            ranks = [self._ranks[level, seed if level.by_seed else None] for level in self.levels]
            return [correlation(task, pairs, table, each.of(number), self.cluster) for each in ranks]

        alone = min(self._run.options.threads, len(chosen)) == 1
        yield from (map if alone else self._workers.map)(one, range(len(chosen)))

    def _prepare(self, chunk: Sequence[int]) -> None:
        """Rank the images of some tasks, where an earlier encoder has not."""
        for (_, seed), ranks in self._ranks.items():
            for numbers in by_pair([self.tasks[n] for n in chunk]).values():
                own = [chunk[n] for n in numbers if seed in (None, self.tasks[chunk[n]].sample.seed)]
                ranks.prepare(own)

    def _way_back(self, level: Weakening, nearest: Mapping[str, list[Nearest]]) -> None:
        """Enter BkR and SIM of all encoders at one level, and the oracle of images alone."""
        run = self._run
        for seed, view in self._views[level].items():
            numbers = [n for n, task in enumerate(self.tasks) if seed is None or task.sample.seed == seed]
            with run.stage("images: rank"), one_library_thread():
                for ranks in ways_back(
                    view,
                    [self.tasks[n] for n in numbers],
                    [[found[n] for n in numbers] for found in nearest.values()],
                    [self.measure],
                    ranker=run.options.ranker,
                    progress=run.progress("ranking images"),
                    tally=run.tally,
                ):
                    for position in ranks.pools.tasks:
                        number = numbers[position]
                        self._enter_reference(level, number, reference(ranks, position, [self.measure]))
                        for encoder, (name, texts) in enumerate(nearest.items()):
                            found = WaysFound(texts[number], ranks.routes(encoder, position))
                            self._enter(level, name, number, found)

    def _enter(self, level: Weakening, name: str, number: int, found: WaysFound) -> None:
        clusters = self._cluster_ids(number, found.nearest.single())
        self.measured.recall[level, name, number] = score(self.measure, found.values(self.measure), clusters)
        self.measured.similarity[level, name, number] = score(SIM, found.values(SIM), clusters)

    def _enter_reference(self, level: Weakening, number: int, reference: ReferenceScores) -> None:
        self.measured.references[level, number] = reference
        clusters = self._cluster_ids(number, reference.oracle_target)
        self.measured.oracles[level, number] = score(
            self.measure, reference.oracle[self.measure.name], clusters
        )

    def _cluster_ids(self, number: int, retrieved: Ints) -> tuple[Ints, Ints]:
        return cluster_ids(self._run.manifest, number, self.tasks[number], retrieved)


def text_steps(
    manifest: Manifest,
    vectors: TextSides,
    non_matching: Sequence[Sample],
    matching: Sequence[Sample],
    *,
    ranker: Ranker,
    tally: Tally,
    progress: Progress,
) -> tuple[list[Nearest], list[RankCounts]]:
    """Return the nearest targets in each non-matching sample, and the best matches in each matching one.

    All samples share one product of the union of their texts where that is cheaper than a product for each.
    """
    samples = [*non_matching, *matching]
    if not one_pass([(sample.source, sample.target) for sample in samples]):
        nearest_found = nearest_texts(vectors, non_matching, ranker=ranker, tally=tally, progress=progress)
        ranked, _ = matches_and_places(manifest, vectors, matching, ranker=ranker, tally=tally)
        return nearest_found, [found.best() for found in ranked]
    union = TextUnion(vectors, samples)
    nearest = [NearestRequest(union, sample) for sample in non_matching]
    matches = match_requests(union, matching, manifest)
    watchers: list[Watcher] = [request.top for request in nearest]
    watchers += [request.counts for request in matches]
    rank(union.similarity, watchers, ranker, progress=progress)
    return [request.result() for request in nearest], [request.result().best() for request in matches]
