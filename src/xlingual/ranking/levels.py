"""Targets of a query that tie are one level: what is above them and ties with them is the same."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Ints


def levels_of(query: Ints, keys: Ints) -> tuple[Ints, Ints]:
    """Return (counted [l], level [p]) of p targets with their queries and exact keys.

    `counted` are places of one target for each level, by query and then by rising key; `level[i]` says which
    of them stands for target i.
    """
    if len(keys) and max(int(np.abs(keys).max()), int(query.max())) < 1 << 31:
        order = np.argsort((query << 32) + keys, kind="stable")  # one sort of both in one number
    else:
        order = np.lexsort((keys, query))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(query[order]) != 0) | (np.diff(keys[order]) != 0)
    level = np.empty(len(order), dtype=np.int64)
    level[order] = np.cumsum(new) - 1
    return order[new], level
