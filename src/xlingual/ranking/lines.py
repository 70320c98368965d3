"""The table of pairs that may be among the k best of their queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Ints

OTHERS = np.iinfo(np.int64).min  # the candidate of a line that stands for tied ones above the cap
FIELDS = ("query", "candidate", "key", "weight", "exact")


@dataclass(frozen=True)
class Lines:
    """A table of (query, candidate, key, weight, exact), one line per kept pair; parallel arrays.

    A key is exact, or within half a band of it. Numbers of candidates are from a part's origin on: those that
    it took in from parts of earlier candidates are negative. A line of candidate OTHERS stands for the tied
    candidates above the cap; its weight is their number.
    """

    query: Ints
    candidate: Ints
    key: Ints
    weight: Ints
    exact: np.ndarray  # bool

    def __len__(self) -> int:
        return len(self.query)

    def take(self, chosen: np.ndarray | slice) -> Lines:
        """Return the chosen lines."""
        if isinstance(chosen, np.ndarray) and chosen.dtype == np.bool_:
            chosen = np.flatnonzero(chosen)  # looked for once, not for each column
        return Lines(
            self.query[chosen],
            self.candidate[chosen],
            self.key[chosen],
            self.weight[chosen],
            self.exact[chosen],
        )

    def by_query(self) -> Lines:
        """Return the lines in the order of queries: those above the cap may stand last."""
        if (np.diff(self.query) >= 0).all():
            return self
        return self.take(np.argsort(self.query, kind="stable"))

    @classmethod
    def joined(cls, tables: Sequence[Lines]) -> Lines:
        """Return the lines of all tables."""
        return cls(*(np.concatenate([getattr(table, name) for table in tables]) for name in FIELDS))

    def moved(self, rows: int, columns: int) -> Lines:
        """Return the lines with queries and candidates numbered from another origin."""
        if rows == columns == 0 or len(self) == 0:
            return self
        candidate = np.where(self.candidate == OTHERS, OTHERS, self.candidate + columns)
        return replace(self, query=self.query + rows, candidate=candidate)

    @classmethod
    def empty(cls) -> Lines:
        """Return a table without lines."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing, nothing, nothing, nothing, np.empty(0, dtype=bool))


def batched(tables: Iterable[Lines], size: int) -> Iterator[list[Lines]]:
    """Yield tables, as many at a time as have `size` lines together, or a few more."""
    waiting: list[Lines] = []
    for table in tables:
        waiting.append(table)
        if sum(map(len, waiting)) > size:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def by_queries(tables: Sequence[Lines], n: int, size: int) -> Iterator[list[Lines]]:
    """Yield the parts of tables that are about some of n queries, about `size` lines at a time.

    The tables are in the order of queries.
    """
    parts = max(1, sum(map(len, tables)) // size)
    bounds = np.linspace(0, n, min(parts, n) + 1).astype(np.int64)
    places = [np.searchsorted(table.query, bounds).tolist() for table in tables]
    for part in range(len(bounds) - 1):
        yield [
            table.take(slice(ends[part], ends[part + 1])) for table, ends in zip(tables, places, strict=True)
        ]


def best_first(query: Ints, key: Ints) -> Ints:
    """Return the order by query, then by falling key.

    Keys of cosines fit into 31 bits: one sort of both in one number is several times as fast as two.
    """
    if len(key) and max(int(key.max()), -int(key.min())) < 1 << 31 and int(query.max()) < 1 << 31:
        return np.argsort((query << 32) - key)
    return np.lexsort((-key, query))


def by_level(level: Ints, candidate: Ints) -> Ints:
    """Return the order by level, ascending numbers, then by candidate; OTHERS first.

    One sort of both in one number, where they fit, is several times as fast as two.
    """
    if len(level) == 0:
        return level
    listed = candidate[candidate != OTHERS]
    low = int(listed.min(initial=0)) - 1
    width = int(listed.max(initial=0)) - low
    if width.bit_length() + int(level[-1]).bit_length() < 63:
        return np.argsort((level << width.bit_length()) + (np.maximum(candidate, low) - low))
    return np.lexsort((candidate, level))


def by_hash(query: Ints, hashes: np.ndarray) -> Ints:
    """Return the order by query, then by hash, uint64.

    One sort of both in one number, of as many bits of the hash as fit, is several times as fast as two.
    """
    bits = 64 - int(query.max(initial=0)).bit_length()
    short = (query.astype(np.uint64) << np.uint64(bits)) | (hashes >> np.uint64(64 - bits))
    order = np.argsort(short)
    if (np.diff(short[order]) == 0).any():  # bits that were left out decide
        return np.lexsort((hashes, query))
    return order


def is_best_first(query: Ints, key: Ints) -> bool:
    """Return whether lines are in that order."""
    step = np.diff(query)
    return bool(((step > 0) | ((step == 0) & (np.diff(key) <= 0))).all())


def ranges_of(sorted_queries: Ints, n: int, size: int) -> Iterator[tuple[int, int, range]]:
    """Yield (first line, last line, queries) of ranges of the n queries, those of one query together.

    A range has `size` lines at most, more only where one query has. There is one at least.
    """
    low = first = 0
    while low < n or first == low == 0:
        last = min(first + size, len(sorted_queries))
        high = n if last == len(sorted_queries) else max(int(sorted_queries[last]), low + 1)
        last = int(np.searchsorted(sorted_queries, high))
        yield first, last, range(low, high)
        low, first = max(high, 1), last
