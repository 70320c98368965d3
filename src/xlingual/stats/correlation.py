"""Spearman's correlation of two tables of distances [S, T], with rows and columns as the samples.

The pairs of a table are not independent: those of one row share a source, those of one column a target. Each
pair's influence on the correlation, summed by rows and by columns, gives residuals for `intervals.interval`
(the linearised form of resampling rows and columns: Owen 2007, "The pigeonhole bootstrap").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from xlingual.records import Floats, Ints

_DECIMALS = 9  # scores that are rounded to so many places are sorted as whole numbers
_BLOCK = 1 << 15  # pairs whose influence is computed at a time: what a block needs stays in the cache


@dataclass(frozen=True)
class RankedTable:
    """Ranks of the n scores of a table; equal scores share their mean rank.

    Ranked once, a table of picture distances serves every encoder.
    """

    twice: np.ndarray  # int [n] twice the mean rank, from 1 (the lowest of all) to 2n − 1

    def __len__(self) -> int:
        return len(self.twice)

    @classmethod
    def of(cls, scores: np.ndarray) -> RankedTable:
        """Rank the scores [n]: floats, or whole numbers that order as they do."""
        keys = _whole(scores)
        order, changes = _sorted_apart(scores) if keys is None else _sorted_packed(keys)
        n = len(scores)
        twice = np.empty(n, dtype=np.int32 if n < 1 << 30 else np.int64)
        if len(changes) == n - 1:  # no ties
            twice[order] = np.arange(1, 2 * n, 2, dtype=twice.dtype)
            return cls(twice)
        bounds = np.concatenate([[0], changes, [n]])
        twice[order] = np.repeat((bounds[:-1] + bounds[1:]).astype(twice.dtype), np.diff(bounds))
        return cls(twice)

    @property
    def midrank(self) -> Floats:
        """Mean ranks scaled to (0, 1), float64 [n]."""
        return self.twice / (2 * len(self))

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


def _sorted_packed(keys: Ints) -> tuple[Ints, Ints]:
    """Return (order, changes) of whole numbers: each is packed with its position into one to be sorted.

    Sorting numbers is many times as fast as sorting positions by their numbers (vector instructions).
    """
    bits = max(len(keys) - 1, 1).bit_length()
    low, high = int(keys.min(initial=0)), int(keys.max(initial=0))
    if (high - low).bit_length() + bits > 63:
        return _sorted_apart(keys)
    packed = keys.astype(np.int64)
    packed -= low
    packed <<= bits
    packed |= np.arange(len(keys))
    packed.sort()
    order = packed & ((1 << bits) - 1)
    packed >>= bits
    return order, np.flatnonzero(packed[1:] != packed[:-1]) + 1


def _sorted_apart(scores: np.ndarray) -> tuple[Ints, Ints]:
    """Return the order that sorts the scores, and where in it the scores change."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    return order, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1


def spearman(x: RankedTable, y: RankedTable) -> float | None:
    """Return Spearman's correlation, the Pearson correlation of midranks; None where a side is constant."""
    if x.is_constant or y.is_constant:
        return None
    a, b = _centred(x.twice, len(x)), _centred(y.twice, len(y))
    return float(np.dot(a, b) / np.sqrt(np.dot(a, a) * np.dot(b, b)))


def _centred(twice: np.ndarray, n: int) -> Floats:
    """Return midranks in (0, 1) less one half."""
    centred = twice.astype(np.float64)
    centred -= n
    centred /= 2 * n
    return centred


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
    u, v = _centred(x.twice, n), _centred(y.twice, n)
    spread_u, spread_v = float(np.sqrt(u @ u / n)), float(np.sqrt(v @ v / n))
    u /= spread_u
    v /= spread_v
    above_x = _mean_above(x, v - rho * u)
    above_x /= spread_u
    above_y = _mean_above(y, u - rho * v)
    above_y /= spread_v
    for start in range(0, n, size):
        part = slice(start, start + size)
        left, right = u[part], v[part]
        influence = left * right
        influence -= rho / 2 * (left * left + right * right)
        influence += above_x[x.twice[part] >> 1]
        influence += above_y[y.twice[part] >> 1]
        yield start, influence


def _mean_above(table: RankedTable, values: Floats) -> Floats:
    """Return, by place, the mean over all pairs of value · (1[ranked above] + ½ · 1[tied]), float64 [n].

    A pair's place is half its `twice`, rounded down: one place for each group of ties, within its ranks.
    """
    n = len(table)
    above = np.zeros(n + 1)
    np.cumsum(np.bincount(table.twice >> 1, values, n)[::-1], out=above[:n][::-1])  # from a place on
    means: Floats = above[1:] + above[:-1]
    means /= 2 * n
    return means
