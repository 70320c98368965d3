"""A measure by the language of the question, and the macro mean over languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.evaluation.estimates import Score, mean_of, score
from xlingual.evaluation.multilingual_pool.counts import PoolCounts
from xlingual.evaluation.multilingual_pool.views.written import interval, intervals, values
from xlingual.measures import QueryMeasure
from xlingual.records import Floats, Ints


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

    def as_json(self) -> dict[str, Any]:
        """Return the values by name."""
        found: dict[str, Any] = {
            "by_question_language": values(self.languages),
            "macro": self.macro.value,
        }
        if self.by_article is not None:
            found["ci_by_article"] = {"value": interval(self.by_article)}
        return found

    def intervals(self) -> dict[str, Any]:
        """Return the intervals, nested alike."""
        return {"by_question_language": intervals(self.languages), "macro": interval(self.macro)}


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
        macro=mean_of(list(found.values())),
        by_article=None if article is None else score(measure, values, (article,)),
    )
