"""What one pass over a multilingual pool leaves behind, for one encoder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.records import Ints, TargetCounts


@dataclass(frozen=True)
class PoolCounts:
    """How many candidates of each language stand above each relevant candidate, and tie with it.

    One line for each pair of a question and a relevant candidate, ordered by question, then candidate; G
    languages. Relevant candidates are counted like all others; each ties with itself.
    """

    languages: tuple[str, ...]  # [G]
    question: Ints  # [p], ascending; every question has a line
    candidate: Ints  # [p]
    key: Ints  # [p] exact score of the pair: equal keys are ties
    above: np.ndarray  # int32 [p, G]
    tied: np.ndarray  # int32 [p, G]
    question_language: Ints  # [n]
    candidate_language: Ints  # [m]
    cluster: Ints  # [n]: questions that are not independent
    article: Ints | None = None  # [n]

    @property
    def n_questions(self) -> int:
        """How many questions there are."""
        return len(self.question_language)

    @property
    def sizes(self) -> Ints:
        """How many candidates there are of each language, int64 [G]."""
        return np.bincount(self.candidate_language, minlength=len(self.languages)).astype(np.int64)

    @property
    def answer_language(self) -> Ints:
        """Language of each relevant candidate, int64 [p]."""
        return self.candidate_language[self.candidate]

    @property
    def asked_in(self) -> Ints:
        """Language of the question of each line, int64 [p]."""
        return self.question_language[self.question]

    def whole_pool(self) -> TargetCounts:
        """Return where every relevant candidate stands in the pool of all languages."""
        pool = np.full(self.n_questions, int(self.sizes.sum()))
        return TargetCounts(self.question, self.above.sum(axis=1), self.tied.sum(axis=1), pool)
