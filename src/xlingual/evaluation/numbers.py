"""The table of numbers of an evaluation: entries (one number each), then leaderboards of their means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from msgspec import structs

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
_ONE: dict[str, Any] = {"n_pairs": 1, "n_seeds": 1, "sd_seeds": None, "note": None, "views": None} | (
    dict.fromkeys(("chance", "oracle", "ceiling", "normalized"))
)


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


@dataclass(frozen=True)
class Baseline:
    """The baseline of a number: chance, the oracle (images alone), and the ceiling of all encoders."""

    chance: float | None = None
    oracle: Score | None = None
    ceiling: float | None = None


@dataclass
class Number:
    """An entry with what means are computed from."""

    entry: Entry
    estimate: Estimate | None
    baseline: Baseline
    parts: Mapping[str, Estimate]  # by language of the queries
    note: str | None  # why it has no value, or how it came
    row_views: Views | None = None  # of its row of the leaderboard


Line = tuple[
    Estimate | None, Mapping[str, Any]
]  # an encoder's mean over some subjects, fields of its summary


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
    per_query: PerQuery = field(default_factory=PerQuery)
    _numbers: dict[tuple[str, str, Subject], Number] = field(default_factory=dict)

    def __getitem__(self, key: tuple[str, str, Subject]) -> Number:
        return self._numbers[key]

    def enter(
        self,
        entry: Mapping[str, Any],
        subject: Subject,
        estimate: Estimate | None,
        baseline: Baseline,
        parts: Mapping[str, Estimate],
    ) -> None:
        """Enter a number; `entry` has the fields of its entry that do not follow from the others."""
        normalized, why = normalised(estimate, [baseline])
        record = Entry(
            task=self.task,
            source=subject.source,
            target=subject.target,
            seed=subject.seed,
            image_encoder=self._images_of(entry["encoder"]),
            value=None if estimate is None else estimate.value,
            ci=None if estimate is None else estimate.interval(),
            chance=baseline.chance,
            oracle=None if baseline.oracle is None else baseline.oracle.value,
            ceiling=baseline.ceiling,
            normalized=normalized,
            **{**entry, "note": entry["note"] or (estimate and estimate.note) or why},
        )
        key = record.encoder, record.measure, subject
        self._numbers[key] = Number(record, estimate, baseline, parts, entry["note"])

    def view(self, key: tuple[str, str, Subject], views: Views, row: Views | None = None) -> None:
        """Replace the further findings of a number, and those of its row of the leaderboard."""
        number = self._numbers[key]
        number.entry, number.row_views = structs.replace(number.entry, views=views), row

    def results(self, rows: QuerySource | None = None) -> Results:
        """Return all numbers; `rows` has the names of the queries."""
        entries = [number.entry for number in self._numbers.values()]
        return Results(entries, list(self.summaries()), self.per_query.table(rows))

    def summaries(self) -> Iterator[Summary]:
        """Yield means over seeds for each pair, then means over seeds and pairs, measure by measure.

        Of numbers that have parts by language, these take the place of pairs.
        """
        by_pair: dict[Pair, list[Subject]] = {}
        for subject in self.subjects:
            by_pair.setdefault(subject.pair, []).append(subject)
        for measure in self.measures:
            higher = measure.higher_is_better
            parts = {key[0]: number.parts for key, number in self._numbers.items() if key[1] == measure.name}
            for tag in dict.fromkeys(tag for languages in parts.values() for tag in languages):
                if all(tag in languages for languages in parts.values()):
                    lines: dict[str, Line] = {name: (own[tag], _ONE) for name, own in parts.items()}
                    own_pair = tag, self.subjects[0].target
                    yield from self.leaderboard(measure.name, own_pair, lines, higher=higher)
            for pair, subjects in [*by_pair.items(), (OVERALL, self.subjects)]:
                if pair != OVERALL and self.compared == 0:
                    continue
                lines = self._lines(measure.name, subjects, whole=pair == OVERALL)
                yield from self.leaderboard(measure.name, pair, lines, higher=higher)

    def mean(self, encoder: str, measure: str, subjects: Sequence[Subject]) -> Estimate | None:
        """Return the mean of an encoder's numbers; None where one of them is."""
        return _mean([self._numbers[encoder, measure, subject].estimate for subject in subjects])

    def _lines(self, measure: str, subjects: Sequence[Subject], *, whole: bool) -> dict[str, Line]:
        """Return the mean of each encoder's numbers; None where one of them is."""
        lines: dict[str, Line] = {}
        for encoder in dict.fromkeys(encoder for encoder, _, _ in self._numbers):
            own = {s: self._numbers[key] for s in subjects if (key := (encoder, measure, s)) in self._numbers}
            if not own:
                continue
            numbers, baselines = list(own.values()), [number.baseline for number in own.values()]
            mean, oracles = _mean([one.estimate for one in numbers]), [one.oracle for one in baselines]
            normalized, why = normalised(mean, baselines)
            partial = self.partial.get(encoder) if whole else None
            notes = (mean and mean.note, *(number.note for number in numbers), partial, why)
            values: dict[int, list[float]] = {}
            for subject, number in own.items():
                if number.estimate is not None:
                    values.setdefault(subject.seed, []).append(number.estimate.value)
            spread = [float(np.mean(of_seed)) for of_seed in values.values()]
            lines[encoder] = (
                mean,
                {
                    "chance": mean_known([one.chance for one in baselines]),
                    "oracle": mean_known([None if oracle is None else oracle.value for oracle in oracles]),
                    "ceiling": mean_known([one.ceiling for one in baselines]),
                    "normalized": normalized,
                    "n_pairs": len({subject.pair for subject in own}),
                    "n_seeds": len({subject.seed for subject in own}),
                    "sd_seeds": float(np.std(spread, ddof=1)) if len(spread) > 1 else None,
                    "note": next((note for note in notes if note), None),
                    "views": numbers[0].row_views if len(numbers) == 1 else None,
                },
            )
        return lines

    def leaderboard(
        self, measure: str, pair: Pair, lines: Mapping[str, Line], *, higher: bool
    ) -> Iterator[Summary]:
        """Yield a summary for each encoder, with its distance to the best of those with the most subjects."""
        most = max((fields["n_pairs"] for _, fields in lines.values()), default=0)
        whole = {name: mean for name, (mean, fields) in lines.items() if fields["n_pairs"] == most}
        known = {name: mean for name, mean in whole.items() if mean is not None}
        leader = (max if higher else min)(known, key=lambda name: known[name].value, default=None)
        compared = (
            len({subject.pair for subject in self.subjects}) if self.compared is None else self.compared
        )
        n_compared = len(lines) * (1 if pair == OVERALL else compared)
        for name, (mean, fields) in lines.items():
            gap = None  # how far it is behind the leader on the same queries
            if leader is not None and name != leader and name in known and self.same_queries(leader, name):
                gap = known[leader].minus(known[name])
            yield Summary(
                task=self.task,
                source=pair[0],
                target=pair[1],
                encoder=name,
                image_encoder=self._images_of(name),
                measure=measure,
                value=None if mean is None else mean.value,
                ci=None if mean is None else mean.interval(),
                ci_simultaneous=None if mean is None else mean.simultaneous(n_compared),
                behind=None if leader is None or gap is None else Behind(leader, gap.value, gap.ci),
                **{**_ONE, **fields},
            )

    def _images_of(self, encoder: str) -> str | None:
        return self.images.get(encoder) if isinstance(self.images, Mapping) else self.images


def _mean(several: Sequence[Estimate | None]) -> Estimate | None:
    known = [estimate for estimate in several if estimate is not None]
    return type(known[0]).mean(known) if len(known) == len(several) else None


def normalised(found: Estimate | None, baselines: Sequence[Baseline]) -> tuple[float | None, str | None]:
    """Return ((value − chance)/(oracle − chance), None), or (None, why not)."""
    oracles = [b.oracle for b in baselines if b.oracle is not None]
    chances = [b.chance for b in baselines if b.chance is not None]
    if found is None or not oracles or min(len(oracles), len(chances)) < len(baselines):
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
