"""Spearman's correlation of two tables of distances [S, T], with rows and columns as the samples.

The pairs of a table are not independent: those of one row share a source, those of one column a target. Each
pair's influence on the correlation, summed by rows and by columns, gives residuals for `intervals.interval`
(the linearised form of resampling rows and columns: Owen 2007, "The pigeonhole bootstrap").
"""

from __future__ import annotations

from collections.abc import Iterator
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
        bits = max(len(scores) - 1, 1).bit_length()
        if keys is None or _width(keys) + bits > 63:
            return cls(_ranked(scores))
        return cls(_ranked_packed(keys, bits))

    @property
    def midrank(self) -> Floats:
        """Mean ranks scaled to (0, 1), float64 [n]."""
        return self.twice / (2 * len(self))

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
        return bool(np.all(self.twice == len(self)))


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


def _ranked_packed(keys: Ints, bits: int) -> np.ndarray:
    """Return twice the mean ranks of whole numbers: each is packed with its position into one to be sorted.

    Sorting numbers is many times as fast as sorting positions by their numbers (vector instructions).
    """
    n, low = len(keys), int(keys.min(initial=0))
    packed = np.empty(n, dtype=np.int64)
    for part in _parts(n):
        block = packed[part]
        np.subtract(keys[part], low, out=block, dtype=np.int64)
        block <<= bits
        block |= np.arange(part.start, part.stop)
    packed.sort()
    equal = np.zeros(n, dtype=bool)  # to the next
    for part in _parts(n - 1):
        key = packed[part.start : part.stop + 1] >> bits
        np.equal(key[1:], key[:-1], out=equal[part])
    values = _in_order(equal)
    twice = np.empty_like(values)
    mask = (1 << bits) - 1
    for part in _parts(n):
        twice[packed[part] & mask] = values[part]
    return twice


def _ranked(scores: np.ndarray) -> np.ndarray:
    """Return twice the mean ranks of any scores."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    values = _in_order(np.append(ordered[1:] == ordered[:-1], False))
    twice = np.empty_like(values)
    twice[order] = values
    return twice


def _in_order(equal: np.ndarray) -> np.ndarray:
    """Return twice the mean ranks of sorted scores; `equal` [n] marks those equal to the next."""
    n = len(equal)
    values = np.arange(1, 2 * n, 2, dtype=np.int32 if n < 1 << 30 else np.int64)
    tied = np.flatnonzero(equal)
    if len(tied) == 0:
        return values
    new = np.flatnonzero(np.diff(tied, prepend=-2) != 1)  # where a run of equal scores begins
    lengths = np.diff(np.append(new, len(tied))) + 1
    starts = tied[new]
    inside = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    values[inside] = np.repeat(2 * starts + lengths, lengths)
    return values


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
