"""From scores to entries and summaries: one number each, then means over seeds and over language pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from xlingual.evaluation.approximation.choice import Searched
from xlingual.evaluation.scores import Score, difference, mean_of
from xlingual.evaluation.setup import Task, by_pair
from xlingual.measures import Measure
from xlingual.results import Approximation, Behind, Entry, Summary
from xlingual.signature import Signature
from xlingual.stats.checked import error, error_interval

_SHOWN_PAIRS = 20  # language pairs with examples
_ENOUGH = 3.0  # standard errors that the oracle must be above chance for a normalised value
_ROUNDING = 1e-9  # what rounding may leave of an oracle equal to chance


@dataclass(frozen=True)
class Baseline:
    """What a score is held against: chance, what pictures alone give, and what no encoder can exceed."""

    chance: float | None = None
    oracle: Score | None = None
    ceiling: float | None = None


@dataclass(frozen=True)
class Scored:
    """One number: its score (None with a note where there is none), ties and baseline."""

    score: Score | None
    n_tied: int | None
    signature: Signature
    note: str | None = None
    searched: Searched | None = None  # of a number that was not found by ranking everything


@dataclass
class ScoreTable:
    """All numbers of an evaluation by (encoder, measure name, task number)."""

    task_name: str
    image_encoder: str | None
    tasks: Sequence[Task]
    encoders: Sequence[str]
    measures: Sequence[Measure]
    scored: dict[tuple[str, str, int], Scored] = field(default_factory=dict)
    baselines: dict[tuple[str, int], Baseline] = field(default_factory=dict)  # (measure name, task)

    def entries(self) -> list[Entry]:
        """Return one entry for each encoder, pair, measure and seed."""
        return [
            self._entry(encoder, measure, number, task)
            for encoder in self.encoders
            for number, task in enumerate(self.tasks)
            for measure in self.measures
        ]

    def _entry(self, encoder: str, measure: Measure, number: int, task: Task) -> Entry:
        found = self.scored[encoder, measure.name, number]
        baseline = self.baselines.get((measure.name, number), Baseline())
        normalized, why = normalised(found.score, [baseline])
        return Entry(
            task=self.task_name,
            source=task.source,
            target=task.target,
            encoder=encoder,
            image_encoder=self.image_encoder,
            measure=measure.name,
            value=None if found.score is None else found.score.value,
            ci=None if found.score is None else found.score.interval(),
            chance=baseline.chance,
            oracle=None if baseline.oracle is None else baseline.oracle.value,
            ceiling=baseline.ceiling,
            normalized=normalized,
            n_source=len(task.sample.source),
            n_target=len(task.sample.target),
            n_tied=found.n_tied,
            seed=task.sample.seed,
            signature=str(found.signature),
            note=found.note or why,
            approximation=approximation(found.score, [found.searched], [baseline.oracle]),
        )

    def summaries(self) -> list[Summary]:
        """Return means over seeds for each pair, then means over seeds and pairs, measure by measure."""
        found: list[Summary] = []
        for measure in self.measures:
            for pair, numbers in by_pair(self.tasks).items():
                found += self._compared(measure, numbers, pair)
            found += self._compared(measure, range(len(self.tasks)), (None, None))
        return found

    def _compared(
        self, measure: Measure, numbers: Sequence[int], pair: tuple[str | None, str | None]
    ) -> list[Summary]:
        """Return the summaries of all encoders over the tasks, each with its distance to the leader."""
        means = {encoder: self._mean(encoder, measure, numbers) for encoder in self.encoders}
        known = {encoder: mean for encoder, mean in means.items() if mean is not None}
        leader = None
        if known:
            best = max if measure.higher_is_better else min
            leader = best(known, key=lambda encoder: known[encoder].value)
        return [
            self._summary(encoder, measure, numbers, pair, means[encoder], behind(known, leader, encoder))
            for encoder in self.encoders
        ]

    def _mean(self, encoder: str, measure: Measure, numbers: Sequence[int]) -> Score | None:
        scores = [self.scored[encoder, measure.name, number].score for number in numbers]
        present = [score for score in scores if score is not None]
        return mean_of(present) if len(present) == len(scores) else None

    def _summary(
        self,
        encoder: str,
        measure: Measure,
        numbers: Sequence[int],
        pair: tuple[str | None, str | None],
        mean: Score | None,
        behind: Behind | None,
    ) -> Summary:
        baselines = [self.baselines.get((measure.name, number), Baseline()) for number in numbers]
        notes = [self.scored[encoder, measure.name, number].note for number in numbers]
        normalized, why = normalised(mean, baselines)
        return Summary(
            task=self.task_name,
            source=pair[0],
            target=pair[1],
            encoder=encoder,
            image_encoder=self.image_encoder,
            measure=measure.name,
            value=None if mean is None else mean.value,
            ci=None if mean is None else mean.interval(),
            chance=_mean_known([b.chance for b in baselines]),
            oracle=_mean_known([None if b.oracle is None else b.oracle.value for b in baselines]),
            ceiling=_mean_known([b.ceiling for b in baselines]),
            normalized=normalized,
            ci_simultaneous=None if mean is None else mean.simultaneous(self._looked_at(pair)),
            n_pairs=len({self.tasks[number].pair for number in numbers}),
            n_seeds=len({self.tasks[number].sample.seed for number in numbers}),
            sd_seeds=self._spread(encoder, measure, numbers),
            behind=behind,
            note=next((note for note in notes if note), None) or why,
            approximation=approximation(
                mean,
                [self.scored[encoder, measure.name, number].searched for number in numbers],
                [b.oracle for b in baselines],
            ),
        )

    def _looked_at(self, pair: tuple[str | None, str | None]) -> int:
        """Return among how many numbers one is seen: the means of encoders, or their language pairs."""
        return len(self.encoders) * (1 if pair == (None, None) else len(by_pair(self.tasks)))

    def _spread(self, encoder: str, measure: Measure, numbers: Sequence[int]) -> float | None:
        """Return the standard deviation over seeds of the mean over pairs, None for one seed."""
        values: dict[int, list[float]] = {}
        for number in numbers:
            score = self.scored[encoder, measure.name, number].score
            if score is not None:
                values.setdefault(self.tasks[number].sample.seed, []).append(score.value)
        means = [float(np.mean(v)) for v in values.values()]
        return float(np.std(means, ddof=1)) if len(means) > 1 else None


def normalised(found: Score | None, baselines: Sequence[Baseline]) -> tuple[float | None, str | None]:
    """Return ((value − chance)/(oracle − chance), None), or (None, why not)."""
    oracles = [b.oracle for b in baselines if b.oracle is not None]
    chances = [b.chance for b in baselines if b.chance is not None]
    if found is None or not oracles or len(oracles) < len(baselines) or len(chances) < len(baselines):
        return None, None
    oracle, chance = mean_of(oracles), float(np.mean(chances))
    if oracle.fixed is not None:
        return None, None
    if oracle.value - chance < max(_ENOUGH * oracle.standard_error(), _ROUNDING):
        return None, (
            f"not normalised: the oracle ({oracle.value:.3f}) is within {_ENOUGH:g} standard errors of "
            f"chance ({chance:.3f}), so these pictures cannot tell texts apart"
        )
    return (found.value - chance) / (oracle.value - chance), None


def approximation(
    found: Score | None, searched: Sequence[Searched | None], oracles: Sequence[Score | None]
) -> Approximation | None:
    """Return how far a number may be off that a search or a sample of candidates gave; None: it is exact.

    It is the mean of numbers of which some may be exact. What samples of candidates are off adds up: they may
    all be off to one side.
    """
    known = [one for one in searched if one is not None]
    if found is None or not known:
        return None
    sampled = [one.error or 0.0 for one in searched if one is not None and one.candidates is not None]
    off = error_interval(found.errors) if found.errors else None
    by_search = 0.0 if off is None else max(-off.low, off.high)
    present = [oracle for oracle in oracles if oracle is not None and oracle.fixed is None]
    oracle = mean_of(present).errors if present and len(present) == len(oracles) else ()
    ends = error_interval(oracle) if oracle else None
    return Approximation(
        search=known[0].search,
        depth=known[0].depth,
        candidates=max((one.candidates for one in known if one.candidates is not None), default=None),
        n_checked=sum(one.n_checked or 0 for one in known),
        recall_nearest=_mean_known([one.recall_nearest for one in known]),
        recall_way_back=_mean_known([one.recall_way_back for one in known]),
        difference=error(found.errors) if found.errors else None,
        ci=off,
        error=by_search + sum(sampled) / len(searched),
        oracle_error=None if ends is None else max(-ends.low, ends.high),
    )


def leading_encoder(summary: Sequence[Summary], measure: Measure) -> str:
    """Return the encoder that is best by a measure over all pairs."""
    overall = [s for s in summary if s.source is None and s.measure == measure.name and s.value is not None]
    best = max if measure.higher_is_better else min
    return best(overall, key=lambda s: s.value or 0.0).encoder


def telling_pairs(summary: Sequence[Summary], encoder: str, measure: Measure) -> list[tuple[str, str]]:
    """Return the language pairs worth looking at, hardest first: all, or the hardest and easiest of many."""
    rows = [
        (s.value, s.source, s.target)
        for s in summary
        if s.encoder == encoder and s.measure == measure.name and s.value is not None
    ]
    rows.sort(key=lambda row: row[0], reverse=not measure.higher_is_better)
    pairs = [(source, target) for _, source, target in rows if source is not None and target is not None]
    half = _SHOWN_PAIRS // 2
    return pairs if len(pairs) <= _SHOWN_PAIRS else pairs[:half] + pairs[-half:]


def behind(known: Mapping[str, Score], leader: str | None, encoder: str) -> Behind | None:
    """Return how far an encoder is behind the leader on the same queries; None for the leader itself."""
    if leader is None or encoder == leader or encoder not in known:
        return None
    gap = difference(known[leader], known[encoder])
    if gap is None:
        return None
    off = error_interval(gap.errors) if gap.errors else None
    return Behind(leader, gap.value, gap.interval(), None if off is None else max(-off.low, off.high))


def _mean_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None
