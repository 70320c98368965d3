"""Pairs of two blocks: their screened scores, how far these may be off, and their exact keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.ranking.offsets import Adjustment, Sides
from xlingual.ranking.similarity import UNIT
from xlingual.ranking.torch import bounds
from xlingual.ranking.torch.arithmetic import Device, Tensor
from xlingual.ranking.torch.blocks import Block

DENSE = 32  # when over one pair in so many is decided, one float64 product is cheaper
_LARGEST = 1.1  # cosine, with the error of any screen
_CACHED = 512  # pairs decided at a time by a processor, whose vectors stay in its cache


@dataclass
class SettledTally:
    """How many comparisons of a pair with a threshold were settled by what."""

    compared: int = 0
    open: int = 0  # left undecided by the screen
    decided: int = 0  # decided in float64
    host: int = 0  # of these by the processor, being too near to a rounding boundary for two sums to agree

    def add(self, other: SettledTally) -> None:
        """Add what another one counted."""
        self.compared += other.compared
        self.open += other.open
        self.decided += other.decided
        self.host += other.host


_WIDE_AT_ONCE = 1 << 22  # scores adjusted at a time in float64


@dataclass(frozen=True)
class DeviceAdjustment:
    """An `Adjustment` on the device: of all queries and candidates of the pass, by their numbers."""

    adjustment: Adjustment
    rows: Sides  # int64 [n], in the unit of keys
    columns: Sides  # int64 [m]
    swapped: bool = False  # whether positions of pairs are those of candidates, then of queries

    @classmethod
    def of(cls, adjustment: Adjustment, device: Device) -> DeviceAdjustment:
        """Return the adjustment on a device."""
        import torch

        rows, columns = (
            tuple(None if side is None else torch.from_numpy(side.copy()).to(device) for side in sides)
            for sides in (adjustment.rows, adjustment.columns)
        )
        return cls(adjustment, rows, columns)

    @property
    def turned(self) -> DeviceAdjustment:
        """The same with queries and candidates exchanged."""
        return replace(self, swapped=not self.swapped)

    def keys(self, keys: Tensor, i: Tensor, j: Tensor) -> Tensor:
        """Return the keys of pairs (i, j), whose similarity has the keys given.

        What is more than sums of whole numbers is computed by the processor, as every back end has it.
        """
        import torch

        query, candidate = (j, i) if self.swapped else (i, j)
        if self.adjustment.wide:
            given = (side.cpu().numpy() for side in (keys, query, candidate))
            return torch.from_numpy(self.adjustment.keys(*given)).to(keys.device)
        rows = tuple(None if side is None else side[query] for side in self.rows)
        columns = tuple(None if side is None else side[candidate] for side in self.columns)
        found: Tensor = self.adjustment._keys(keys, rows, columns)
        return found

    def tile(
        self, scores: Tensor, error: Tensor, row: int, column: int, most: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the scores of a tile, whose first row and column these are, adjusted, and their error.

        The error is (slope, rounding): that of the scores counts so many times, and rounding comes on top.
        `most` numbers are on the device at a time.
        """
        import torch

        height, width = scores.shape
        rows = self._floats(self.rows, slice(row, row + height), as_rows=True)
        columns = self._floats(self.columns, slice(column, column + width))
        slope = self.adjustment.slope(scores, error.max(), rows, columns)
        rounding = self.adjustment.rounding(_LARGEST, rows, columns)
        step = max(1, min(_WIDE_AT_ONCE, most // 8) // width) if self.adjustment.wide else height
        found = [
            self.adjustment.screened(
                scores[start : start + step].double() if self.adjustment.wide else scores,
                tuple(None if side is None else side[start : start + step] for side in rows),
                columns,
                _TorchFunctions,
            ).float()
            for start in range(0, height, step)
        ]
        return found[0] if len(found) == 1 else torch.cat(found), slope, rounding

    def _floats(self, sides: Sides, part: slice, *, as_rows: bool = False) -> Sides:
        """Return what is known of some queries or candidates as scores."""
        wide = (None if side is None else side[part].double() * UNIT for side in sides)
        kept = (side if side is None or self.adjustment.wide else side.float() for side in wide)
        return tuple(side[:, None] if as_rows and side is not None else side for side in kept)


class _TorchFunctions:
    @staticmethod
    def log_ndtr(x: Tensor) -> Tensor:
        import torch

        return torch.special.log_ndtr(x)

    @staticmethod
    def logaddexp(x: Tensor, y: Tensor) -> Tensor:
        import torch

        return torch.logaddexp(x, y)


@dataclass(frozen=True)
class Pairs:
    """All pairs of two blocks; `exact` gives the keys of cosines by their numbers.

    With an `adjustment`, scores and `keys` are adjusted ones.
    """

    rows: Block
    columns: Block
    exact: Callable[[Ints, Ints], Ints]
    most: int  # numbers on the device at a time
    tally: SettledTally = field(compare=False)
    adjustment: DeviceAdjustment | None = field(default=None, kw_only=True)

    @property
    def turned(self) -> Pairs:
        """The same with queries and candidates exchanged."""
        return replace(
            self,
            rows=self.columns,
            columns=self.rows,
            exact=lambda q, c: self.exact(c, q),
            adjustment=None if self.adjustment is None else self.adjustment.turned,
        )

    def adjusted(self, adjustment: DeviceAdjustment) -> Pairs:
        """Return the same with scores adjusted."""
        return replace(self, adjustment=adjustment)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self.rows), len(self.columns)

    def keys(self, i: Tensor, j: Tensor) -> Tensor:
        """Return the exact keys, int64 [p], of pairs of positions in the blocks, int64 [p]."""
        keys = self._cosines(i, j)
        if self.adjustment is None:
            return keys
        return self.adjustment.keys(keys, i + self.rows.first, j + self.columns.first)

    def _cosines(self, i: Tensor, j: Tensor) -> Tensor:
        """Return the exact keys of cosines.

        They are float64 products on the device. Where another order of the sum could round to another key,
        the pair is decided as every back end decides it.
        """
        import torch

        self.tally.decided += len(i)
        n, m = self.shape
        dense = n * m <= self.most and len(i) * DENSE > n * m
        scores = self._by_product(i, j) if dense else self._by_pair(i, j)
        zero = (self.rows.inverse[i] == 0) | (self.columns.inverse[j] == 0)
        scaled = torch.where(zero, torch.zeros_like(scores), scores) / UNIT
        keys = torch.round(scaled)
        margin = bounds.doubtful(self.rows.dim)
        doubtful = torch.nonzero(~(((scaled - keys).abs() - 0.5).abs() >= margin)).squeeze(1)
        keys = keys.to(torch.int64)
        if len(doubtful):
            self.tally.host += len(doubtful)
            query, candidate = (
                (side[doubtful] + first).cpu().numpy()
                for side, first in ((i, self.rows.first), (j, self.columns.first))
            )
            keys[doubtful] = torch.from_numpy(self.exact(query, candidate)).to(keys.device)
        return keys

    def _by_pair(self, i: Tensor, j: Tensor) -> Tensor:
        import torch

        found = torch.empty(len(i), dtype=torch.float64, device=i.device)
        step = max(1, self.most // (4 * self.rows.dim))
        step = min(step, _CACHED) if i.device.type == "cpu" else step
        for start in range(0, len(i), step):
            a, b = i[start : start + step], j[start : start + step]
            product = self.rows.stored[a].double().mul_(self.columns.stored[b])
            found[start : start + step] = product.sum(1) * (self.rows.inverse[a] * self.columns.inverse[b])
        return found

    def _by_product(self, i: Tensor, j: Tensor) -> Tensor:
        left, right = (side.stored.double() * side.inverse[:, None] for side in (self.rows, self.columns))
        return (left @ right.T)[i, j]


@dataclass(frozen=True)
class PairTile(Pairs):
    """Pairs with screened scores; `within` are those of the blocks that it is a part of."""

    within: Pairs
    scores: Tensor  # float32 [rows, columns]
    relative: float  # error of the product, relative to the lengths of both sides
    absolute: float
    changed: tuple[Any, Any] | None = field(default=None, kw_only=True)  # slope and rounding of an adjustment

    @property
    def turned(self) -> PairTile:
        """The same with queries and candidates exchanged."""
        turned: PairTile = replace(
            self,
            rows=self.columns,
            columns=self.rows,
            exact=lambda q, c: self.exact(c, q),
            within=self.within.turned,
            scores=self.scores.T,
            adjustment=None if self.adjustment is None else self.adjustment.turned,
        )
        return turned

    def adjusted(self, adjustment: DeviceAdjustment) -> PairTile:
        """Return the same with scores adjusted."""
        first = self.rows.first, self.columns.first
        scores, *changed = adjustment.tile(self.scores, self._product_error(), *first, self.most)
        return replace(
            self,
            adjustment=adjustment,
            within=self.within.adjusted(adjustment),
            scores=scores,
            changed=(changed[0], changed[1]),
        )

    @property
    def slack(self) -> Any:  # noqa: ANN401  (a number or a tensor)
        """How far a key may be from its score; keys that are no sums of keys are rounded once more."""
        error = bounds.key_error(self.rows.dim)
        if self.adjustment is None or self.changed is None:
            return error
        return self.changed[0] * error + (UNIT if self.adjustment.adjustment.wide else 0.0)

    def error(self) -> Tensor:
        """Return how far the scores of each row may be from those without an error, float64 [rows]."""
        error = self._product_error()
        return error if self.changed is None else self.changed[0] * error + self.changed[1]

    def _product_error(self) -> Tensor:
        rows, columns = self.rows, self.columns
        return (
            rows.residual * columns.norm.max()
            + rows.low_norm * columns.residual.max()
            + rows.low_norm * columns.low_norm.max() * self.relative
            + self.absolute
        )


def at_most(limit: Tensor) -> Tensor:
    """Return float64 limits as float32 numbers that are not larger."""
    import torch

    lowest = torch.full((), -torch.inf, dtype=torch.float32, device=limit.device)
    return torch.nextafter(limit.float(), lowest)


def at_least(limit: Tensor) -> Tensor:
    """Return float64 limits as float32 numbers that are not smaller."""
    return -at_most(-limit)


def row_sums(mask: Tensor) -> Tensor:
    """Return how often each row of a mask is true, int64 [rows]; several times as fast as `mask.sum(1)`."""
    import torch

    return mask.view(torch.uint8).sum(1, dtype=torch.int32).to(torch.int64)


def positions(mask: Tensor, most: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield where a mask [n, m] is true, as (i, j), for so many rows at a time that about `most` are."""
    import torch

    most, stops = max(1, most), [mask.shape[0]]
    if mask.numel() > most:
        total = torch.cumsum(row_sums(mask), 0).cpu().numpy()
        ends = np.searchsorted(total, np.arange(most, int(total[-1]) + most, most)) + 1
        stops = np.unique(np.minimum(ends, mask.shape[0])).tolist()
    for start, stop in pairwise([0, *stops]):
        i, j = torch.nonzero(mask[start:stop], as_tuple=True)
        yield i + start, j
