"""For each pair of a query and a candidate: how many candidates score above it, and how many tie with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from xlingual.arrays import Ints
from xlingual.ragged import groups, spans
from xlingual.ranking.similarity import UNIT, Similarity
from xlingual.ranking.tiles import CHUNK, Array, Device, Tile, reaching
from xlingual.records import digest

_PIECE = 1 << 19  # speed: scores compared at a time
_MANY = 8  # speed: pairs of a query and group from which on its scores are sorted
_FEW = 64  # speed: single scores are looked up where there is at most one in so many
_STEP = 8  # speed: of the chunks by which their number is estimated
_EXACT = 1 << 24  # float32 sums of whole numbers below are exact


class Counts:
    """Counts, for pairs (query, candidate), the candidates above the pair and those tied with it.

    `keys` [p] are the exact keys of the pairs; a pair ties with itself. `groups` divides the candidates: a
    code for each [m], or membership [m, G], since groups may overlap as the samples of seeds do. `weights`
    [m] says how often each candidate counts. `within` [p] names the only group in which each pair is counted.

    With `columns` the queries of the pairs are the candidates of the similarity, and are ranked against its
    queries; groups and weights are of these.

    `above` and `tied` are int64, [p, G] with groups and without `within`, else [p].
    """

    def __init__(
        self,
        query: Ints,
        candidate: Ints,
        keys: Ints,
        *,
        groups: np.ndarray | None = None,
        weights: Ints | None = None,
        within: Ints | None = None,
        columns: bool = False,
    ) -> None:
        self.key, self.columns, self.is_flat = keys, columns, groups is None or within is not None
        self._order = np.argsort(query, kind="stable")
        self.pairs = Pairs(query[self._order], candidate[self._order], keys[self._order])
        self.within = None if within is None else within[self._order]
        self.members = _members(groups, weights)
        n_groups = 1 if self.members is None or within is not None else self.members.shape[1]
        self._sums = np.zeros((2, len(query), n_groups), np.int64)

    @classmethod
    def of(cls, similarity: Similarity, query: Ints, candidate: Ints, **options: Any) -> Self:  # noqa: ANN401
        """Ask for pairs of a similarity, with their exact keys; options as above."""
        return cls(query, candidate, similarity.keys(query, candidate), **options)

    @property
    def above(self) -> Ints:
        """Candidates that score higher than the pair."""
        return self._in_order(self._sums[0])

    @property
    def tied(self) -> Ints:
        """Candidates that score the same as the pair, itself included."""
        return self._in_order(self._sums[1])

    def _in_order(self, sums: Ints) -> Ints:
        in_order = np.empty_like(sums)
        in_order[self._order] = sums
        return in_order[:, 0] if self.is_flat else in_order

    def part(self, rows: slice) -> CountsPart:
        """Begin a block of queries of the similarity."""
        return CountsPart(self, self._pairs_of(rows))

    def _pairs_of(self, rows: slice) -> slice:
        if self.columns:
            return slice(0, len(self.key))
        return slice(*np.searchsorted(self.pairs.query, (rows.start, rows.stop)).tolist())

    def take(self, rows: slice, arrays: Mapping[str, np.ndarray]) -> None:
        """Add the counts of a block."""
        self._sums[:, self._pairs_of(rows)] += arrays["sums"]

    def finish(self, similarity: Similarity) -> None:
        """Do nothing: counts are whole when all blocks are added."""

    def identity(self) -> bytes:
        """Identify the question."""
        arrays = (self.pairs.query, self.pairs.candidate, self.pairs.key, self.within, self.members)
        return digest("counts", str(self.columns), *(b"" if a is None else a.tobytes() for a in arrays))


class Pairs:
    """Pairs of a query and a candidate with their exact keys, by query; parallel arrays [p]."""

    def __init__(self, query: Ints, candidate: Ints, key: Ints) -> None:
        self.query, self.candidate, self.key = query, candidate, key

    def limits(self, band: float) -> tuple[np.ndarray, np.ndarray]:
        """Compute the scores below which a candidate is surely lower, and above which surely higher."""
        score, infinity = self.key * UNIT, np.float32(np.inf)
        lower = np.nextafter((score - band).astype(np.float32), -infinity)
        return lower, np.nextafter((score + band).astype(np.float32), infinity)


class CountsPart:
    """The counts of the pairs of a block of queries."""

    def __init__(self, counts: Counts, part: slice) -> None:
        pairs = counts.pairs
        self.pairs = Pairs(pairs.query[part], pairs.candidate[part], pairs.key[part])
        self.within = None if counts.within is None else counts.within[part]
        self.members, self.columns = counts.members, counts.columns
        self.sums = np.zeros((2, part.stop - part.start, counts._sums.shape[2]), np.int64)
        self._limits: tuple[np.ndarray, np.ndarray] | None = None
        self._moved: dict[str, Array] = {}  # members by device

    def arrays(self) -> dict[str, np.ndarray]:
        """Give the counts (above, tied), int64 [2, p, G], in the order of queries."""
        return {"sums": self.sums}

    def see(self, tile: Tile) -> None:
        """Count in a tile for the pairs of its queries whose row has a score that reaches theirs."""
        tile = tile.turned if self.columns else tile
        low, high = np.searchsorted(self.pairs.query, (tile.rows.start, tile.rows.stop)).tolist()
        if low == high:
            return
        if self._limits is None:
            self._limits = self.pairs.limits(tile.band)
        pairs = np.arange(low, high)
        first, size = groups(self.pairs.query[pairs])
        if self.within is None and len(pairs) > _MANY * self.sums.shape[2] * len(first):
            for start, count in zip(first.tolist(), size.tolist(), strict=True):
                self._count_sorted(tile, pairs[start : start + count])
            return
        if not tile.is_decided:
            pieces = _pieces(pairs, tile.shape[1] // (CHUNK * _STEP))
            pairs = np.concatenate([self._look_up(tile, piece) for piece in pieces])
        for piece in _pieces(pairs, tile.shape[1]):  # speed
            self._compare(tile, piece)

    def _count_sorted(self, tile: Tile, pairs: Ints) -> None:
        """Count for all pairs of one query, whose scores are sorted once.

        Pairs with others within the band are decided: together by the keys of the tile, where these are many.
        """
        row = int(self.pairs.query[pairs[0]]) - tile.rows.start
        if tile.is_decided:
            keys = self.pairs.key[pairs]
            above, tied = self._masses_sorted(tile, tile.keys[row], keys, keys)[:2]
            self.sums[:, pairs] += np.stack((above, tied))
            return
        assert self._limits is not None
        lower, upper = (limit[pairs] for limit in self._limits)
        above, _, n_near = self._masses_sorted(tile, tile.device.host(tile.scores[row]), lower, upper)
        candidate = self.pairs.candidate[pairs]
        is_here = (candidate >= tile.columns.start) & (candidate < tile.columns.stop)
        is_open = n_near > is_here
        if tile.is_dense(int((n_near - is_here).sum()) * tile.shape[0]):  # speed
            assert len(tile.keys)  # all pairs are decided from here on
            self._count_sorted(tile, pairs)
            return
        self.sums[0, pairs[~is_open]] += above[~is_open]
        clear = pairs[~is_open & is_here]
        self._add(1, clear, self.pairs.candidate[clear])
        if is_open.any():
            self._compare(tile, pairs[is_open])

    def _masses_sorted(
        self, tile: Tile, scores: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> tuple[Ints, Ints, Ints]:
        """Sum by group what is above `upper` and what is from `lower` to `upper`, and count the latter."""
        order = np.argsort(scores)
        low = np.searchsorted(scores, lower, "left", sorter=order)
        high = np.searchsorted(scores, upper, "right", sorter=order)
        if self.members is None:
            return (len(scores) - high)[:, None], (high - low)[:, None], high - low
        total = np.zeros((len(scores) + 1, self.members.shape[1]), np.int64)
        np.cumsum(self.members[order + tile.columns.start], axis=0, out=total[1:], dtype=np.int64)
        return total[-1] - total[high], total[high] - total[low], high - low

    def _look_up(self, tile: Tile, pairs: Ints) -> Ints:
        """Count by single scores for pairs that few scores of their row reach; give the other pairs."""
        assert self._limits is not None
        device, (lower, upper), some = tile.device, self._limits, tile.chunks[1][:, ::_STEP]
        row = self.pairs.query[pairs] - tile.rows.start
        n_reaching = device.count(device.bits(some[device.put(row)] >= device.put(lower[pairs])[:, None]))
        few = n_reaching * _FEW * _STEP <= tile.shape[1]  # speed
        near = np.flatnonzero(few)
        lowest = np.full(tile.shape[0], np.inf, np.float32)
        np.minimum.at(lowest, row[near], lower[pairs[near]])
        line_row, column, score = reaching(tile.chunks, lowest, tile.shape[1], device)
        first = np.searchsorted(row[near], np.arange(tile.shape[0] + 1))
        line, place = spans(first[line_row], np.diff(first)[line_row])
        pair, column, score = pairs[near[place]], column[line] + tile.columns.start, score[line]
        is_above, is_near = score > upper[pair], (score <= upper[pair]) & (score >= lower[pair])
        self._add(0, pair[is_above], column[is_above])
        self._decide(tile, pair[is_near], column[is_near])
        return pairs[~few]

    def _compare(self, tile: Tile, pairs: Ints) -> None:
        """Count by comparing some pairs with all scores of their rows."""
        if tile.is_decided:
            self._compare_keys(tile, pairs)
            return
        assert self._limits is not None
        device, row = tile.device, self.pairs.query[pairs] - tile.rows.start
        in_order = bool((np.diff(row) == 1).all())  # then nothing is copied
        scores = tile.scores[slice(row[0], row[-1] + 1) if in_order else device.put(row)]
        lower, upper = (device.put(limit[pairs])[:, None] for limit in self._limits)
        higher, near = scores > upper, scores >= lower
        near ^= higher
        i, j = device.places(near)
        if tile.is_dense(len(i) - len(pairs)):  # speed
            self._compare_keys(tile, pairs)
            return
        self.sums[0, pairs] += self._masses(device, device.bits(higher), tile.columns, pairs)
        self._decide(tile, pairs[i], j + tile.columns.start)

    def _compare_keys(self, tile: Tile, pairs: Ints) -> None:
        """Count by comparing pairs with the exact keys of their rows."""
        host = Device()
        for piece in _pieces(pairs, tile.shape[1]):
            keys, key = tile.keys[self.pairs.query[piece] - tile.rows.start], self.pairs.key[piece][:, None]
            for which, mask in ((0, keys > key), (1, keys == key)):
                self.sums[which, piece] += self._masses(host, host.bits(mask), tile.columns, piece)

    def _decide(self, tile: Tile, pair: Ints, candidate: Ints) -> None:
        """Count single candidates within the band of pairs by their keys; a pair ties with itself."""
        same = self.pairs.candidate[pair] == candidate
        self._add(1, pair[same], candidate[same])
        pair, candidate = pair[~same], candidate[~same]
        keys = tile.pair_keys(self.pairs.query[pair], candidate)
        for which, mask in ((0, keys > self.pairs.key[pair]), (1, keys == self.pairs.key[pair])):
            self._add(which, pair[mask], candidate[mask])

    def _add(self, which: int, pair: Ints, candidate: Ints) -> None:
        """Add single candidates to the counts of pairs."""
        if self.members is None:
            np.add.at(self.sums[which, :, 0], pair, 1)
        elif self.within is None:
            np.add.at(self.sums[which], pair, self.members[candidate].astype(np.int64))
        else:
            np.add.at(
                self.sums[which, :, 0], pair, self.members[candidate, self.within[pair]].astype(np.int64)
            )

    def _masses(self, device: Device, bits: Array, columns: slice, pairs: Ints) -> Ints:
        """Sum the candidates of packed bits [p, b] by group, int64 [p, G]; of `within` alone, [p, 1]."""
        if self.members is None:
            return device.count(bits)[:, None]
        if not device.is_numpy and self.within is None:
            if device.name not in self._moved:
                exact = np.float32 if self.members.sum(0).max(initial=0) < _EXACT else np.float64
                self._moved[device.name] = device.put(self.members.astype(exact))
            members = self._moved[device.name][columns]
            masses: Ints = device.host(bits.to(members.dtype) @ members).astype(np.int64)
            return masses
        host = Device()
        bits = bits if device.is_numpy else host.bits(device.host(bits))
        sums = np.zeros((len(pairs), self.sums.shape[2]), np.int64)
        for power, planes in self._planes(columns):
            for group in range(sums.shape[1]):
                held = planes[group] if self.within is None else planes[self.within[pairs]]
                sums[:, group] += host.count(bits & held) << power
        return sums

    def _planes(self, columns: slice) -> list[tuple[int, np.ndarray]]:
        """Pack the bits of how often each group holds some candidates: (power of two, words [G, w])."""
        assert self.members is not None
        members = self.members[columns].T
        powers = range(int(members.max(initial=0)).bit_length())
        return [(power, Device().bits(members >> power & 1)) for power in powers]


def _pieces(pairs: Ints, width: int) -> list[Ints]:
    """Cut pairs into pieces that are compared with so many numbers of their rows at a time."""
    step = max(1, _PIECE // max(1, width))  # speed
    return [pairs[start : start + step] for start in range(0, len(pairs), step)]


def _members(groups: np.ndarray | None, weights: Ints | None) -> np.ndarray | None:
    """Arrange how often each group holds each candidate, [m, G]; None where all count once in one group."""
    if groups is None:
        if weights is None or (weights == 1).all():
            return None
        groups = np.ones((len(weights), 1), bool)
    elif groups.ndim == 1:
        groups = groups[:, None] == np.arange(int(groups.max(initial=0)) + 1)
    members: Ints = groups.astype(np.int64)
    if weights is not None:
        members *= weights[:, None]
    return members.astype(np.min_scalar_type(int(members.max(initial=0))))
