"""How the pairs are cut, so that what lies on the device at a time fits into a budget."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

_RESIDENT = 0.5  # share of the budget that all candidates may take to stay on the device
_BLOCK = 12  # a streamed block takes 1/12 of the budget: three of each side are there at a time
_TILES = 4  # tiles and arrays made from them take 1/4
_NUMBER = 24  # bytes for a number of a tile: scores, a finer screen, a copy, masks, positions
_MOST = 1 << 28  # numbers of a tile: more does not make it faster
_LEAST = 1 << 10
_SIDE = 16  # rows and columns of a tile: fewer are never worth it
_ROWS = 1 << 14  # queries at a time where nothing has to be brought again for the next ones


@dataclass(frozen=True)
class Partition:
    """A cut of n × m pairs: blocks of queries, blocks of candidates, tiles."""

    shape: tuple[int, int]
    each: int  # bytes of a vector on the device
    budget: int
    few_rows: bool = True  # whether blocks of queries may be small

    @property
    def resident(self) -> bool:
        """Whether all candidates stay on the device."""
        return self.shape[1] * self.each <= self.budget * _RESIDENT

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of a tile, about twice as wide as high; their vectors fit, too."""
        area = min(_MOST, max(_LEAST, self.budget // _TILES // _NUMBER))
        side = max(_SIDE, self.budget // (8 * self.each))  # these vectors are copied in float32
        height = min(self.shape[0], max(1, math.isqrt(area // 2)), side)
        width = max(1, min(self.shape[1], area // height, 2 * side))
        return max(1, min(self.shape[0], area // width, side)), width

    def rows(self) -> int:
        """Return how many queries are on the device at a time."""
        most = max(self.tile[0], self.budget // _BLOCK // self.each)
        most = min(most, _ROWS) if self.resident and self.few_rows else most
        return max(1, most // self.tile[0]) * self.tile[0]

    def columns(self) -> list[slice]:
        """Return the blocks in which candidates come."""
        size = self.shape[1] if self.resident else max(self.tile[1], self.budget // _BLOCK // self.each)
        return list(cut(0, self.shape[1], size))

    def halved(self) -> Partition | None:
        """Return a cut for half the budget, None where tiles are as small as they may be."""
        if self.budget // _TILES // _NUMBER <= _LEAST:
            return None
        return Partition(self.shape, self.each, self.budget // 2, self.few_rows)


def cut(start: int, stop: int, size: int) -> Iterator[slice]:
    """Yield consecutive slices of at most `size`."""
    return (slice(low, min(low + size, stop)) for low in range(start, stop, size))
