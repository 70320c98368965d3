"""The scores that a metric validation needs: XLR, BkR, SIM and CORR of the same encoders.

BkR, SIM and CORR have a non-matching sample, XLR a matching one of as many items. Every encoder encodes once,
and its vectors go through each task. Rankings of images are shared by all encoders; a level of weakened
images repeats only what depends on images.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler
from xlingual.embed.sides import ImageIndex, TextVectors
from xlingual.errors import InputError, listed, warn
from xlingual.evaluation import crosslingual_retrieval
from xlingual.evaluation.backretrieval.evaluate import Backretrieval
from xlingual.evaluation.backretrieval.nearest import Nearest
from xlingual.evaluation.backretrieval.way_back import SIM
from xlingual.evaluation.distance_correlation import ImageRanks, SamplePairs, correlations
from xlingual.evaluation.estimates import Score, mean_known, score
from xlingual.evaluation.loop import Ranked
from xlingual.evaluation.metric_validation.agreement import EncoderSeries, spread
from xlingual.evaluation.metric_validation.degrade import NONE, Weakened, Weakening, neighbours_kept
from xlingual.evaluation.numbers import Baseline, Subject, normalised
from xlingual.evaluation.pair_run import PairRun, PairTask, by_pair
from xlingual.measures import QueryMeasure, RecallAt, SuccessAt
from xlingual.results.validation import MEASURES, TRUTH, TRUTH_AT_1, EncoderScores, SeedScores
from xlingual.signature import Signature
from xlingual.stats import variance
from xlingual.streams import stream

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
    families: dict[str, str] = field(default_factory=dict)  # of encoders
    n_clusters: int = 0
    neighbours: dict[Weakening, float | None] = field(default_factory=dict)  # that images keep at a level

    @property
    def pairs(self) -> dict[Pair, list[Subject]]:
        """The subjects of each pair, one for each seed."""
        subjects: dict[Pair, list[Subject]] = {}
        for subject in dict.fromkeys(subject for _, _, subject in self.baselines):
            subjects.setdefault(subject.pair, []).append(subject)
        return subjects

    def columns(
        self, level: Weakening, encoder: str, pair: Pair
    ) -> dict[str, tuple[SeedScores, Score | None]]:
        """Return each measure's scores of all seeds, and their mean, None where a seed has no score."""
        scored = {key[1] for key in self.scores}
        columns: dict[str, tuple[SeedScores, Score | None]] = {}
        for name in [name for name in (TRUTH_AT_1, TRUTH, *MEASURES) if name in scored]:
            at = NONE if name in (TRUTH, TRUTH_AT_1) else level
            keys = [(at, name, encoder, subject) for subject in self.pairs[pair]]
            scores, notes = [self.scores[key] for key in keys], [self.notes.get(key) for key in keys]
            values = [None if score is None else score.value for score in scores]
            present = [score for score in scores if score is not None]
            if len(present) < len(scores):
                columns[name] = SeedScores(None, None, values, None, notes[values.index(None)]), None
                continue
            mean = Score.mean(present)
            sd = spread([score.value for score in present]) if len(present) > 1 else None
            note = next(filter(None, notes), "one seed, no spread over seeds" if sd is None else None)
            columns[name] = SeedScores(mean.value, sd, values, mean.interval(), note), mean
        return columns

    def series(self, level: Weakening, pair: Pair) -> list[EncoderSeries]:
        """Return the scores of all encoders at a level of images."""
        series = []
        for encoder, family in self.families.items():
            columns = self.columns(level, encoder, pair)
            per_seed = {name: scores.per_seed for name, (scores, _) in columns.items()}
            influences = {name: influence(mean, self.n_clusters) for name, (_, mean) in columns.items()}
            series.append(EncoderSeries(encoder, family, per_seed, influences))
        return series

    def encoders(self, pair: Pair) -> list[EncoderScores]:
        """Return the scores of all encoders as records."""
        baselines, records = [self.baselines[NONE, "BkR", subject] for subject in self.pairs[pair]], []
        for encoder, family in self.families.items():
            columns = self.columns(NONE, encoder, pair)
            normal, _ = normalised(columns["BkR"][1], baselines)
            scores = {name: scores for name, (scores, _) in columns.items()}
            records.append(EncoderScores.of(encoder, family, scores, normal))
        return records

    def baselines_of(
        self, level: Weakening, pair: Pair, measure: str = "BkR"
    ) -> tuple[float | None, float | None]:
        """Return the means over seeds of a measure's chance and oracle."""
        baselines = [self.baselines[level, measure, subject] for subject in self.pairs[pair]]
        oracles = [None if b.oracle is None else b.oracle.value for b in baselines]
        return mean_known([b.chance for b in baselines]), mean_known(oracles)

    def enter(self, level: Weakening, ranked: Ranked, measures: Mapping[str, QueryMeasure]) -> None:
        """Take the scores of what was ranked, by the validation's names of measures."""
        for name, measure in measures.items():
            key = level, name, ranked.encoder, ranked.subject
            self.scores[key] = score(measure, ranked.values[measure.name], ranked.clusters)
            self.baselines[level, name, ranked.subject] = ranked.baselines[measure.name]


def influence(mean: Score | None, n_clusters: int) -> Floats:
    """Return the contribution of each cluster of items to the error of a mean, float64 [n_clusters].

    It is the sum of the residuals of the cluster's queries. A query of BkR is in two clusters, its own and
    that of the text it retrieved, and counts in both; so the sums are scaled until their squares add up to
    the variance of the mean's interval, which counts what two clusters share once. Zeros without a mean.
    """
    total = np.zeros(n_clusters)
    if mean is None:
        return total
    for part in mean.parts:
        for number, clusters in enumerate(part.ways):
            # a query for which several texts tie is in its own cluster only: its second id is negative
            counted = clusters >= 0 if number == 0 else (clusters >= 0) & (clusters != part.ways[0])
            total += np.bincount(clusters[counted], part.residuals[counted], n_clusters)
    squares = float(total @ total)
    target = max(variance(mean.parts) - mean.counted_twice, 0.0)
    return total * (target / squares) ** 0.5 if squares > 0 else total


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
        run, measured, seeds = self.run, self.measured, [task.sample.seed for task in self.run.tasks]
        views: list[dict[int | None, ImageIndex]] = []  # by level, then by seed; None stands for every seed
        with run.stage("images: weaken"):
            for level in self.levels:
                at = dict.fromkeys(seeds if level.kind == "shuffle" else [None])
                views.append({seed: self._weakened.at(level, seed or 0) for seed in at})
                if len(self.levels) > 1:
                    by = self.images, next(iter(views[-1].values())), self.measure.k, run.options.seed
                    measured.neighbours[level] = neighbours_kept(*by)
        drawn = [SamplePairs.of(task.sample) for task in run.tasks]
        image_ranks = []
        for view in views:
            ranks = {seed: ImageRanks(images, run.tasks, drawn) for seed, images in view.items()}
            image_ranks.append([ranks[None if None in ranks else seed] for seed in seeds].__getitem__)
        for name, number, by_level in correlations(run, self._encoded(), drawn, image_ranks):
            for level, correlation in zip(self.levels, by_level, strict=True):
                key = level, "CORR", name, run.subjects[number]
                measured.scores[key] = correlation.score
                measured.notes |= {} if correlation.note is None else {key: correlation.note}
        for level, view in zip(self.levels, views, strict=True):
            for seed, images in view.items():
                chosen = [n for n, of_task in enumerate(seeds) if seed in (None, of_task)]
                part = copy(run)
                part.tasks = [run.tasks[n] for n in chosen]
                nearest = {name: [texts[n] for n in chosen] for name, texts in self.nearest.items()}
                for ranked in Backretrieval(part, [self.measure], images, "").ways(nearest, hubs=False):
                    measured.enter(level, ranked, {"BkR": self.measure, "SIM": SIM})
        for pair, numbers in by_pair(run.tasks).items():
            self._describe(pair, numbers)
        return measured

    def _encoded(self) -> Iterator[tuple[str, TextVectors]]:
        """Yield the vectors of each encoder without roles, after its matches and nearest texts are ranked."""
        hits = {TRUTH: SuccessAt(self.measure.k)}  # R@k where an item has one target text
        hits |= {TRUTH_AT_1: SuccessAt(1)} if at_1(self.measure) is not None else {}
        texts, measures = Backretrieval(self.run, [self.measure], self.images, ""), list(hits.values())
        for name in self.run.text_encoders:
            vectors = self.run.encode(name, self.run.sides_of)
            self.nearest[name] = texts.nearest(name, vectors)
            for ranked in crosslingual_retrieval.ranks(self.matching, measures, [(name, vectors)], first=0):
                self.measured.enter(self.levels[0], ranked, hits)
            yield name, self.run.without_role(name, vectors)  # a correlation of distances has no queries

    def _describe(self, pair: Pair, numbers: Sequence[int]) -> None:
        """Enter the sizes of a pair's samples, and the conditions of Backretrieval's signature."""
        tasks, matching = ([run.tasks[n] for n in numbers] for run in (self.run, self.matching))
        images = [len(np.unique(self.images.code[task.sample.source])) for task in tasks]
        self.measured.sizes[pair] = {
            "n_source": len(tasks[0].sample.source),
            "n_target": len(tasks[0].sample.target),
            "n_matching": len(matching[0].sample.source),
            "n_pictures": round(float(np.mean(images))),
        }
        conditions = self.run.conditions(tasks[0], images=self.identity)
        signature = Signature.parse(self.run.signature(conditions, self.measure.name))
        several = crosslingual_retrieval.several_answers(self.run.manifest, matching)
        self.measured.conditions[pair] = {
            **signature.conditions,
            **({"xlr": SuccessAt(self.measure.k).name} if several else {}),
            "sample": self.run.sampler.described(*pair, matching=True),
        }


def paired_samples(
    manifest: Manifest, tasks: Sequence[PairTask], sampler: Sampler, *, strict: bool
) -> tuple[list[PairTask], list[PairTask]]:
    """Return the non-matching tasks, cut if necessary, and the matching task of each.

    XLR and BkR are shares of queries that find one text or image among N, so both get the same N as far as
    the items allow. Without a sample size, a pair's matching sample has as many items as its non-matching one
    has sources, or else all items with both languages; then sources and targets are cut to their number, with
    a warning. A pair without an item in both languages is left out with a warning, unless `strict` or no
    other pair is left: then InputError.
    """
    apart: list[PairTask] = []
    same: list[PairTask] = []
    problems: list[str] = []
    for (source, target), numbers in by_pair(tasks).items():
        one, two = (manifest.item[manifest.rows_of(language)] for language in (source, target))
        if not strict and not np.isin(one, two).any():
            problems.append(f"{source}-{target}")
            continue
        of_pair = [tasks[n] for n in numbers]
        samples = sampler.matching(source, target, _n_items(manifest, of_pair[0].sample.source))
        same += [PairTask(source, target, sample) for sample in samples]
        most = _n_items(manifest, samples[0].source)
        apart += of_pair if sampler.fixed is not None else _cut(manifest, of_pair, most)
    if not apart:
        raise InputError(
            "no item has texts in two languages, and XLR needs matching texts: give an item column, or use "
            "evaluate backretrieval, which needs none"
        )
    if problems:
        which = f"{len(problems)} language pairs are" if len(problems) > 1 else "a language pair is"
        warn(f"{which} left out ({listed(problems, 20)}): no item has texts in both, which XLR needs")
    return apart, same


def _cut(manifest: Manifest, tasks: list[PairTask], most: int) -> list[PairTask]:
    """Return the tasks of one pair with at most so many items on each side."""
    (source, target), first = tasks[0].pair, tasks[0].sample
    sizes = _n_items(manifest, first.source), _n_items(manifest, first.target)
    if max(sizes) <= most:
        return tasks
    warn(
        f"{source}-{target}: only {most} items for XLR, which needs both languages, so BkR, SIM and CORR use "
        f"as many ({sizes[0]} sources and {sizes[1]} targets would be there): all then choose among equally "
        "many"
    )
    cut = []
    for sample in (task.sample for task in tasks):
        order = stream(sample.seed, "samples").permutation(manifest.n_items)  # that of the samples
        sides = []
        for rows in (sample.source, sample.target):
            items = np.unique(manifest.item[rows])
            chosen = items[np.argsort(order[items], kind="stable")][:most]
            sides.append(np.asarray(rows[np.isin(manifest.item[rows], chosen)]))
        cut.append(PairTask(source, target, type(sample)(sample.seed, sides[0], sides[1], pool=sides[0])))
    return cut


def _n_items(manifest: Manifest, rows: Ints) -> int:
    return len(np.unique(manifest.item[rows]))
