"""Scores above several targets of a query, without sorting all of them.

Good rankings have most targets of a query near the top: the few scores that are not below the lowest of
these, the *hits*, are looked up among the targets. The other targets, the *deep* ones, are compared with
every score. Which target is deep is guessed from some of the scores; the counts do not depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.ranking.lookup import not_above
from xlingual.ranking.masks import places, row_sums

_SAMPLE = 128  # scores of a row by which deep targets are known
_DEEP = 4  # a target is deep where over so many of these are above it
_MOST = 4  # deep targets of a row: to sort its scores is quicker than to compare more of them
_FEW = 16  # hits are looked up where they are fewer than one score in so many
_AT_ONCE = 1 << 19  # scores compared at a time: they stay in the cache
_WORD = 64


@dataclass(frozen=True)
class TargetBands:
    """Targets of the rows of a tile, by row and then by rising score; parallel arrays [p]."""

    row: Ints
    low: np.ndarray  # float32: a score below it is below the target
    high: np.ndarray  # float32: a score above it is above the target

    def take(self, chosen: Ints) -> TargetBands:
        """Return some of the targets."""
        return TargetBands(self.row[chosen], self.low[chosen], self.high[chosen])


@dataclass(frozen=True)
class Screened:
    """What a screen says of targets: how many scores of each group are certainly above, int64 [p, groups].

    Pairs (target[i], column[i]) [o] are open: a score within the band of a target; its own is one of them.
    """

    above: Ints
    target: Ints
    column: Ints


def screened(scores: np.ndarray, targets: TargetBands, edges: Ints) -> Screened | None:
    """Compare scores [rows, columns] with targets of their rows; None where sorted scores are quicker.

    `edges` [groups + 1]: the first column of each group, and the number of columns.
    """
    deep = _deep(scores, targets)
    near, far = np.flatnonzero(~deep), np.flatnonzero(deep)
    if len(far) > _MOST * len(scores):
        return None
    found = _among_hits(scores, targets.take(near), edges)
    if found is None:
        return None
    more = _compared(scores, targets.take(far), edges)
    above = np.empty((len(deep), len(edges) - 1), dtype=np.int64)
    above[near], above[far] = found.above, more.above
    target = np.concatenate([near[found.target], far[more.target]])
    return Screened(above, target, np.concatenate([found.column, more.column]))


def _deep(scores: np.ndarray, targets: TargetBands) -> np.ndarray:
    """Return which targets have many scores above them, as it seems from evenly spaced ones, bool [p]."""
    some = scores[:, :: max(1, scores.shape[1] // _SAMPLE)]
    found: np.ndarray = row_sums(some[targets.row] > targets.high[:, None]) > _DEEP
    return found


def _among_hits(scores: np.ndarray, targets: TargetBands, edges: Ints) -> Screened | None:
    """Look the hits up among the targets of their row; None where there are many."""
    row, low, high, n, n_groups = targets.row, targets.low, targets.high, len(targets.row), len(edges) - 1
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    sizes = np.diff(starts, append=n)
    least = np.full(len(scores), np.inf, dtype=np.float32)
    least[row[starts]] = low[starts]
    reach = scores >= least[:, None]
    if np.count_nonzero(reach.ravel(order="K")) * _FEW > reach.size:
        return None
    i, column = places(reach)
    score = scores[i, column]
    bounds = np.zeros((2, len(scores)), dtype=np.int64)
    bounds[:, row[starts]] = starts, sizes
    first, size = bounds[:, i]
    below = not_above(high, first, size, np.nextafter(score, np.float32(-np.inf)))  # targets certainly below
    cell = (first + below - 1) * n_groups + np.searchsorted(edges, column, side="right") - 1
    over = np.bincount(cell[below > 0], minlength=n * n_groups).reshape(n, n_groups)
    sums = np.zeros((n + 1, n_groups), dtype=np.int64)  # what is above a target is above those before it
    np.cumsum(over[::-1], axis=0, out=sums[:-1][::-1])
    hit, target = _open(score, first + below, first + size, low)
    return Screened(sums[:-1] - sums[np.repeat(starts + sizes, sizes)], target, column[hit])


def _open(score: np.ndarray, target: Ints, end: Ints, low: np.ndarray) -> tuple[Ints, Ints]:
    """Return (hit, target) within a band, where `target` is the first of its row that may be, up to `end`."""
    hit = np.arange(len(score))
    found = [(hit[:0], hit[:0])]
    while len(hit):
        hit, target = (column[target < end[hit]] for column in (hit, target))
        hit, target = (column[low[target] <= score[hit]] for column in (hit, target))
        found.append((hit, target))
        target = target + 1
    hits, targets = zip(*found, strict=True)
    return np.concatenate(hits), np.concatenate(targets)


def _compared(scores: np.ndarray, targets: TargetBands, edges: Ints) -> Screened:
    """Compare each target with every score of its row."""
    row, low, high = targets.row, targets.low[:, None], targets.high[:, None]
    above = np.empty((len(row), len(edges) - 1), dtype=np.int64)
    found = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    step = max(1, _AT_ONCE // scores.shape[1])
    for start in range(0, len(row), step):
        part = slice(start, start + step)
        own = scores[row[part]]
        over = _words(own > high[part])
        above[part] = np.diff(_before(over, edges), axis=1)
        i, column = _places(_words(own >= low[part]) ^ over)
        found.append((i + start, column))
    target, column = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Screened(above, target, column)


def _words(mask: np.ndarray) -> np.ndarray:
    """Return a mask [n, columns] as bits of words, uint64 [n, words]; the first column is the lowest bit."""
    packed = np.packbits(mask, axis=1, bitorder="little")
    words = np.zeros((len(mask), -(-mask.shape[1] // _WORD) * _WORD // 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    return words.view("<u8")


def _before(words: np.ndarray, edges: Ints) -> Ints:
    """Return how many bits are set before each edge (a column), int64 [n, edges]."""
    upto = np.zeros((len(words), words.shape[1] + 1), dtype=np.int64)
    np.cumsum(np.bitwise_count(words), axis=1, dtype=np.int64, out=upto[:, 1:])
    word, bit = np.divmod(edges, _WORD)
    rest = (np.uint64(1) << bit.astype(np.uint64)) - np.uint64(1)
    partial = np.bitwise_count(words[:, np.minimum(word, words.shape[1] - 1)] & rest)
    found: Ints = upto[:, word] + partial
    return found


def _places(words: np.ndarray) -> tuple[Ints, Ints]:
    """Return (row, column) of the bits that are set."""
    some = np.flatnonzero(words)
    bits = np.unpackbits(words.reshape(-1)[some].view(np.uint8), bitorder="little").reshape(len(some), _WORD)
    number, bit = places(bits)
    row, word = np.divmod(some[number], words.shape[1])
    return row, word * _WORD + bit
