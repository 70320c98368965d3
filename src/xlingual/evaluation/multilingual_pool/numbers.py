"""The numbers of an evaluation of a multilingual pool: entries, summaries and the table of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.multilingual_pool.choice import Choice
from xlingual.evaluation.multilingual_pool.encoder_views import Looked
from xlingual.evaluation.multilingual_pool.views import QuestionLanguages, question_languages, record_of
from xlingual.evaluation.near_duplicates import DECLARED, clusters_condition
from xlingual.evaluation.perquery import PerQuery
from xlingual.evaluation.scores import Score
from xlingual.evaluation.summary import behind
from xlingual.measures import AveragePrecision, PoolMeasure, TargetMeasure
from xlingual.records import Floats, Ints, TargetCounts
from xlingual.results import Entry, Results, Summary
from xlingual.signature import CONVENTIONS, Signature

ALL, POOL = "all", "pool"  # source and target: the questions of all languages, the pool of all languages


@dataclass(frozen=True)
class AskedQuestions:
    """What the rows of the table of queries are: a question in a language, "ar/ID"."""

    ids: Sequence[str]
    item: Ints
    item_ids: Sequence[str]
    cluster: Ints
    labels: Mapping[str, Sequence[str | None]]

    @classmethod
    def of(cls, pool: MultilingualPool, cluster: Ints) -> AskedQuestions:
        """Return the questions of a pool; equal keys are one item, and the language is a label."""
        q = pool.questions
        languages: list[str | None] = [pool.languages[code] for code in q.language]
        number = {key: i for i, key in enumerate(dict.fromkeys(q.key))}
        return cls(
            [f"{language}/{name}" for language, name in zip(languages, q.ids, strict=True)],
            np.array([number[key] for key in q.key], dtype=np.int64),
            list(number),
            cluster,
            {"language": languages},
        )


@dataclass
class NumberTable:
    """Collects the numbers of one encoder after another."""

    task: str
    pool: MultilingualPool
    choice: Choice
    measures: Sequence[PoolMeasure]
    identities: Mapping[str, str]
    seed: int
    cluster: Ints  # of each question
    clusters: str = DECLARED  # what makes them
    entries: list[Entry] = field(default_factory=list)
    found: dict[str, dict[str, QuestionLanguages]] = field(default_factory=dict)  # measure → encoder

    def __post_init__(self) -> None:
        self.per_query = PerQuery(AskedQuestions.of(self.pool, self.cluster))

    def add(self, encoder: str, looked: Looked) -> None:
        """Enter an encoder's numbers."""
        best = looked.targets.best()
        for measure in self.measures:
            values = per_question(measure, looked.targets)
            by_language = question_languages(looked.counts, measure, values, looked.questions)
            self.found.setdefault(measure.name, {})[encoder] = by_language
            views = [by_language, *(looked.views if measure == AveragePrecision() else [])]
            entry = self._entry(encoder, measure, by_language.overall, looked)
            self.entries.append(replace(entry, views=record_of(self.pool.languages, views)))
            self.per_query.add(
                {
                    "task": self.task,
                    "encoder": encoder,
                    "source": ALL,
                    "target": POOL,
                    "measure": measure.name,
                },
                self.seed,
                query=looked.questions,
                retrieved=None,
                above=best.above,
                tied=best.tied,
                value=values,
            )

    def _entry(self, encoder: str, measure: PoolMeasure, found: Score, looked: Looked) -> Entry:
        return Entry(
            task=self.task,
            source=ALL,
            target=POOL,
            encoder=encoder,
            image_encoder=None,
            measure=measure.name,
            value=found.value,
            ci=found.interval(),
            chance=measure.aggregate(per_question(measure, _by_chance(looked.targets))),
            oracle=None,
            ceiling=None,
            normalized=None,
            n_source=len(looked.questions),
            n_target=len(self.pool.candidates),
            n_tied=looked.n_tied,
            seed=self.seed,
            signature=str(self._signature(encoder, measure)),
        )

    def _signature(self, encoder: str, measure: PoolMeasure) -> Signature:
        conditions = {
            "task": self.task,
            "languages": ",".join(self.pool.languages),
            "data": self.pool.digest[:12],
            "sample": f"all#{self.seed}",
            **clusters_condition(self.clusters),
            "candidates": self.choice.candidate_text,
            "policy": self.choice.policy,
            "measure": measure.name,
            "ties": "expected",
            "conventions": CONVENTIONS,
        }
        return Signature(conditions, {"encoder": self.identities[encoder]})

    def results(self) -> Results:
        """Return all numbers."""
        return Results(self.entries, self._summaries(), self.per_query.table())

    def _summaries(self) -> list[Summary]:
        """Return the measures by question language and over all questions, encoder by encoder."""
        rows: list[Summary] = []
        for measure in self.measures:
            found = self.found[measure.name]
            spoken = [
                tag for tag in self.pool.languages if all(tag in one.languages for one in found.values())
            ]
            for tag in spoken:
                rows += self._rows(measure, tag, {name: one.languages[tag] for name, one in found.items()})
            rows += self._rows(measure, None, {name: one.overall for name, one in found.items()})
        return rows

    def _rows(self, measure: PoolMeasure, language: str | None, scores: Mapping[str, Score]) -> list[Summary]:
        best = max if measure.higher_is_better else min
        leader = best(scores, key=lambda name: scores[name].value)
        chances = {e.encoder: e.chance for e in self.entries if e.measure == measure.name}
        return [
            Summary(
                task=self.task,
                source=language,
                target=None if language is None else POOL,
                encoder=encoder,
                image_encoder=None,
                measure=measure.name,
                value=found.value,
                ci=found.interval(),
                chance=chances[encoder] if language is None else None,
                oracle=None,
                ceiling=None,
                normalized=None,
                ci_simultaneous=found.simultaneous(len(scores)) if language is None else None,
                n_pairs=1,
                n_seeds=1,
                sd_seeds=None,
                behind=behind(scores, leader, encoder),
            )
            for encoder, found in scores.items()
        ]


def per_question(measure: PoolMeasure, targets: TargetCounts) -> Floats:
    """Return the value of a measure for each question [n]."""
    if isinstance(measure, TargetMeasure):
        return measure.per_query(targets)
    return measure.per_query(targets.best())


def _by_chance(targets: TargetCounts) -> TargetCounts:
    """Return the counts of an encoder to which all candidates are equal."""
    return TargetCounts(
        targets.query, np.zeros_like(targets.above), targets.pool[targets.query], targets.pool
    )
