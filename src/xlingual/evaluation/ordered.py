"""The best candidates of each question one by one, in an order without ties."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xlingual.arrays import Ints
from xlingual.evaluation.passes import corrected
from xlingual.ragged import spans
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

    `column` [m] is the similarity's candidate of each column. Scores are those of the similarity, less
    `offsets` where there are some. Short lists are screened in float32, and only what may be among them is
    scored exactly; long ones, and those where very many tie with the last place, are sorted by exact keys.
    """
    n, width = similarity.shape[0], len(column)
    if count > _MOST_SCREENED or count * _FEW > width:
        yield from _sorted(similarity, np.arange(n), column, count, offsets)
        return
    order, sizes = np.argsort(column, kind="stable"), np.bincount(column, minlength=similarity.shape[1])
    first, height = np.cumsum(sizes) - sizes, max(1, 4 * _BYTES // (100 * (4 * count + _CAP)))
    for start in range(0, n, height):
        questions = np.arange(start, min(start + height, n))
        part = similarity_of(similarity.queries.take(questions), similarity.candidates)
        best = Top(count, part.shape, weights=sizes.astype(np.int64), cap=_CAP)
        rank(corrected(part, offsets), [best], CPU)
        top = best.result()
        taken = np.clip(count - top.above, 0, top.weight)  # of columns that tie, those of the first names
        listed = np.bincount(top.query, taken, minlength=len(questions))
        crowded = (top.unlisted > 0) | (listed > 4 * count + _CAP)
        rows = np.flatnonzero(~crowded[top.query])
        line, place = spans(first[top.candidate[rows]], taken[rows])
        packed = (top.query[rows] * count + top.above[rows])[line] * width + order[place]
        packed.sort()
        begins = np.searchsorted(packed // (width * count), np.flatnonzero(~crowded))
        lists = iter(packed[begins[:, None] + np.arange(count)] % width)
        whole = _sorted(similarity, questions[crowded], column, count, offsets)
        for many in crowded.tolist():
            yield next(whole) if many else next(lists).tolist()


def _sorted(
    similarity: TextSimilarity, questions: Ints, column: Ints, count: int, offsets: Offsets | None
) -> Iterator[list[int]]:
    """Yield the best columns by the exact keys of all, packed with columns into one integer each."""
    width = len(column)
    order = np.argsort(column, kind="stable")
    begins = np.searchsorted(column[order], np.arange(similarity.shape[1] + 1))
    height = min(_AT_ONCE, max(1, 4 * _BYTES // (8 * width)))
    for start in range(0, len(questions), height):
        rows = questions[start : start + height]
        packed = np.empty((len(rows), width), dtype=np.int64)
        step = min(_AT_ONCE, max(1, _BYTES // (8 * len(rows))))
        for low in range(0, similarity.shape[1], step):
            part = np.arange(low, min(low + step, similarity.shape[1]))
            keys = similarity.key_block(rows, part).astype(np.int64)
            keys = keys if offsets is None else offsets.keys(keys, part)
            columns = order[begins[low] : begins[part[-1] + 1]]
            packed[:, columns] = keys[:, column[columns] - low]
        if max(int(packed.max()), -int(packed.min())) > _LARGEST // width:  # of scores that are no cosines
            packed = np.unique(packed, return_inverse=True)[1].reshape(packed.shape).astype(np.int64)
        packed = packed * width + width - 1 - np.arange(width)
        for row in packed:
            best = row if count == width else np.partition(row, width - count)[width - count :]
            best.sort()
            yield (width - 1 - best[::-1] % width).tolist()
