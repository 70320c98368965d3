"""Lists of different lengths kept as flat arrays: where each begins, and what belongs to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Floats, Ints


def groups(*columns: np.ndarray) -> tuple[Ints, Ints]:
    """Return the first line of each group of consecutive lines that are equal in all columns, and its size.

    >>> groups(np.array([4, 4, 4, 7]), np.array([0, 0, 1, 1]))
    (array([0, 2, 3]), array([2, 1, 1]))
    """
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = False
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(new)
    return first, np.diff(first, append=len(new))


def starts(rows: Ints, n: int) -> Ints:
    """Return where the lines of each row 0 … n − 1 begin, and how many there are in all, int64 [n + 1].

    `rows` is ascending.

    >>> starts(np.array([0, 0, 2]), 3)
    array([0, 2, 2, 3])
    """
    return np.searchsorted(rows, np.arange(n + 1)).astype(np.int64)


def spans(starts: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return (owner, position): for each span, its number repeated and starts[i] … starts[i] + counts[i] − 1.

    >>> spans(np.array([5, 0]), np.array([2, 1]))
    (array([0, 0, 1]), array([5, 6, 0]))
    """
    owner = np.repeat(np.arange(len(counts)), counts)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, starts[owner] + offset


def members(codes: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """Return (owner, member): the positions in `codes` that equal each wanted code, in order."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    low, high = np.searchsorted(ordered, wanted, "left"), np.searchsorted(ordered, wanted, "right")
    owner, position = spans(low, high - low)
    return owner, order[position]


def sums(codes: Ints, values: Floats, size: int) -> Floats:
    """Return the sum of the values of each code 0 … size − 1, float64 [size]."""
    return np.bincount(codes, values, size).astype(np.float64, copy=False)


def distinct_of(parts: Sequence[Ints]) -> tuple[Ints, list[Ints]]:
    """Return the distinct values of several arrays, ascending, and where each array's are among them."""
    distinct, where = np.unique(np.concatenate(parts), return_inverse=True)
    return distinct, np.split(where, np.cumsum([len(part) for part in parts])[:-1])


def components(n: int, first: Ints, second: Ints) -> Ints:
    """Return the connected component of each of n nodes that are linked in pairs, numbered in their order.

    Each round hangs the root of a component below its smallest neighbour.
    """
    label = np.arange(n)
    while True:
        ends = label[first], label[second]
        low, high = np.minimum(*ends), np.maximum(*ends)
        apart = low < high
        if not apart.any():
            return np.unique(label, return_inverse=True)[1].astype(np.int64)
        np.minimum.at(label, high[apart], low[apart])
        while (label[label] != label).any():
            label = label[label]
