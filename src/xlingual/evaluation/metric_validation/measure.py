"""The scores that a metric validation needs: XLR, BkR, SIM and CORR of the same encoders.

Every encoder encodes once, and its vectors go through each task. Rankings of images are shared by all
encoders; a level of weakened images repeats only what depends on images.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from xlingual.embed import ImageIndex, TextVectors
from xlingual.evaluation import crosslingual_retrieval
from xlingual.evaluation.backretrieval.evaluate import SIM, Backretrieval
from xlingual.evaluation.backretrieval.nearest import Nearest
from xlingual.evaluation.distance_correlation import ImageRanks, SamplePairs, correlations
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.loop import Ranked
from xlingual.evaluation.metric_validation.degrade import Weakened, Weakening, neighbours_kept
from xlingual.evaluation.numbers import Baseline, Subject
from xlingual.evaluation.pair_run import PairRun, PairTask
from xlingual.measures import QueryMeasure, RecallAt, SuccessAt
from xlingual.results.validation import TRUTH, TRUTH_AT_1

Key = tuple[Weakening, str, str, Subject]  # level of images, measure, encoder, and the pair with its seed


@dataclass
class Measured:
    """Scores of all encoders, None with a note where there is none; those of XLR are at the first level."""

    scores: dict[Key, Score | None] = field(default_factory=dict)
    notes: dict[Key, str] = field(default_factory=dict)
    baselines: dict[tuple[Weakening, str, Subject], Baseline] = field(default_factory=dict)
    n_images: dict[Subject, int] = field(default_factory=dict)  # distinct source images
    neighbours: dict[Weakening, float | None] = field(default_factory=dict)  # that images keep at a level

    def enter(self, level: Weakening, ranked: Ranked, measures: Mapping[str, QueryMeasure]) -> None:
        """Take the scores of what was ranked, by the validation's names of measures."""
        for name, measure in measures.items():
            one = score(measure, ranked.values[measure.name], ranked.clusters)
            self.scores[level, name, ranked.encoder, ranked.subject] = one
            self.baselines[level, name, ranked.subject] = ranked.baselines[measure.name]


def at_1(measure: RecallAt) -> RecallAt | None:
    """Return the measure at K = 1, None where it is that already."""
    return replace(measure, k=1) if measure.k > 1 else None


class ValidationRun:
    """The tasks of a validation; `matching` holds the matching task of each task of the run."""

    def __init__(
        self,
        run: PairRun,
        matching: Sequence[PairTask],
        images: ImageIndex,
        measure: RecallAt,
        levels: Sequence[Weakening],
    ) -> None:
        self.run, self.images, self.measure, self.levels = run, images, measure, levels
        self.matching = copy(run)  # the same encoders, over samples of texts that match
        self.matching.tasks = list(matching)
        self.nearest: dict[str, list[Nearest]] = {}
        sizes = (len(np.unique(images.code[task.sample.source])) for task in run.tasks)
        self.measured = Measured(n_images=dict(zip(run.subjects, sizes, strict=True)))
        self._weakened = Weakened(images, levels, run.options.seed)

    def measure_all(self) -> Measured:
        """Evaluate all encoders by each task, at all levels of images."""
        with self.run.stage("images: weaken"):
            views = {level: self._images_at(level) for level in self.levels}
            for level, seen in views.items() if len(views) > 1 else ():
                by = self.images, next(iter(seen.values())), self.measure.k, self.run.options.seed
                self.measured.neighbours[level] = neighbours_kept(*by)
        drawn = [SamplePairs.of(task.sample) for task in self.run.tasks]
        ranks = [
            {seed: ImageRanks(view, self.run.tasks, drawn) for seed, view in seen.items()}
            for seen in views.values()
        ]
        seeds = [task.sample.seed for task in self.run.tasks]
        of_task = [partial(_of_seed, by_seed, seeds) for by_seed in ranks]
        for name, number, found in correlations(self.run, self._encoded(), drawn, of_task):
            for level, one in zip(self.levels, found, strict=True):
                key = level, "CORR", name, self.run.subjects[number]
                self.measured.scores[key] = one.score
                self.measured.notes |= {} if one.note is None else {key: one.note}
        for level, seen in views.items():
            for seed, view in seen.items():
                self._way_back(level, seed, view)
        return self.measured

    def _images_at(self, level: Weakening) -> dict[int | None, ImageIndex]:
        """Return the images at a level by seed; None stands for every seed."""
        if not level.by_seed:
            return {None: self._weakened.at(level, 0)}
        return {seed: self._weakened.at(level, seed) for seed in {t.sample.seed for t in self.run.tasks}}

    def _encoded(self) -> Iterator[tuple[str, TextVectors]]:
        """Yield the vectors of each encoder without roles, after its matches and nearest texts are ranked."""
        hits = {TRUTH: SuccessAt(self.measure.k)}  # R@k where an item has one target text
        hits |= {TRUTH_AT_1: SuccessAt(1)} if at_1(self.measure) is not None else {}
        texts = Backretrieval(self.run, [self.measure], self.images, "")
        for name in self.run.text_encoders:
            vectors = self.run.encode(name, self.run.sides_of)
            self.nearest[name] = texts.nearest(name, vectors)
            stream = crosslingual_retrieval.ranks(
                self.matching, list(hits.values()), [(name, vectors)], first=0
            )
            for ranked in stream:
                self.measured.enter(self.levels[0], ranked, hits)
            yield name, self.run.without_role(name, vectors)  # a correlation of distances has no queries

    def _way_back(self, level: Weakening, seed: int | None, images: ImageIndex) -> None:
        """Enter BkR and SIM of all encoders with the images of a level, in all tasks or those of a seed."""
        chosen = [n for n, task in enumerate(self.run.tasks) if seed in (None, task.sample.seed)]
        part = copy(self.run)
        part.tasks = [self.run.tasks[number] for number in chosen]
        nearest = {name: [found[number] for number in chosen] for name, found in self.nearest.items()}
        task = Backretrieval(part, [self.measure], images, "")
        for ranked in task.ways(nearest, hubs=False):
            self.measured.enter(level, ranked, {"BkR": self.measure, "SIM": SIM})


def _of_seed(ranks: Mapping[int | None, ImageRanks], seeds: Sequence[int], number: int) -> ImageRanks:
    """Return the image ranks of a task: those of its seed, or of every seed."""
    return ranks[None] if None in ranks else ranks[seeds[number]]
