"""`Top` on the device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.ranking.top import Top
from xlingual.ranking.torch.arithmetic import Device, Tensor
from xlingual.ranking.torch.pairs import DENSE, Pairs, PairTile, at_most, positions, row_sums


@dataclass(frozen=True)
class BestLook:
    """The result of screening a tile, before anything is kept."""

    tile: PairTile
    row: Tensor  # int64 [r] rows looked at, of the tile
    column: Tensor | None  # int64 columns looked at; None: all
    reached: Tensor  # float64 [r, k]: what the best of each query reach at least
    error: Tensor  # float64 [r]
    limit: Tensor  # float32 [r]: below it, a candidate is out
    some: Tensor  # int64 places in `row` of those that have a candidate left
    compared: int
    open: int


class DeviceBest:
    """Fills a part of `Top` from tiles on the device.

    For each query it holds the k best lower bounds of cosines seen. A candidate whose upper bound is below
    the k-th of them is out; the others wait, and at the end of a block those that are not out by then are
    scored exactly.
    """

    def __init__(self, part: Top, device: Device) -> None:
        import torch

        self.part, self.device = part, device
        shape = (part.shape[0], min(part.k, part.shape[1]))
        self._reached = torch.full(shape, -torch.inf, dtype=torch.float64, device=device)
        self._enough = part.k <= part.shape[1]  # else every candidate is among the best
        self._waiting: list[tuple[Tensor, Tensor, Tensor]] = []  # row, column, upper bound
        self._held = 0

    @cached_property
    def _members(self) -> Tensor | None:
        import torch

        return None if self.part.columns is None else torch.from_numpy(self.part.columns).to(self.device)

    def look(self, tile: PairTile) -> BestLook:
        """Return how far the best of each row reach, and how many that leaves; nothing is changed."""
        import torch

        first, (n, m) = tile.rows.first - self.part.origin[0], tile.shape
        row, column, scores = torch.arange(n, device=self.device), None, tile.scores
        if self.part.queries is not None:
            low, high = np.searchsorted(self.part.queries, (first, first + n))
            row = torch.from_numpy(self.part.queries[low:high] - first).to(self.device)
            scores = scores[row]
        if self._members is not None and self.part.columns is not None:
            start = tile.columns.first - self.part.origin[1]
            low, high = np.searchsorted(self.part.columns, (start, start + m))
            column = self._members[low:high] - start
            scores = scores if high - low == m else scores.index_select(1, column)
        reached, error = self._reached[row + first], tile.error()[row] + tile.slack
        if scores.numel() == 0:
            return BestLook(tile, row, column, reached, error, error.float(), row[:0], 0, 0)
        compared, k = scores.numel(), min(self.part.k, scores.shape[1])
        best = scores.amax(1, keepdim=True) if k == 1 else scores.topk(k).values
        reached = torch.cat([reached, best.double() - error[:, None]], 1).topk(self._reached.shape[1]).values
        limit = at_most(self._out_below(reached) - error)
        some = torch.nonzero(~(best[:, 0] < limit)).squeeze(1)  # few rows, once many candidates are seen
        scores = scores if len(some) == len(row) else scores[some]
        left = int(row_sums(~(scores < limit[some, None])).sum())
        return BestLook(tile, row, column, reached, error, limit, some, compared, left)

    def _out_below(self, reached: Tensor) -> Tensor:
        """Return the upper bound below which a candidate of a row is out."""
        import torch

        lowest = reached.amin(1)
        return lowest if self._enough else torch.full_like(lowest, -torch.inf)

    def settle(self, look: BestLook) -> None:
        """Keep what may be among the best."""
        tile = look.tile
        first = tile.rows.first - self.part.origin[0]
        self._reached[look.row + first] = look.reached
        if look.open == 0:
            return
        row, error = look.row[look.some], look.error[look.some]
        scores = tile.scores[row]
        scores = scores if look.column is None else scores.index_select(1, look.column)
        crowded = look.open * DENSE > look.compared
        for i, j in positions(~(scores < look.limit[look.some, None]), tile.most // 2):
            column = j if look.column is None else look.column[j]
            if crowded:
                self._add_exact(tile, row[i], column)
                continue
            start = tile.columns.first - self.part.origin[1]
            self._waiting.append((row[i] + first, column + start, scores[i, j].double() + error[i]))
            self._held += len(i)
            if self._held > tile.most:
                self.flush(tile.within)

    def flush(self, pairs: Pairs) -> None:
        """Score what waits and is not out by now: the blocks that it is of are about to go."""
        import torch

        if not self._waiting:
            return
        row, column, upper = (torch.cat(parts) for parts in zip(*self._waiting, strict=True))
        left = ~(upper < self._out_below(self._reached)[row])
        row, column = row[left], column[left]
        self._waiting, self._held = [], 0
        self._add_exact(
            pairs,
            row + self.part.origin[0] - pairs.rows.first,
            column + self.part.origin[1] - pairs.columns.first,
        )

    def _add_exact(self, pairs: Pairs, i: Tensor, j: Tensor) -> None:
        """Give the part the exact keys of positions in the blocks."""
        keys = pairs.keys(i, j).cpu().numpy()
        row, column = (
            (side + (block.first - origin)).cpu().numpy()
            for side, block, origin in zip((i, j), (pairs.rows, pairs.columns), self.part.origin, strict=True)
        )
        self.part.add(row, column, keys)

    def finish(self) -> None:
        """Do nothing: the part has its lines."""
