"""Which texts and images meet in which batch: the instances of an epoch, and their contrastive items.

Everything is a pure function of (seed, epoch); nothing is kept between epochs, and an epoch needs four bytes
of memory for each instance. Numbers only: no text, no vector and no torch.

A *view* is one kind of thing that an item may have: the images, or the texts of one language. An
*instance* of an item takes one member of each view that the item has; an item gives as many instances as its
richest view has members. In them every member is used at least once: the members of a view follow each other
in a random order that is drawn anew for every epoch, and start again where another view has more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from xlingual.arrays import Ints
from xlingual.streams import stream

IMAGES = "images"  # the view that is no language


@dataclass(frozen=True)
class BatchDraw:
    """The members that make one batch of b instances, by their numbers; -1 where an item lacks a view."""

    items: Ints  # [b]
    anchor: Mapping[str, Ints]  # view → [b]
    contrast: Mapping[str, Ints]  # view → [c], members that all instances share; empty: the batch's own
    owned: bool = (
        False  # c / b of them in a row belong to each instance, and no other's are contrastive to it
    )


@dataclass(frozen=True)
class BatchSampler:
    """Draws the batches of every epoch.

    `first` [items + 1] of a view: the members of item i are first[i] up to first[i + 1]. `pairs` are the
    pairs of views that the loss compares: an item that has both views of no pair gives no instance.
    `contrastive` members of each view are drawn uniformly from all of the view, none twice; 0 where the rest
    of the batch is contrastive. `redraw` says what a draw serves: a "batch", an "epoch", or an "instance" of
    an epoch.
    """

    first: Mapping[str, Ints]
    pairs: tuple[tuple[str, str], ...]
    batch: int
    seed: int
    contrastive: int = 0
    redraw: str = "batch"
    starts: Ints = field(init=False, repr=False)  # [items + 1]: the first instance of each item

    def __post_init__(self) -> None:
        counts = {view: np.diff(first) for view, first in self.first.items()}
        usable = np.any([(counts[a] > 0) & (counts[b] > 0) for a, b in self.pairs], axis=0)
        richest = np.max(list(counts.values()), axis=0)
        starts = np.concatenate([[0], np.cumsum(np.where(usable, richest, 0))])
        object.__setattr__(self, "starts", starts)

    @property
    def instances(self) -> int:
        """How many instances an epoch has."""
        return int(self.starts[-1])

    @property
    def left_out(self) -> int:
        """How many items give no instance, since they have nothing that could be compared."""
        return int((np.diff(self.starts) == 0).sum())

    def steps(self) -> int:
        """Return how many batches an epoch has; a last batch of a single instance is left out."""
        return batches_in(self.instances, self.batch)

    def batches(self, epoch: int) -> Iterator[BatchDraw]:
        """Yield the batches of an epoch: all instances in random order, the last batch may be smaller."""
        order = np.arange(self.instances, dtype=np.uint32)
        stream(self.seed, f"order of epoch {epoch}").shuffle(order)
        salt = {
            view: stream(self.seed, f"{view} of epoch {epoch}").integers(2**64, dtype=np.uint64)
            for view in self.first  # a stream for each: a further view changes no other's
        }
        draws = stream(self.seed, f"contrast of epoch {epoch}")
        shared = self._contrast(draws) if self.redraw == "epoch" else None
        for step in range(self.steps()):
            instance = order[step * self.batch : (step + 1) * self.batch].astype(np.int64)
            items = np.searchsorted(self.starts, instance, side="right") - 1
            turn = instance - self.starts[items]
            anchor = {view: members(first, items, turn, salt[view]) for view, first in self.first.items()}
            owned = self.redraw == "instance" and self.contrastive > 0
            contrast = shared or self._contrast(draws, len(items) if owned else 1)
            yield BatchDraw(items, anchor, contrast, owned)

    def _contrast(self, draws: np.random.Generator, times: int = 1) -> dict[str, Ints]:
        """Return `times` draws of each view, one behind the other; nothing where nothing is drawn."""
        if not self.contrastive:
            return {}
        counts = {view: int(first[-1]) for view, first in self.first.items()}
        return {
            view: np.concatenate(
                [draws.choice(count, min(self.contrastive, count), replace=False) for _ in range(times)]
            )
            for view, count in counts.items()
        }


def batches_in(count: int, batch: int) -> int:
    """Return the number of batches of `count` instances; a last batch of a single one is left out."""
    return count // batch + (count % batch > 1)


def members(first: Ints, items: Ints, turn: Ints, salt: np.uint64) -> Ints:
    """Return the member [b] that each item shows in its turn, -1 where it has none.

    The order of an item's members is that of their salted hashes; turns beyond the last start again.
    """
    start, count = first[items], first[items + 1] - first[items]
    owner = np.repeat(np.arange(len(items)), count)
    begin = np.cumsum(count) - count
    member = np.arange(len(owner)) - begin[owner] + start[owner]
    order = np.lexsort((mixed(member.astype(np.uint64) ^ salt), owner))
    chosen = np.full(len(items), -1, dtype=np.int64)
    some = count > 0
    chosen[some] = member[order[begin[some] + turn[some] % count[some]]]
    return chosen


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Return a hash of each number (uint64): the finaliser of SplitMix64, a bijection."""
    mix = numbers + np.uint64(0x9E3779B97F4A7C15)
    mix = (mix ^ (mix >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mix = (mix ^ (mix >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mix ^ (mix >> np.uint64(31))
