"""The queries of one encoder as they are looked at: filtered, ordered, each with its stored neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.inspection.encoder import Looked
from xlingual.ragged import starts

Pair = tuple[str, str]


@dataclass(frozen=True)
class Near:
    """A text near another: its row of the manifest, its score, how many are above it and tied with it."""

    row: int
    score: float | None


class Queries:
    """The queries of the first samples of one encoder; arrays [q], `pair` an index into `pairs`."""

    def __init__(self, looked: Looked, pairs: Sequence[Pair], n_rows: int) -> None:
        asked, nearest = looked.asked, looked.nearest
        lines = np.flatnonzero(asked.first_sample)
        place = np.array([pairs.index(one) for one in asked.pairs], dtype=np.int64)
        self.encoder, self.pairs, self._width = looked.encoder, pairs, n_rows
        self.pair: Ints = place[asked.pair[lines]]
        self.row, self.value = asked.row[lines], asked.value[lines]
        self.rank: Ints = np.where(asked.above[lines] >= 0, asked.above[lines] + 1, -1)
        self.retrieved, self.failed = asked.retrieved[lines], asked.failed[lines]
        self.kind = looked.kind[lines]
        self.score: Floats = nearest.score[lines]
        self.hub = looked.served.is_hub[lines]
        self.hubs = {int(row): n for _, row, n in sorted(looked.served.hubs, key=lambda hub: hub[2])}
        self.kept = nearest.kept
        key = self.pair * n_rows + self.row
        self._order = np.argsort(key, kind="stable")
        self._keys = key[self._order]
        own = place[nearest.pair] * n_rows + nearest.query
        order = np.argsort(own, kind="stable")
        self._near_keys, at = np.unique(own[order], return_inverse=True)
        self._first = starts(at, len(self._near_keys))
        self._neighbour, self._scores = nearest.neighbour[order], nearest.scores[order]

    def __len__(self) -> int:
        return len(self.row)

    def line(self, row: int, pair: int) -> int | None:
        """Return the line of a text as a query of a pair, None where it is none."""
        key = pair * self._width + row
        at = int(np.searchsorted(self._keys, key))
        found = at < len(self._keys) and self._keys[at] == key
        return int(self._order[at]) if found else None

    def neighbours(self, line: int) -> list[Near]:
        """Return the stored neighbours of a query, the nearest first; where none are kept, what it found."""
        key = int(self.pair[line]) * self._width + int(self.row[line])
        at = int(np.searchsorted(self._near_keys, key))
        if at < len(self._near_keys) and self._near_keys[at] == key:
            part = slice(int(self._first[at]), int(self._first[at + 1]))
            both = zip(self._neighbour[part].tolist(), self._scores[part].tolist(), strict=True)
            return [Near(row, None if score != score else score) for row, score in both]
        row = int(self.retrieved[line])
        return [Near(row, None)] if row >= 0 else []

    def worst_first(self, lines: Ints) -> Ints:
        """Return lines, those of the least value and the lowest rank first."""
        ordered: Ints = lines[np.lexsort((self.row[lines], -self.rank[lines], self.value[lines]))]
        return ordered

    def surest_first(self, lines: Ints) -> Ints:
        """Return lines, those whose nearest text is nearest first."""
        score = np.where(np.isnan(self.score[lines]), -np.inf, self.score[lines])
        ordered: Ints = lines[np.lexsort((self.row[lines], -score))]
        return ordered
