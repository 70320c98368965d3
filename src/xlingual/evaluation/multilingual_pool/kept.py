"""What is kept of each question, to look at failures: its nearest candidates, and where its answers stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Ints
from xlingual.arrow import from_numpy
from xlingual.data.pools.pool import MultilingualPool
from xlingual.embed.sides import PoolVectors
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.multilingual_pool.lists import named
from xlingual.evaluation.multilingual_pool.one_pass import PassCounts
from xlingual.evaluation.neighbours import (
    DECIMALS,
    KEPT,
    Neighbours,
    NeighbourTable,
    Scores,
    first_lines,
    listed_neighbours,
)
from xlingual.evaluation.numbers import Subject
from xlingual.evaluation.perquery import looked_up, repeated, words_of
from xlingual.ranking import rows_of, similarity_of

if TYPE_CHECKING:
    import pyarrow as pa


class KeptOfQuestions:
    """Collects both, encoder by encoder; `own` keeps the answers in the question's language only."""

    def __init__(self, task: str, pool: MultilingualPool, subject: Subject, *, own: bool) -> None:
        self.task, self.pool, self.subject, self.own = task, pool, subject, own
        self._nearest = NeighbourTable(task)
        self._answers: list[tuple[str, Ints, Ints, Ints, Ints]] = []

    def add(self, encoder: str, given: PoolVectors | Lists, found: PassCounts) -> None:
        """Add what a pass found for an encoder, or for a system that returned lists."""
        nearest = listed_neighbours(given) if isinstance(given, Lists) else self._ranked(given, found)
        if nearest is not None:
            rows = np.arange(len(self.pool.questions)), np.arange(len(self.pool.candidates))
            self._nearest.add(encoder, self.subject, nearest, *rows)
        counts = found.counts
        whole, unknown = counts.whole_pool(), np.zeros(len(counts.question), dtype=bool)
        for one in (counts.unlisted, counts.missed):
            unknown |= False if one is None else one
        kept = np.flatnonzero(counts.answer_language == counts.asked_in) if self.own else slice(None)
        above, tied = (np.where(unknown, -1, of)[kept] for of in (whole.above, whole.tied))
        self._answers.append((encoder, counts.question[kept], counts.candidate[kept], above, tied))

    def _ranked(self, given: PoolVectors, found: PassCounts) -> Neighbours | None:
        """Return the first candidates of each question; groups of very many that tie are not listed."""
        if found.heads is None or found.heads.top < min(KEPT, len(self.pool.candidates)):
            return None
        lines = named(found.heads).first(KEPT)
        kept = first_lines(lines.question, KEPT)
        question, candidate = lines.question[kept], lines.candidate[kept]
        if found.offsets is None and found.similarity is not None:  # whose vectors are made
            score = Scores(found.similarity)(question, found.heads.columns.of[candidate])
        else:
            both = similarity_of(rows_of(given.questions), rows_of(given.candidates))
            score = Scores(both, found.offsets)(question, candidate)
        return Neighbours(question, candidate, lines.above[kept], lines.tied[kept], np.round(score, DECIMALS))

    def tables(self) -> dict[str, pa.Table]:
        """Return the tables `neighbours` and `answers`; of several answers of a question each has a line."""
        import pyarrow as pa

        if not self._answers:
            return {}
        tags, sides = self.pool.languages, (self.pool.questions, self.pool.candidates)
        names = [
            [f"{tags[code]}/{own}" for code, own in zip(side.language.tolist(), side.ids, strict=True)]
            for side in sides
        ]
        questions, candidates = map(words_of, names)
        lengths = [len(question) for _, question, *_ in self._answers]
        labels = (self.task, None, self.subject.source, self.subject.target)
        columns = {
            name: repeated([label or encoder for encoder, *_ in self._answers], lengths)
            for name, label in zip(("task", "encoder", "source", "target"), labels, strict=True)
        }
        columns["seed"] = from_numpy(np.full(sum(lengths), self.subject.seed), pa.int64())
        question, candidate, above, tied = (
            np.concatenate(parts) for parts in list(zip(*self._answers, strict=True))[1:]
        )
        columns["query"], columns["answer"] = (
            looked_up(question, *questions),
            looked_up(candidate, *candidates),
        )
        for name, numbers in (("above", above), ("tied", tied)):
            columns[name] = from_numpy(numbers.astype(np.int64), pa.int64(), mask=above < 0)
        return {**self._nearest.table(*names), "answers": pa.table(columns)}
