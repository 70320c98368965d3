"""How a dual encoder ranks the answers of questions that were held out from its training."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.data.pools.parallel import ParallelQuestions
from xlingual.encoders.trained_dual_encoder import CANDIDATE, QUERY
from xlingual.measures import AveragePrecision
from xlingual.ranking import Cosine, UnitVectors, counts
from xlingual.records import TargetCounts

if TYPE_CHECKING:
    from xlingual.models.dual_encoder import DualEncoder
    from xlingual.training.recipe import Scores
    from xlingual.training.recipes.dual_encoder import Inputs


@dataclass(frozen=True)
class HeldOut:
    """Questions and candidates of clusters that were held out, as rows of their texts, and what is relevant.

    Candidates are all answers, and all texts beside them, of the held-out clusters.
    """

    data: ParallelQuestions
    questions: Ints = field(init=False)  # [q]: rows of data.questions
    candidates: Ints = field(init=False)  # [c]: rows of data.answers
    query: Ints = field(init=False)  # [p], ascending: places in `questions`
    target: Ints = field(init=False)  # [p]: places in `candidates`

    def __post_init__(self) -> None:
        data = self.data
        candidates = np.flatnonzero(np.isin(data.answer_cluster, data.cluster))
        number, answer = data.right
        order = np.argsort(number, kind="stable")
        asked = [(row, i) for i, rows in enumerate(data.asked.tolist()) for row in rows if row >= 0]
        questions = np.array([row for row, _ in asked], dtype=np.int64)
        starts = np.searchsorted(number[order], np.arange(len(data) + 1))
        own = [answer[order[starts[i] : starts[i + 1]]] for _, i in asked]
        object.__setattr__(self, "questions", questions)
        object.__setattr__(self, "candidates", np.union1d(candidates, answer))
        object.__setattr__(self, "query", np.repeat(np.arange(len(own)), [len(rows) for rows in own]))
        object.__setattr__(self, "target", np.searchsorted(self.candidates, np.concatenate(own)))

    def average_precision(self, questions: Vectors, candidates: Vectors) -> tuple[float, float]:
        """Return mAP in the pool of all languages, and in pools of the question's language alone.

        `questions` [q, d] and `candidates` [c, d]. The second is a mean over the questions that have an
        answer in their own language, 0 where none has.
        """
        similarity = Cosine(UnitVectors(questions), UnitVectors(candidates))
        asked_in, answered_in = self._languages()
        above, tied = counts(similarity, self.query, self.target, groups=answered_in)
        measure = AveragePrecision()
        pool = np.full(len(questions), len(candidates))
        whole = measure.per_query(TargetCounts(self.query, above.sum(axis=1), tied.sum(axis=1), pool))
        language = answered_in[self.target]
        rows = np.flatnonzero(language == asked_in[self.query])
        if not len(rows):
            return float(whole.mean()), 0.0
        _, query = np.unique(self.query[rows], return_inverse=True)
        size = int(query.max()) + 1
        own = TargetCounts(query, above[rows, language[rows]], tied[rows, language[rows]], pool[:size])
        return float(whole.mean()), float(measure.per_query(own).mean())

    def _languages(self) -> tuple[Ints, Ints]:
        """Return the language of each question [q] and of each candidate [c], as numbers."""
        number = {tag: code for code, tag in enumerate(self.data.languages)}
        sides = ((self.data.questions, self.questions), (self.data.answers, self.candidates))
        asked, answered = (
            np.array([number[texts.language[row]] for row in rows.tolist()], dtype=np.int64)
            for texts, rows in sides
        )
        return asked, answered


def validated(model: DualEncoder, inputs: Inputs, held: HeldOut) -> Scores:
    """Return the mAP of a model on what was held out, and beside it that of monolingual pools."""
    from xlingual.training.recipe import Scores
    from xlingual.training.recipes.dual_encoder import encoded

    questions = encoded(model, inputs, QUERY, held.questions)
    candidates = encoded(model, inputs, CANDIDATE, held.candidates)
    if not (np.isfinite(questions).all() and np.isfinite(candidates).all()):
        return Scores(math.nan, {})  # ranks of vectors that are no numbers say nothing
    pool, own = held.average_precision(questions, candidates)
    return Scores(pool, {"pool": pool, "own-language": own})
