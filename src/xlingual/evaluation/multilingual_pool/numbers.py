"""The numbers of an evaluation of a multilingual pool: entries, leaderboards and the table of questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.multilingual_pool.alignment import alignment_counts, all_equal
from xlingual.evaluation.multilingual_pool.choice import Choice
from xlingual.evaluation.multilingual_pool.encoder_views import EncoderFindings
from xlingual.evaluation.multilingual_pool.measure_views import measure_views
from xlingual.evaluation.multilingual_pool.views import QuestionLanguages, question_languages, record_of
from xlingual.evaluation.numbers import OVERALL, Baseline, BoardLine, Number, Numbers, Subject
from xlingual.evaluation.perquery import QueryRows
from xlingual.evaluation.run import Run
from xlingual.measures import NDCG, AlignmentMeasure, AveragePrecision, PoolMeasure, TargetMeasure
from xlingual.records import AlignmentCounts, JudgedCounts, TargetCounts
from xlingual.results import Results, Summary

ALL, POOL = "all", "pool"  # source and target: the questions of all languages, the pool of all languages


class PoolNumbers:
    """Collects the numbers of one encoder after another; `cluster` is of each question."""

    def __init__(
        self, run: Run, pool: MultilingualPool, choice: Choice, measures: Sequence[PoolMeasure], cluster: Ints
    ) -> None:
        self.run, self.pool, self.choice, self.cluster = run, pool, choice, cluster
        self.subject = Subject(ALL, POOL, run.options.seed)
        self.numbers = Numbers(run.task, measures, [self.subject], compared=0)
        self.measures = measures
        # views stand with AP, or with the first measure where they need none
        self.viewed = AveragePrecision() if AveragePrecision() in measures else measures[0]
        self.found: dict[str, dict[str, QuestionLanguages]] = {}  # measure → encoder

    def add(self, encoder: str, findings: EncoderFindings) -> Floats:
        """Enter an encoder's numbers; return the values of the measure with which views stand."""
        best, value_of, chance_of = findings.targets.best(), _values(findings), _values(findings, chance=True)
        for measure in self.measures:
            values = value_of(measure)
            rows = np.flatnonzero(~np.isnan(values))  # of questions that have a value
            values, questions = values[rows], findings.questions[rows]
            by_language = question_languages(findings.counts, measure, values, questions)
            self.found.setdefault(measure.name, {})[encoder] = by_language
            choice, views = findings.choice, [by_language.view()]
            if measure == self.viewed and (choice.with_ap or choice.policy == "agnostic"):
                views += findings.views
            if choice.policy == "agnostic":
                views += measure_views(findings.ranks, measure, choice.views, findings.grades)
            chance = measure.aggregate(chance_of(measure)[rows])
            self.numbers[encoder, measure.name, self.subject] = Number(
                by_language.overall,
                self._signature(encoder, measure),
                n_source=len(questions),
                n_target=len(self.pool.candidates),
                n_tied=findings.n_tied,
                baseline=Baseline(chance),
                views=record_of(self.pool.languages, views),
            )
            ranks = {"above": best.above[rows], "tied": best.tied[rows]}
            labels = (self.numbers.task, encoder, self.subject.source, self.subject.target, measure.name)
            self.numbers.per_query.add(
                labels, self.subject.seed, {"query": questions, "value": values, **ranks}
            )
        return value_of(self.viewed)

    def _signature(self, encoder: str, measure: PoolMeasure) -> str:
        conditions = {
            "languages": ",".join(self.pool.languages),
            "data": self.pool.digest[:12],
            "sample": f"all#{self.subject.seed}",
            **self.run.clusters(),
            "candidates": self.choice.candidate_text,
            "policy": self.choice.policy,
            **self.choice.grades.condition(self.pool, measure),
        }
        return self.run.signature(conditions, measure.name, **self.run.system(encoder, self.subject.place))

    def results(self) -> Results:
        """Return all numbers."""
        table = self.numbers.per_query.table(_query_rows(self.pool, self.cluster))
        return Results(self.numbers.entries(), list(self._summaries()), table)

    def _summaries(self) -> Iterator[Summary]:
        """Yield the measures by question language and over all questions, encoder by encoder."""
        for measure in self.measures:
            found, higher = self.found[measure.name], measure.higher_is_better
            for tag in self.pool.languages:
                if all(tag in one.languages for one in found.values()):
                    lines = {name: BoardLine(one.languages[tag]) for name, one in found.items()}
                    yield from self.numbers.leaderboard(measure.name, (tag, POOL), lines, higher=higher)
            numbers = {name: self.numbers[name, measure.name, self.subject] for name in found}
            lines = {name: BoardLine(one.estimate, one.baseline.chance) for name, one in numbers.items()}
            yield from self.numbers.leaderboard(measure.name, OVERALL, lines, higher=higher)


def _query_rows(pool: MultilingualPool, cluster: Ints) -> QueryRows:
    """Return the rows of the table of queries: a question in a language, "ar/ID".

    Equal keys are one item, and the language is a label.
    """
    q = pool.questions
    languages: list[str | None] = [pool.languages[code] for code in q.language]
    number = {key: i for i, key in enumerate(dict.fromkeys(q.key))}
    return QueryRows(
        [f"{language}/{name}" for language, name in zip(languages, q.ids, strict=True)],
        np.array([number[key] for key in q.key], dtype=np.int64),
        list(number),
        cluster,
        {"language": languages},
    )


def _values(findings: EncoderFindings, *, chance: bool = False) -> Callable[[PoolMeasure], Floats]:
    """Return a function from a measure to its value for each question [n], NaN for those that have none.

    `chance`: of an encoder that knows nothing, to which all candidates are equal.
    """
    targets = findings.targets
    if chance:
        pool = targets.pool
        targets = TargetCounts(targets.query, np.zeros_like(targets.above), pool[targets.query], pool)

    @cache
    def by_language() -> AlignmentCounts:
        found = alignment_counts(findings.ranks)
        return all_equal(findings.ranks, found) if chance else found

    def value(measure: PoolMeasure) -> Floats:
        if isinstance(measure, AlignmentMeasure):
            return measure.per_query(by_language())
        if isinstance(measure, NDCG):
            lines = targets.query, targets.above, targets.tied, findings.grades
            return measure.per_query(JudgedCounts(*lines, targets.pool, targets.pool))
        if isinstance(measure, TargetMeasure):
            return measure.per_query(targets)
        return measure.per_query(targets.best())

    return value
