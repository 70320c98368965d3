"""Tiles of two blocks: multiplied, narrowed where much is left open, and shown to whoever watches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.ranking.similarity import Cosine
from xlingual.ranking.torch.arithmetic import Arithmetic
from xlingual.ranking.torch.blocks import Block
from xlingual.ranking.torch.devices import less_exact
from xlingual.ranking.torch.pairs import Pairs, PairTile
from xlingual.ranking.torch.pieces import cut
from xlingual.ranking.torch.watchers import Watcher

_NARROW = 256  # when over one comparison in so many is open, a float32 product of the tile is cheaper
_LOOKED_AT = 48  # rows and columns of the first tile that are compared with float64


class Tiles:
    """Multiplies tiles in the precision of an `Arithmetic`."""

    def __init__(self, arithmetic: Arithmetic, similarity: Cosine) -> None:
        self.arithmetic, self.similarity = arithmetic, similarity
        self._checked: set[bool] = set()

    def show(self, pairs: Pairs, watchers: Sequence[Watcher], size: tuple[int, int]) -> None:
        """Show all pairs to every watcher, in tiles of a size."""
        for rows in cut(0, len(pairs.rows), size[0]):
            left = pairs.rows.part(rows)
            for columns in cut(0, len(pairs.columns), size[1]):
                self._show(pairs, left, pairs.columns.part(columns), watchers)

    def _show(self, pairs: Pairs, rows: Block, columns: Block, watchers: Sequence[Watcher]) -> None:
        tile, finer = self._tile(pairs, rows, columns, coarse=True), None
        for watcher in watchers:
            look = watcher.look(tile)
            pairs.tally.compared += look.compared
            pairs.tally.open += look.open
            if self.arithmetic.low and look.open * _NARROW > look.compared:
                finer = finer or self._tile(pairs, rows.fine(), columns.fine(), coarse=False)
                look = watcher.look(finer)
            watcher.settle(look)

    def _tile(self, pairs: Pairs, rows: Block, columns: Block, *, coarse: bool) -> PairTile:
        error = self.arithmetic.error(rows.dim) if coarse else self.arithmetic.fine_error(rows.dim)
        scores = self.arithmetic.product(rows.low, columns.low)
        tile = PairTile(
            rows, columns, pairs.exact, pairs.most, pairs.tally, pairs, scores, error[0], error[1]
        )
        if coarse not in self._checked:
            self._check(tile)
            self._checked.add(coarse)
        return tile

    def _check(self, tile: PairTile) -> None:
        """Hold some scores of the first tile against float64, to see that the device keeps the bound."""
        i, j = (np.unique(np.linspace(0, size - 1, _LOOKED_AT).astype(np.int64)) for size in tile.shape)
        exact = self.similarity.block(i + tile.rows.first, j + tile.columns.first)
        found = tile.scores[i.tolist()][:, j.tolist()].cpu().double().numpy()
        bound = (tile.error() + tile.slack).cpu().numpy()[i]
        if (np.abs(found - exact) > bound[:, None]).any():
            raise less_exact(self.arithmetic.device)
