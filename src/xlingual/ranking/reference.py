"""The definitions, written out: all keys of a similarity as a matrix, and what rankings make of them.

Slow and plain. Tests compare every ranker with it; nothing here is shared with the fast code but the unit of
keys and the hash that draws samples of ties.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.ranking.similarity import UNIT
from xlingual.ranking.top import hash_of

Line = tuple[int, int, int, int]  # (candidate, weight, above, tied)


def dot(queries: np.ndarray, candidates: np.ndarray) -> Ints:
    """Compute the keys of all dot products, int64 [n, m]."""
    return np.rint(queries.astype(np.float64) @ candidates.astype(np.float64).T / UNIT).astype(np.int64)


def cosine(queries: np.ndarray, candidates: np.ndarray) -> Ints:
    """Compute the keys of all cosines, int64 [n, m]; a zero row has similarity 0 to everything."""
    return dot(_unit(queries), _unit(candidates))


def maxsim(queries: Sequence[np.ndarray], candidates: Sequence[np.ndarray], *, mean: bool) -> Ints:
    """Compute the keys of MaxSim of texts, each [tokens, d]: the best products of a query's tokens, added."""
    keys = np.zeros((len(queries), len(candidates)), np.int64)
    for i, query in enumerate(queries):
        for j, candidate in enumerate(candidates):
            if len(query) and len(candidate):
                best = (query.astype(np.float64) @ candidate.astype(np.float64).T).max(axis=1)
                keys[i, j] = np.rint((best.mean() if mean else best.sum()) / UNIT)
    return keys


def counts(keys: Ints, query: Ints, candidate: Ints, members: Ints) -> tuple[Ints, Ints]:
    """Count, for pairs [p] and groups with members [m, G]: (above, tied), each [p, G]."""
    rows, key = keys[query], keys[query, candidate][:, None]
    return (rows > key) @ members, (rows == key) @ members


def top(keys: Ints, k: int, weights: Ints, cap: int, seed: int) -> tuple[list[list[Line]], list[int]]:
    """List, for each query, the k best with all that tie with the k-th, and count those above the cap."""
    lists, unlisted = [], []
    entries = np.flatnonzero(weights)
    by_hash = entries[np.argsort(hash_of(entries, seed))]
    for row in keys:
        above = {key: int(weights[row > key].sum()) for key in set(row[entries].tolist())}
        tied = {key: int(weights[row == key].sum()) for key in above}
        listed, rest = [], 0
        for key in sorted((key for key in above if above[key] < k), reverse=True):
            of_key = by_hash[row[by_hash] == key]
            of_key = of_key[:cap] if above[key] + tied[key] >= k else of_key
            listed += [(int(c), int(weights[c]), above[key], tied[key]) for c in np.sort(of_key)]
            rest += tied[key] - int(weights[of_key].sum())
        lists.append(listed)
        unlisted.append(rest)
    return lists, unlisted


def _unit(vectors: np.ndarray) -> Floats:
    wide: Floats = vectors.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: Floats = np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0)
    return unit
