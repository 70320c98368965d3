"""Lists and similarities in the order of trec_eval, in which nothing ties."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xlingual.arrays import Ints
from xlingual.evaluation.multilingual_pool.one_pass import PoolColumns
from xlingual.ranking import UNIT, Pool, TextRows, TextSimilarity, similarity_of

_AT_ONCE = 1 << 22  # scores compared at a time
_BYTES = 1 << 25  # of keys at a time


def above_by_name(
    similarity: TextSimilarity,
    columns: PoolColumns,
    question: Ints,
    candidate: Ints,
    place: Ints,
) -> Ints:
    """Return how many candidates of each language are above each pair (question, candidate), [p, G].

    `place` [m] is that of each candidate's name; `question` is ascending. All scores are made in float64.
    """
    width = len(columns.vectors)
    own = _scores(similarity.keys(question, columns.of[candidate]))
    above = np.zeros((len(question), columns.n_languages), dtype=np.int64)
    weights = np.zeros((width, above.shape[1]))
    weights[np.arange(width), columns.language] = columns.weights
    members, starts = columns.members()
    height = max(1, _BYTES // (8 * width))
    for first in range(0, similarity.shape[0], height):
        rows = np.arange(first, min(first + height, similarity.shape[0]))
        low, high = np.searchsorted(question, (rows[0], rows[-1] + 1))
        scores = _scores(similarity.key_block(rows, np.arange(width)))
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
    return above


def best_by_float32(
    questions: TextRows,
    candidates: TextRows,
    place: Ints,
    depth: int | None,
    queries: Ints | None = None,
) -> Iterator[list[int]]:
    """Yield the `depth` best candidates (None: all) of each query, or of the given ones, in this order."""
    collapsed = Pool.of(candidates.raw, candidates.rows)
    similarity = similarity_of(questions, collapsed.vectors)
    wanted, columns = (
        np.arange(len(questions)) if queries is None else queries,
        np.arange(similarity.shape[1]),
    )
    height = max(1, _BYTES // (8 * len(columns)))
    for start in range(0, len(wanted), height):
        rows = wanted[start : start + height]
        scores = _scores(similarity.key_block(rows, columns))
        for own in scores:
            yield np.lexsort((place, -own[collapsed.code]))[:depth].tolist()


def _scores(keys: Ints) -> np.ndarray:
    return (keys * UNIT).astype(np.float32)
