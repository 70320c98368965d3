"""Pairs of two blocks: their screened scores, how far these may be off, and their exact keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from xlingual.arrays import Ints
from xlingual.ranking.offsets import Offsets
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


@dataclass(frozen=True)
class DeviceOffsets:
    """`Offsets` on the device: of all candidates of the pass, by their numbers."""

    offsets: Offsets
    candidates: Tensor  # int64 [m], in the unit of keys
    swapped: bool = False  # whether positions of pairs are those of candidates, then of queries

    @classmethod
    def of(cls, offsets: Offsets, device: Device) -> DeviceOffsets:
        """Return the offsets on a device."""
        import torch

        return cls(offsets, torch.from_numpy(offsets.candidates.copy()).to(device))

    @property
    def turned(self) -> DeviceOffsets:
        """The same with queries and candidates exchanged."""
        return replace(self, swapped=not self.swapped)

    def keys(self, keys: Tensor, i: Tensor, j: Tensor) -> Tensor:
        """Return the keys of pairs (i, j), whose similarity has the keys given."""
        return self.offsets.scale * keys - self.candidates[i if self.swapped else j]

    def scores(self, scores: Tensor, column: int) -> Tensor:
        """Return the scores of a tile, whose first column this is, with the offsets taken off."""
        part = self.candidates[column : column + scores.shape[1]].double() * UNIT
        return scores * self.offsets.scale - part.float()


@dataclass(frozen=True)
class Pairs:
    """All pairs of two blocks; `exact` gives the keys of cosines by their numbers.

    With `offsets`, these are taken off scores and `keys`.
    """

    rows: Block
    columns: Block
    exact: Callable[[Ints, Ints], Ints]
    most: int  # numbers on the device at a time
    tally: SettledTally = field(compare=False)
    offsets: DeviceOffsets | None = field(default=None, kw_only=True)

    @property
    def turned(self) -> Pairs:
        """The same with queries and candidates exchanged."""
        return replace(
            self,
            rows=self.columns,
            columns=self.rows,
            exact=lambda q, c: self.exact(c, q),
            offsets=None if self.offsets is None else self.offsets.turned,
        )

    def adjusted(self, offsets: DeviceOffsets) -> Pairs:
        """Return the same with offsets taken off."""
        return replace(self, offsets=offsets)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self.rows), len(self.columns)

    def keys(self, i: Tensor, j: Tensor) -> Tensor:
        """Return the exact keys, int64 [p], of pairs of positions in the blocks, int64 [p]."""
        keys = self._cosines(i, j)
        if self.offsets is None:
            return keys
        return self.offsets.keys(keys, i + self.rows.first, j + self.columns.first)

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
            offsets=None if self.offsets is None else self.offsets.turned,
        )
        return turned

    def adjusted(self, offsets: DeviceOffsets) -> PairTile:
        """Return the same with offsets taken off."""
        return replace(
            self,
            offsets=offsets,
            within=self.within.adjusted(offsets),
            scores=offsets.scores(self.scores, self.columns.first),
        )

    @property
    def slack(self) -> float:
        """How far a key may be from its score."""
        error = bounds.key_error(self.rows.dim)
        return error if self.offsets is None else self.offsets.offsets.scale * error

    def error(self) -> Tensor:
        """Return how far the scores of each row may be from those without an error, float64 [rows]."""
        rows, columns = self.rows, self.columns
        error = (
            rows.residual * columns.norm.max()
            + rows.low_norm * columns.residual.max()
            + rows.low_norm * columns.low_norm.max() * self.relative
            + self.absolute
        )
        if self.offsets is None:
            return error
        offsets = self.offsets.offsets
        return offsets.scale * error + offsets.rounding(_LARGEST)


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
