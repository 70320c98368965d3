"""Where the judged candidates of each query stand, for an encoder and for a system that returns lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.evaluation.listed import MOST_UNKNOWN, cut_of
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.retrieval.judgements import Judgements
from xlingual.measures import Bpref, RetrievalMeasure
from xlingual.ragged import starts
from xlingual.records import JudgedCounts


@dataclass(frozen=True, eq=False)
class OwnLanguage:
    """The same among the candidates of each query's own language, of the queries that have a relevant one."""

    queries: Ints  # [k] of all n
    counts: JudgedCounts  # of these k


@dataclass(frozen=True, eq=False)
class Counted:
    """What one system found: all that the numbers need."""

    whole: JudgedCounts  # among all candidates
    found: JudgedCounts  # the same, where what was not returned is missed; for bpref
    own: OwnLanguage | None  # where candidates are of several languages
    by_language: Sequence[Lists] = ()  # of a system that returns lists, which may end too early

    def of(self, measure: RetrievalMeasure) -> JudgedCounts:
        """Return the counts that a measure is of."""
        return self.found if isinstance(measure, Bpref) else self.whole

    def own_reaches(self, measure: RetrievalMeasure, judgements: Judgements) -> bool:
        """Return whether lists reach as far in each query's own language as a measure looks."""
        unknown = sum(
            int(lists.unsettled(cut_of(measure, lists.n_candidates)).sum()) for lists in self.by_language
        )
        return unknown <= MOST_UNKNOWN * judgements.n


def counted_groups(judgements: Judgements, above: Ints, tied: Ints) -> Counted:
    """Return the findings of an encoder: how many candidates of each language are above each judged one.

    `above` and `tied` are [p, G]; all candidates are ranked.
    """
    j = judgements
    pool = j.pool_sizes()
    rows = np.arange(len(j.query))
    all_above, all_tied = (of.sum(axis=1, dtype=np.int64) for of in (above, tied))
    whole = JudgedCounts(j.query, all_above, all_tied, j.grade, pool, pool)
    if not j.several:
        return Counted(whole, whole, None)
    asked_in = j.query_language[j.query]
    sizes = j.pool_sizes(own=True)
    own_above, own_tied = (of[rows, asked_in].astype(np.int64) for of in (above, tied))
    return Counted(whole, whole, _own(j, JudgedCounts(j.query, own_above, own_tied, j.grade, sizes, sizes)))


def with_identical(judgements: Judgements) -> tuple[Ints, Ints]:
    """Return the pairs (query, candidate) to count, by query: those judged, and those that are left out."""
    j = judgements
    if j.identical is None:
        return j.query, j.candidate
    query, candidate = (
        np.concatenate(both) for both in zip((j.query, j.candidate), j.identical, strict=True)
    )
    order = np.lexsort((candidate, query))
    return query[order], candidate[order]


def counted_without(judgements: Judgements, above: Ints, tied: Ints) -> Counted:
    """Return the findings of an encoder, counted for `with_identical`, without the candidates left out.

    What is above a judged candidate, or ties with it, and is left out, is subtracted there.
    """
    j = judgements
    if j.identical is None:
        return counted_groups(j, above, tied)
    query, candidate = with_identical(j)
    out = np.isin(query * j.m + candidate, j.identical[0] * j.m + j.identical[1])
    place, start = above.sum(axis=1, dtype=np.int64), starts(query, j.n)
    above, tied = above.astype(np.int64), tied.astype(np.int64)
    for line in np.flatnonzero(out).tolist():
        lines = slice(*start[query[line] : query[line] + 2])
        code = j.candidate_language[candidate[line]]
        above[lines, code] -= place[lines] > place[line]
        tied[lines, code] -= place[lines] == place[line]
    return counted_groups(j, above[~out], tied[~out])


def counted_lists(judgements: Judgements, lists: Lists) -> Counted:
    """Return the findings of a system that returned lists."""
    j = judgements
    if j.identical is not None:
        lists = _without(lists, *j.identical)
    line = lists.lines(j.query, j.candidate)
    whole = _of_lists(lists, j.query, line, j.grade)
    parts = by_language(lists, j) if j.several else {}
    own = None
    if j.several:
        pool, listed = np.zeros(j.n, dtype=np.int64), np.zeros(j.n, dtype=np.int64)
        columns = np.zeros((2, len(j.query)), dtype=np.int64)
        place = np.zeros(j.m, dtype=np.int64)
        for code, part in parts.items():
            queries, candidates = (
                np.flatnonzero(side == code) for side in (j.query_language, j.candidate_language)
            )
            place[candidates] = np.arange(len(candidates))
            lines = np.flatnonzero(
                (j.query_language[j.query] == code) & (j.candidate_language[j.candidate] == code)
            )
            query = np.searchsorted(queries, j.query[lines])
            found = _of_lists(part, query, part.lines(query, place[j.candidate[lines]]), j.grade[lines])
            columns[:, lines] = found.above, found.tied
            pool[queries], listed[queries] = found.pool, found.listed
        own = _own(j, JudgedCounts(j.query, columns[0], columns[1], j.grade, pool, listed))
    return Counted(whole, _with_the_rest_missed(lists, line, whole), own, list(parts.values()))


def _without(lists: Lists, query: Ints, candidate: Ints) -> Lists:
    """Return the lists without some pairs of query and candidate."""
    line = lists.lines(query, candidate)
    stays = np.ones(len(lists.query), dtype=bool)
    stays[line[line >= 0]] = False
    score = None if lists.score is None else lists.score[stays]
    return replace(
        lists,
        query=lists.query[stays],
        candidate=lists.candidate[stays],
        level=lists.level[stays],
        score=score,
    )


def by_language(lists: Lists, judgements: Judgements) -> dict[int, Lists]:
    """Return language → lists of the queries of each language, with candidates of that language alone."""
    j, found = judgements, {}
    for code in np.unique(j.query_language).tolist():
        asked, own = j.query_language == code, j.candidate_language == code
        if not own.any():
            continue
        kept = asked[lists.query] & own[lists.candidate]
        query, candidate = np.cumsum(asked) - 1, np.cumsum(own) - 1
        found[code] = Lists(
            query[lists.query[kept]],
            candidate[lists.candidate[kept]],
            lists.level[kept],
            lists.ended[asked],
            int(own.sum()),
        )
    return found


def _of_lists(lists: Lists, query: Ints, line: Ints, grade: Ints) -> JudgedCounts:
    """Return the counts of judged candidates whose lines are known, -1 of what no list has."""
    above, tied = lists.counts_of(query, line)
    pool = np.full(len(lists), lists.n_candidates)
    return JudgedCounts(query, above, tied, grade, pool, np.where(lists.ended, lists.lengths, pool))


def _with_the_rest_missed(lists: Lists, line: Ints, whole: JudgedCounts) -> JudgedCounts:
    """Return the counts as if all lists had ended."""
    missed = line < 0
    return replace(
        whole,
        above=np.where(missed, lists.n_candidates, whole.above),
        tied=np.where(missed, 1, whole.tied),
        listed=lists.lengths,
    )


def _own(judgements: Judgements, counts: JudgedCounts) -> OwnLanguage | None:
    """Return the counts of pairs of one language, of the queries that have a relevant one."""
    lines = judgements.own_lines()
    queries, query = np.unique(counts.query[lines], return_inverse=True)
    if not len(queries):
        return None
    above, tied, grade = (column[lines] for column in (counts.above, counts.tied, counts.grade))
    kept = JudgedCounts(query, above, tied, grade, counts.pool[queries], counts.listed[queries])
    return OwnLanguage(queries, kept)
