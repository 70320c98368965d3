"""The order of trec_eval: scores compared as float32, of equal ones the last name first, nothing tied."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Ints
from xlingual.evaluation.multilingual_pool.one_pass import PoolColumns
from xlingual.ranking import UNIT, Adjustment, TextSimilarity
from xlingual.ranking.listed import Lists
from xlingual.ranking.scan import TILE_BYTES

_AT_ONCE = 1 << 22  # scores compared at a time


def places_of_names(names: Sequence[str]) -> Ints:
    """Return the place of each name in falling order, int64 [m]: of equal scores the smallest is first."""
    place = np.empty(len(names), dtype=np.int64)
    place[sorted(range(len(names)), key=names.__getitem__, reverse=True)] = np.arange(len(names))
    return place


def without_ties(lists: Lists, place: Ints, *, by_score: bool) -> Lists:
    """Return lists with results that tie in the order of names; what they lack is missed.

    `by_score`: scores that are equal as float32 tie, where there are scores; else what ties already does.
    """
    level: np.ndarray = lists.level
    if by_score and lists.score is not None:
        level = -lists.score.astype(np.float32)
    order = np.lexsort((place[lists.candidate], level, lists.query))
    none = np.ones(len(lists), dtype=bool)
    alone = np.arange(len(order)) - lists.start[lists.query]
    return Lists(lists.query, lists.candidate[order], alone, none, lists.n_candidates)


def above_by_name(
    similarity: TextSimilarity,
    columns: PoolColumns,
    question: Ints,
    candidate: Ints,
    place: Ints,
    adjustment: Adjustment | None = None,
) -> Ints:
    """Return how many candidates of each language are above each pair (question, candidate), [p, G].

    `place` [m] is that of each candidate's name; `question` is ascending. All scores are made in float64.
    """
    width = len(columns.vectors)
    own = _scores(
        similarity.exact(question, columns.of[candidate]), adjustment, question, columns.of[candidate]
    )
    above = np.zeros((len(question), len(columns.bounds) - 1), dtype=np.int64)
    weights = np.zeros((width, above.shape[1]))
    weights[np.arange(width), columns.language] = columns.weights
    members, starts = columns.members()
    height = max(1, TILE_BYTES // (8 * width))
    for first in range(0, similarity.shape[0], height):
        rows = np.arange(first, min(first + height, similarity.shape[0]))
        low, high = np.searchsorted(question, (rows[0], rows[-1] + 1))
        scores = _scores(
            similarity.block_keys(rows, np.arange(width)), adjustment, rows[:, None], np.arange(width)
        )
        step = max(1, _AT_ONCE // width)
        for start in range(low, high, step):
            part = slice(start, min(start + step, high))
            compared, limit = scores[question[part] - first], own[part, None]
            above[part] += np.rint((compared > limit) @ weights).astype(np.int64)
            line, column = np.nonzero(compared == limit)
            size = columns.weights[column]
            line, column = np.repeat(line + start, size), np.repeat(column, size)
            within = np.arange(len(line)) - np.repeat(np.cumsum(size) - size, size)
            other = members[starts[column] + within]
            before = place[other] < place[candidate[line]]
            np.add.at(above, (line[before], columns.language[column[before]]), 1)
    similarity.decided += similarity.shape[0] * width
    return above


def _scores(keys: Ints, adjustment: Adjustment | None, queries: Ints, candidates: Ints) -> np.ndarray:
    if adjustment is not None:
        keys = adjustment.keys(keys, queries, candidates)
    return (keys * UNIT).astype(np.float32)
