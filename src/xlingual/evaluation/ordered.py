"""The best candidates of each question one by one, in an order without ties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.evaluation.passes import corrected
from xlingual.ranking import CPU, Offsets, TextSimilarity, Top, rank, similarity_of

_MOST_SCREENED = 2048  # candidates of a question: longer lists are cheaper sorted whole
_FEW = 4  # and so are lists of over one candidate in so many
_CAP = 1000  # different vectors that tie with the last place: with more, names decide among all candidates
_LARGEST = 1 << 62  # of an integer of a key and a column
_BYTES = 1 << 25  # of keys, or lines, at a time
_AT_ONCE = 4096  # questions, and candidates, scored in float64 at a time


def ranked(
    similarity: TextSimilarity, column: Ints, count: int, offsets: Offsets | None = None
) -> Iterator[list[int]]:
    """Yield the `count` best columns of each question, best first, ties in the order of the columns.

    Scores are those of the similarity, less `offsets` where there are some.

    `column` [m] is the similarity's candidate of each column. Short lists are screened in
    float32, long ones and all columns are sorted by exact keys. Memory: about four times _BYTES for what
    is kept of a block of questions, and a tile or two.
    """
    order = np.argsort(column, kind="stable")
    sizes = np.bincount(column, minlength=similarity.shape[1]).astype(np.int64)
    columns = _Columns(column, order, np.cumsum(sizes) - sizes, sizes)
    questions = np.arange(similarity.shape[0])
    if count > _MOST_SCREENED or count * _FEW > len(column):
        yield from _sorted(similarity, questions, columns, count, offsets)
        return
    height = max(1, 4 * _BYTES // (100 * (4 * count + _CAP)))
    for start in range(0, len(questions), height):
        yield from _screened(similarity, questions[start : start + height], columns, count, offsets)


@dataclass(frozen=True)
class _Columns:
    """The columns of a run: candidates in the order of their names, some of them of equal vectors."""

    of: Ints  # [m] the distinct vector of each column
    order: Ints  # [m] columns by their vector, those of one vector ascending
    first: Ints  # [u] where the columns of each vector begin in `order`
    sizes: Ints  # [u] how many they are


def _screened(
    similarity: TextSimilarity, questions: Ints, columns: _Columns, count: int, offsets: Offsets | None
) -> Iterator[list[int]]:
    """Yield the best columns of each question; only those that may be among them are scored exactly.

    Where very many tie with the last place, the question is sorted whole: names decide who is in.
    """
    width, n = len(columns.of), len(questions)
    vectors = similarity.queries
    part = similarity_of(vectors.take(questions), similarity.candidates)
    found = Top(count, part.shape, weights=columns.sizes, cap=_CAP)
    rank(corrected(part, offsets), [found], CPU)
    top = found.result()
    taken = np.clip(count - top.above, 0, top.weight)  # of columns that tie, those of the first names
    listed = np.bincount(top.query, taken, minlength=n)
    crowded = (top.unlisted > 0) | (listed > 4 * count + _CAP)
    kept = ~crowded[top.query]
    query, above, taken = top.query[kept], top.above[kept], taken[kept]
    within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
    own = columns.order[np.repeat(columns.first[top.candidate[kept]], taken) + within]
    packed = np.repeat(query * count + above, taken) * width + own
    packed.sort()
    owner = packed // (width * count)
    begins = np.searchsorted(owner, np.flatnonzero(~crowded))
    lists = iter(packed[begins[:, None] + np.arange(count)] % width)
    whole = _sorted(similarity, questions[crowded], columns, count, offsets)
    for many in crowded.tolist():
        yield next(whole) if many else next(lists).tolist()


def _sorted(
    similarity: TextSimilarity, questions: Ints, columns: _Columns, count: int, offsets: Offsets | None
) -> Iterator[list[int]]:
    """Yield the best columns of each question by the exact keys of all, a block of questions at a time.

    Keys and columns are packed into one integer, all different, so that a plain sort is exact.
    """
    width = len(columns.of)
    height = min(_AT_ONCE, max(1, 4 * _BYTES // (8 * width)))
    for start in range(0, len(questions), height):
        for row in _packed(similarity, questions[start : start + height], columns, offsets):
            best = row if count == width else np.partition(row, width - count)[width - count :]
            best.sort()
            yield (width - 1 - best[::-1] % width).tolist()


def _packed(similarity: TextSimilarity, questions: Ints, columns: _Columns, offsets: Offsets | None) -> Ints:
    """Return key · m + (m - 1 - column) of every question and column, int64 [questions, m]."""
    width = len(columns.of)
    packed = np.empty((len(questions), width), dtype=np.int64)
    step = min(_AT_ONCE, max(1, _BYTES // (8 * len(questions))))
    for start in range(0, similarity.shape[1], step):
        part = np.arange(start, min(start + step, similarity.shape[1]))
        keys = similarity.key_block(questions, part).astype(np.int64)
        if offsets is not None:
            keys = offsets.keys(keys, part)
        own = columns.order[columns.first[start] : columns.first[part[-1]] + columns.sizes[part[-1]]]
        packed[:, own] = keys[:, columns.of[own] - start]
    if max(int(packed.max()), -int(packed.min())) > _LARGEST // width:  # of scores that are no cosines
        packed = np.unique(packed, return_inverse=True)[1].reshape(packed.shape).astype(np.int64)
    packed *= width
    packed += width - 1 - np.arange(width)
    return packed
