"""Where the loss comes from: the languages of the irrelevant candidates above each answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.evaluation.multilingual_pool.views.standings import Standings
from xlingual.records import Floats, Ints


@dataclass(frozen=True)
class Loss:
    """Mean number of irrelevant candidates above an answer, by pair of languages and by their own language.

    `pairs["ar->de"]`: questions asked in ar, answers in de; {"question": of ar, "answer": of de, "third": of
    all other languages}; in "ar->ar" those of ar are under "question" and "answer" is 0. A candidate that
    ties counts half. A question with several answers in de counts once, with their mean.
    """

    pairs: dict[str, dict[str, float]]

    def as_json(self) -> dict[str, Any]:
        """Return the values by name."""
        return {"loss": self.pairs}

    def intervals(self) -> dict[str, Any]:
        """Return none: these numbers explain the scores, which have intervals."""
        return {}


def loss(standings: Standings) -> Loss:
    """Return the mean numbers of irrelevant candidates above each answer."""
    s = standings
    all_of_it = (s.above - s.relevant_above()) + 0.5 * (s.tied - s.relevant_tied())
    of_question = _irrelevant(s, s.asked_in)
    of_answer = np.where(s.own, 0.0, _irrelevant(s, s.answer_language))
    kinds = {
        "question": s.by_answer_language(of_question),
        "answer": s.by_answer_language(of_answer),
        "third": s.by_answer_language(all_of_it - of_question - of_answer),
    }
    languages, asked_in = s.counts.languages, s.counts.question_language
    pairs: dict[str, dict[str, float]] = {}
    for q, asked in enumerate(languages):
        rows = np.flatnonzero(asked_in == q)
        for a, answer in enumerate(languages):
            counted = rows[np.isfinite(kinds["third"][rows, a])]
            if len(counted):
                means = {kind: float(table[counted, a].mean()) for kind, table in kinds.items()}
                pairs[f"{asked}->{answer}"] = means
    return Loss(pairs)


def _irrelevant(s: Standings, language: Ints) -> Floats:
    """Return how many irrelevant candidates of the line's `language` [p] are above; half of those tied."""
    above, tied = s.above_of(language), s.tied_of(language)
    found = above + 0.5 * tied
    for code in range(len(s.counts.languages)):
        rows = np.flatnonzero(language == code)
        chosen = s.answer_language == code
        found[rows] -= s.relevant_above(chosen, rows) + 0.5 * s.relevant_tied(chosen, rows)
    return found
