"""The plain float64 reference: the whole matrix, slow and obvious. The other back ends must equal it."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.ranking.similarity import UNIT


def keys(queries: np.ndarray, candidates: np.ndarray) -> Ints:
    """Return all cosines rounded to 9 decimals, as integers [n, m]."""
    found: Ints = np.rint(_unit(queries) @ _unit(candidates).T / UNIT).astype(np.int64)
    return found


def counts(all_keys: Ints, query: Ints, target: Ints, weights: Ints | None = None) -> tuple[Ints, Ints]:
    """Return (above [p], tied [p]) for pairs (query, target); `weights` [m] as in `Counts`."""
    weight = np.ones(all_keys.shape[1], dtype=np.int64) if weights is None else weights
    rows = all_keys[query]
    own = all_keys[query, target][:, None]
    return (rows > own) @ weight, (rows == own) @ weight


def top(all_keys: Ints, k: int, weights: Ints | None = None) -> list[list[tuple[int, int, int]]]:
    """Return, for each query, (candidate, above, tied) of the k best and all that tie with the k-th."""
    weight = np.ones(all_keys.shape[1], dtype=np.int64) if weights is None else weights
    found = []
    for row in all_keys:
        lines = []
        for candidate in np.argsort(-row, kind="stable"):
            above = int(weight[row > row[candidate]].sum())
            if weight[candidate] and above < k:
                lines.append((int(candidate), above, int(weight[row == row[candidate]].sum())))
        found.append(lines)
    return found


def _unit(vectors: np.ndarray) -> Floats:
    wide: Floats = vectors.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: Floats = np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0)
    return unit
