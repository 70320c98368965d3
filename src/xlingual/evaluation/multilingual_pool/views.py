"""Views: the further findings of an entry, by language; values, and their intervals nested alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.multilingual_pool.one_pass import PoolCounts
from xlingual.measures import QueryMeasure
from xlingual.measures.precision import AveragePrecision
from xlingual.results.views import PoolIntervals, PoolViews

AP = AveragePrecision()
Scores: TypeAlias = Mapping[str, Score | Mapping[str, Score]]  # or groups of scores


@dataclass(frozen=True)
class View:
    """One view or several that belong together; without values where the pool does not allow it."""

    values: Mapping[str, Any] = field(default_factory=dict)  # by the view's name
    intervals: Mapping[str, Any] = field(default_factory=dict)  # nested like the values

    @classmethod
    def of(cls, scores: Scores, **more: object) -> View:
        """Return scores, or groups of scores, with their intervals; `more` are values that have none."""
        return cls({**values(scores), **more}, intervals(scores))


def values(scores: Scores) -> dict[str, Any]:
    """Return the value of each score, nested alike."""
    return {name: one.value if isinstance(one, Score) else values(one) for name, one in scores.items()}


def intervals(scores: Scores) -> dict[str, Any]:
    """Return the interval of each score, nested alike."""
    return {
        name: one.interval() if isinstance(one, Score) else intervals(one) for name, one in scores.items()
    }


def record_of(languages: Iterable[str], views: Iterable[View]) -> PoolViews:
    """Return `views` of an entry: the values of all views, and "ci" with their intervals."""
    several = list(views)
    found = dict(chain.from_iterable(view.values.items() for view in several))
    nested = dict(chain.from_iterable(view.intervals.items() for view in several))
    return PoolViews(languages=list(languages), **found, ci=PoolIntervals(**nested))


@dataclass(frozen=True)
class QuestionLanguages:
    """A measure over all questions, over those of each language, and its mean over languages.

    `overall` gives each question equal weight, `macro` each language. `by_article` is `overall` with an
    interval that takes the questions of an article, not those of a paragraph, as dependent.
    """

    overall: Score
    languages: dict[str, Score]
    macro: Score
    by_article: Score | None

    def view(self) -> View:
        """Return the record of languages that an entry keeps."""
        article = self.by_article
        more = {} if article is None else {"ci_by_article": {"value": article.interval()}}
        return View.of({"by_question_language": self.languages, "macro": self.macro}, **more)


def question_languages(
    counts: PoolCounts, measure: QueryMeasure, values: Floats, questions: Ints | None = None
) -> QuestionLanguages:
    """Return the measure of values per question [k] by question language.

    `questions` [k] says which questions the values are of; None: all of them. Languages without questions
    are left out.
    """
    if questions is None:
        questions = np.arange(counts.n_questions)
    asked_in, cluster = counts.question_language[questions], counts.cluster[questions]
    found = {}
    for code, language in enumerate(counts.languages):
        rows = np.flatnonzero(asked_in == code)
        if len(rows):
            found[language] = score(measure, values[rows], (cluster[rows],))
    article = None if counts.article is None else counts.article[questions]
    return QuestionLanguages(
        overall=score(measure, values, (cluster,)),
        languages=found,
        macro=Score.mean(list(found.values())),
        by_article=None if article is None else score(measure, values, (article,)),
    )


def mean_score(values: Floats, cluster: Ints) -> Score | None:
    """Return the score of the mean of values in 0..1 [n]; NaN: not counted; None where none counts."""
    rows = np.flatnonzero(~np.isnan(values))
    return score(AP, values[rows], (cluster[rows],)) if len(rows) else None


def by_question_language(counts: PoolCounts, values: Floats) -> dict[str, Score]:
    """Return the mean of values in 0..1 [n] over the questions of each language, where there are any."""
    found = {}
    for code, language in enumerate(counts.languages):
        rows = counts.question_language == code
        found[language] = mean_score(values[rows], counts.cluster[rows])
    return compact(found)


def by_pair(counts: PoolCounts, table: Floats) -> dict[str, Score]:
    """Return the means of a table [n, G] by answer language: "ar->de" is asked in ar, answered in de."""
    found = {}
    for asked_in, asked in enumerate(counts.languages):
        rows = np.flatnonzero(counts.question_language == asked_in)
        part, cluster = table[rows], counts.cluster[rows]
        for answered_in, answer in enumerate(counts.languages):
            found[f"{asked}->{answer}"] = mean_score(part[:, answered_in], cluster)
    return compact(found)


def compact(found: Mapping[str, Score | None]) -> dict[str, Score]:
    """Return the scores that are not None."""
    return {name: each for name, each in found.items() if each is not None}
