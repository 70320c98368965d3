"""The table of numbers of an evaluation: entries (one number each), then leaderboards of their means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from xlingual.evaluation.estimates import Estimate, Score, mean_known
from xlingual.evaluation.perquery import PerQuery, QuerySource
from xlingual.evaluation.run_systems import Place
from xlingual.measures import Measure
from xlingual.measures.agreement import Agreement as Correlation
from xlingual.results import Behind, Entry, Results, Summary
from xlingual.results.views import Views

_ENOUGH = 3.0  # standard errors that the oracle must be above chance for a normalised value
_ROUNDING = 1e-9  # what rounding may leave of an oracle equal to chance

Pair = tuple[str | None, str | None]
OVERALL: Pair = (None, None)


@dataclass(frozen=True)
class Subject:
    """The subject of a number: its source, its target (languages, as a rule) and its seed."""

    source: str
    target: str
    seed: int = 0

    @property
    def pair(self) -> tuple[str, str]:
        """Source and target."""
        return self.source, self.target

    @property
    def place(self) -> Place:
        """The search that it is of."""
        return self.source, self.target, self.seed


Key = tuple[str, str, Subject]  # encoder, measure name, subject


@dataclass(frozen=True)
class Baseline:
    """The baseline of a number: chance, the oracle (images alone), and the ceiling of all encoders."""

    chance: float | None = None
    oracle: Score | None = None
    ceiling: float | None = None


@dataclass(frozen=True)
class Number:
    """One number of one encoder: its estimate (None with a note where there is none), sizes and baseline.

    `views` are the further findings of its entry, `row_views` those of its row of the leaderboard.
    """

    estimate: Estimate | None
    signature: str
    n_source: int
    n_target: int
    n_tied: int | None = None
    note: str | None = None
    baseline: Baseline = field(default_factory=Baseline)
    views: Views | None = None
    row_views: Views | None = None
    parts: Mapping[str, Estimate] = field(default_factory=dict)  # by language of the queries


@dataclass(frozen=True)
class BoardLine:
    """One encoder's line of a leaderboard: a mean over some subjects."""

    estimate: Estimate | None
    chance: float | None = None
    oracle: float | None = None
    ceiling: float | None = None
    normalized: float | None = None
    n_pairs: int = 1
    n_seeds: int = 1
    sd_seeds: float | None = None
    note: str | None = None
    views: Views | None = None


@dataclass
class Numbers:
    """All numbers of an evaluation by (encoder, measure name, subject), and the queries they are means of.

    `images` names the image encoder, or that of each text encoder. `partial` says why an encoder lacks some
    subjects. `compared` is the number of subjects that a reader compares; None: all language pairs.
    `same_queries` says whether two encoders answered the same queries, so that their difference is known.
    """

    task: str
    measures: Sequence[Measure | Correlation]
    subjects: Sequence[Subject]
    images: str | Mapping[str, str | None] | None = None
    partial: Mapping[str, str] = field(default_factory=dict)
    compared: int | None = None
    same_queries: Callable[[str, str], bool] = lambda one, other: True
    _numbers: dict[Key, Number] = field(default_factory=dict)
    _encoders: dict[str, None] = field(default_factory=dict)  # in the order of entry
    per_query: PerQuery = field(default_factory=PerQuery)

    def __getitem__(self, key: Key) -> Number:
        return self._numbers[key]

    def __setitem__(self, key: Key, number: Number) -> None:
        self._numbers[key] = number
        self._encoders[key[0]] = None

    def results(self, rows: QuerySource | None = None) -> Results:
        """Return all numbers; `rows` has the names of the queries."""
        return Results(self.entries(), list(self.summaries()), self.per_query.table(rows))

    def entries(self) -> list[Entry]:
        """Return one entry for each number, in the order in which they were entered."""
        return [self._entry(*key, number) for key, number in self._numbers.items()]

    def _entry(self, encoder: str, measure: str, subject: Subject, number: Number) -> Entry:
        estimate, baseline = number.estimate, number.baseline
        normalized, why = normalised(estimate, [baseline])
        return Entry(
            task=self.task,
            source=subject.source,
            target=subject.target,
            encoder=encoder,
            image_encoder=self._images_of(encoder),
            measure=measure,
            value=None if estimate is None else estimate.value,
            ci=None if estimate is None else estimate.interval(),
            chance=baseline.chance,
            oracle=None if baseline.oracle is None else baseline.oracle.value,
            ceiling=baseline.ceiling,
            normalized=normalized,
            n_source=number.n_source,
            n_target=number.n_target,
            n_tied=number.n_tied,
            seed=subject.seed,
            signature=number.signature,
            note=number.note or (estimate and estimate.note) or why,
            views=number.views,
        )

    def summaries(self) -> Iterator[Summary]:
        """Yield means over seeds for each pair, then means over seeds and pairs, measure by measure.

        Of numbers that have parts by language, these take the place of pairs.
        """
        for measure in self.measures:
            parts = {
                encoder: number.parts
                for (encoder, name, _), number in self._numbers.items()
                if name == measure.name
            }
            tags = dict.fromkeys(tag for languages in parts.values() for tag in languages)
            for tag in tags:
                if all(tag in languages for languages in parts.values()):
                    lines = {encoder: BoardLine(languages[tag]) for encoder, languages in parts.items()}
                    pair = (tag, self.subjects[0].target)
                    yield from self.leaderboard(measure.name, pair, lines, higher=measure.higher_is_better)
            for pair, subjects in () if self.compared == 0 else self._by_pair.items():
                yield from self._means(measure, pair, subjects)
            yield from self._means(measure, OVERALL, self.subjects)

    @cached_property
    def _by_pair(self) -> dict[tuple[str, str], list[Subject]]:
        found: dict[tuple[str, str], list[Subject]] = {}
        for subject in self.subjects:
            found.setdefault(subject.pair, []).append(subject)
        return found

    def _means(
        self, measure: Measure | Correlation, pair: Pair, subjects: Sequence[Subject]
    ) -> Iterator[Summary]:
        lines = {}
        for encoder in self._encoders:
            found = {subject: self._numbers.get((encoder, measure.name, subject)) for subject in subjects}
            if own := {subject: number for subject, number in found.items() if number is not None}:
                lines[encoder] = self._line(own, self.partial.get(encoder) if pair == OVERALL else None)
        return self.leaderboard(measure.name, pair, lines, higher=measure.higher_is_better)

    def mean(self, encoder: str, measure: str, subjects: Sequence[Subject]) -> Estimate | None:
        """Return the mean of an encoder's numbers; None where one of them is."""
        return _mean([self._numbers[encoder, measure, subject].estimate for subject in subjects])

    def _line(self, own: Mapping[Subject, Number], partial: str | None) -> BoardLine:
        """Return the mean of an encoder's numbers; None where one of them is."""
        numbers, baselines = list(own.values()), [number.baseline for number in own.values()]
        mean, oracles = _mean([one.estimate for one in numbers]), [one.oracle for one in baselines]
        normalized, why = normalised(mean, baselines)
        notes = (mean and mean.note, *(number.note for number in numbers), partial, why)
        return BoardLine(
            estimate=mean,
            chance=mean_known([baseline.chance for baseline in baselines]),
            oracle=mean_known([None if oracle is None else oracle.value for oracle in oracles]),
            ceiling=mean_known([baseline.ceiling for baseline in baselines]),
            normalized=normalized,
            n_pairs=len({subject.pair for subject in own}),
            n_seeds=len({subject.seed for subject in own}),
            sd_seeds=_spread(own),
            note=next((note for note in notes if note), None),
            views=numbers[0].row_views if len(numbers) == 1 else None,
        )

    def leaderboard(
        self, measure: str, pair: Pair, lines: Mapping[str, BoardLine], *, higher: bool
    ) -> Iterator[Summary]:
        """Yield a summary for each encoder, with its distance to the best of those with the most subjects."""
        most = max((line.n_pairs for line in lines.values()), default=0)
        whole = {name: line.estimate for name, line in lines.items() if line.n_pairs == most}
        known = {name: estimate for name, estimate in whole.items() if estimate is not None}
        best = max if higher else min
        leader = best(known, key=lambda name: known[name].value, default=None)
        compared = len(self._by_pair) if self.compared is None else self.compared
        n_compared = len(lines) * (1 if pair == OVERALL else compared)
        for name, line in lines.items():
            mean = line.estimate
            yield Summary(
                task=self.task,
                source=pair[0],
                target=pair[1],
                encoder=name,
                image_encoder=self._images_of(name),
                measure=measure,
                value=None if mean is None else mean.value,
                ci=None if mean is None else mean.interval(),
                chance=line.chance,
                oracle=line.oracle,
                ceiling=line.ceiling,
                normalized=line.normalized,
                ci_simultaneous=None if mean is None else mean.simultaneous(n_compared),
                n_pairs=line.n_pairs,
                n_seeds=line.n_seeds,
                sd_seeds=line.sd_seeds,
                behind=self._behind(known, leader, name),
                note=line.note,
                views=line.views,
            )

    def _behind(self, known: Mapping[str, Estimate], leader: str | None, encoder: str) -> Behind | None:
        """Return how far an encoder is behind the leader on the same queries; None for the leader itself."""
        if leader is None or encoder == leader or encoder not in known:
            return None
        gap = known[leader].minus(known[encoder]) if self.same_queries(leader, encoder) else None
        return None if gap is None else Behind(leader, gap.value, gap.ci)

    def _images_of(self, encoder: str) -> str | None:
        return self.images.get(encoder) if isinstance(self.images, Mapping) else self.images


def _mean(several: Sequence[Estimate | None]) -> Estimate | None:
    known = [estimate for estimate in several if estimate is not None]
    return type(known[0]).mean(known) if len(known) == len(several) else None


def _spread(own: Mapping[Subject, Number]) -> float | None:
    """Return the standard deviation over seeds of the mean over pairs, None for one seed."""
    values: dict[int, list[float]] = {}
    for subject, number in own.items():
        if number.estimate is not None:
            values.setdefault(subject.seed, []).append(number.estimate.value)
    means = [float(np.mean(v)) for v in values.values()]
    return float(np.std(means, ddof=1)) if len(means) > 1 else None


def normalised(found: Estimate | None, baselines: Sequence[Baseline]) -> tuple[float | None, str | None]:
    """Return ((value − chance)/(oracle − chance), None), or (None, why not)."""
    oracles = [b.oracle for b in baselines if b.oracle is not None]
    chances = [b.chance for b in baselines if b.chance is not None]
    if found is None or not oracles or len(oracles) < len(baselines) or len(chances) < len(baselines):
        return None, None
    oracle, chance = Score.mean(oracles), float(np.mean(chances))
    if oracle.fixed is not None:
        return None, None
    if oracle.value - chance < max(_ENOUGH * oracle.standard_error(), _ROUNDING):
        return None, (
            f"not normalised: the oracle ({oracle.value:.3f}) is within {_ENOUGH:g} standard errors of "
            f"chance ({chance:.3f}), so these images cannot tell texts apart"
        )
    return (found.value - chance) / (oracle.value - chance), None
