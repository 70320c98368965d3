"""For each (query, target): how many candidates score above the target, and how many tie with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from xlingual.arrays import Ints
from xlingual.ranking.levels import levels_of
from xlingual.ranking.lookup import not_above
from xlingual.ranking.masks import chosen, extra, places, row_sums
from xlingual.ranking.scan import Tile, refuse_others, wanted
from xlingual.ranking.similarity import UNIT, Similarity

_BATCH = 1 << 22  # scores compared at a time
_SORTED = 1 << 19  # scores sorted at a time
_MANY = 8  # targets of a query from which on its scores are sorted


class Counts:
    """Counts the candidates above and tied with each target; a target ties with itself by its number.

    `query` and `target` [p] are pairs, `weights` [m] the multiplicity of each candidate in the group that is
    counted (0: not in it; None: one each). After the scan `above` and `tied` are int64 [p]; a target outside
    the group is not counted itself.

    Targets of a query that tie are counted once: what is above them and ties with them is the same.

    A part (`within`) holds the pairs of its queries, in the same order, and the weights of its candidates.
    """

    def __init__(self, query: Ints, target: Ints, keys: Ints, *, weights: Ints | None = None) -> None:
        counted, self._level = levels_of(query, keys)
        self.query, self.target, self.keys = query[counted], target[counted], keys[counted]
        self.weights = weights
        self.columns = None if weights is None else _members(weights, 0)
        self._above = np.zeros(len(counted), dtype=np.int64)
        self._tied = np.zeros(len(counted), dtype=np.int64)
        self._first = 0  # of all pairs in the order of queries, the first one here
        self.column = 0  # the candidate that the first weight is of
        self.decided = 0  # pairs that the screen left open

    @classmethod
    def of(cls, similarity: Similarity, query: Ints, target: Ints, *, weights: Ints | None = None) -> Counts:
        """Return the request for pairs, with the targets' exact keys."""
        return cls(query, target, similarity.exact(query, target), weights=weights)

    @property
    def above(self) -> Ints:
        """Candidates that score higher than the target, in the order of the pairs given."""
        return self._in_given_order(self._above)

    @property
    def tied(self) -> Ints:
        """Candidates that score the same as the target, itself included."""
        return self._in_given_order(self._tied)

    @property
    def keys_given(self) -> Ints:
        """Exact keys of the targets, in the order of the pairs given."""
        return self._in_given_order(self.keys)

    def _in_given_order(self, values: Ints) -> Ints:
        given: Ints = values[self._level]
        return given

    def within(self, rows: slice, columns: slice) -> Counts:
        """Return the request for these queries and candidates alone, with nothing seen."""
        part = object.__new__(Counts)
        pairs = self.pairs_of(rows.start, rows.stop - rows.start)
        part._level = np.arange(pairs.stop - pairs.start)
        part.query, part.target, part.keys = self.query[pairs], self.target[pairs], self.keys[pairs]
        part._above = np.zeros(len(part.query), dtype=np.int64)
        part._tied, part.decided, part._first = np.zeros_like(part._above), 0, self._first + pairs.start
        part.weights, part.columns, part.column = self.weights, self.columns, self.column
        if self.weights is not None and columns.stop - columns.start < len(self.weights):
            part.column = columns.start
            part.weights = self.weights[columns.start - self.column : columns.stop - self.column]
            part.columns = _members(part.weights, part.column)
        return part

    def alone(self, rows: slice, columns: slice) -> Counts:
        """Return the request for these queries and candidates with both numbered from zero."""
        part = self.within(rows, columns)
        part.query, part.target = part.query - rows.start, part.target - columns.start
        part.column -= columns.start
        part.columns = None if part.columns is None else part.columns - columns.start
        return part

    def request_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that define the request: equal arrays mean equal requests."""
        found = {"query": self.query, "target": self.target, "keys": self.keys}
        return found if self.weights is None else {**found, "weights": self.weights}

    def state(self) -> dict[str, np.ndarray]:
        """Return the state: the counts so far."""
        return {"above": self._above, "tied": self._tied, "decided": np.array(self.decided)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the state of a part with the same request."""
        self._above, self._tied = state["above"].copy(), state["tied"].copy()
        self.decided = int(state["decided"])

    def merge(self, others: Sequence[Counts]) -> None:
        """Take in what others saw of other pairs."""
        for other in others:
            offset, count = other._first - self._first, len(other.query)
            refuse_others(offset, count, len(self.query))
            own = slice(offset, offset + count)
            self._above[own] += other._above
            self._tied[own] += other._tied
            self.decided += other.decided

    def pairs_of(self, first: int, rows: int) -> slice:
        """Return the pairs of so many queries from the first on."""
        low, high = np.searchsorted(self.query, (first, first + rows))
        return slice(int(low), int(high))

    def update(self, tile: Tile) -> None:
        """Take in a tile."""
        columns = wanted(tile.scores.shape[1], tile.column, self.columns)
        numbers = (np.arange(tile.scores.shape[1]) if columns is None else columns) + tile.column
        if len(numbers) == 0:
            return
        found = self.pairs_of(tile.row, tile.scores.shape[0])
        rows, starts = np.unique(self.query[found], return_index=True)
        if len(self.query[found]) > _MANY * len(rows):
            starts = np.append(starts, found.stop - found.start) + found.start
            step = max(1, _SORTED // len(numbers))
            for first in range(0, len(rows), step):
                pairs = slice(int(starts[first]), int(starts[min(first + step, len(rows))]))
                self._look_up(tile, columns, pairs, numbers)
        else:
            self._compare(tile, columns, np.arange(found.start, found.stop), numbers)

    def _step(self, numbers: Ints) -> int:
        """Return how many rows of so many columns are looked at at a time."""
        return max(1, _BATCH // len(numbers))

    def add(self, above: Ints, tied: Ints, decided: int) -> None:
        """Take in what a back end counted for each pair, [p, 1] in the order of `query`."""
        self._above += above[:, 0]
        self._tied += tied[:, 0]
        self.decided += decided

    def _look_up(self, tile: Tile, columns: Ints | None, pairs: slice, numbers: Ints) -> None:
        """Count for all pairs of some queries with many targets each, whose scores are sorted once.

        Pairs that have others within the band are compared with all scores, as `_compare` does.
        """
        rows, row = np.unique(self.query[pairs], return_inverse=True)
        scores = chosen(tile.scores, rows - tile.row, columns)
        ordered, before = _sorted(scores, self._weight(numbers))
        target_score, kind = self.keys[pairs] * UNIT, scores.dtype
        start, size = row * len(numbers), np.full(1, len(numbers))
        high = (target_score + tile.band).astype(kind)
        low = np.nextafter((target_score - tile.band).astype(kind), kind.type(-np.inf))
        up_to = not_above(ordered, start, size, high)
        near = up_to - not_above(ordered, start, size, low)
        here, own = self._own(pairs, numbers)
        open_pairs = near.copy()
        open_pairs[here] -= 1
        if tile.leaves_open(int(open_pairs.sum()), scores.size):
            self._look_up(tile.decided, columns, pairs, numbers)
            return
        if tile.is_exact:
            self._above[pairs] += before[row, -1] - before[row, up_to]
            self._tied[pairs] += before[row, up_to] - before[row, up_to - near]
            return
        clear = open_pairs == 0
        self._above[pairs] += np.where(clear, before[row, -1] - before[row, up_to], 0)
        self._tied[pairs.start + here] += np.where(clear[here], own, 0)
        self._compare(tile, columns, pairs.start + np.flatnonzero(~clear), numbers)

    def _compare(self, tile: Tile, columns: Ints | None, pairs: Ints, numbers: Ints) -> None:
        """Count for some pairs; columns of the tile that are counted have ascending numbers."""
        step = self._step(numbers)
        for start in range(0, len(pairs), step):
            part = pairs[start : start + step]
            if not self._count(tile, columns, part, numbers):
                self._count(tile.decided, columns, part, numbers)

    def _count(self, tile: Tile, columns: Ints | None, pairs: Ints, numbers: Ints) -> bool:
        """Count for a few pairs; return False, with nothing counted, where too much is open."""
        scores = chosen(tile.scores, _places(self.query[pairs] - tile.row), columns)
        target_score, kind = self.keys[pairs] * UNIT, scores.dtype
        higher = scores > (target_score + tile.band).astype(kind)[:, None]
        possible = scores >= (target_score - tile.band).astype(kind)[:, None]
        here, own = self._own(pairs, numbers)
        # the screen has the target itself within the band
        possible[here, np.searchsorted(numbers, self.target[pairs][here])] = False
        certain, near = row_sums(higher), row_sums(possible)
        if tile.leaves_open(int(near.sum() - certain.sum()), scores.size):
            return False
        weight = self._weight(numbers)
        above = certain + extra(higher, weight)
        self._above[pairs] += above
        self._tied[pairs[here]] += own
        if tile.is_exact:
            self._tied[pairs] += near + extra(possible, weight) - above
            return True
        open_rows = np.flatnonzero(near > certain)
        if len(open_rows):
            i, j = places(possible[open_rows] & ~higher[open_rows])
            self.decide(pairs[open_rows[i]], numbers[j], tile.exact)
        return True

    def _weight(self, numbers: Ints) -> Ints | None:
        """Return the weights of some candidates, None where each counts once."""
        return None if self.weights is None else self.weights[numbers - self.column]

    def _own(self, pairs: Ints | slice, numbers: Ints) -> tuple[Ints, Ints]:
        """Return which pairs have their target among some candidates, and what it weighs."""
        target = self.target[pairs]
        place = np.minimum(np.searchsorted(numbers, target), len(numbers) - 1)
        here = np.flatnonzero(numbers[place] == target)
        weight = self._weight(numbers)
        return here, np.ones(len(here), dtype=np.int64) if weight is None else weight[place[here]]

    def decide(self, pair: Ints, candidate: Ints, exact: Callable[[Ints, Ints], Ints]) -> None:
        """Count single candidates, none of them the pair's own target, by their exact keys; parallel arrays.

        `pair` are places in the order of `query`.
        """
        keys = exact(self.query[pair], candidate)
        counted = np.ones(len(pair), dtype=np.int64)
        if self.weights is not None:
            counted = self.weights[candidate - self.column]
        np.add.at(self._above, pair, np.where(keys > self.keys[pair], counted, 0))
        np.add.at(self._tied, pair, np.where(keys == self.keys[pair], counted, 0))
        self.decided += len(pair)


def _members(weights: Ints, first: int) -> Ints | None:
    """Return the candidates that the group holds, None for all; the first weight is that of `first`."""
    return None if (weights > 0).all() else np.flatnonzero(weights) + first


def _places(rows: Ints) -> Ints | slice:
    """Return ascending numbers, as a slice where none is left out or comes twice: nothing is copied then."""
    first, last = int(rows[0]), int(rows[-1])
    consecutive = last - first + 1 == len(rows) and (np.diff(rows) == 1).all()
    return slice(first, last + 1) if consecutive else rows


def _sorted(scores: np.ndarray, weight: Ints | None) -> tuple[np.ndarray, Ints]:
    """Return rows of scores as one line, each in rising order; and what the first 0 … n of each weigh."""
    rows, width = scores.shape
    if weight is None:
        return np.sort(scores, axis=1).reshape(-1), np.broadcast_to(np.arange(width + 1), (rows, width + 1))
    order = np.argsort(scores, axis=1)
    before = np.zeros((rows, width + 1), dtype=np.int64)
    np.cumsum(weight[order], axis=1, out=before[:, 1:])
    return np.take_along_axis(scores, order, axis=1).reshape(-1), before
