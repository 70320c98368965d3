"""Where the answers of a multilingual pool stand, by language, and the values of questions that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.measures.harmonic import harmonic_difference
from xlingual.ragged import groups, sums
from xlingual.records import AlignmentCounts, TargetCounts

Flags = np.ndarray  # bool


@dataclass(frozen=True, eq=False, repr=False)
class PoolRanks:
    """How many candidates of each language stand above each answer, and tie with it.

    One line for each of p pairs of a question and a relevant candidate, by question, then best first; G
    languages. Answers are counted like all other candidates; each ties with itself. Those of a question that
    have equally many candidates above are a tie group. Answers that a search system missed stand last, tied
    with each other, and are worth nothing.
    """

    languages: tuple[str, ...]  # [G]
    question_language: Ints  # [n]
    candidate_language: Ints  # [m]
    cluster: Ints  # [n]: questions that are not independent
    article: Ints | None  # [n]
    question: Ints  # [p], ascending; every question has a line
    candidate: Ints  # [p]
    grade: Ints  # [p], that of the pool
    above_by: Ints  # [p, G]
    tied_by: Ints  # [p, G]
    unlisted: Flags | None = None  # [p]: not in the list of a search system
    missed: Flags | None = None  # [p]: neither would they be in a longer one

    @classmethod
    def of(
        cls,
        pool: MultilingualPool,
        above: Ints,
        tied: Ints,
        unlisted: Flags | None = None,
        missed: Flags | None = None,
    ) -> PoolRanks:
        """Put counts of the pool's relevant pairs [p, G] in order."""
        question, candidate = pool.relevant
        order = np.lexsort((above.sum(axis=1), question))
        sides = (question, candidate, pool.grades, above, tied)
        asked, held = pool.questions, pool.candidates
        return cls(
            *(pool.languages, asked.language, held.language, asked.cluster, asked.article),
            *(side[order] for side in sides),
            *(None if side is None else side[order] for side in (unlisted, missed)),
        )

    @property
    def n(self) -> int:
        """How many questions there are."""
        return len(self.question_language)

    @cached_property
    def sizes(self) -> Ints:
        """How many candidates there are of each language, int64 [G]."""
        return np.bincount(self.candidate_language, minlength=len(self.languages)).astype(np.int64)

    @cached_property
    def language(self) -> Ints:
        """Language of each answer [p]."""
        return self.candidate_language[self.candidate]

    @cached_property
    def asked_in(self) -> Ints:
        """Language of the question of each line [p]."""
        return self.question_language[self.question]

    @cached_property
    def own(self) -> Flags:
        """Whether the answer is in the language of the question [p]."""
        return np.asarray(self.asked_in == self.language)

    @cached_property
    def above(self) -> Ints:
        """Candidates of all languages above each answer [p]."""
        return np.asarray(self.above_by.sum(axis=1, dtype=np.int64))

    @cached_property
    def tied(self) -> Ints:
        """Candidates of all languages that tie with it, itself included [p]."""
        return np.asarray(self.tied_by.sum(axis=1, dtype=np.int64))

    @cached_property
    def group(self) -> tuple[Ints, Ints]:
        """Where the tie group of each line begins and ends [p]."""
        return _runs(self.question, self.above)

    @cached_property
    def span(self) -> tuple[Ints, Ints]:
        """Where the lines of its question begin and end [p]."""
        return _runs(self.question)

    def targets(self, chosen: Flags | None = None) -> TargetCounts:
        """Return where the answers (those `chosen`, which number their questions anew) stand in the pool."""
        rows = np.arange(len(self.question)) if chosen is None else np.flatnonzero(chosen)
        _, query = np.unique(self.question[rows], return_inverse=True)
        size = int(self.sizes.sum())
        above, tied = self.missed_last(rows, self.above[rows], self.tied[rows], np.full(len(rows), size))
        return TargetCounts(query.astype(np.int64), above, tied, np.full(int(query[-1]) + 1, size))

    def missed_last(self, rows: Ints, above: Ints, tied: Ints, size: Ints) -> tuple[Ints, Ints]:
        """Return counts of lines where all candidates of the pool are above missed ones, as measures need."""
        if self.missed is None:
            return above, tied
        return np.where(self.missed[rows], size, above), np.where(self.missed[rows], 1, tied)

    def without_missed(self, values: Floats) -> Floats:
        """Return values of lines with 0 for what a search system missed."""
        return values if self.missed is None else np.where(self.missed, 0.0, values)

    def relevant_above(self, chosen: Flags | None = None) -> Ints:
        """Return how many answers (of those `chosen`) are above each line [p]."""
        return _between(chosen, self.span[0], self.group[0])

    def relevant_tied(self, chosen: Flags | None = None) -> Ints:
        """Return how many answers (of those `chosen`) tie with each line, itself included [p]."""
        return _between(chosen, *self.group)

    def irrelevant(self, language: Ints) -> tuple[Ints, Ints]:
        """Return how many irrelevant candidates of the line's `language` [p] are above it, and tie."""
        lines = np.arange(len(language))
        before = np.zeros((len(lines) + 1, len(self.languages)), dtype=np.int32)
        before[lines + 1, self.language] = 1
        np.cumsum(before, axis=0, dtype=np.int32, out=before)
        first, (start, stop) = self.span[0], self.group
        above = before[start, language] - before[first, language]
        tied = before[stop, language] - before[start, language]
        return self.above_by[lines, language] - above, self.tied_by[lines, language] - tied

    def by_question(self, values: Floats) -> Floats:
        """Return the mean of values of lines [p] for each question [n]; NaN counts for nothing."""
        return means(self.question, values, self.n)

    def by_language(self, values: Floats) -> Floats:
        """Return the mean of values of lines [p] by question and answer language [n, G]; NaN for none."""
        shape = self.n, len(self.languages)
        return means(self.question * shape[1] + self.language, values, shape[0] * shape[1]).reshape(shape)

    def n_tied(self, chosen: Flags | None = None) -> int:
        """Return how many questions have an answer (of those `chosen`) that ties with another candidate."""
        shared = self.tied > self.relevant_tied(chosen)
        for flags in (chosen, None if self.unlisted is None else ~self.unlisted):  # unknown order is no tie
            shared = shared if flags is None else shared & flags
        return len(np.unique(self.question[shared]))

    def alignment(self, *, equal: bool = False) -> AlignmentCounts:
        """Return where every answer stands in its language, and among the irrelevant candidates.

        `equal`: for an encoder to which all candidates are equal.
        """
        lines, none = np.arange(len(self.question)), np.zeros_like(self.question)
        own_wrong = self.sizes[self.question_language]
        own_wrong = own_wrong - np.bincount(self.question[self.own], minlength=self.n)
        above, tied = self.above_by[lines, self.language], self.tied_by[lines, self.language]
        wrong = self.above - self.relevant_above(), self.tied - self.relevant_tied()
        in_own = self.irrelevant(self.asked_in)
        if equal:
            above, tied = none, self.sizes[self.language]
            wrong = none, int(self.sizes.sum()) - (self.span[1] - self.span[0])
            in_own = none, own_wrong[self.question]
        return AlignmentCounts(
            self.question, ~self.own, self.language, above, tied, *wrong, *in_own, own_wrong
        )


def alone_precision(ranks: PoolRanks) -> Floats:
    """Return AP (= 1/rank) of every answer when it alone is in the pool, by answer language [n, G].

    With G irrelevant candidates above and n tied (the answer included) it is (H(G + n) − H(G))/n.
    """
    above = ranks.above - ranks.relevant_above()
    tied = ranks.tied - ranks.relevant_tied() + 1
    return ranks.by_language(ranks.without_missed(harmonic_difference(above, tied) / tied))


def precision_within(ranks: PoolRanks, languages: Sequence[int]) -> Floats:
    """Return the precision at each line's rank in the pool of some languages [p]; NaN for other answers."""
    chosen = np.isin(ranks.language, languages)
    rows = np.flatnonzero(chosen)
    above, tied = (side[rows][:, languages].sum(axis=1) for side in (ranks.above_by, ranks.tied_by))
    relevant = ranks.relevant_above(chosen)[rows], ranks.relevant_tied(chosen)[rows]
    values = np.full(len(chosen), np.nan)
    values[rows] = precision_at(above, tied, *relevant)
    return np.where(chosen, ranks.without_missed(values), np.nan)


def language_precision(ranks: PoolRanks) -> Floats:
    """Return AP of each question among the candidates of each single language [n, G]; NaN for no answer."""
    tables = [ranks.by_question(precision_within(ranks, [code])) for code in range(len(ranks.languages))]
    return np.stack(tables, axis=1)


def precision_without(ranks: PoolRanks) -> Floats:
    """Return AP of the question once the line's answer has left the pool [p]; NaN where it is the only one.

    What stands above the answer stays as it was; its tie group has one place and one answer less; below, one
    candidate and one answer fewer are above.
    """
    above, tied = ranks.above, ranks.tied
    relevant_above, relevant_tied = ranks.relevant_above(), ranks.relevant_tied()
    (first, last), (start, stop) = ranks.span, ranks.group
    # a line that has no answer above or beside it is never read from `below` and `beside`
    as_it_was, below, beside = (
        ranks.without_missed(precision_at(*counts))
        for counts in (
            (above, tied, relevant_above, relevant_tied),
            (np.maximum(above - 1, 0), tied, np.maximum(relevant_above - 1, 0), relevant_tied),
            (above, np.maximum(tied - 1, 1), relevant_above, np.maximum(relevant_tied - 1, 1)),
        )
    )
    total = _running(as_it_was, first)[0][start] + (relevant_tied - 1) * beside
    up_to, whole = _running(below, first)
    under = np.flatnonzero(stop < last)
    total[under] += whole[under] - up_to[stop[under]]
    left = last - first - 1
    return np.asarray(np.divide(total, left, out=np.full(len(total), np.nan), where=left > 0))


def own_and_other(ranks: PoolRanks, table: Floats) -> tuple[Floats, Floats]:
    """Return, of a table [n, G] by answer language, the own language's value and the mean of the others'.

    Each float64 [n]; NaN where the question has no answer of that kind.
    """
    rows = np.arange(ranks.n)
    others = table.copy()
    others[rows, ranks.question_language] = np.nan
    mean = means(np.repeat(rows, table.shape[1]), others.ravel(), ranks.n)
    return table[rows, ranks.question_language], mean


def means(codes: Ints, values: Floats, size: int) -> Floats:
    """Return the mean of the values of each code 0 … size − 1, of those that are not NaN; NaN for none."""
    present = ~np.isnan(values)
    total, count = sums(codes[present], values[present], size), np.bincount(codes[present], minlength=size)
    return np.asarray(np.divide(total, count, out=np.full(size, np.nan), where=count > 0))


def precision_at(above: Ints, tied: Ints, relevant_above: Ints, relevant_tied: Ints) -> Floats:
    """Return the expected precision at the rank of each answer, float64 [p] in 0..1.

    With G candidates above, ρ of them relevant, in a tie group of n, r of them relevant (itself included), it
    is c + (ρ + 1 − c(G + 1))·(H(G + n) − H(G))/n, c = (r − 1)/(n − 1) or 0: at place j of its group there are
    G + j candidates, ρ + 1 + c(j − 1) of them relevant on average, and each j is equally likely. The mean
    over the answers of a question is its average precision.
    """
    beside = (relevant_tied - 1) / np.maximum(tied - 1, 1)
    weight = relevant_above + 1 - beside * (above + 1.0)
    return np.asarray(beside + weight * (harmonic_difference(above, tied) / tied))


def _runs(*columns: Ints) -> tuple[Ints, Ints]:
    """Return for each line where its run of equal lines starts and where it stops."""
    first, size = groups(*columns)
    return np.repeat(first, size), np.repeat(first + size, size)


def _between(chosen: Flags | None, start: Ints, stop: Ints) -> Ints:
    """Return how many lines (of those chosen) there are from start to stop."""
    if chosen is None:
        return stop - start
    total = np.concatenate([[0], np.cumsum(chosen)])
    return np.asarray(total[stop] - total[start])


def _running(values: Floats, first: Ints) -> tuple[Floats, Floats]:
    """Return for each line the sum of the values of its question before it, and of all of them.

    The running sum falls back to zero at each question, so that it never grows large and loses digits.
    """
    heads = np.flatnonzero(first == np.arange(len(values)))
    totals = np.add.reduceat(values, heads)
    steps = np.zeros(len(values))
    steps[1:] = values[:-1]
    steps[heads[1:]] -= totals[:-1]
    return np.cumsum(steps), np.repeat(totals, np.diff(heads, append=len(values)))
