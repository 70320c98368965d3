"""Which texts meet in which batch, and which title is the negative of which body: numbers only, no torch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.streams import stream


@dataclass(frozen=True)
class TripletBatches:
    """Draws the batches of every epoch, a pure function of (seed, epoch).

    `item` [n] tells what each text is about. The texts of an epoch come in random order, each once. The
    negative of a text is drawn uniformly among the others of its batch that are about another item.
    """

    item: Ints
    batch: int
    seed: int

    def steps(self) -> int:
        """Return how many batches an epoch has; a last batch of a single text is left out."""
        whole, rest = divmod(len(self.item), self.batch)
        return whole + (rest > 1)

    def batches(self, epoch: int) -> Iterator[tuple[Ints, Ints]]:
        """Yield (rows [b], negative [b]): `negative` are positions in the batch, -1 where there is none."""
        order = stream(self.seed, f"order of epoch {epoch}").permutation(len(self.item))
        draws = stream(self.seed, f"negatives of epoch {epoch}")
        for step in range(self.steps()):
            rows = order[step * self.batch : (step + 1) * self.batch]
            yield rows, _negatives(self.item[rows], draws)


def _negatives(item: Ints, draws: np.random.Generator) -> Ints:
    """Return for each of b texts the position of one about another item, -1 where all are about its own."""
    lots = draws.random((len(item), len(item)))
    lots[item[:, None] == item] = -1
    drawn = lots.argmax(axis=1)
    return np.where(lots[np.arange(len(item)), drawn] < 0, -1, drawn)
