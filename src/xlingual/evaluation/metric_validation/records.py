"""From the scores of one run to the records of a validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

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
from xlingual.evaluation.numbers import Baseline, normalised
from xlingual.measures import RecallAt
from xlingual.results.validation import (
    MEASURES,
    TRUTH,
    TRUTH_AT_1,
    Degradation,
    DirectionDifference,
    EncoderScores,
    PairValidation,
)


class Assembly:
    """Turns scores into records."""

    def __init__(self, measured: Measured, measure: RecallAt, families: Mapping[str, str], seed: int) -> None:
        self.measured, self.measure, self.families, self._seed = measured, measure, families, seed
        self.subjects = measured.pairs

    def pairs(self, threshold: float) -> list[PairValidation]:
        """Return the validation of each language pair."""
        return [self._pair(pair, threshold) for pair in self.subjects]

    def directions(self) -> list[DirectionDifference]:
        """Return the differences between the two directions of a language pair, where both were evaluated."""
        found: list[DirectionDifference] = []
        for pair, back in combinations(self.subjects, 2):
            if back == pair[::-1]:
                names = "-".join(pair), "-".join(back)
                found += directions(
                    self._series(NONE, pair), self._series(NONE, back), names, seed=self._seed
                )
        return found

    def degradations(self, levels: Sequence[Weakening]) -> list[Degradation]:
        """Return the agreement at each level, that of the images as they are first."""
        return [self._degradation(level, pair) for pair in self.subjects for level in levels]

    def _columns(self, level: Weakening, pair: tuple[str, str], name: str) -> dict[str, MeasureColumn]:
        """Return the scores of one encoder by each measure, over the seeds of a pair."""
        scored = {key[1] for key in self.measured.scores}
        names = [one for one in (TRUTH_AT_1, TRUTH, *MEASURES) if one in scored]
        columns = {}
        for measure in names:
            at = NONE if measure in (TRUTH, TRUTH_AT_1) else level
            keys = [(at, measure, name, subject) for subject in self.subjects[pair]]
            found = self.measured
            columns[measure] = column(
                [found.scores[key] for key in keys], [found.notes.get(key) for key in keys]
            )
        return columns

    def _series(self, level: Weakening, pair: tuple[str, str]) -> list[EncoderSeries]:
        columns = {name: self._columns(level, pair, name) for name in self.families}
        return [
            EncoderSeries(
                name,
                self.families[name],
                {key: found.scores.per_seed for key, found in own.items()},
                {key: influence(found.mean, self.measured.n_clusters) for key, found in own.items()},
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
            n_seeds=len(self.subjects[pair]),
            **self.measured.sizes[pair],
            chance=mean_known([b.chance for b in baselines]),
            oracle=mean_known([None if b.oracle is None else b.oracle.value for b in baselines]),
            conditions=self._conditions(pair),
            encoders=encoders,
        )

    def _conditions(self, pair: tuple[str, str]) -> dict[str, str]:
        """Return the conditions of all seeds together, with the sizes."""
        conditions = dict(self.measured.conditions[pair])
        sample = conditions.pop("sample")
        sizes = {**self.measured.sizes[pair], "seeds": len(self.subjects[pair])}
        return conditions | {key: str(size) for key, size in sizes.items()} | {"sample": sample}

    def _baselines(self, level: Weakening, pair: tuple[str, str], measure: str = "BkR") -> list[Baseline]:
        return [self.measured.baselines[level, measure, one] for one in self.subjects[pair]]

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
