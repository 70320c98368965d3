"""For each (query, target) and group of candidates: how many score above the target, and how many tie.

`Counts` compares a target with every score; here a query has several targets. Where most of them are near the
top, only scores there are looked at for these (`hits`). Otherwise the scores are sorted once, group by group,
and every target is looked up in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.ranking.hits import TargetBands, screened
from xlingual.ranking.levels import levels_of
from xlingual.ranking.lookup import not_above
from xlingual.ranking.scan import Tile, refuse_others
from xlingual.ranking.similarity import UNIT, Similarity

_BLOCK = 1 << 19  # scores sorted at a time: 2 MiB
_LOOKED = 4  # so many times as many are looked at at a time
_GATHER = 1 << 20  # scores looked through at a time for those within the band


class GroupCounts:
    """Counts the candidates of each group above and tied with each target.

    `query` and `target` [p] are pairs, `bounds` [g + 1] the first column of each group and the number of
    columns: the candidates of a group stand next to each other. `weights` [m] as in `Counts`. After the scan
    `result` gives (above, tied), int32 [p, g]; a target ties with itself, in its own group.

    Targets of a query that tie are counted once: what is above them and ties with them is the same.

    A part (`within`) holds the targets of its queries, and the weights of all candidates where there are any.
    """

    def __init__(
        self, query: Ints, target: Ints, keys: Ints, bounds: Ints, *, weights: Ints | None = None
    ) -> None:
        counted, self._level = levels_of(query, keys)
        self.query, self.target, self.keys = query[counted], target[counted], keys[counted]
        self.bounds = bounds
        self.heavy = np.empty(0, dtype=np.int64) if weights is None else np.flatnonzero(weights != 1)
        self.weights = weights
        # (above, tied) of the levels from low to high: row blocks fill pieces of their own
        self._pieces: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
        self._first = 0  # of all levels, the first one here
        self.decided = 0  # pairs that the screen left open

    @classmethod
    def of(
        cls, similarity: Similarity, query: Ints, target: Ints, bounds: Ints, *, weights: Ints | None = None
    ) -> GroupCounts:
        """Return the request for pairs, with the targets' exact keys."""
        return cls(query, target, similarity.exact(query, target), bounds, weights=weights)

    @property
    def keys_given(self) -> Ints:
        """Exact keys of the targets, in the order of the pairs given."""
        keys: Ints = self.keys[self._level]
        return keys

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (above, tied), int32 [p, g], in the order of the pairs given.

        `above` counts the candidates of each group that score higher than the target, `tied` those that score
        the same, itself included.
        """
        return self._assembled(0), self._assembled(1)

    def _sums(self, which: int) -> np.ndarray:
        sums = np.zeros((len(self.query), len(self.bounds) - 1), dtype=np.int32)
        for (low, high), piece in self._pieces.items():
            sums[low:high] += piece[which]
        return sums

    def _assembled(self, which: int) -> np.ndarray:
        sums = self._sums(which)
        return sums if len(sums) == len(self._level) and _rising(self._level) else sums[self._level]

    def within(self, rows: slice, columns: slice) -> GroupCounts:
        """Return the request for these queries and candidates alone, with nothing seen."""
        part = object.__new__(GroupCounts)
        low, high = np.searchsorted(self.query, (rows.start, rows.stop))
        part.query, part.target, part.keys = (a[low:high] for a in (self.query, self.target, self.keys))
        part._level = np.arange(high - low)
        part.bounds, part.heavy, part.weights = self.bounds, self.heavy, self.weights
        part._pieces, part._first, part.decided = {}, self._first + int(low), 0
        return part

    def alone(self, rows: slice, columns: slice) -> GroupCounts:
        """Return the request for these queries and candidates with both numbered from zero."""
        part = self.within(rows, columns)
        part.query, part.target = part.query - rows.start, part.target - columns.start
        part.bounds = self.bounds - columns.start
        if self.weights is not None:
            part.weights = self.weights[columns]
            part.heavy = np.flatnonzero(part.weights != 1)
        return part

    def request_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that define the request: equal arrays mean equal requests."""
        found = {"query": self.query, "target": self.target, "keys": self.keys, "bounds": self.bounds}
        return found if self.weights is None else {**found, "weights": self.weights}

    def state(self) -> dict[str, np.ndarray]:
        """Return the state: the counts so far."""
        above, tied = self._sums(0), self._sums(1)
        return {"above": above, "tied": tied, "decided": np.array(self.decided)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the state of a part with the same request."""
        self._pieces = {(0, len(self.query)): (state["above"].copy(), state["tied"].copy())}
        self.decided = int(state["decided"])

    def merge(self, others: Sequence[GroupCounts]) -> None:
        """Take in what others saw of other pairs."""
        for other in others:
            offset = other._first - self._first
            refuse_others(offset, len(other.query), len(self.query))
            for (low, high), (above, tied) in other._pieces.items():
                own = self._piece((low + offset, high + offset))
                own[0][...] += above
                own[1][...] += tied
            self.decided += other.decided

    def _piece(self, span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        shape = (span[1] - span[0], len(self.bounds) - 1)
        if span not in self._pieces:
            self._pieces[span] = (np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32))
        return self._pieces[span]

    def update(self, tile: Tile) -> None:
        """Take in a tile."""
        rows, columns = tile.scores.shape
        first, last = np.searchsorted(self.query, (tile.row, tile.row + rows))
        segments = self._segments(tile.column, columns)
        if first == last or not len(segments.group):
            return
        counted = self._piece((int(first), int(last)))
        for part in _row_blocks(rows, _LOOKED * _height(columns)):
            self._count_rows(tile.rows(part), segments, int(first), counted)

    def _count_rows(
        self, tile: Tile, segments: _Segments, first: int, counted: tuple[np.ndarray, np.ndarray]
    ) -> None:
        """Count for the pairs of a block of rows; `counted` is (above, tied) of the pairs from `first` on."""
        rows, columns = tile.scores.shape
        low, high = np.searchsorted(self.query, (tile.row, tile.row + rows)).tolist()
        own = counted[0][low - first : high - first], counted[1][low - first : high - first]
        if low == high or (not tile.is_exact and self._count_few(tile, slice(low, high), own)):
            return
        for part in _row_blocks(rows, _height(columns)):
            block = tile.rows(part)
            start, stop = np.searchsorted(self.query, (block.row, block.row + len(block.scores))).tolist()
            if start == stop:
                continue
            pairs, part = slice(start, stop), slice(start - first, stop - first)
            own = counted[0][part], counted[1][part]
            if block.is_exact:
                self._count_exact(block, segments, pairs, own)
            elif not self._count(block, segments, pairs, own):
                self._count_exact(block.decided, segments, pairs, own)

    def add(self, above: Ints, tied: Ints, decided: int) -> None:
        """Take in what a back end counted for each pair and group, [p, g] in the order of `query`."""
        own = self._piece((0, len(self.query)))
        own[0][...] += above.astype(np.int32)
        own[1][...] += tied.astype(np.int32)
        self.decided += decided

    def _segments(self, start: int, width: int) -> _Segments:
        """Return the pieces of groups among `width` columns from column `start` on."""
        low = np.clip(self.bounds[:-1] - start, 0, width)
        high = np.clip(self.bounds[1:] - start, 0, width)
        group = np.flatnonzero(low < high)
        return _Segments(group, low[group], high[group] - low[group])

    def _count_few(self, tile: Tile, pairs: slice, counted: tuple[np.ndarray, np.ndarray]) -> bool:
        """Count as `_count` does, without sorting; False, with nothing counted, where sorting is quicker."""
        above, tied = counted
        bands, width = self._bands(tile, pairs), tile.scores.shape[1]
        edges = np.clip(self.bounds - tile.column, 0, width)
        found = screened(tile.scores, bands, edges)
        if found is None or tile.leaves_open(len(found.target), tile.scores.size):
            return False
        above += found.above
        above += self._extra(tile, bands.row, bands.high)
        own = self.target[pairs] - tile.column
        i = np.flatnonzero((own >= 0) & (own < width))
        weight = 1 if self.weights is None else self.weights[self.target[pairs][i]]
        tied[i, np.searchsorted(edges, own[i], side="right") - 1] += weight
        group = np.searchsorted(edges, found.column, side="right") - 1
        self._decide(tile, pairs, (found.target, found.column, group), counted)
        return True

    def _bands(self, tile: Tile, pairs: slice) -> TargetBands:
        """Return what a screened score must be to be below, or above, each target."""
        score = self.keys[pairs] * UNIT
        low, high = (score - tile.band).astype(np.float32), (score + tile.band).astype(np.float32)
        return TargetBands(self.query[pairs] - tile.row, low, high)

    def _count(
        self, tile: Tile, segments: _Segments, pairs: slice, counted: tuple[np.ndarray, np.ndarray]
    ) -> bool:
        """Count for the pairs of a block of rows; `counted` is (above, tied), [pairs, g], added to.

        False, with nothing counted, where too much is open.
        """
        above, tied = counted
        bands = self._bands(tile, pairs)
        row, low, high = bands.row, bands.low, bands.high
        ordered = segments.sorted(tile.scores)
        start = row[:, None] * tile.scores.shape[1] + segments.start  # [pairs, s]
        up_to = not_above(ordered, start, segments.size, high[:, None])
        mine = self._mine(tile, segments, pairs)
        # Is the best score that is not above the limit (beside the target's own) within the band? Then the
        # screen does not decide.
        place = up_to - 1 - mine
        near = ordered[start + np.maximum(place, 0)] >= low[:, None]
        pair, segment = np.nonzero(near & (place >= 0))
        if tile.leaves_open(int(segments.size[segment].sum()), 4 * len(row) * tile.scores.shape[1]):
            open_now = up_to - not_above(ordered, start, segments.size, np.nextafter(low, -np.inf)[:, None])
            if tile.leaves_open(int(open_now.sum()), tile.scores.size):
                return False
        above[:, segments.group] += segments.size - up_to
        i, j = np.nonzero(mine)
        tied[i, segments.group[j]] += 1 if self.weights is None else self.weights[self.target[pairs][i]]
        found = [
            segments.within(tile.scores, number, row, (low, high), pair[segment == number])
            for number in np.unique(segment).tolist()
        ]
        if found:
            pair, column, group = (np.concatenate(parts) for parts in zip(*found, strict=True))
            self._decide(tile, pairs, (pair, column, group), counted)
        above += self._extra(tile, row, high)
        return True

    def _count_exact(
        self, tile: Tile, segments: _Segments, pairs: slice, counted: tuple[np.ndarray, np.ndarray]
    ) -> None:
        """Count for the pairs of a block of rows with exact scores, as `_count` does."""
        above, tied = counted
        row, score = self.query[pairs] - tile.row, self.keys[pairs] * UNIT
        ordered = segments.sorted(tile.scores)
        start = row[:, None] * tile.scores.shape[1] + segments.start  # [pairs, s]
        up_to = not_above(ordered, start, segments.size, score[:, None])
        below = not_above(ordered, start, segments.size, np.nextafter(score, -np.inf)[:, None])
        above[:, segments.group] += segments.size - up_to
        tied[:, segments.group] += up_to - below
        more = self._extra(tile, row, score)
        above += more
        tied += self._extra(tile, row, np.nextafter(score, -np.inf)) - more

    def _mine(self, tile: Tile, segments: _Segments, pairs: slice) -> np.ndarray:
        """Return whether each pair's target is in each segment, bool [pairs, s]."""
        own = (self.target[pairs] - tile.column)[:, None]
        mine: np.ndarray = (own >= segments.start) & (own < segments.start + segments.size)
        return mine

    def _decide(
        self, tile: Tile, pairs: slice, found: tuple[Ints, Ints, Ints], counted: tuple[np.ndarray, np.ndarray]
    ) -> None:
        """Score the candidates (pair, column, group) within the band of their targets, and count them."""
        pair, column, group = found
        candidate = column + tile.column
        other = candidate != self.target[pairs][pair]
        pair, candidate, group = pair[other], candidate[other], group[other]
        keys, own = tile.exact(self.query[pairs][pair], candidate), self.keys[pairs][pair]
        weight = np.ones(len(pair), dtype=np.int64) if self.weights is None else self.weights[candidate]
        above, tied = counted
        np.add.at(above, (pair, group), np.where(keys > own, weight, 0))
        np.add.at(tied, (pair, group), np.where(keys == own, weight, 0))
        self.decided += len(pair)

    def _extra(self, tile: Tile, row: Ints, limit: np.ndarray) -> np.ndarray | int:
        """Return what columns of a weight other than one add above the limits of pairs, [pairs, g]."""
        first, last = np.searchsorted(self.heavy, (tile.column, tile.column + tile.scores.shape[1]))
        if self.weights is None or first == last:
            return 0
        heavy = self.heavy[first:last]
        group = np.searchsorted(self.bounds, heavy, side="right") - 1
        scores = tile.scores[:, heavy - tile.column]
        extra = np.zeros((len(heavy), len(self.bounds) - 1))
        extra[np.arange(len(heavy)), group] = self.weights[heavy] - 1
        found = np.empty((len(row), len(self.bounds) - 1), dtype=np.int32)
        step = max(1, _GATHER // len(heavy))
        for start in range(0, len(row), step):
            part = slice(start, start + step)
            mask = scores[row[part]] > limit[part, None]
            found[part] = np.rint(mask.astype(np.float64) @ extra)
        return found


@dataclass(frozen=True)
class _Segments:
    """Runs of columns of one tile that are each of one group: parallel arrays [s]."""

    group: Ints
    start: Ints  # column of the tile
    size: Ints

    def sorted(self, scores: np.ndarray) -> np.ndarray:
        """Return the scores [rows, n] as one line, each segment of each row in rising order."""
        ordered = scores.copy()
        for start, size in zip(self.start.tolist(), self.size.tolist(), strict=True):
            ordered[:, start : start + size].sort(axis=1)
        return ordered.reshape(-1)

    def within(
        self,
        scores: np.ndarray,
        number: int,
        row: Ints,
        limits: tuple[np.ndarray, np.ndarray],
        pairs: Ints,
    ) -> tuple[Ints, Ints, Ints]:
        """Return (pair, column, group) of the scores of a segment within the limits of some pairs."""
        start, size = int(self.start[number]), int(self.size[number])
        low, high = limits
        step = max(1, _GATHER // size)
        found = []
        for begin in range(0, len(pairs), step):
            chosen = pairs[begin : begin + step]
            own = scores[row[chosen], start : start + size]
            inside = (own >= low[chosen, None]) & (own <= high[chosen, None])
            i, j = np.divmod(np.flatnonzero(inside), size)
            found.append((chosen[i], j + start))
        pair, column = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return pair, column, np.full(len(pair), self.group[number])


def _height(columns: int) -> int:
    """Return how many rows of scores are sorted at a time."""
    return max(1, _BLOCK // columns)


def _row_blocks(rows: int, height: int) -> list[slice]:
    return [slice(start, min(start + height, rows)) for start in range(0, rows, height)]


def _rising(numbers: Ints) -> bool:
    return bool((np.diff(numbers) > 0).all())
