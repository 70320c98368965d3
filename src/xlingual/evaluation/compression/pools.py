"""A multilingual pool: the average precision of a single answer, by question and answer language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.embed import PoolVectors
from xlingual.encoders import EncoderLike
from xlingual.errors import InputError, listed, parameter
from xlingual.evaluation.compression.asked import (
    Asked,
    FormValues,
    QueryLines,
    Sides,
    both_pools,
    ordered_again,
)
from xlingual.evaluation.compression.vector_lists import vector_lists
from xlingual.evaluation.multilingual_pool.choice import choose
from xlingual.evaluation.multilingual_pool.evaluate import NAME, PoolRun
from xlingual.evaluation.multilingual_pool.language_bias import single_answer_precision
from xlingual.evaluation.multilingual_pool.listed_pass import listed_pass
from xlingual.evaluation.multilingual_pool.one_pass import PoolCounts, one_pass
from xlingual.evaluation.multilingual_pool.relevant_ranks import relevant_ranks
from xlingual.evaluation.near_duplicates import near_questions
from xlingual.evaluation.run import Options
from xlingual.forms import dense
from xlingual.measures import average_precision
from xlingual.ranking import rows_of
from xlingual.records import Texts


class OverPool(Asked):
    """Questions of a pool; a line is a question with its answers in one language.

    A value is the average precision where the answers in that language alone are in the pool, among all other
    candidates of all languages, one answer at a time: "one target" of LAReQA.
    """

    measure = "AP"

    def __init__(
        self,
        pool: MultilingualPool,
        spec: EncoderLike,
        options: Options,
        candidate_text: str,
        pairs: Sequence[str] | None,
        measure: str | None,
    ) -> None:
        if measure not in (None, self.measure):
            raise InputError(
                f"{parameter('measure', measure)}: of a pool it is AP, by question and answer language: "
                "leave it out"
            )
        self.run: PoolRun = PoolRun(pool, choose(pool, "none", "agnostic", candidate_text, ()), options)
        self.pool, self.text = pool, candidate_text
        self.run.ranks_texts = False  # by cosine alone
        self.run.prepare(spec, None)
        self.run.near = near_questions(pool.questions, options.cluster)
        self._cluster = (self.run.near.clusters or pool.questions).cluster
        found: PoolVectors = self.run.encode(self.name, self.run.embedded)
        who = f"text encoder {self.name!r}"
        self.full = Sides(*(dense(one, who, "a smaller form") for one in (found.questions, found.candidates)))
        self._cells = self._chosen(pairs)
        self.lines = QueryLines(
            tuple((a, b) for a in pool.languages for b in pool.languages),
            pool.questions.language[self._cells[0]] * len(pool.languages) + self._cells[1],
            self._cluster[self._cells[0]],
        )
        self.languages = pool.languages

    def _chosen(self, pairs: Sequence[str] | None) -> tuple[Ints, Ints]:
        """Return the questions and answer languages that count; InputError for a pair that has none."""
        pool, (question, answer) = self.pool, self.pool.relevant
        known = np.zeros((len(pool.questions), len(pool.languages)), dtype=bool)
        known[question, pool.candidates.language[answer]] = True
        if pairs is not None:
            known &= self._wanted(pairs)[pool.questions.language]
        if not known.any():
            raise InputError(f"{parameter('pairs')}: no question of these pairs has an answer")
        asked, answered = np.nonzero(known)
        return asked, answered

    def _wanted(self, pairs: Sequence[str]) -> np.ndarray:
        """Return which pairs of question and answer language are named, bool [G, G]."""
        tags = self.pool.languages
        places = {f"{a}-{b}": (i, j) for i, a in enumerate(tags) for j, b in enumerate(tags)}
        wanted = np.zeros((len(tags), len(tags)), dtype=bool)
        for name in pairs:
            if name not in places:
                known = listed(tags, 20)
                raise InputError(
                    f"{parameter('pairs', name)}: the pool has no such pair; its languages: {known}"
                )
            wanted[places[name]] = True
        return wanted

    def values(self, vectors: Sides) -> FormValues:
        """Return the average precision of each line's answers [n]."""
        return self._of(self._counts(vectors))

    def rescored(self, vectors: Sides, smallest: Sides, first: int) -> FormValues:
        """Return the same where the first candidates by `smallest` are ordered again."""
        counts, (questions, candidates) = self._counts(smallest), self._rows()
        lists = vector_lists(
            *both_pools(smallest, questions, candidates), min(first, len(candidates)), self.run.options.ranker
        )
        lists = ordered_again(lists, rows_of(vectors.queries), rows_of(smallest.candidates))
        again = listed_pass(self.pool, lists, cluster=self._cluster).counts
        here = lists.lines(counts.question, counts.candidate) >= 0
        above, tied = (
            np.where(here[:, None], new, old)
            for new, old in ((again.above, counts.above), (again.tied, counts.tied))
        )
        return self._of(replace(counts, above=above, tied=tied, key=-above.sum(axis=1, dtype=np.int64)))

    def _counts(self, vectors: Sides) -> PoolCounts:
        run = self.run
        found = one_pass(
            self.pool,
            vectors.queries,
            vectors.candidates,
            cluster=self._cluster,
            ranker=run.options.ranker,
        )
        return found.counts

    def _of(self, counts: PoolCounts) -> FormValues:
        whole = float(average_precision(counts.whole_pool()).mean())
        return FormValues(single_answer_precision(relevant_ranks(counts))[self._cells], whole)

    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(len(self.pool.questions)), np.arange(len(self.pool.candidates))

    def texts(self) -> tuple[Texts, ...]:
        """Return the questions and the candidates."""
        return self.pool.question_texts(), self.pool.candidate_texts()

    def conditions(self) -> dict[str, str]:
        """Return what the numbers depend on, as a signature of an evaluation has it."""
        return {
            "task": NAME,
            "languages": ",".join(self.pool.languages),
            "data": self.pool.digest[:12],
            **self.run.clusters(),
            "candidates": self.text,
            "view": "one-target",
        }
