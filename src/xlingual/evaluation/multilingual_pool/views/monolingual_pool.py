"""Monolingual pool (LAReQA, Table 4): candidates of the question's language only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.evaluation.estimates import Score, mean_of
from xlingual.evaluation.multilingual_pool.views.means import by_question_language
from xlingual.evaluation.multilingual_pool.views.precision import precision_at
from xlingual.evaluation.multilingual_pool.views.standings import Standings
from xlingual.evaluation.multilingual_pool.views.written import interval, intervals, values
from xlingual.records import Floats


@dataclass(frozen=True)
class MonolingualPool:
    """mAP per language with the candidates and the answers of that language only, and its mean over them.

    Questions that have no answer in their own language are left out; `questions` counts the others.
    """

    languages: dict[str, Score]
    average: Score | None
    questions: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return the values by name."""
        if self.average is None:
            return {}
        return {
            "monolingual_pool": values(self.languages),
            "monolingual_pool_average": self.average.value,
            "monolingual_pool_questions": self.questions,
        }

    def intervals(self) -> dict[str, Any]:
        """Return the intervals, nested alike."""
        if self.average is None:
            return {}
        return {
            "monolingual_pool": intervals(self.languages),
            "monolingual_pool_average": interval(self.average),
        }


def monolingual_pool(standings: Standings) -> MonolingualPool:
    """Return average precision by language, each question in the pool of its own language."""
    found = by_question_language(standings.counts, monolingual_average_precision(standings))
    average = mean_of(list(found.values())) if found else None
    return MonolingualPool(found, average, {lang: len(s.parts[0].residuals) for lang, s in found.items()})


def monolingual_average_precision(standings: Standings) -> Floats:
    """Return each question's average precision in its language's pool [n]; NaN without an answer there."""
    own = standings.own
    rows = np.flatnonzero(own)
    language = standings.answer_language[rows]
    precision = precision_at(
        standings.above_of(language, rows),
        standings.tied_of(language, rows),
        standings.relevant_above(own, rows),
        standings.relevant_tied(own, rows),
    )
    return standings.per_question(precision, rows)
