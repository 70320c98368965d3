"""The one pass over a multilingual pool: every question against every candidate, by vectors or by lists.

It leaves the counts of every answer by language, and the first candidates of each question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.hubs import HUBS_OF, Hubs, Languages, hubs_of, listed_places, places_of
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.multilingual_pool.ranks import PoolRanks
from xlingual.evaluation.neighbours import Neighbours, Scores, listed_neighbours, neighbours_of
from xlingual.evaluation.passes import corrected, two_passes
from xlingual.forms import AnyVectors
from xlingual.measures.fairness import CUT
from xlingual.measures.hubness import Places
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
    TopK,
    Watcher,
    rank,
    rows_of,
    similarity_of,
)

_LISTED = 200_000  # ties of all questions: one more pass counts the languages of those that are not listed


@dataclass(frozen=True)
class Heads:
    """The first candidates of n questions.

    `shares` [n, G]: how many of the first `top` are of each language, under ties the expectation; NaN where a
    search system found none. `first`: the first 20 themselves (all where `top` is less), without groups of
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


def hubs_among(ranks: PoolRanks, heads: Heads) -> Hubs:
    """Return the hubs among the candidates over all questions."""
    first = heads.first
    k, lines = min(HUBS_OF, first.n_candidates), np.flatnonzero(first.above < HUBS_OF)
    query, candidate, above, tied = (
        side[lines] for side in (first.query, first.candidate, first.above, first.tied)
    )
    places = replace(first, k=k, query=query, candidate=candidate, above=above, tied=tied)
    languages = Languages(ranks.languages, ranks.question_language, ranks.candidate_language)
    wrong = places.wrong(ranks.question, ranks.candidate)
    return hubs_of(places, wrong, ranks.cluster, languages=languages)


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

    `top` is how many first places are looked at. A `repair` of hubs takes one more pass, over the bank and
    the candidates.
    """
    columns, (question, candidate) = Pool.of(candidates), pool.relevant
    similarity = similarity_of(rows_of(questions), columns.vectors)
    members = np.zeros((similarity.shape[1], len(pool.languages)), dtype=np.int64)
    np.add.at(members, (columns.code, pool.candidates.language), 1)
    before, during = two_passes(progress, repair)
    offsets = None if repair is None else repair.offsets(similarity, ranker, before)
    scores = corrected(similarity, offsets)
    counts = Counts.of(scores, question, columns.code[candidate], groups=members)
    best = Top(
        max(top, 1),
        similarity.shape,
        weights=members.sum(axis=1),
        cap=int(np.clip(_LISTED // len(pool.questions), 100, 1000)),
    )
    watchers: list[Watcher] = [counts, best] if top else [counts]
    rank(scores, watchers, ranker, progress=during)
    heads = None
    if top:
        found, rows, k = best.result(), np.arange(len(pool.questions)), min(top, CUT)
        shares = _shares(found, top, members, similarity, offsets, ranker)
        first = places_of(found, rows, columns.code, k)
        scored = Scores(similarity, offsets)
        heads = Heads(top, shares, first, partial(neighbours_of, found, scored, rows, columns.code))
    of_rows = None if offsets is None else offsets.take(columns.code)
    return PoolPass(PoolRanks.of(pool, counts.above, counts.tied), heads, of_rows, similarity)


def _shares(
    found: TopK, top: int, members: Ints, similarity: TextSimilarity, offsets: Offsets | None, ranker: Ranker
) -> Floats:
    """Return how many of the first `top` are of each language [n, G].

    The languages of groups too large to be listed are counted: their questions are ranked once more.
    """
    n, G = len(found.unlisted), members.shape[1]
    chance = np.clip((top - found.above) / found.tied, 0.0, 1.0)
    sampled = (found.unlisted[found.query] > 0) & (found.above + found.tied >= top)
    weight = np.where(sampled, 0.0, chance)
    by_language = [np.bincount(found.query, weight * members[found.candidate, g], n) for g in range(G)]
    shares = np.stack(by_language, axis=1).astype(np.float64)
    crowded = np.flatnonzero(found.unlisted)
    if len(crowded):
        last = np.searchsorted(found.query, crowded, side="right") - 1
        again = similarity_of(similarity.queries.take(crowded), similarity.candidates)
        scores = corrected(again, offsets)
        counts = Counts.of(scores, np.arange(len(crowded)), found.candidate[last], groups=members)
        rank(scores, [counts], ranker)
        shares[crowded] += chance[last, None] * counts.tied
        similarity.screened += again.screened
        similarity.decided += again.decided
    return shares


def rank_lists(pool: MultilingualPool, lists: Lists, *, top: int = 0) -> PoolPass:
    """Return the same of the lists of a search system.

    What a list lacks ties behind its end, or stands last and is missed where the list has ended.
    """
    question, candidate = pool.relevant
    line = lists.lines(question, candidate)
    unlisted = line < 0
    missed = unlisted & lists.ended[question]
    above, tied = _listed_counts(pool, lists, line, missed)
    heads = None
    if top:
        places = listed_places(lists, min(top, CUT))
        neighbours = partial(listed_neighbours, lists)
        heads = Heads(top, _listed_shares(pool, lists, top), places, neighbours)
    return PoolPass(PoolRanks.of(pool, above, tied, unlisted, missed), heads)


def _listed_counts(pool: MultilingualPool, lists: Lists, line: Ints, missed: np.ndarray) -> tuple[Ints, Ints]:
    """Return how many candidates of each language are above each answer, and tie [p, G]."""
    question, candidate = pool.relevant
    language, G = pool.candidates.language, len(pool.languages)
    sizes = np.bincount(language, minlength=G)
    cell = question[missed] * G + language[candidate[missed]]
    lost = np.bincount(cell, minlength=len(lists) * G).reshape(-1, G)[question]  # missed ones of the question
    listed, start = line >= 0, lists.start[question]
    above_line, size = (side[line[listed]] for side in lists.places)
    first = start[listed] + above_line
    above, tied = (np.empty((len(question), G), dtype=np.int64) for _ in range(2))
    for code in range(G):
        total = np.concatenate([[0], np.cumsum(language[lists.candidate] == code)])
        held = total[lists.start[question + 1]] - total[start]
        above[:, code] = np.where(missed, sizes[code] - lost[:, code], held)
        tied[:, code] = np.where(missed, lost[:, code], sizes[code] - held)
        above[listed, code] = total[first] - total[start[listed]]
        tied[listed, code] = total[first + size] - total[first]
    return above, tied


def _listed_shares(pool: MultilingualPool, lists: Lists, top: int) -> Floats:
    """Return how many of the first `top` candidates of each question are of each language [n, G].

    A list that ended before is taken to go on as it began; NaN where it is empty.
    """
    language, shape = pool.candidates.language, (len(lists), len(pool.languages))
    above, size = lists.places
    weight = np.clip((top - above) / size, 0.0, 1.0)
    cell = lists.query * shape[1] + language[lists.candidate]
    shares = np.bincount(cell, weight, shape[0] * shape[1]).astype(np.float64).reshape(shape)
    short = np.flatnonzero(lists.lengths < top)
    ended, going_on = short[lists.ended[short]], short[~lists.ended[short]]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares[ended] *= top / lists.lengths[ended][:, None]
    if len(going_on):
        lengths = lists.lengths[going_on][:, None]
        rest = np.bincount(language, minlength=shape[1]) - shares[going_on]
        shares[going_on] += (top - lengths) * rest / (len(language) - lengths)
    return shares
