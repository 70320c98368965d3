"""The pass over a multilingual pool, by vectors or by lists: where every answer stands, by language.

All measures and views follow from what the pass leaves: the counts of every answer by language, and the first
candidates of each question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.hubs import HUBS_OF, Hubs, Languages, hubs_of, listed_places, places_of
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.neighbours import Neighbours, Scores, listed_neighbours, neighbours_of
from xlingual.evaluation.passes import corrected, two_passes
from xlingual.forms import AnyVectors
from xlingual.measures.fairness import CUT
from xlingual.measures.harmonic import harmonic_difference
from xlingual.measures.hubness import Places
from xlingual.ragged import groups, sums
from xlingual.ranking import (
    CPU,
    Banked,
    Counts,
    Offsets,
    Pool,
    Progress,
    Ranker,
    TextSimilarity,
    Top,
    rank,
    rows_of,
    similarity_of,
)
from xlingual.records import AlignmentCounts, TargetCounts

_LISTED = 200_000  # ties of all questions: one more pass counts the languages of those that are not listed
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
    grade: Ints  # [p]
    above_by: Ints  # [p, G]
    tied_by: Ints  # [p, G]
    unlisted: Flags  # [p]: not in the list of a search system
    missed: Flags  # [p]: neither would they be in a longer one

    @classmethod
    def of(cls, pool: MultilingualPool, above: Ints, tied: Ints, *flags: Flags) -> PoolRanks:
        """Put counts of the pool's relevant pairs [p, G] in order; `flags` are `unlisted` and `missed`."""
        question, candidate = pool.relevant
        order, none = np.lexsort((above.sum(axis=1), question)), np.zeros(len(question), dtype=bool)
        sides = (question, candidate, pool.grades, above, tied, *(flags or (none, none)))
        columns, asked, answers = [side[order] for side in sides], pool.questions, pool.candidates
        return cls(pool.languages, asked.language, answers.language, asked.cluster, asked.article, *columns)

    @property
    def n(self) -> int:
        """The number of questions."""
        return len(self.question_language)

    @cached_property
    def sizes(self) -> Ints:
        """The number of candidates of each language, int64 [G]."""
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
    def same_language(self) -> Flags:
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

    def targets(self) -> TargetCounts:
        """Return where the answers stand among all candidates."""
        size = len(self.candidate_language)
        above, tied = np.where(self.missed, size, self.above), np.where(self.missed, 1, self.tied)
        return TargetCounts(self.question, above, tied, np.full(self.n, size))

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

    def n_tied(self) -> int:
        """Return how many questions have an answer that ties with an irrelevant candidate."""
        shared = (self.tied > self.relevant_tied()) & ~self.unlisted  # an order that is not known is no tie
        return len(np.unique(self.question[shared]))

    def equal(self) -> PoolRanks:
        """Return the ranks of an encoder to which all candidates are equal."""
        tied, none = np.tile(self.sizes, (len(self.question), 1)), np.zeros_like(self.missed)
        return replace(self, above_by=np.zeros_like(tied), tied_by=tied, unlisted=none, missed=none)

    @cached_property
    def alignment(self) -> AlignmentCounts:
        """Where every answer stands in its language, and among the irrelevant candidates."""
        lines, n_wrong = np.arange(len(self.question)), self.sizes[self.question_language]
        n_wrong = n_wrong - np.bincount(self.question[self.same_language], minlength=self.n)
        in_language = self.above_by[lines, self.language], self.tied_by[lines, self.language]
        wrong = self.above - self.relevant_above(), self.tied - self.relevant_tied()
        columns = (*in_language, *wrong, *self.irrelevant(self.asked_in), n_wrong)
        return AlignmentCounts(self.question, ~self.same_language, self.language, *columns)


def _runs(*columns: Ints) -> tuple[Ints, Ints]:
    """Compute where the run of equal lines of each line starts and stops."""
    first, size = groups(*columns)
    return np.repeat(first, size), np.repeat(first + size, size)


def _between(chosen: Flags | None, start: Ints, stop: Ints) -> Ints:
    """Count the lines (of those chosen) from start to stop."""
    if chosen is None:
        return stop - start
    total = np.concatenate([[0], np.cumsum(chosen)])
    return np.asarray(total[stop] - total[start])


@dataclass(frozen=True)
class Heads:
    """The first candidates of n questions.

    `shares` [n, G]: how many of the first `top` are of each language, under ties the expectation; NaN where a
    search system returned none. `first`: the first 20 themselves (all where `top` is less), without groups of
    very many that tie.
    """

    top: int
    shares: Floats
    first: Places
    neighbours: Callable[[], Neighbours]


@dataclass(frozen=True)
class PoolPass:
    """The result of a pass; `offsets` are those of the candidates, with a correction of hubs."""

    ranks: PoolRanks
    heads: Heads | None
    offsets: Offsets | None = None
    similarity: TextSimilarity | None = None  # None of lists


def rank_vectors(
    pool: MultilingualPool,
    questions: AnyVectors,
    candidates: AnyVectors,
    *,
    top: int = 0,
    ranker: Ranker = CPU,
    repair: Banked | None = None,
    progress: Progress | None = None,
) -> PoolPass:
    """Rank all candidates for all questions: vectors [n, d] and [m, d] of the pool's rows.

    `top` is how many first places are looked at. A `repair` of hubs takes one more pass.
    """
    columns, (question, candidate) = Pool.of(candidates), pool.relevant
    similarity = similarity_of(rows_of(questions), columns.vectors)
    members = np.zeros((similarity.shape[1], len(pool.languages)), dtype=np.int64)
    np.add.at(members, (columns.code, pool.candidates.language), 1)
    before, during = two_passes(progress, repair)
    offsets = None if repair is None else repair.offsets(similarity, ranker, before)
    scores = corrected(similarity, offsets)
    counts = Counts.of(scores, question, columns.code[candidate], groups=members)
    n, cap = len(pool.questions), int(np.clip(_LISTED // len(pool.questions), 100, 1000))
    best = Top(max(top, 1), similarity.shape, weights=members.sum(axis=1), cap=cap)
    rank(scores, [counts, best] if top else [counts], ranker, progress=during)
    heads = None
    if top:
        listed, rows, scored = best.result(), np.arange(n), Scores(similarity, offsets)
        chance = np.clip((top - listed.above) / listed.tied, 0.0, 1.0)
        sampled = (listed.unlisted[listed.query] > 0) & (listed.above + listed.tied >= top)
        weight = np.where(sampled, 0.0, chance)
        by_language = [np.bincount(listed.query, weight * each[listed.candidate], n) for each in members.T]
        shares = np.stack(by_language, axis=1).astype(np.float64)
        crowded = np.flatnonzero(listed.unlisted)
        if len(crowded):  # their last group is too large to be listed: one more pass counts its languages
            last = np.searchsorted(listed.query, crowded, side="right") - 1
            again = similarity_of(similarity.queries.take(crowded), similarity.candidates)
            scores = corrected(again, offsets)
            level = Counts.of(scores, np.arange(len(crowded)), listed.candidate[last], groups=members)
            rank(scores, [level], ranker)
            shares[crowded] += chance[last, None] * level.tied
            similarity.screened += again.screened
            similarity.decided += again.decided
        first = places_of(listed, rows, columns.code, min(top, CUT))
        heads = Heads(top, shares, first, partial(neighbours_of, listed, scored, rows, columns.code))
    of_rows = None if offsets is None else offsets.take(columns.code)
    return PoolPass(PoolRanks.of(pool, counts.above, counts.tied), heads, of_rows, similarity)


def rank_lists(pool: MultilingualPool, lists: Lists, *, top: int = 0) -> PoolPass:
    """Take the ranks from the lists of a search system.

    What a list lacks ties behind its end, or stands last and is missed where the list has ended.
    """
    (question, candidate), language, G = pool.relevant, pool.candidates.language, len(pool.languages)
    line, sizes = lists.lines(question, candidate), np.bincount(language, minlength=G)
    listed = line >= 0
    missed = ~listed & lists.ended[question]
    cell = question[missed] * G + language[candidate[missed]]
    lost = np.bincount(cell, minlength=len(lists) * G).reshape(-1, G)[question]  # missed ones of the question
    start, stop = lists.start[question], lists.start[question + 1]
    above_line, size = (side[line[listed]] for side in lists.places)
    first = start[listed] + above_line
    above, tied = (np.empty((len(question), G), dtype=np.int64) for _ in range(2))
    for code in range(G):
        total = np.concatenate([[0], np.cumsum(language[lists.candidate] == code)])
        held = total[stop] - total[start]
        above[:, code] = np.where(missed, sizes[code] - lost[:, code], held)
        tied[:, code] = np.where(missed, lost[:, code], sizes[code] - held)
        above[listed, code] = total[first] - total[start[listed]]
        tied[listed, code] = total[first + size] - total[first]
    heads = None
    if top:
        places, shares = listed_places(lists, min(top, CUT)), _listed_shares(language, G, lists, top)
        heads = Heads(top, shares, places, partial(listed_neighbours, lists))
    return PoolPass(PoolRanks.of(pool, above, tied, ~listed, missed), heads)


def _listed_shares(language: Ints, G: int, lists: Lists, top: int) -> Floats:
    """Count the languages of the first `top` [n, G]; a list that ended goes on as it began."""
    above, size = lists.places
    weight = np.clip((top - above) / size, 0.0, 1.0)
    cell = lists.query * G + language[lists.candidate]
    shares = np.bincount(cell, weight, len(lists) * G).astype(np.float64).reshape(-1, G)
    short = np.flatnonzero(lists.lengths < top)
    ended, going_on = short[lists.ended[short]], short[~lists.ended[short]]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares[ended] *= top / lists.lengths[ended][:, None]
    if len(going_on):
        lengths = lists.lengths[going_on][:, None]
        rest = np.bincount(language, minlength=G) - shares[going_on]
        shares[going_on] += (top - lengths) * rest / (len(language) - lengths)
    return shares


def hubs_among(ranks: PoolRanks, heads: Heads) -> Hubs:
    """Return the hubs among the candidates over all questions."""
    first = heads.first
    lines = np.flatnonzero(first.above < HUBS_OF)
    columns = {name: getattr(first, name)[lines] for name in ("query", "candidate", "above", "tied")}
    places = replace(first, k=min(HUBS_OF, first.n_candidates), **columns)
    languages = Languages(ranks.languages, ranks.question_language, ranks.candidate_language)
    wrong = places.wrong(ranks.question, ranks.candidate)
    return hubs_of(places, wrong, ranks.cluster, languages=languages)


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


def alone_precision(ranks: PoolRanks) -> Floats:
    """Return AP (= 1/rank) of every answer when it alone is in the pool, by answer language [n, G].

    With G irrelevant candidates above and n tied (the answer included) it is (H(G + n) − H(G))/n.
    """
    above = ranks.above - ranks.relevant_above()
    tied = ranks.tied - ranks.relevant_tied() + 1
    return ranks.by_language(np.where(ranks.missed, 0.0, harmonic_difference(above, tied) / tied))


def precision_within(ranks: PoolRanks, languages: Sequence[int]) -> Floats:
    """Return the precision at each line's rank in the pool of some languages [p]; NaN for other answers."""
    chosen = np.isin(ranks.language, languages)
    rows = np.flatnonzero(chosen)
    above, tied = (side[rows][:, languages].sum(axis=1) for side in (ranks.above_by, ranks.tied_by))
    relevant = ranks.relevant_above(chosen)[rows], ranks.relevant_tied(chosen)[rows]
    values = np.full(len(chosen), np.nan)
    values[rows] = np.where(ranks.missed[rows], 0.0, precision_at(above, tied, *relevant))
    return values


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
        np.where(ranks.missed, 0.0, precision_at(*counts))
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


def _running(values: Floats, first: Ints) -> tuple[Floats, Floats]:
    """Sum the values of its question before each line, and all; the running sum stays small."""
    heads = np.flatnonzero(first == np.arange(len(values)))
    totals = np.add.reduceat(values, heads)
    steps = np.zeros(len(values))
    steps[1:] = values[:-1]
    steps[heads[1:]] -= totals[:-1]
    return np.cumsum(steps), np.repeat(totals, np.diff(heads, append=len(values)))


def own_and_other(ranks: PoolRanks, table: Floats) -> tuple[Floats, Floats]:
    """Return, of a table [n, G] by answer language, the own language's value and the mean of the others'.

    Each float64 [n]; NaN where the question has no answer of that kind.
    """
    rows, others = np.arange(ranks.n), table.copy()
    others[rows, ranks.question_language] = np.nan
    mean = means(np.repeat(rows, table.shape[1]), others.ravel(), ranks.n)
    return table[rows, ranks.question_language], mean


def means(codes: Ints, values: Floats, size: int) -> Floats:
    """Return the mean of the values of each code 0 … size − 1, of those that are not NaN; NaN for none."""
    present = ~np.isnan(values)
    total, count = sums(codes[present], values[present], size), np.bincount(codes[present], minlength=size)
    return np.asarray(np.divide(total, count, out=np.full(size, np.nan), where=count > 0))
