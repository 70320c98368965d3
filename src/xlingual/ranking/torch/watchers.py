"""Watchers, which look at tiles on the device for each part of a reduction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from xlingual.ranking.counts import Counts
from xlingual.ranking.group_counts import GroupCounts
from xlingual.ranking.offsets import Adjusted
from xlingual.ranking.scan import Part, Transposed, innermost
from xlingual.ranking.scan import Tile as PlainTile
from xlingual.ranking.top import Top
from xlingual.ranking.torch.arithmetic import Device
from xlingual.ranking.torch.best import DeviceBest
from xlingual.ranking.torch.counting import Counting
from xlingual.ranking.torch.pairs import DeviceOffsets, Pairs, PairTile


class Look(Protocol):
    """The result of screening a tile."""

    @property
    def compared(self) -> int:
        """Comparisons of a pair with a threshold."""

    @property
    def open(self) -> int:
        """The comparisons that the screen leaves undecided."""


class Watcher(Protocol):
    """Looks at tiles for a part (`look`), and takes in those that are fine enough (`settle`)."""

    def look(self, tile: PairTile) -> Any:  # noqa: ANN401  (a Look, of the kind that settle takes)
        """Return the result of screening a tile; nothing changes: a finer tile may be taken instead."""

    def settle(self, look: Any) -> None:  # noqa: ANN401
        """Take in the result."""

    def flush(self, pairs: Pairs) -> None:
        """Decide what is still open of blocks that are about to leave the device."""

    def finish(self) -> None:
        """Hand the part everything that was taken in."""


@dataclass(frozen=True)
class Turned:
    """Watches with queries and candidates exchanged."""

    inner: Watcher

    def look(self, tile: PairTile) -> Any:  # noqa: ANN401
        """Return the result of screening a tile."""
        return self.inner.look(tile.turned)

    def settle(self, look: Any) -> None:  # noqa: ANN401
        """Take in the result."""
        self.inner.settle(look)

    def flush(self, pairs: Pairs) -> None:
        """Decide what is still open of blocks that are about to leave the device."""
        self.inner.flush(pairs.turned)

    def finish(self) -> None:
        """Hand the part everything that was taken in."""
        self.inner.finish()


@dataclass(frozen=True)
class AdjustedWatcher:
    """Watches adjusted scores."""

    inner: Watcher
    offsets: DeviceOffsets

    def look(self, tile: PairTile) -> Any:  # noqa: ANN401
        """Return the result of screening a tile."""
        return self.inner.look(tile.adjusted(self.offsets))

    def settle(self, look: Any) -> None:  # noqa: ANN401
        """Take in the result."""
        self.inner.settle(look)

    def flush(self, pairs: Pairs) -> None:
        """Decide what is still open of blocks that are about to leave the device."""
        self.inner.flush(pairs.adjusted(self.offsets))

    def finish(self) -> None:
        """Hand the part everything that was taken in."""
        self.inner.finish()


@dataclass(frozen=True)
class _Whole:
    tile: PairTile
    compared: int
    open: int


@dataclass(frozen=True)
class Handed:
    """Hands whole tiles to a part of any other class: right, but slower."""

    part: Part

    def look(self, tile: PairTile) -> _Whole:
        """Ask for a finer tile where there is one: the part decides all that is within its band."""
        return _Whole(tile, tile.scores.numel(), tile.scores.numel())

    def settle(self, look: _Whole) -> None:
        """Let the part see the tile."""
        tile = look.tile
        band = 2 * (float(tile.error().max()) + tile.slack)
        scores = tile.scores.cpu().numpy()
        self.part.update(PlainTile(scores, tile.rows.first, tile.columns.first, band, tile.exact))

    def flush(self, pairs: Pairs) -> None:
        """Do nothing: nothing waits."""

    def finish(self) -> None:
        """Do nothing: the part has seen all."""


def watcher_of(part: Any, rows: slice, columns: slice, device: Device) -> Watcher:  # noqa: ANN401  (a Part)
    """Return the watcher that fills a part from tiles of some queries and candidates."""
    kind = type(part)
    if type(innermost(part)) not in (Counts, GroupCounts, Top):
        return Handed(part)
    if kind is Transposed:
        return Turned(watcher_of(part.inner, columns, rows, device))
    if kind is Adjusted:
        offsets = DeviceOffsets.of(part.offsets, device)
        return AdjustedWatcher(watcher_of(part.inner, rows, columns, device), offsets)
    if kind is Counts or kind is GroupCounts:
        return Counting(part, columns, device)
    return DeviceBest(part, device)
