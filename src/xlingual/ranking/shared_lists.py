"""Pairs of queries that share their lists of candidates: blocks in which every query meets every candidate.

So are translations of a question with their answers. A block of q queries and c candidates needs q + c
vectors where its pairs need 2·q·c.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.ragged import groups

_WORTH = 3  # blocks are worth it where they hold so many times fewer vectors than there are pairs
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class SharedLists:
    """Lists of candidates of queries, equal ones next to each other; parallel arrays [l]."""

    start: Ints  # the first pair
    size: Ints  # pairs
    queries: Ints  # how many lists, from the first of equal ones on, are equal to it; 0 for the others

    def batches(self, most: int) -> Iterator[Ints]:
        """Yield the pairs [blocks, q, c] of blocks of one shape, with about `most` vectors at a time."""
        first = np.flatnonzero(self.queries)
        order = first[np.lexsort((self.size[first], self.queries[first]))]
        changes = np.flatnonzero((np.diff(self.queries[order]) != 0) | (np.diff(self.size[order]) != 0)) + 1
        for same in np.split(order, changes):
            q, c = int(self.queries[same[0]]), int(self.size[same[0]])
            step = max(1, most // (q + c))
            for begin in range(0, len(same), step):
                lists = same[begin : begin + step, None] + np.arange(q)
                yield self.start[lists][:, :, None] + np.arange(c)


def shared_lists(queries: Ints, candidates: Ints) -> SharedLists | None:
    """Return the lists of pairs (queries[i], candidates[i]) [p]; None where too few queries share theirs.

    Queries must ascend, so that each has one list.
    """
    if (np.diff(queries) < 0).any():
        return None
    start, size = groups(queries)
    place = np.arange(len(queries)) - np.repeat(start, size)
    mixed = (candidates.astype(np.uint64) + np.uint64(1)) * _FACTOR
    mixed = (mixed ^ (mixed >> np.uint64(29))) * (2 * place.astype(np.uint64) + np.uint64(1))
    check = np.add.reduceat((mixed ^ (mixed >> np.uint64(32))) * _FACTOR, start)
    order = np.lexsort((check, size))
    start, size, check = start[order], size[order], check[order]
    new = np.flatnonzero(np.append(True, (np.diff(check) != 0) | (np.diff(size) != 0)))
    count = np.diff(new, append=len(order))
    if (count + size[new]).sum() * _WORTH > len(queries):
        return None
    position = np.arange(len(queries)) - np.repeat(np.cumsum(size) - size, size)
    own = candidates[np.repeat(start, size) + position]
    if (own != candidates[np.repeat(np.repeat(start[new], count), size) + position]).any():
        return None  # different lists have one checksum, which hardly ever happens
    found = np.zeros(len(order), dtype=np.int64)
    found[new] = count
    return SharedLists(start, size, found)
