"""The order of results: by score, and as trec_eval has it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.ragged import groups


def by_value(query: Ints, value: np.ndarray) -> Ints:
    """Return the order by query, then falling value; lines that are in order already stay as they are."""
    same = query[1:] == query[:-1]
    if bool(np.all((query[1:] > query[:-1]) | (same & (value[1:] <= value[:-1])))):
        return np.arange(len(query))
    return np.lexsort((-value, query))


def as_float32(score: np.ndarray) -> Floats:
    """Return scores as trec_eval compares them."""
    return score.astype(np.float32).astype(np.float64)


def trec_order(query: Ints, value: np.ndarray, candidate: Ints, names: Sequence[str]) -> Ints:
    """Return the order of lines by query, falling value, and of equal ones the last name first.

    `candidate` is an index into `names`. Only names that decide are compared.
    """
    order = by_value(query, value)
    first, size = groups(query[order], value[order])
    tied = np.repeat(size > 1, size)
    lines, group = order[tied], np.repeat(np.arange(len(first)), size)[tied]
    place = places_of_names(names, np.unique(candidate[lines]))
    order[tied] = lines[np.lexsort((place[candidate[lines]], group))]
    return order


def places_of_names(names: Sequence[str], rows: Ints | None = None) -> Ints:
    """Return the place of each name in falling order, int64 [m]: of equal scores the smallest is first.

    Of `rows` alone where these are given; 0 elsewhere.
    """
    used = range(len(names)) if rows is None else rows.tolist()
    place = np.zeros(len(names), dtype=np.int64)
    place[sorted(used, key=names.__getitem__, reverse=True)] = np.arange(len(used))
    return place
