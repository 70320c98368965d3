"""From the scores of one run to the records of a validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from xlingual.evaluation.crosslingual_retrieval import several_answers
from xlingual.evaluation.estimates import mean_known
from xlingual.evaluation.metric_validation.agreement import (
    agreement_by_seed_and_mean,
    directions,
    subsets,
)
from xlingual.evaluation.metric_validation.degrade import NONE, Weakening
from xlingual.evaluation.metric_validation.encoder_scores import (
    EncoderSeries,
    MeasureColumn,
    column,
    influence,
)
from xlingual.evaluation.metric_validation.measure import Measured
from xlingual.evaluation.numbers import Baseline, Subject, normalised
from xlingual.evaluation.pair_run import PairRun, PairTask, by_pair
from xlingual.measures import RecallAt, SuccessAt
from xlingual.results.validation import (
    MEASURES,
    TRUTH,
    TRUTH_AT_1,
    Degradation,
    DirectionDifference,
    EncoderScores,
    PairValidation,
)
from xlingual.signature import Signature


class Assembly:
    """Turns the scores of one run into records."""

    def __init__(
        self,
        run: PairRun,
        matching: Sequence[PairTask],
        measure: RecallAt,
        measured: Measured,
        families: Mapping[str, str],
        images: str,
    ) -> None:
        self.run, self.matching, self.measure, self.measured = run, matching, measure, measured
        self.families, self.images = families, images
        self.numbers = by_pair(run.tasks)
        self._clusters = int(run.manifest.cluster.max(initial=-1)) + 1

    def pairs(self, threshold: float) -> list[PairValidation]:
        """Return the validation of each language pair."""
        return [self._pair(pair, threshold) for pair in self.numbers]

    def directions(self) -> list[DirectionDifference]:
        """Return the differences between the two directions of a language pair, where both were evaluated."""
        found: list[DirectionDifference] = []
        for pair, back in combinations(self.numbers, 2):
            if back == pair[::-1]:
                names = "-".join(pair), "-".join(back)
                found += directions(
                    self._series(NONE, pair), self._series(NONE, back), names, seed=self._seed
                )
        return found

    def degradations(self, levels: Sequence[Weakening]) -> list[Degradation]:
        """Return the agreement at each level, that of the images as they are first."""
        return [self._degradation(level, pair) for pair in self.numbers for level in levels]

    @property
    def _seed(self) -> int:
        return self.run.options.seed

    def _columns(self, level: Weakening, pair: tuple[str, str], name: str) -> dict[str, MeasureColumn]:
        """Return the scores of one encoder by each measure, over the seeds of a pair."""
        names = (TRUTH, *MEASURES) if self.measure.k == 1 else (TRUTH_AT_1, TRUTH, *MEASURES)
        columns = {}
        for measure in names:
            at = NONE if measure in (TRUTH, TRUTH_AT_1) else level
            keys = [(at, measure, name, subject) for subject in self._subjects(pair)]
            found = self.measured
            columns[measure] = column(
                [found.scores[key] for key in keys], [found.notes.get(key) for key in keys]
            )
        return columns

    def _subjects(self, pair: tuple[str, str]) -> list[Subject]:
        """Return the subjects of a pair: one for each seed."""
        return [self.run.subjects[number] for number in self.numbers[pair]]

    def _series(self, level: Weakening, pair: tuple[str, str]) -> list[EncoderSeries]:
        columns = {name: self._columns(level, pair, name) for name in self.families}
        return [
            EncoderSeries(
                name,
                self.families[name],
                {key: found.scores.per_seed for key, found in own.items()},
                {key: influence(found.mean, self._clusters) for key, found in own.items()},
            )
            for name, own in columns.items()
        ]

    def _pair(self, pair: tuple[str, str], threshold: float) -> PairValidation:
        baselines, encoders = self._baselines(NONE, pair), []
        for name, family in self.families.items():
            columns = self._columns(NONE, pair, name)
            scores = {key: found.scores for key, found in columns.items()}
            normal, _ = normalised(columns["BkR"].mean, baselines)
            encoders.append(EncoderScores.of(name, family, scores, normal))
        return PairValidation.of(
            subsets(self._series(NONE, pair), threshold=threshold, seed=self._seed),
            source=pair[0],
            target=pair[1],
            k=self.measure.k,
            n_seeds=len(self.numbers[pair]),
            **self._sizes(pair),
            chance=mean_known([b.chance for b in baselines]),
            oracle=mean_known([None if b.oracle is None else b.oracle.value for b in baselines]),
            conditions=self._conditions(pair),
            encoders=encoders,
        )

    def _conditions(self, pair: tuple[str, str]) -> dict[str, str]:
        """Return the conditions of Backretrieval's signature, of all seeds together, with the sizes."""
        task = self.run.tasks[self.numbers[pair][0]]
        signature = Signature.parse(
            self.run.signature(self.run.conditions(task, images=self.images), self.measure.name)
        )
        sizes = {**self._sizes(pair), "seeds": len(self.numbers[pair])}
        conditions = dict(signature.conditions) | {key: str(size) for key, size in sizes.items()}
        matching = [self.matching[number] for number in self.numbers[pair]]
        if several_answers(self.run.manifest, matching):
            conditions["xlr"] = SuccessAt(self.measure.k).name
        return conditions | {"sample": self.run.sampler.described(*pair, matching=True)}

    def _sizes(self, pair: tuple[str, str]) -> dict[str, int]:
        first = self.numbers[pair][0]
        images = [self.measured.n_images[one] for one in self._subjects(pair)]
        sample, matching_sample = self.run.tasks[first].sample, self.matching[first].sample
        return {
            "n_source": len(sample.source),
            "n_target": len(sample.target),
            "n_matching": len(matching_sample.source),
            "n_pictures": round(float(np.mean(images))),
        }

    def _baselines(self, level: Weakening, pair: tuple[str, str], measure: str = "BkR") -> list[Baseline]:
        return [self.measured.baselines[level, measure, one] for one in self._subjects(pair)]

    def _degradation(self, level: Weakening, pair: tuple[str, str]) -> Degradation:
        baselines = self._baselines(level, pair)
        of_sim = self._baselines(level, pair, "SIM")
        return Degradation(
            level.kind,
            level.level,
            *pair,
            kept=self.measured.neighbours[level],
            chance=mean_known([b.chance for b in baselines]),
            oracle=mean_known([None if b.oracle is None else b.oracle.value for b in baselines]),
            sim_oracle=float(np.mean([one.oracle.value for one in of_sim if one.oracle is not None])),
            agreement=agreement_by_seed_and_mean(self._series(level, pair), seed=self._seed),
        )
