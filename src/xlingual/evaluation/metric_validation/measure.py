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

from xlingual.embed.sides import ImageIndex, TextVectors
from xlingual.evaluation import crosslingual_retrieval
from xlingual.evaluation.backretrieval.evaluate import Backretrieval
from xlingual.evaluation.backretrieval.nearest import Nearest
from xlingual.evaluation.backretrieval.way_back import SIM
from xlingual.evaluation.distance_correlation import ImageRanks, SamplePairs, correlations
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.loop import Ranked
from xlingual.evaluation.metric_validation.degrade import Weakened, Weakening, neighbours_kept
from xlingual.evaluation.numbers import Baseline, Subject
from xlingual.evaluation.pair_run import PairRun, PairTask, by_pair
from xlingual.measures import QueryMeasure, RecallAt, SuccessAt
from xlingual.results.validation import TRUTH, TRUTH_AT_1
from xlingual.signature import Signature

Pair = tuple[str, str]
Key = tuple[Weakening, str, str, Subject]  # level of images, measure, encoder, and the pair with its seed


@dataclass
class Measured:
    """Scores of all encoders, None with a note where there is none; those of XLR are at the first level."""

    scores: dict[Key, Score | None] = field(default_factory=dict)
    notes: dict[Key, str] = field(default_factory=dict)
    baselines: dict[tuple[Weakening, str, Subject], Baseline] = field(default_factory=dict)
    sizes: dict[Pair, dict[str, int]] = field(default_factory=dict)  # of the samples of a pair
    conditions: dict[Pair, dict[str, str]] = field(default_factory=dict)  # of Backretrieval's signature
    n_clusters: int = 0
    neighbours: dict[Weakening, float | None] = field(default_factory=dict)  # that images keep at a level

    @property
    def pairs(self) -> dict[Pair, list[Subject]]:
        """The subjects of each pair, one for each seed."""
        subjects = dict.fromkeys(subject for _, _, subject in self.baselines)
        by_pair: dict[Pair, list[Subject]] = {}
        for subject in subjects:
            by_pair.setdefault(subject.pair, []).append(subject)
        return by_pair

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
    """The tasks of a validation; `matching` holds the matching task of each task of the run.

    `images` are the identity of their encoder, and the images.
    """

    def __init__(
        self,
        run: PairRun,
        matching: Sequence[PairTask],
        images: tuple[str, ImageIndex],
        measure: RecallAt,
        levels: Sequence[Weakening],
    ) -> None:
        self.run, (self.identity, self.images), self.measure, self.levels = run, images, measure, levels
        self.matching = copy(run)  # the same encoders, over samples of texts that match
        self.matching.tasks = list(matching)
        self.nearest: dict[str, list[Nearest]] = {}
        self.measured = Measured(n_clusters=int(run.manifest.cluster.max(initial=-1)) + 1)
        self._weakened = Weakened(self.images, levels, run.options.seed)

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
        for pair, numbers in by_pair(self.run.tasks).items():
            self.measured.sizes[pair] = self._sizes(numbers)
            self.measured.conditions[pair] = self._conditions(pair, numbers)
        return self.measured

    def _sizes(self, numbers: Sequence[int]) -> dict[str, int]:
        """Count the texts of a pair's first sample, and its distinct source images, the mean over seeds."""
        tasks = [self.run.tasks[number] for number in numbers]
        images = [len(np.unique(self.images.code[task.sample.source])) for task in tasks]
        return {
            "n_source": len(tasks[0].sample.source),
            "n_target": len(tasks[0].sample.target),
            "n_matching": len(self.matching.tasks[numbers[0]].sample.source),
            "n_pictures": round(float(np.mean(images))),
        }

    def _conditions(self, pair: Pair, numbers: Sequence[int]) -> dict[str, str]:
        """Return the conditions of Backretrieval's signature, of all seeds together."""
        conditions = self.run.conditions(self.run.tasks[numbers[0]], images=self.identity)
        signature = Signature.parse(self.run.signature(conditions, self.measure.name))
        matching = [self.matching.tasks[number] for number in numbers]
        several = crosslingual_retrieval.several_answers(self.run.manifest, matching)
        return {
            **signature.conditions,
            **({"xlr": SuccessAt(self.measure.k).name} if several else {}),
            "sample": self.run.sampler.described(*pair, matching=True),
        }

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
