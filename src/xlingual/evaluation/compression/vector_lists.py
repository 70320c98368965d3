"""The first candidates of each query by their vectors, as lists of a search system."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.ragged import groups, members
from xlingual.ranking.kinds import TextPool, TextSimilarity, similarity_of
from xlingual.ranking.listed import Lists
from xlingual.ranking.ranker import Ranker
from xlingual.ranking.scan import TILE_BYTES, Progress
from xlingual.ranking.similarity import UNIT
from xlingual.ranking.top import Top

_FEW = 16  # lists of over one candidate in so many are cheaper sorted whole


def vector_lists(
    queries: TextPool,
    candidates: TextPool,
    depth: int,
    ranker: Ranker,
    progress: Progress | None = None,
) -> Lists:
    """Return the first `depth` candidates of each query by exact scores; see `Lists.first` for ties."""
    similarity = similarity_of(queries.vectors, candidates.vectors)
    weights = np.bincount(candidates.code, minlength=len(candidates.vectors)).astype(np.int64)
    m = len(candidates.code)
    if depth * _FEW > m:
        found = _by_sorting(similarity, weights, depth, progress)
    else:
        top = Top(depth, similarity.shape, weights=weights, cap=depth)
        ranker.scan(similarity, [top], progress=progress)
        best = top.result()
        keys = similarity.exact(best.query, best.candidate)
        found = best.query, best.candidate, best.above, best.above + best.tied, keys
    distinct, vector, above, reach, keys = found
    kept = reach <= depth
    distinct, vector, above = distinct[kept], vector[kept], above[kept]
    score = keys[kept].astype(np.float64) * UNIT
    query, line = members(distinct, queries.code)  # texts that share a vector
    owner, candidate = members(candidates.code, vector[line])
    query, line = query[owner], line[owner]
    ended = np.zeros(len(queries.code), dtype=bool)
    return Lists(query, candidate, above[line], ended, m, score[line])


def _by_sorting(
    similarity: TextSimilarity, weights: Ints, depth: int, progress: Progress | None
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return (query, candidate, above, above and tied, key) of what is among the first or ties with it.

    Rows of exact keys are sorted whole, a block at a time: quicker where lists are long for their pool.
    """
    n, width = similarity.shape
    found, height = [], max(1, TILE_BYTES // (8 * width))
    for start in range(0, n, height):
        rows = np.arange(start, min(start + height, n))
        keys = similarity.block_keys(rows, np.arange(width))
        order = np.argsort(-keys, axis=1, kind="stable")
        keys = np.take_along_axis(keys, order, axis=1)
        upto = np.cumsum(weights[order], axis=1)
        change = keys[:, 1:] != keys[:, :-1]
        edge = np.ones((len(rows), 1), dtype=bool)
        first, last = np.hstack([edge, change]), np.hstack([change, edge])
        above = np.maximum.accumulate(np.where(first, upto - weights[order], 0), axis=1)
        reach = np.where(last, upto, np.iinfo(np.int64).max)
        reach = np.minimum.accumulate(reach[:, ::-1], axis=1)[:, ::-1]
        row, column = np.nonzero(above < depth)
        at = row, column
        found.append((rows[row], order[at], above[at], reach[at], keys[at]))
        if progress is not None:
            progress(int(rows[-1]) + 1, n)
    query, candidate, above, reach, keys = (np.concatenate(column) for column in zip(*found, strict=True))
    return query, candidate, above, reach, keys


def reordered(found: Lists, read: Ints, key: Ints) -> Lists:
    """Return the lists with the results that were read first, by falling key."""
    behind = np.ones(len(found.query), dtype=bool)
    behind[read] = False
    within = found.level.copy()
    within[read] = -key
    order = np.lexsort((found.candidate, within, behind, found.query))
    first, size = groups(found.query[order], behind[order], within[order])
    level = np.repeat(np.arange(len(first)), size)
    return replace(found, query=found.query[order], candidate=found.candidate[order], level=level, score=None)
