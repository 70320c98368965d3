"""Scores less an offset of each candidate, as corrections of hubs find it.

The offset is taken off inside the tiles of a pass, by a reduction around another one, so that every back end
serves it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.ranking.scan import Around, Reduction, Tile
from xlingual.ranking.similarity import UNIT, Similarity

ROUNDING = 2.0**-24  # of a float32 number, relative
_MOST = 2.0**50 * UNIT  # of scores whose keys are told apart in float64
_BLOCK = 1 << 18  # scores changed at a time: they stay in the cache


@dataclass(frozen=True)
class Offsets:
    """The key of a pair is scale · (key of the similarity) − candidates[j].

    Offsets int64 [m] are in the unit of keys: integers, nothing is rounded later, and equal means tied.
    """

    scale: int
    candidates: Ints

    def keys(self, keys: Ints, candidate: Ints) -> Ints:
        """Return the keys of pairs with these candidates, whose similarity has the keys given."""
        return self.scale * keys - self.candidates[candidate]

    def exact(self, similarity: Similarity, query: Ints, candidate: Ints) -> Ints:
        """Return the exact keys of pairs (query[i], candidate[i])."""
        return self.keys(similarity.exact(query, candidate), candidate)

    def take(self, candidates: Any) -> Offsets:  # noqa: ANN401  (Ints or a slice)
        """Return those of some candidates, numbered from zero."""
        return replace(self, candidates=self.candidates[candidates])

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that define them: equal arrays mean equal offsets."""
        return {"adjusted by scale": np.array(self.scale), "adjusted by candidates": self.candidates}

    def rounding(self, largest: float) -> float:
        """Return how far float32 arithmetic may be off, for similarities of at most `largest`.

        Offsets are rounded, and so is every step: at most four roundings of each number.
        """
        return 4 * ROUNDING * (self.scale * largest + self._most)

    def tile(self, tile: Tile) -> Tile:
        """Return the tile with the offsets taken off its scores, and the band that they have then.

        The band is twice the error of two scores that are compared, and of the limit in float32 that one of
        them becomes.
        """
        part = slice(tile.column, tile.column + tile.scores.shape[1])
        rounding = self.rounding(tile.largest)
        told_apart = rounding < 4 * ROUNDING * _MOST  # by exact scores, as they are by keys
        if tile.is_exact and told_apart:
            return replace(tile, scores=self._exact_scores(tile), exact=partial(self._exact_of, tile.exact))
        band = self.scale * tile.band + 3 * rounding
        scores = np.empty(tile.scores.shape, dtype=np.float32)
        for rows in _blocks(tile):
            np.multiply(tile.scores[rows], self.scale, out=scores[rows])
            scores[rows] -= self._floats[part]
        block = (lambda: self._exact_scores(tile.decided)) if told_apart and tile.block is not None else None
        return Tile(scores, tile.row, tile.column, band, partial(self._exact_of, tile.exact), block)

    def _exact_of(self, exact: Callable[[Ints, Ints], Ints], query: Ints, candidate: Ints) -> Ints:
        """Return the exact keys of pairs, from the way to those of the similarity."""
        return self.keys(exact(query, candidate), candidate)

    def _exact_scores(self, tile: Tile) -> Floats:
        """Return the scores of a tile of exact ones with the offsets taken off, float64 [rows, columns]."""
        columns = np.arange(tile.column, tile.column + tile.scores.shape[1])
        found = np.empty(tile.scores.shape)
        for rows in _blocks(tile):
            keys = np.rint(tile.scores[rows] / UNIT).astype(np.int64)
            found[rows] = self.keys(keys, columns) * UNIT
        return found

    @cached_property
    def _floats(self) -> Floats:
        return (self.candidates * UNIT).astype(np.float32)

    @cached_property
    def _most(self) -> float:
        return UNIT * float(np.abs(self.candidates).max(initial=0))


NONE = Offsets(1, np.empty(0, dtype=np.int64))  # where nothing is scored


def _blocks(tile: Tile) -> list[slice]:
    """Return the rows of a tile that are changed at a time."""
    height, width = tile.scores.shape
    step = max(1, _BLOCK // width)
    return [slice(start, min(start + step, height)) for start in range(0, height, step)]


class Adjusted(Around):
    """A reduction over scores less offsets; its own keys (those of the targets of `Counts`) are so too."""

    def __init__(self, inner: Any, offsets: Offsets) -> None:  # noqa: ANN401  (as in `Around`)
        super().__init__(inner)
        self.offsets = offsets

    def within(self, rows: slice, columns: slice) -> Adjusted:
        """Return the request for these queries and candidates alone, with nothing seen."""
        return Adjusted(self.inner.within(rows, columns), self.offsets)

    def alone(self, rows: slice, columns: slice) -> Adjusted:
        """Return the request for these queries and candidates with both numbered from zero."""
        return Adjusted(self.inner.alone(rows, columns), self.offsets.take(columns))

    def update(self, tile: Tile) -> None:
        """Take in a tile."""
        self.inner.update(self.offsets.tile(tile))

    def request_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that define the request: equal arrays mean equal requests."""
        inner = {f"adjusted {name}": array for name, array in self.inner.request_arrays().items()}
        return self.offsets.arrays() | inner


def adjusted(reduction: Reduction, offsets: Offsets | None) -> Reduction:
    """Return the reduction over scores less offsets; itself where there are none."""
    return reduction if offsets is None else Adjusted(reduction, offsets)
