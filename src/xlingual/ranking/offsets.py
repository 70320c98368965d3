"""Scores less an offset of the query and an offset of the candidate, such as a repair of hubs finds.

The score of a pair becomes scale · similarity − offset of its query − offset of its candidate. That is done
inside the tiles of a pass, by a reduction around another one: several samples, each with its own offsets,
share one product, and every back end serves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.ranking.scan import Around, Reduction, Tile
from xlingual.ranking.similarity import UNIT, Similarity

ROUNDING = 2.0**-24  # of a float32 number, relative


@dataclass(frozen=True)
class Offsets:
    """Offsets of n queries and m candidates, in the unit of keys: integers, so that nothing is rounded later.

    The key of a pair is scale · (key of the similarity) − queries[i] − candidates[j]: what is equal ties.
    """

    scale: int
    queries: Ints  # [n]
    candidates: Ints  # [m]

    def keys(self, keys: Ints, query: Ints, candidate: Ints) -> Ints:
        """Return the keys of pairs (query[i], candidate[i]), whose similarity has the keys given."""
        return self.scale * keys - self.queries[query] - self.candidates[candidate]

    def exact(self, similarity: Similarity, query: Ints, candidate: Ints) -> Ints:
        """Return the exact keys of pairs (query[i], candidate[i])."""
        return self.keys(similarity.exact(query, candidate), query, candidate)

    def of(self, rows: slice, columns: slice) -> Offsets:
        """Return those of some queries and candidates, numbered from zero."""
        return Offsets(self.scale, self.queries[rows], self.candidates[columns])

    @cached_property
    def most(self) -> float:
        """The largest offset of a query and the largest of a candidate together."""
        return UNIT * float(sum(np.abs(side).max(initial=0) for side in (self.queries, self.candidates)))

    def rounding(self, largest: float) -> float:
        """Return how far float32 arithmetic may be off, for scores of at most `largest`.

        Both offsets are rounded, and so is every step: at most four roundings of each number.
        """
        return 4 * ROUNDING * (self.scale * largest + self.most)

    @cached_property
    def _screen(self) -> tuple[Vectors, Vectors]:
        """The offsets as float32 scores."""
        rows, columns = ((side * UNIT).astype(np.float32) for side in (self.queries, self.candidates))
        return rows, columns

    def tile(self, tile: Tile) -> Tile:
        """Return the tile with the offsets taken off."""
        rows, columns = self._screen
        height, width = tile.scores.shape
        scores = tile.scores * np.float32(self.scale)
        scores -= columns[tile.column : tile.column + width]
        scores -= rows[tile.row : tile.row + height, None]
        # of two scores that are compared, and of the limit in float32 that one of them becomes
        band = self.scale * tile.band + 3 * self.rounding(tile.largest)
        return Tile(scores, tile.row, tile.column, band, lambda q, c: self.keys(tile.exact(q, c), q, c))


NONE = Offsets(1, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))  # where nothing is scored


class Adjusted(Around):
    """A reduction over scores less offsets; `Transposed` stands inside, where there is one.

    The inner reduction's own keys (those of the targets of `Counts`) are keys with the offsets taken off:
    `Offsets.exact`.
    """

    def __init__(self, inner: Any, offsets: Offsets) -> None:  # noqa: ANN401  (as in `Around`)
        super().__init__(inner)
        self.offsets = offsets

    def within(self, rows: slice, columns: slice) -> Adjusted:
        """Return the request for these queries and candidates alone, with nothing seen."""
        return Adjusted(self.inner.within(rows, columns), self.offsets)

    def alone(self, rows: slice, columns: slice) -> Adjusted:
        """Return the request for these queries and candidates with both numbered from zero."""
        return Adjusted(self.inner.alone(rows, columns), self.offsets.of(rows, columns))

    def update(self, tile: Tile) -> None:
        """Take in a tile."""
        self.inner.update(self.offsets.tile(tile))

    def request_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that define the request: equal arrays mean equal requests."""
        own = {
            "offset scale": np.array(self.offsets.scale),
            "offsets of queries": self.offsets.queries,
            "offsets of candidates": self.offsets.candidates,
        }
        return own | {f"adjusted {name}": array for name, array in self.inner.request_arrays().items()}


def adjusted(reduction: Reduction, offsets: Offsets | None) -> Reduction:
    """Return the reduction over scores less offsets; itself where there are none."""
    return reduction if offsets is None else Adjusted(reduction, offsets)


class OffsetRequest(Protocol):
    """The request for the offsets of one sample of queries and candidates, in a pass before the ranking."""

    @property
    def reductions(self) -> Sequence[Reduction]:
        """What the pass must fill."""

    def result(self, similarity: Similarity) -> Offsets:
        """Return the offsets, after the pass."""


class Repair(Protocol):
    """A way to find offsets: CSLS, or another repair of hubs."""

    @property
    def name(self) -> str:
        """What signatures call it, with its parameters: "csls?k=10"."""

    def request(self, queries: Ints, candidates: Ints) -> OffsetRequest:
        """Return the request for a sample.

        `queries` [n] and `candidates` [m] say how often the sample holds each vector of the pass, 0 for one
        that is not in it: the offsets are those of the sample alone.
        """
