"""The ranks of judged candidates, from vectors, from orders and from lists, and the values of measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.embed import PoolVectors
from xlingual.evaluation.hubs import HUBS_OF, places_of
from xlingual.evaluation.listed import MOST_UNKNOWN, cut_of
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.retrieval.judgements import Judgements
from xlingual.evaluation.run import Tally
from xlingual.measures import NDCG, Bpref, JudgedAt, RetrievalMeasure, TargetMeasure
from xlingual.measures.hubness import Places
from xlingual.ragged import starts
from xlingual.ranking import (
    UNIT,
    Counts,
    Pool,
    Progress,
    Ranker,
    Top,
    rank,
    rows_of,
    similarity_of,
)
from xlingual.records import JudgedCounts

_BYTES = 1 << 25  # of keys at a time


@dataclass(frozen=True, eq=False)
class JudgedRanks:
    """Where the judged candidates of each query stand for a system: all that the numbers need.

    Where candidates are of several languages, `in_language` has the counts among those of a query's own
    language, of the `queries` [k] with a relevant candidate there.
    """

    whole: JudgedCounts  # among all candidates
    missed: JudgedCounts  # the same, where a candidate that was not returned is missed; for bpref
    in_language: JudgedCounts | None
    queries: Ints
    lists: Lists | None = None  # of a run, within the language of each query

    @classmethod
    def of(cls, judgements: Judgements, above: Ints, tied: Ints, lists: Lists | None = None) -> JudgedRanks:
        """Return the ranks from counts [2, p]: among all candidates, and in the query's language."""
        j, pool = judgements, judgements.pool_sizes()
        listed = pool if lists is None else np.where(lists.ended, lists.lengths, pool)
        whole = JudgedCounts(j.query, above[0], tied[0], j.grade, pool, listed)
        missed = whole
        if lists is not None:
            is_missed = lists.lines(j.query, j.candidate) < 0
            missed = replace(
                whole,
                above=np.where(is_missed, pool[j.query], above[0]),
                tied=np.where(is_missed, 1, tied[0]),
                listed=lists.lengths,
            )
        if not j.several:
            return cls(whole, missed, None, np.arange(0))
        part = None if lists is None else lists_in_language(judgements, lists)
        same, pool = j.same_language(j.query, j.candidate), j.pool_sizes(same_language=True)
        listed = pool if part is None else np.where(part.ended, part.lengths, pool)
        counts = JudgedCounts(j.query[same], above[1][same], tied[1][same], j.grade[same], pool, listed)
        answered, counts = with_relevant(counts, j.least)
        return cls(whole, missed, counts if answered.any() else None, np.flatnonzero(answered), part)

    def values(self, measure: RetrievalMeasure, least: int) -> Floats:
        """Return the values of a measure, float64 [n]."""
        return per_query(measure, self.missed if isinstance(measure, Bpref) else self.whole, least)

    def values_in_language(self, measure: RetrievalMeasure, least: int) -> Floats | None:
        """Return the values among candidates of the query's language [k]; None where lists are too short."""
        if self.in_language is None:
            return None
        if self.lists is not None:
            cuts = [cut_of(measure, size) for size in self.lists.sizes.tolist()]
            ends_early = self.lists.unsettled(None if None in cuts else np.array(cuts))
            if ends_early.sum() > MOST_UNKNOWN * len(self.lists):
                return None
        return per_query(measure, self.in_language, least)


def rank_vectors(
    judgements: Judgements,
    vectors: PoolVectors,
    ranker: Ranker,
    progress: Progress | None = None,
    tally: Tally | None = None,
) -> tuple[JudgedRanks, Places | None]:
    """Return the ranks that vectors give in one pass, and the first places where nothing is left out."""
    j, out = judgements, judgements.left_out()
    candidates = Pool.of(vectors.candidates)
    similarity = similarity_of(rows_of(vectors.questions), candidates.vectors)
    members = np.zeros((similarity.shape[1], len(j.languages)), dtype=np.int64)
    np.add.at(members, (candidates.code, j.candidate_language), 1)
    query, candidate = np.concatenate([j.query, out[0]]), np.concatenate([j.candidate, out[1]])
    counts = Counts.of(similarity, query, candidates.code[candidate], groups=members)
    k = min(HUBS_OF, j.m)
    top = Top(k, similarity.shape, weights=members.sum(axis=1))
    rank(similarity, [counts, top], ranker, progress=progress)
    if tally is not None:
        tally.add(similarity)
    lines, asked_in = np.arange(len(query)), j.query_language[query]
    above, tied = (
        np.stack([sums.sum(axis=1, dtype=np.int64), sums[lines, asked_in]])
        for sums in (counts.above, counts.tied)
    )
    if j.without_identical:
        _subtract(j, above, tied)
        return JudgedRanks.of(j, above[:, : len(j.query)], tied[:, : len(j.query)]), None
    places = places_of(top.result(), np.arange(j.n), candidates.code, k)
    return JudgedRanks.of(j, above, tied), places


def _subtract(judgements: Judgements, above: Ints, tied: Ints) -> None:
    """Take candidates that are left out off the counts [2, p + those left out]."""
    j, (query, candidate) = judgements, judgements.left_out()
    place, start = above[0].copy(), starts(j.query, j.n)
    for line, (row, same) in enumerate(
        zip(query.tolist(), j.same_language(query, candidate).tolist(), strict=True), start=len(j.query)
    ):
        lines, columns = slice(*start[row : row + 2]), slice(0, 2 if same else 1)
        above[columns, lines] -= place[lines] > place[line]
        tied[columns, lines] -= place[lines] == place[line]


def trec_orders(vectors: PoolVectors, places: Ints) -> Iterator[Ints]:
    """Yield all candidates of each query in the order of trec_eval, by scores as float32, then by name.

    `places` [m] are the places of the candidates' names.
    """
    candidates = Pool.of(vectors.candidates)
    similarity = similarity_of(rows_of(vectors.questions), candidates.vectors)
    n, columns = similarity.shape[0], np.arange(similarity.shape[1])
    height = max(1, _BYTES // (8 * len(columns)))
    for start in range(0, n, height):
        keys = similarity.key_block(np.arange(start, min(start + height, n)), columns)
        for scores in (keys * UNIT).astype(np.float32):
            yield np.lexsort((places, -scores[candidates.code]))


def rank_orders(judgements: Judgements, orders: Iterable[Ints]) -> JudgedRanks:
    """Return the ranks in orders of all candidates, in which nothing ties."""
    j, (query, candidate) = judgements, judgements.left_out()
    above = np.zeros((2, len(j.query)), dtype=np.int64)
    start, first_out = starts(j.query, j.n), starts(query, j.n)
    rank_of = np.zeros(j.m, dtype=np.int64)
    for row, order in enumerate(orders):
        if j.without_identical:
            order = order[~np.isin(order, candidate[first_out[row] : first_out[row + 1]])]
        same = j.candidate_language[order] == j.query_language[row]
        rank_of[order] = np.arange(len(order))
        lines = slice(*start[row : row + 2])
        above[0, lines] = ranks = rank_of[j.candidate[lines]]
        above[1, lines] = (np.cumsum(same) - same)[ranks]
    return JudgedRanks.of(j, above, np.ones_like(above))


def rank_lists(judgements: Judgements, lists: Lists) -> JudgedRanks:
    """Return the ranks in the lists of a run."""
    j = judgements
    if j.without_identical:
        line = lists.lines(*j.left_out())
        stays = np.ones(len(lists.query), dtype=bool)
        stays[line[line >= 0]] = False
        lists = lists.part(stays, j.pool_sizes())
    counts = [lists.counts(j.query, j.candidate)]
    counts += [lists_in_language(j, lists).counts(j.query, j.candidate)] if j.several else counts
    above, tied = (np.stack(sides) for sides in zip(*counts, strict=True))
    return JudgedRanks.of(j, above, tied, lists)


def lists_in_language(judgements: Judgements, lists: Lists) -> Lists:
    """Return the lists with the candidates of each query's language alone."""
    same = judgements.same_language(lists.query, lists.candidate)
    return lists.part(same, judgements.pool_sizes(same_language=True))


def per_query(measure: RetrievalMeasure, counts: JudgedCounts, least: int) -> Floats:
    """Return the values of a measure, float64 [n]; a grade of at least `least` is relevant.

    A query without a relevant candidate has 0. A candidate that a system did not return adds nothing.
    """
    if isinstance(measure, JudgedAt):
        return measure.per_query(counts)
    answered, counts = with_relevant(counts, 1 if isinstance(measure, NDCG) else least)
    values = np.zeros(answered.size)
    if isinstance(measure, Bpref):
        values[answered] = replace(measure, least=least).per_query(counts)
    elif isinstance(measure, NDCG):
        values[answered] = measure.per_query(counts)
    elif isinstance(measure, TargetMeasure):
        values[answered] = measure.per_query(counts.relevant(least))
    else:
        values[answered] = measure.per_query(counts.relevant(least).best())
    return values


def best_places(counts: JudgedCounts, least: int) -> tuple[Ints, Ints]:
    """Return how many candidates are above the best relevant one, and tie with it; −1 where there is none."""
    answered, counts = with_relevant(counts, least)
    best = counts.relevant(least).best()
    above, tied = np.full((2, answered.size), -1, dtype=np.int64)
    above[answered], tied[answered] = best.above, best.tied
    return above, tied


def n_tied(counts: JudgedCounts, least: int) -> int:
    """Return how many queries have a relevant candidate that ties with one of another grade, or unjudged."""
    returned = (counts.grade >= least) & (counts.above < counts.pool[counts.query])
    keys = np.stack([counts.query[returned], counts.above[returned], counts.grade[returned]])
    _, place, size = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    return len(np.unique(keys[0][counts.tied[returned] > size[place.reshape(-1)]]))


def with_relevant(counts: JudgedCounts, least: int) -> tuple[np.ndarray, JudgedCounts]:
    """Return which queries have a relevant candidate, bool [n], and the counts of these alone."""
    answered = np.bincount(counts.query[counts.grade >= least], minlength=len(counts)) > 0
    if answered.all():
        return answered, counts
    lines, place = answered[counts.query], np.cumsum(answered) - 1
    above, tied, grade = (column[lines] for column in (counts.above, counts.tied, counts.grade))
    query, pool, listed = place[counts.query[lines]], counts.pool[answered], counts.listed[answered]
    return answered, JudgedCounts(query, above, tied, grade, pool, listed)
