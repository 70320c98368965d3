"""The ranks of judged candidates, from vectors, from orders and from lists, and the values of measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.embed.sides import PoolVectors
from xlingual.evaluation.hubs import HUBS_OF, places_of
from xlingual.evaluation.lists import MOST_UNKNOWN, Lists, cut_of
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
    """The ranks of the judged candidates of each query for a system: all that the numbers need."""

    judgements: Judgements
    whole: JudgedCounts  # among all candidates
    missed: JudgedCounts  # the same, where a candidate that was not returned is missed; for bpref
    in_language: JudgedCounts | None = None  # among those of a query's language, where there are others
    lists: Lists | None = None  # of a run, in the language of each query

    def values(self, measure: RetrievalMeasure) -> Floats:
        """Return the values of a measure, float64 [n]."""
        return per_query(
            measure, self.missed if isinstance(measure, Bpref) else self.whole, self.judgements.least
        )

    def values_in_language(self, measure: RetrievalMeasure) -> Floats | None:
        """Return the values among candidates of the query's language, NaN where none of them is relevant.

        None where candidates are of one language, or where lists are too short.
        """
        counts, least = self.in_language, self.judgements.least
        if counts is None:
            return None
        if self.lists is not None:
            cuts = [cut_of(measure, size) for size in self.lists.sizes.tolist()]
            ends_early = self.lists.unsettled(None if None in cuts else np.array(cuts))
            if ends_early.sum() > MOST_UNKNOWN * len(self.lists):
                return None
        values: Floats = np.where(answered(counts, least), per_query(measure, counts, least), np.nan)
        return values


def ranks_of(judgements: Judgements, above: Ints, tied: Ints) -> JudgedRanks:
    """Return the ranks from counts [2, p]: among all candidates, and in the query's language."""
    j, sizes = judgements, judgements.pool_sizes()
    whole = JudgedCounts(j.query, above[0], tied[0], j.grade, sizes, sizes)
    if not j.several:
        return JudgedRanks(j, whole, whole)
    same, sizes = j.same_language(j.query, j.candidate), j.pool_sizes(same_language=True)
    inner = JudgedCounts(j.query[same], above[1, same], tied[1, same], j.grade[same], sizes, sizes)
    return JudgedRanks(j, whole, whole, inner)


def rank_vectors(
    judgements: Judgements, vectors: PoolVectors, ranker: Ranker, progress: Progress, tally: Tally
) -> tuple[JudgedRanks, Places | None]:
    """Return the ranks that vectors give in one pass, and the first places where nothing is left out."""
    j, out, candidates = judgements, judgements.left_out, Pool.of(vectors.candidates)
    similarity = similarity_of(rows_of(vectors.questions), candidates.vectors)
    members = np.zeros((similarity.shape[1], len(j.languages)), dtype=np.int64)
    np.add.at(members, (candidates.code, j.candidate_language), 1)
    query, candidate = np.concatenate([j.query, out[0]]), np.concatenate([j.candidate, out[1]])
    counts = Counts.of(similarity, query, candidates.code[candidate], groups=members)
    k = min(HUBS_OF, j.m)
    top = Top(k, similarity.shape, weights=members.sum(axis=1))
    rank(similarity, [counts, top], ranker, progress=progress)
    tally.add(similarity)
    lines, asked_in = np.arange(len(query)), j.query_language[query]
    above, tied = (
        np.stack([by_language.sum(axis=1, dtype=np.int64), by_language[lines, asked_in]])
        for by_language in (counts.above, counts.tied)
    )
    if not j.without_identical:
        return ranks_of(j, above, tied), places_of(top.result(), np.arange(j.n), candidates.code, k)
    n_pairs, start, place = len(j.query), starts(j.query, j.n), above[0].copy()
    for line, (row, same) in enumerate(zip(out[0], j.same_language(*out), strict=True), start=n_pairs):
        lines_of, columns = slice(*start[row : row + 2]), slice(2 if same else 1)
        above[columns, lines_of] -= place[lines_of] > place[line]
        tied[columns, lines_of] -= place[lines_of] == place[line]
    return ranks_of(j, above[:, :n_pairs], tied[:, :n_pairs]), None


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
    j, (query, candidate) = judgements, judgements.left_out
    above, place = np.zeros((2, len(j.query)), dtype=np.int64), np.zeros(j.m, dtype=np.int64)
    start, out = starts(j.query, j.n), starts(query, j.n)
    for row, order in enumerate(orders):
        stays = order[~np.isin(order, candidate[out[row] : out[row + 1]])]
        same = j.candidate_language[stays] == j.query_language[row]
        place[stays] = np.arange(len(stays))
        lines = slice(*start[row : row + 2])
        above[0, lines] = ranks = place[j.candidate[lines]]
        above[1, lines] = (np.cumsum(same) - same)[ranks]
    return ranks_of(j, above, np.ones_like(above))


def rank_lists(judgements: Judgements, lists: Lists) -> JudgedRanks:
    """Return the ranks in the lists of a run."""
    j = judgements
    if j.without_identical:
        line = lists.lines(*j.left_out)
        stays = np.ones(len(lists.query), dtype=bool)
        stays[line[line >= 0]] = False
        lists = lists.part(stays, j.pool_sizes())
    above, tied = lists.counts(j.query, j.candidate)
    listed = np.where(lists.ended, lists.lengths, lists.sizes)
    whole = JudgedCounts(j.query, above, tied, j.grade, lists.sizes, listed)
    is_missed = lists.lines(j.query, j.candidate) < 0
    above, tied = np.where(is_missed, lists.sizes[j.query], above), np.where(is_missed, 1, tied)
    missed = replace(whole, above=above, tied=tied, listed=lists.lengths)
    if not j.several:
        return JudgedRanks(j, whole, missed)
    part = lists.part(j.same_language(lists.query, lists.candidate), j.pool_sizes(same_language=True))
    same = j.same_language(j.query, j.candidate)
    query, listed = j.query[same], np.where(part.ended, part.lengths, part.sizes)
    above, tied = part.counts(query, j.candidate[same])
    inner = JudgedCounts(query, above, tied, j.grade[same], part.sizes, listed)
    return JudgedRanks(j, whole, missed, inner, part)


def per_query(measure: RetrievalMeasure, counts: JudgedCounts, least: int) -> Floats:
    """Return the values of a measure, float64 [n]; a grade of at least `least` is relevant.

    A query without a relevant candidate has 0. A candidate that a system did not return adds nothing.
    """
    if isinstance(measure, JudgedAt):
        return measure.per_query(counts)
    rows, counts = _answered(counts, 1 if isinstance(measure, NDCG) else least)
    values = np.zeros(rows.size)
    if isinstance(measure, Bpref):
        values[rows] = replace(measure, least=least).per_query(counts)
    elif isinstance(measure, NDCG):
        values[rows] = measure.per_query(counts)
    elif isinstance(measure, TargetMeasure):
        values[rows] = measure.per_query(counts.relevant(least))
    else:
        values[rows] = measure.per_query(counts.relevant(least).best())
    return values


def best_places(counts: JudgedCounts, least: int) -> tuple[Ints, Ints]:
    """Return how many candidates are above the best relevant one, and tie with it; −1 where there is none."""
    rows, counts = _answered(counts, least)
    best = counts.relevant(least).best()
    above, tied = np.full((2, rows.size), -1, dtype=np.int64)
    above[rows], tied[rows] = best.above, best.tied
    return above, tied


def n_tied(counts: JudgedCounts, least: int) -> int:
    """Return how many queries have a relevant candidate that ties with one of another grade, or unjudged."""
    returned = (counts.grade >= least) & (counts.above < counts.pool[counts.query])
    keys = np.stack([counts.query[returned], counts.above[returned], counts.grade[returned]])
    _, place, size = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    return len(np.unique(keys[0][counts.tied[returned] > size[place.reshape(-1)]]))


def answered(counts: JudgedCounts, least: int) -> np.ndarray:
    """Return which queries have a relevant candidate, bool [n]."""
    has: np.ndarray = np.bincount(counts.query[counts.grade >= least], minlength=len(counts)) > 0
    return has


def _answered(counts: JudgedCounts, least: int) -> tuple[np.ndarray, JudgedCounts]:
    """Return which queries have a relevant candidate, and the counts of these alone."""
    rows = answered(counts, least)
    lines, place = rows[counts.query], np.cumsum(rows) - 1
    above, tied, grade = (column[lines] for column in (counts.above, counts.tied, counts.grade))
    query, pool, listed = place[counts.query[lines]], counts.pool[rows], counts.listed[rows]
    return rows, JudgedCounts(query, above, tied, grade, pool, listed)
