"""The k best candidates of each query, with every candidate that ties with the k-th."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.ragged import groups
from xlingual.ranking.similarity import UNIT, Similarity
from xlingual.ranking.tiles import Array, Tile, chunks_of, reaching
from xlingual.records import digest

# lines of lists that are not finished; a key is exact, or within half a band of it
_COLUMNS = [("key", "i8"), ("owner", "i4"), ("entry", "i4"), ("weight", "i4"), ("exact", "?")]
LINE = np.dtype(_COLUMNS, align=True)
UNLISTED = -1  # the entry of a line that stands for the tied entries above the cap
_ROOM = 1 << 19  # speed: lines beside some of each list, after which those that are out are dropped

PairKeys = Callable[[Ints, Ints], Ints]


@dataclass(frozen=True)
class TopK:
    """The best candidates of each query, ordered by query, then best first; parallel arrays.

    `above` candidates (with multiplicity) score higher, `tied` score the same, itself included. Where more
    candidates tie with the k-th than the cap, a sample is listed and `unlisted` counts the others.
    """

    query: Ints  # [e]
    candidate: Ints  # [e]
    weight: Ints  # [e] multiplicity of the candidate
    above: Ints  # [e]
    tied: Ints  # [e]
    unlisted: Ints  # [n queries]


class Top:
    """The k best candidates of each query and all that tie with the k-th, in a similarity of some shape.

    With `columns` the sides change: for each candidate the best queries, from the same product. Whatever has
    a list is an *owner*, and its list has *entries*. `weights` is the multiplicity of each entry (0: not in
    the group that is ranked); `queries` (sorted) restricts the owners. Above `cap` ties with the k-th, those
    with the smallest seeded hash are listed.
    """

    def __init__(
        self,
        k: int,
        shape: tuple[int, int],
        *,
        weights: Ints | None = None,
        queries: Ints | None = None,
        cap: int = 1000,
        seed: int = 0,
        columns: bool = False,
    ) -> None:
        self.k, self.cap, self.seed, self.columns = k, max(cap, 1), seed, columns
        self.n_owners, self.weights, self.owners = shape[columns], weights, queries
        self.entries = None if weights is None or (weights > 0).all() else np.flatnonzero(weights)
        self._parts: dict[int, TopK] = {}  # by the first owner
        self._lines, self._floor = np.zeros(0, LINE), np.full(self.n_owners * columns, -np.inf, np.float32)

    def part(self, rows: slice) -> TopPart:
        """Begin a block of queries of the similarity."""
        if self.columns:
            return TopPart(self, slice(0, self.n_owners), self._floor.copy())
        return TopPart(self, rows, np.full(rows.stop - rows.start, -np.inf, np.float32))

    def take(self, rows: slice, arrays: Mapping[str, np.ndarray]) -> None:
        """Take in the lists of a block; with `columns` the lines that may be in a list."""
        if not self.columns:
            self._parts[rows.start] = TopK(**arrays)
            return
        np.maximum(self._floor, arrays["floor"], out=self._floor)
        self._lines = np.concatenate((self._lines, arrays["lines"]))
        if len(self._lines) > 2 * self.k * self.n_owners + _ROOM:  # speed
            self._lines = _above(self._lines, self._floor)

    def finish(self, similarity: Similarity) -> None:
        """Decide the order of lines that came from different blocks."""
        if self.columns:
            lines = _above(self._lines, self._floor)
            slack = round(similarity.band / UNIT)
            lines = settle(lines, self, slack, lambda owner, entry: similarity.keys(entry, owner))
            self._parts[0] = ranked(lines, self.n_owners)

    def result(self) -> TopK:
        """Join the lists of all owners."""
        parts = [self._parts[first] for first in sorted(self._parts)]
        if len(parts) == 1:
            return parts[0]
        parts = parts or [ranked(np.zeros(0, LINE), self.n_owners)]
        return TopK(*(np.concatenate([getattr(p, field.name) for p in parts]) for field in fields(TopK)))

    def identity(self) -> bytes:
        """Identify the question."""
        numbers = f"{self.k} {self.cap} {self.seed} {self.columns} {self.n_owners}"
        return digest(
            "top", numbers, *(b"" if a is None else a.tobytes() for a in (self.weights, self.owners))
        )


class TopPart:
    """The lines that one block of queries may have in the lists.

    The floor of an owner is a score that k of its entries reach, less the band. It rises from tile to tile,
    and only what reaches it is looked at.
    """

    def __init__(self, top: Top, owners: slice, floor: np.ndarray) -> None:
        self.top, self.first, self.n = top, owners.start, owners.stop - owners.start
        self.floor = floor
        self._best: Any = None  # the k best scores of each owner, float32 [n, k]
        # the key at which each owner's ties were sampled, and the largest hash that is listed
        self._sampled = np.full(self.n, -np.inf), np.zeros(self.n, np.uint64)
        self._tables: list[np.ndarray] = []  # of LINE
        self._n_lines, self._limit = 0, 4 * self.n * top.k + _ROOM  # speed
        self._slack, self._pair_keys = 0, _no_pairs

    def arrays(self) -> dict[str, np.ndarray]:
        """Give the finished lists of the block; with `columns` the lines that may be in one."""
        if self.top.columns:
            self._drop()
            return {"lines": self._tables[0], "floor": self.floor}
        lines = settle(self._joined(), self.top, self._slack, self._pair_keys)
        lists = ranked(lines, self.n)
        return vars(replace(lists, query=lists.query + self.first))

    def see(self, tile: Tile) -> None:
        """Collect the lines of a tile that may be among the k best of their owners."""
        tile = tile.turned if self.top.columns else tile
        rows, columns = _chosen(tile.rows, self.top.owners), _chosen(tile.columns, self.top.entries)
        if not len(rows) or not len(columns):
            return
        first, self._slack = self.first, round(tile.band / UNIT)
        self._pair_keys = lambda owner, entry: tile_keys(owner + first, entry)
        tile_keys = tile.pair_keys
        if tile.is_decided or not self._see_scores(tile, rows, columns):
            self._see_keys(tile, rows, columns)
        if self._n_lines > self._limit:  # speed
            self._drop()

    def _see_scores(self, tile: Tile, rows: Ints, columns: Ints) -> bool:
        """Collect what reaches the floors; False where that is so much that keys are needed."""
        device, owners = tile.device, rows - self.first
        scores = _part(tile.scores, rows, columns, tile)
        chunks = tile.chunks if scores is tile.scores else chunks_of(scores, device)
        if self._best is None:
            self._best = np.repeat(self.floor[:, None] + np.float32(tile.band), self.top.k, axis=1)
        if self.top.k == 1:
            peaks = device.xp.amax(chunks[1], 1)  # speed
            self._raise(tile, owners, device.host(peaks)[:, None])  # speed
        else:
            self._raise_low(tile, owners, scores, chunks[1])  # speed
        row, column, score = reaching(chunks, self.floor[owners], scores.shape[1], device)
        if tile.is_dense(len(row) - 2 * self.top.k * len(owners)):  # speed
            return False
        if self.top.k > 1:  # speed: the peaks of a tile have raised the floors already
            self._raise(tile, owners, _padded(row, score, len(owners)))  # speed
        key = np.rint(score.astype(np.float64) / UNIT).astype(np.int64)
        self._collect(owners[row], columns[column], key, exact=False)
        return True

    def _raise_low(self, tile: Tile, owners: Ints, scores: Array, maxima: Array) -> None:
        """Raise floors that more than k chunks reach: none was known, or these candidates are much better."""
        device, k = tile.device, self.top.k
        n_reaching = device.count(device.bits(maxima >= device.put(self.floor[owners])[:, None]))
        low = np.flatnonzero((n_reaching > k) | np.isneginf(self.floor[owners]))
        if len(low):
            gate = maxima if 2 * k < maxima.shape[1] else scores
            reached = device.kth_largest(gate if len(low) == len(owners) else gate[device.put(low)], k)
            floors = _floors(device.host(reached), tile.band)
            self.floor[owners[low]] = np.maximum(self.floor[owners[low]], floors)

    def _raise(self, tile: Tile, owners: Ints, scores: np.ndarray) -> None:
        """Raise the floors of owners by scores [owners, s] of different entries."""
        k = self.top.k
        rising = np.flatnonzero(scores.max(axis=1, initial=-np.inf) > self.floor[owners])
        places = owners[rising]
        best = np.concatenate((self._best[places], scores[rising]), axis=1)
        self._best[places] = best = np.partition(best, -k, axis=1)[:, -k:]
        self.floor[places] = np.maximum(self.floor[places], _floors(best[:, 0], tile.band))

    def _see_keys(self, tile: Tile, rows: Ints, columns: Ints) -> None:
        """Collect by exact keys what is above the k-th best of a row, and a sample of what ties with it."""
        keys, owners = _part(tile.keys, rows, columns, tile), rows - self.first
        k, cap = self.top.k, self.top.cap
        kth = np.partition(keys, -k, axis=1)[:, -k] if k <= len(columns) else np.full(len(keys), -np.inf)
        floor = self.floor[owners].astype(np.float64) / UNIT
        listed = keys >= np.maximum(kth, floor)[:, None]
        tied = (keys == kth[:, None]) & listed
        crowded = np.flatnonzero(tied.sum(axis=1) > cap)
        by_hash = np.argsort(hash_of(columns, self.top.seed))
        ordered = tied[crowded][:, by_hash]
        rank = np.cumsum(ordered, axis=1, dtype=np.int32)
        # of the level that a tile before sampled, those of larger hashes are out
        places, hashes = owners[crowded], hash_of(columns, self.top.seed)[by_hash]
        last = np.where(self._sampled[0][places] == kth[crowded], self._sampled[1][places], hashes[-1])
        sample = np.zeros_like(ordered)
        sample[:, by_hash] = ordered & (rank <= cap) & (hashes <= last[:, None])
        self._sampled[0][places] = kth[crowded]
        self._sampled[1][places] = np.minimum(last, hashes[np.argmax(rank == cap, axis=1)])
        mass = self._weights(columns)
        others = (tied[crowded] & ~sample) @ mass
        listed[crowded] &= sample | ~tied[crowded]
        row, column = np.divmod(np.flatnonzero(listed), len(columns))
        self._collect(owners[row], columns[column], keys[row, column], exact=True)
        unlisted = np.full(len(crowded), UNLISTED)
        self._collect(owners[crowded], unlisted, kth[crowded], exact=True, weight=others)
        self.floor[owners] = np.maximum(self.floor[owners], _floors(kth * UNIT, tile.band))
        self._best = None  # it is made again from the floors

    def _weights(self, entries: Ints) -> Ints:
        weights = self.top.weights
        return np.ones(len(entries), np.int64) if weights is None else weights[entries]

    def _collect(self, owner: Ints, entry: Ints, key: Ints, exact: bool, weight: Ints | None = None) -> None:
        """Take lines into the table."""
        lines = np.empty(len(owner), LINE)
        lines["owner"], lines["entry"], lines["key"], lines["exact"] = owner, entry, key, exact
        lines["weight"] = self._weights(entry) if weight is None else weight
        self._tables.append(lines)
        self._n_lines += len(lines)

    def _joined(self) -> np.ndarray:
        """Join the lines, without those that are below the risen floors."""
        return _above(np.concatenate((np.zeros(0, LINE), *self._tables)), self.floor)

    def _drop(self) -> None:
        """Drop lines that are out; decide lists with so many lines that their ties must be sampled."""
        lines, top = self._joined(), self.top
        crowded = (np.bincount(lines["owner"], minlength=self.n) > 4 * top.k + top.cap)[lines["owner"]]
        if crowded.any():
            settled = settle(lines[crowded], top, self._slack, self._pair_keys)
            lines = np.concatenate((lines[~crowded], settled))
        self._tables, self._n_lines = [lines], len(lines)
        self._limit = 2 * len(lines) + _ROOM  # speed


def settle(lines: np.ndarray, top: Top, slack: int, pair_keys: PairKeys) -> np.ndarray:
    """Order the lines of each owner, best first, by keys that are exact wherever the order needs it.

    Lines that are certainly not among the k best are dropped, and above the cap ties with the k-th become one
    line. `slack` is the band in the unit of keys: lines that are closer to each other make a run, which exact
    keys put into order, then the number of the entry.
    """
    if lines["exact"].all():
        lines = lines[_best_first(lines["owner"], lines["key"], lines["entry"])]
        return _capped(_pruned(lines, top.k, 0), top)
    lines = _pruned(lines[_best_first(lines["owner"], lines["key"])], top.k, slack)
    close = (np.diff(lines["owner"]) == 0) & (-np.diff(lines["key"]) <= slack)
    run = np.flatnonzero((np.append(close, False) | np.append(False, close))[: len(lines)])
    if len(run):
        is_open = run[~lines["exact"][run]]
        pairs = lines[is_open]
        lines["key"][is_open] = pair_keys(pairs["owner"].astype(np.int64), pairs["entry"].astype(np.int64))
        lines["exact"][is_open] = True
        number, inside = np.cumsum(np.append(True, ~close))[run], lines[run]
        lines[run] = inside[_best_first(number, inside["key"], inside["entry"])]
    return _capped(_pruned(lines, top.k, 0), top)


def _best_first(owner: Ints, key: Ints, entry: Ints | None = None) -> Ints:
    """Order lines by owner, falling key and, where entries are given, by entry.

    One sort of two numbers in one is several times as fast as two.
    """
    most = max(int(key.max(initial=0)), -int(key.min(initial=0)))
    fits = most < 1 << 40 and owner.max(initial=0) < 1 << 21
    order = np.argsort((owner.astype(np.int64) << 41) - key) if fits else np.lexsort((-key, owner))
    if entry is not None:
        size = groups(owner[order], key[order])[1]
        level = np.repeat(np.arange(len(size)), size)
        order = order[np.argsort(level * (int(entry.max(initial=0)) + 2) + entry[order])]
    return order


def _by_hash(owner: Ints, entry: Ints, seed: int) -> Ints:
    """Order lines by owner and hash of the entry; as many bits of the hash as fit decide first."""
    hashes, bits = hash_of(entry, seed), np.uint64(64 - int(owner.max(initial=0)).bit_length())
    packed = (owner.astype(np.uint64) << bits) | (hashes >> (np.uint64(64) - bits))
    order = np.argsort(packed)
    return np.lexsort((hashes, owner)) if (np.diff(packed[order]) == 0).any() else order


def _above(lines: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Drop lines below the score that is the floor of their owner."""
    return _only(lines, lines["key"] * UNIT >= floor[lines["owner"]])


def _only(lines: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Drop the other lines; nothing is copied where there are none."""
    return lines if mask.all() else lines[np.flatnonzero(mask)]


def _pruned(lines: np.ndarray, k: int, slack: int) -> np.ndarray:
    """Drop lines over `slack` below the k-th of their owner; lines are in order."""
    if not len(lines):
        return lines
    first, size = groups(lines["owner"])
    total = np.cumsum(lines["weight"])
    before = np.repeat(total[first] - lines["weight"][first], size)
    kth = first + np.add.reduceat(total - before < k, first, dtype=np.int64)
    key = lines["key"][np.minimum(kth, len(lines) - 1)]
    least = np.where(kth < first + size, key - slack, np.iinfo(np.int64).min)
    return _only(lines, lines["key"] >= np.repeat(least, size))


def _capped(lines: np.ndarray, top: Top) -> np.ndarray:
    """Sample the entries that tie with the k-th, where they are more than the cap, and count the others.

    Lines are in order and end with those that tie with the k-th.
    """
    if not len(lines):
        return lines
    owner, listed = lines["owner"], lines["entry"] != UNLISTED
    first, size = groups(owner, lines["key"])
    is_last = np.append(np.diff(owner[first]) != 0, True)
    is_last &= np.bincount(owner, lines["weight"])[owner[first]] >= top.k
    n_listed = np.add.reduceat(listed, first, dtype=np.int64)
    over = is_last & ((n_listed > top.cap) | (size - n_listed > 1))
    if not over.any():
        return lines
    is_over = np.repeat(over, size)
    places = np.flatnonzero(is_over & listed)
    places = places[_by_hash(owner[places], lines["entry"][places], top.seed)]
    is_sampled = np.zeros(len(lines), bool)
    is_sampled[places[np.arange(len(places)) - np.repeat(*groups(owner[places])) < top.cap]] = True
    rest = lines[first[over]]
    rest["entry"], rest["exact"] = UNLISTED, True
    rest["weight"] = np.add.reduceat(np.where(is_sampled, 0, lines["weight"]), first)[over]
    joined = np.concatenate((_only(lines, is_sampled | ~is_over), rest[rest["weight"] > 0]))
    return joined[_best_first(joined["owner"], joined["key"], joined["entry"])]


def ranked(lines: np.ndarray, n: int) -> TopK:
    """Count, for ordered lines, those above and tied: equal keys of an owner are tied."""
    owner, entry, weight = (lines[name].astype(np.int64) for name in ("owner", "entry", "weight"))
    first, size = groups(owner, lines["key"])
    total = np.cumsum(weight) - weight
    owner_first, owner_size = groups(owner)
    above = np.repeat(total[first], size) - np.repeat(total[owner_first], owner_size)
    tied = np.repeat(np.add.reduceat(weight, first) if len(first) else first, size)
    listed = entry != UNLISTED
    unlisted = np.bincount(owner[~listed], weight[~listed], n).astype(np.int64)
    listed = slice(None) if listed.all() else np.flatnonzero(listed)
    return TopK(owner[listed], entry[listed], weight[listed], above[listed], tied[listed], unlisted)


def hash_of(entry: Ints, seed: int) -> np.ndarray:
    """Mix each number into 64 bits (the finaliser of splitmix64), by which ties are sampled."""
    mixed = (entry.astype(np.uint64) + np.uint64(seed + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _chosen(numbers: slice, chosen: Ints | None) -> Ints:
    """List the numbers of a tile's side that take part."""
    if chosen is None:
        return np.arange(numbers.start, numbers.stop)
    low, high = np.searchsorted(chosen, (numbers.start, numbers.stop))
    return chosen[low:high]


def _part(table: Array, rows: Ints, columns: Ints, tile: Tile) -> Array:
    """Select rows and columns of a tile's scores or keys, by their numbers; the table itself for all."""
    height, width = tile.shape
    put = tile.device.put if not isinstance(table, np.ndarray) else np.asarray
    if len(rows) < height:
        table = table[put(rows - tile.rows.start)]
    if len(columns) < width:
        table = table[:, put(columns - tile.columns.start)]
    return table


def _floors(reached: np.ndarray, band: float) -> np.ndarray:
    """Compute floors from scores that k entries reach."""
    floors: np.ndarray = np.nextafter(reached.astype(np.float32) - np.float32(band), np.float32(-np.inf))
    return floors


def _padded(row: Ints, score: np.ndarray, n: int) -> np.ndarray:
    """Arrange the scores of lines, ordered by row, as a table [n, s] with −inf where a row has fewer."""
    first, size = groups(row)
    table = np.full((n, int(size.max(initial=0))), -np.inf, np.float32)
    table[row, np.arange(len(row)) - np.repeat(first, size)] = score
    return table


def _no_pairs(owner: Ints, entry: Ints) -> Ints:
    raise ValueError("no tile was seen")
