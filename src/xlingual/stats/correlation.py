"""Spearman's correlation of two tables of distances [S, T], with rows and columns as the samples.

The pairs of a table are not independent: those of one row share a source, those of one column a target. Each
pair's influence on the correlation, summed by rows and by columns, gives residuals for `intervals.interval`
(the linearised form of resampling rows and columns: Owen 2007, "The pigeonhole bootstrap").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.arrays import Floats, Ints

_DECIMALS = 9  # scores that are rounded to so many places are sorted as whole numbers
_BLOCK = 1 << 16  # pairs worked on at a time: what a block needs stays in the cache
_PLACES = 1 << 16  # about as many different ranks: more change influence by 1e-5 of its size at most


@dataclass(frozen=True)
class RankedTable:
    """Ranks of the n scores of a table; equal scores share their mean rank.

    Ranked once, a table of image distances serves every encoder.
    """

    twice: np.ndarray  # int [n] twice the mean rank, from 1 (the lowest of all) to 2n − 1

    def __len__(self) -> int:
        return len(self.twice)

    @classmethod
    def of(cls, scores: np.ndarray) -> RankedTable:
        """Rank the scores [n]: floats, or whole numbers that order as they do."""
        keys = _whole(scores)
        n = len(scores)
        if keys is None or _width(keys) + _bits(n) > 63:
            return cls(_ranked(scores))
        low = np.int64(keys.min(initial=0))
        blocks = (np.subtract(keys[part], low, dtype=np.int64) for part in _parts(n))
        return cls(_ranked_packed(blocks, np.empty(n, dtype=np.int64)))

    @classmethod
    def within(cls, keys: np.ndarray, rows: Ints, columns: Ints, room: Ints) -> RankedTable:
        """Rank a part of a table, row by row: whole numbers, int32 [R, C], at rows [r] and columns [c].

        What is in `room` [at least r · c] is lost. Tables that are ranked one after another in the same room
        spare the system from giving out new memory for each.
        """
        n, step = len(rows) * len(columns), max(1, _BLOCK // max(len(columns), 1))
        if _bits(n) > 63 - 32:
            return cls.of(keys[np.ix_(rows, columns)].ravel())
        blocks = (keys[rows[part]].take(columns, axis=1).ravel() for part in _parts(len(rows), step))
        return cls(_ranked_packed(blocks, room[:n]))

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the midranks in (0, 1)."""
        centred = (self.twice[part].astype(np.float64) - len(self) for part in _parts(len(self)))
        return float(np.sqrt(sum(float(c @ c) for c in centred) / len(self))) / (2 * len(self))

    def normal(self, part: slice) -> Floats:
        """Return the midranks of some pairs, brought to mean 0 and variance 1 over all."""
        ranks = self.twice[part].astype(np.float64)
        ranks -= len(self)
        ranks /= 2 * len(self) * self.spread
        return ranks

    @property
    def is_constant(self) -> bool:
        """Whether all scores are equal."""
        n = len(self)
        return n == 0 or bool(self.twice[0] == n and np.all(self.twice == n))  # the first mostly decides


def _whole(scores: np.ndarray) -> Ints | None:
    """Return whole numbers that order as the scores do, None where rounding would lose something."""
    if scores.dtype.kind == "i":
        return scores
    if not np.isfinite(scores).all() or np.abs(scores).max(initial=0) >= 1e6:
        return None
    keys = np.rint(scores * 10.0**_DECIMALS)
    return keys.astype(np.int64) if np.array_equal(keys / 10.0**_DECIMALS, scores) else None


def _width(keys: Ints) -> int:
    """Return how many bits the numbers differ in."""
    return (int(keys.max(initial=0)) - int(keys.min(initial=0))).bit_length()


def _bits(n: int) -> int:
    """Return how many bits hold the positions of n numbers."""
    return max(n - 1, 1).bit_length()


def _ranked_packed(blocks: Iterable[Ints], packed: Ints) -> np.ndarray:
    """Return twice the mean ranks of n whole numbers, which come block by block; `packed` [n] is room.

    Each is packed with its position into one number to be sorted. Sorting numbers is many times as fast as
    sorting positions by their numbers (vector instructions).
    """
    n, start = len(packed), 0
    bits = _bits(n)
    for keys in blocks:
        block = packed[start : start + len(keys)]
        np.left_shift(keys, bits, out=block, dtype=np.int64)
        block |= np.arange(start, start + len(keys))
        start += len(keys)
    packed.sort()
    return _placed(packed, bits)


def _placed(packed: Ints, bits: int) -> np.ndarray:
    """Return twice the mean ranks [n] of sorted keys; the last `bits` of each are its position."""
    n, mask = len(packed), (1 << bits) - 1
    twice = np.empty(n, dtype=np.int32 if n < 1 << 30 else np.int64)
    tied = []  # places of those equal to the next
    for part in _parts(n):
        block, following = packed[part], packed[part.start + 1 : part.stop + 1]
        differ = (block[: len(following)] ^ following) >> bits  # 0 where the keys are equal
        tied.append(np.flatnonzero(differ == 0) + part.start)
        twice[block & mask] = np.arange(2 * part.start + 1, 2 * part.stop, 2, dtype=twice.dtype)
    inside, values = _shared(np.concatenate([*tied, np.empty(0, dtype=np.int64)]))
    twice[packed[inside] & mask] = values
    return twice


def _ranked(scores: np.ndarray) -> np.ndarray:
    """Return twice the mean ranks of any scores."""
    n = len(scores)
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    twice = np.empty(n, dtype=np.int32 if n < 1 << 30 else np.int64)
    twice[order] = np.arange(1, 2 * n, 2, dtype=twice.dtype)
    inside, values = _shared(np.flatnonzero(ordered[1:] == ordered[:-1]))
    twice[order[inside]] = values
    return twice


def _shared(tied: Ints) -> tuple[Ints, Ints]:
    """Return places of sorted scores and twice the mean ranks there, of those that equal a neighbour.

    `tied` are the places of those equal to the next, ascending.
    """
    new = np.flatnonzero(np.diff(tied, prepend=-2) != 1)  # where a run of equal scores begins
    lengths = np.diff(np.append(new, len(tied))) + 1
    starts = tied[new]
    inside = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    return inside, np.repeat(2 * starts + lengths, lengths)


def _parts(n: int, size: int = _BLOCK) -> Iterator[slice]:
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def spearman(x: RankedTable, y: RankedTable) -> float | None:
    """Return Spearman's correlation, the Pearson correlation of midranks; None where a side is constant."""
    if x.is_constant or y.is_constant:
        return None
    product = 0.0
    for part in _parts(len(x)):
        product += float(np.dot(x.normal(part), y.normal(part)))
    return product / len(x)


def spearman_influence(x: RankedTable, y: RankedTable, rho: float) -> Floats:
    """Return each pair's influence on the correlation, float64 [n], mean zero.

    With ranks F, G in (0, 1) a pair acts three times: by its own product of ranks, and by moving the ranks
    of the pairs above it in x and in y (Croux and Dehon 2010, "Influence functions of the Spearman …").
    """
    influence = np.concatenate([part for _, part in _influence_by_blocks(x, y, rho, _BLOCK)])
    influence -= influence.mean()
    return influence


def influence_sums(
    x: RankedTable, y: RankedTable, rho: float, shape: tuple[int, int]
) -> tuple[Floats, Floats, float]:
    """Return the sums of influence by rows and by columns of the tables, and the sum of its squares."""
    rows, columns, squares, width = np.empty(shape[0]), np.zeros(shape[1]), 0.0, shape[1]
    for start, part in _influence_by_blocks(x, y, rho, max(1, _BLOCK // width) * width):
        block = part.reshape(-1, width)
        rows[start // width : start // width + len(block)] = block.sum(axis=1)
        columns += block.sum(axis=0)
        squares += float(part @ part)
    mean = float(rows.sum()) / len(x)
    return rows - mean * width, columns - mean * shape[0], squares - len(x) * mean**2


def _influence_by_blocks(
    x: RankedTable, y: RankedTable, rho: float, size: int
) -> Iterator[tuple[int, Floats]]:
    """Yield (first pair, influence of the pairs from there on), not yet centred.

    With u, v the ranks at mean 0 and variance 1 it is u·v − ρ/2·(u² + v²), the pair's own part, and the mean
    of v − ρ·u over the pairs above it in x and of u − ρ·v over those above it in y. Without ties the parts in
    ρ are constant.
    """
    n = len(x)
    shift = max(0, (n - 1).bit_length() - _PLACES.bit_length() + 1) + 1  # of `twice`: halved, and coarser
    places = ((2 * n - 1) >> shift) + 1
    sums_x, sums_y = np.zeros(places), np.zeros(places)
    for part in _parts(n, max(size, places)):
        u, v = x.normal(part), y.normal(part)
        sums_x += np.bincount(x.twice[part] >> shift, v - rho * u, places)
        sums_y += np.bincount(y.twice[part] >> shift, u - rho * v, places)
    above_x, above_y = _mean_above(sums_x, n * x.spread), _mean_above(sums_y, n * y.spread)
    for part in _parts(n, size):
        u, v = x.normal(part), y.normal(part)
        influence = u * v
        u *= u
        v *= v
        u += v
        u *= rho / 2
        influence -= u
        influence += above_x[x.twice[part] >> shift]
        influence += above_y[y.twice[part] >> shift]
        yield part.start, influence


def _mean_above(sums: Floats, divisor: float) -> Floats:
    """Return, by place, the sum of values ranked above and half of those at the place, over a divisor.

    A pair's place is half its `twice`, rounded down: one place for each group of ties, within its ranks.
    Among many pairs neighbouring places are one.
    """
    from_here = np.cumsum(sums[::-1])[::-1]
    means: Floats = (from_here - sums / 2) / divisor
    return means
