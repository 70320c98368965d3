"""The best of each row of exact scores, with a sample of what ties with the k-th."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.ragged import groups
from xlingual.ranking.floors import EVERY_HASH
from xlingual.ranking.masks import extra, places, row_sums

_ROWS = 64  # whose maxima are taken at a time


@dataclass(frozen=True)
class Best:
    """Places (row, column) of the best of each row; some rows have `others`, which tie with the least."""

    row: Ints  # [e]
    column: Ints  # [e]
    limit: Floats  # [rows] the score at which ties are sampled
    others: Ints  # [rows] how many are counted alone, with their weights


@dataclass(frozen=True)
class Hashes:
    """The hashes of candidates, uint64 [n], and the order by them."""

    values: np.ndarray

    @cached_property
    def order(self) -> Ints:
        """The candidates by rising hash."""
        return np.argsort(self.values)


def best_of(
    scores: Floats,  # [rows, columns]
    limit: Floats,  # [rows] scores that k candidates reach
    k: int,
    cap: int,
    hashes: Hashes,  # [columns]
    last_hash: np.ndarray,  # uint64 [rows] above which those at the limit are counted alone
    weight: Ints | None,  # [columns] above zero
) -> Best:
    """Return what is above the limits, and at them no more than `cap` of the smallest hashes.

    Where very many are above its limit, a row's own k-th best is the limit.
    """
    higher = scores > limit[:, None]
    many = np.flatnonzero(row_sums(higher) > k + cap)
    if len(many):
        limit, last_hash = limit.copy(), last_hash.copy()
        limit[many] = np.partition(scores[many], -k, axis=1)[:, -k]
        last_hash[many] = EVERY_HASH
        higher[many] = scores[many] > limit[many, None]
    tied = scores == limit[:, None]
    n_tied = row_sums(tied)
    crowded = np.flatnonzero((n_tied > cap) | ((n_tied > 0) & (last_hash < EVERY_HASH)))
    i, j = _sampled(tied, crowded, hashes, last_hash, cap)
    counted = n_tied[crowded] + extra(tied[crowded], weight)
    others = np.zeros(len(scores), dtype=np.int64)
    others[crowded] = counted - np.bincount(i, None if weight is None else weight[j], len(scores))[crowded]
    tied[crowded] = False
    row, column = places(higher | tied)
    return Best(np.concatenate([row, i]), np.concatenate([column, j]), limit, others)


def _sampled(
    tied: np.ndarray, crowded: Ints, hashes: Hashes, last_hash: np.ndarray, cap: int
) -> tuple[Ints, Ints]:
    """Return (row, column) of the `cap` tied candidates of the smallest hash of each of some rows."""
    by_hash = hashes.order
    found: list[tuple[Ints, Ints]] = [(crowded[:0], crowded[:0])]
    width = 2 * cap
    while len(crowded):  # candidates in the order of their hashes, more of them for rows that lack some
        first = by_hash[:width]
        chosen = tied[crowded[:, None], first]
        enough = (row_sums(chosen) >= cap) | (hashes.values[first[-1]] >= last_hash[crowded])
        enough |= len(first) == len(by_hash)
        row, place = np.divmod(np.flatnonzero(chosen[enough]), len(first))
        among = np.arange(len(row)) - np.repeat(*groups(row)) < cap
        row, column = crowded[enough][row[among]], first[place[among]]
        own = hashes.values[column] <= last_hash[row]
        found.append((row[own], column[own]))
        crowded, width = crowded[~enough], 4 * width
    return np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])


def at_most_kth(scores: np.ndarray, k: int) -> np.ndarray:
    """Return a number for each row that at least k of its scores [rows, n ≥ k] reach.

    The k-th best of the maxima of disjoint sets of columns is one, and much sooner found than the k-th score.
    Maxima are taken along memory: a transposed tile is read as fast as a plain one. Those of some rows stay
    in the cache.
    """
    if len(scores) > _ROWS and scores.flags.c_contiguous:
        starts = range(0, len(scores), _ROWS)
        return np.concatenate([at_most_kth(scores[start : start + _ROWS], k) for start in starts])
    columns = scores.shape[1]
    sets = min(columns, max(2 * k, min(1024, columns // 8)))
    maxima = scores[:, :sets].copy(order="K")
    for first in range(sets, columns - sets + 1, sets):
        np.maximum(maxima, scores[:, first : first + sets], out=maxima)
    found: np.ndarray = np.partition(maxima, -k, axis=1)[:, -k]
    return found


def hash_of(candidate: Ints, seed: int) -> np.ndarray:
    """Return a well-mixed 64-bit hash of each number (the finaliser of splitmix64)."""
    mixed = (candidate.astype(np.uint64) + np.uint64(seed + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
