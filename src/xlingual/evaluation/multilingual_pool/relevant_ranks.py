"""Where the relevant candidates of each question stand among themselves, and the precision at their ranks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.multilingual_pool.one_pass import PoolCounts
from xlingual.measures.harmonic import harmonic_difference
from xlingual.ragged import groups, sums

Flags = np.ndarray  # bool


@dataclass(frozen=True, eq=False, repr=False)
class RelevantRanks:
    """The lines of `PoolCounts`, sorted by question, then best first; one line a relevant candidate.

    A tie group is a run of lines: those of a question with equally many candidates above, which means equal
    scores, since relevant candidates are counted too. `start` and `stop` delimit the group of a line,
    `first` and `last` its question (half-open).
    """

    counts: PoolCounts
    line: Ints  # [p] line of the counts
    question: Ints  # [p], ascending
    asked_in: Ints  # [p] language of the question
    answer_language: Ints  # [p] language of the relevant candidate
    above: Ints  # [p] candidates of the whole pool that are strictly above
    tied: Ints  # [p], itself included
    start: Ints  # [p]
    stop: Ints  # [p]
    first: Ints  # [p]
    last: Ints  # [p]

    def without_missed(self, values: Floats, rows: Ints | None = None) -> Floats:
        """Return values of lines (of the lines `rows`) with 0 for what a search system missed."""
        if self.counts.missed is None:
            return values
        return np.where(self.counts.missed[_take(self.line, rows)], 0.0, values)

    @property
    def own(self) -> Flags:
        """Whether the relevant candidate is in the language of the question, bool [p]."""
        return np.asarray(self.asked_in == self.answer_language)

    def relevant_above(self, chosen: Flags | None = None, rows: Ints | None = None) -> Ints:
        """Return how many relevant candidates (of those `chosen`, bool [p]) are strictly above each line.

        For the lines `rows` only, where given.
        """
        return _between(chosen, _take(self.first, rows), _take(self.start, rows))

    def relevant_tied(self, chosen: Flags | None = None, rows: Ints | None = None) -> Ints:
        """Return how many relevant candidates (of those `chosen`) tie with each line, itself included."""
        return _between(chosen, _take(self.start, rows), _take(self.stop, rows))

    def above_of(self, language: Ints | int, rows: Ints | None = None) -> Ints:
        """Return how many candidates of a language (one for each line, or one for all) are strictly above."""
        return np.asarray(self.counts.above[_take(self.line, rows), language], dtype=np.int64)

    def tied_of(self, language: Ints | int, rows: Ints | None = None) -> Ints:
        """Return how many candidates of a language tie with each line, itself included."""
        return np.asarray(self.counts.tied[_take(self.line, rows), language], dtype=np.int64)

    def irrelevant_of(self, language: Ints) -> tuple[Ints, Ints]:
        """Return how many irrelevant candidates of the line's `language` [p] are above it, and tie."""
        before = self._before
        start = before[self.start, language]
        above = self.above_of(language) - (start - before[self.first, language])
        return above, self.tied_of(language) - (before[self.stop, language] - start)

    @cached_property
    def _before(self) -> np.ndarray:
        """How many lines before each, and in all, have answers of each language, int32 [p + 1, G]."""
        found = np.zeros((len(self.line) + 1, len(self.counts.languages)), dtype=np.int32)
        found[np.arange(1, len(found)), self.answer_language] = 1
        return np.cumsum(found, axis=0, dtype=np.int32, out=found)

    def per_question(self, values: Floats, rows: Ints | None = None) -> Floats:
        """Return the mean of values per line (of the lines `rows`) for each question [n]; NaN for none."""
        question, n = _take(self.question, rows), self.counts.n_questions
        return _divided(sums(question, values, n), np.bincount(question, minlength=n))

    def by_answer_language(self, values: Floats) -> Floats:
        """Return the mean of values per line [p] by question and answer language [n, G]; NaN for none."""
        n, G = self.counts.n_questions, len(self.counts.languages)
        cell = self.question * G + self.answer_language
        return _divided(sums(cell, values, n * G), np.bincount(cell, minlength=n * G)).reshape(n, G)

    def n_tied(self, chosen: Flags | None = None) -> int:
        """Return the number of questions where a relevant candidate ties with an irrelevant one.

        Where only the `chosen` lines count as relevant, all other candidates are irrelevant.
        """
        rows = np.arange(len(self.line)) if chosen is None else np.flatnonzero(chosen)
        shared = self.tied[rows] > self.relevant_tied(chosen, rows)
        if self.counts.unlisted is not None:  # their order is not known, which is no tie
            shared &= ~self.counts.unlisted[self.line[rows]]
        return len(np.unique(self.question[rows[shared]]))


def relevant_ranks(counts: PoolCounts) -> RelevantRanks:
    """Return the ranks of the relevant candidates: one sort, shared by all views."""
    above, tied = (of.sum(axis=1, dtype=np.int64) for of in (counts.above, counts.tied))
    code = counts.question * (int(above.max(initial=0)) + 1) + above
    line = np.argsort(code, kind="stable")
    code, question = code[line], counts.question[line]
    start, stop = _runs(code)
    first, last = _runs(question)
    answer_language = counts.answer_language[line]
    asked_in = counts.question_language[question]
    return RelevantRanks(
        counts, line, question, asked_in, answer_language, above[line], tied[line], start, stop, first, last
    )


def own_and_other(counts: PoolCounts, table: Floats) -> tuple[Floats, Floats]:
    """Return, of a table [n, G] by answer language, the own language's value and the mean of the others'.

    Each float64 [n]; NaN where the question has no answer of that kind.
    """
    rows = np.arange(counts.n_questions)
    own = table[rows, counts.question_language]
    others = np.isfinite(table)
    others[rows, counts.question_language] = False
    return own, _divided(np.where(others, table, 0.0).sum(axis=1), others.sum(axis=1))


def _runs(codes: Ints) -> tuple[Ints, Ints]:
    """Return for each position where its run of equal codes starts and where it stops."""
    first, size = groups(codes)
    return np.repeat(first, size), np.repeat(first + size, size)


def _between(chosen: Flags | None, start: Ints, stop: Ints) -> Ints:
    """Return how many lines (of those chosen) there are from start to stop."""
    if chosen is None:
        return stop - start
    total = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(chosen, out=total[1:])
    return total[stop] - total[start]


def _take(values: Ints, rows: Ints | None) -> Ints:
    return values if rows is None else values[rows]


def _divided(total: Floats, count: Ints) -> Floats:
    """Return total / count, NaN where there is nothing to count."""
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))


def precision_at(above: Ints, tied: Ints, relevant_above: Ints, relevant_tied: Ints) -> Floats:
    """Return the expected precision at the rank of each relevant candidate, float64 [p] in 0..1.

    A candidate with G candidates above, ρ of them relevant, in a tie group of n, r of them relevant (itself
    included): c + (ρ + 1 − c(G + 1))·(H(G + n) − H(G))/n, c = (r − 1)/(n − 1) or 0: at place j of its group
    there are G + j candidates, ρ + 1 + c(j − 1) of them relevant on average, and each j is equally likely.
    The mean over the R relevant candidates of a question is its average precision.
    """
    found = np.asarray((relevant_above + 1.0) / (above + 1.0), dtype=np.float64)
    several = np.flatnonzero(tied > 1)
    if len(several):  # the rest needs no harmonic numbers, and ties are rare
        G, n = above[several], tied[several]
        beside = (relevant_tied[several] - 1) / (n - 1)
        weight = relevant_above[several] + 1 - beside * (G + 1.0)
        found[several] = beside + weight * reciprocal_rank(G, n)
    return found


def reciprocal_rank(above: Ints, tied: Ints) -> Floats:
    """Return E[1/rank] = (H(G + n) − H(G))/n of a candidate with G above in a tie group of n, float64 [p]."""
    found = np.asarray(1.0 / (above + 1.0), dtype=np.float64)
    several = np.flatnonzero(tied > 1)
    if len(several):
        G, n = above[several], tied[several]
        found[several] = harmonic_difference(G, n) / n
    return found
