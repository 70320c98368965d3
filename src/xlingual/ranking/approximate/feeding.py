"""Candidates that a search found, taken in by parts of reductions and decided exactly where it matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.ranking.counts import Counts
from xlingual.ranking.similarity import UNIT
from xlingual.ranking.top import Top

_BATCH = 1 << 20  # candidates of pairs looked at together


@dataclass(frozen=True)
class Found:
    """Candidates found for some queries: `candidate` and `score` [q, depth], best first; −1: none left."""

    query: Ints  # [q] rising
    candidate: Ints
    score: Vectors
    band: float
    exact: Callable[[Ints, Ints], Ints]


def feed_top(part: Top, found: Found) -> None:
    """Give a part the pairs that may be among its k best."""
    part.decides_by(found.exact, found.band)
    own = np.ones(len(found.query), dtype=bool)
    if part.queries is not None:
        own = np.isin(found.query - part.origin[0], part.queries)
    kth = found.score[:, min(part.k, found.score.shape[1]) - 1]
    keep = (found.score >= (kth - found.band)[:, None]) & (found.candidate >= 0) & own[:, None]
    if part.weights is not None:
        keep &= part.weights[np.maximum(found.candidate, 0)] > 0
    i, j = np.nonzero(keep)
    part.take(found.query[i] - part.origin[0], found.candidate[i, j], found.score[i, j])


def feed_counts(part: Counts, found: Found) -> None:
    """Count the candidates found above and tied with each target of a part; the target ties with itself."""
    above, tied = np.zeros(len(part.query), dtype=np.int64), np.zeros(len(part.query), dtype=np.int64)
    decided = 0
    own = np.flatnonzero(np.isin(part.query, found.query))
    step = max(1, _BATCH // found.candidate.shape[1])
    for low in range(0, len(own), step):
        pairs = own[low : low + step]
        above[pairs], tied[pairs], more = _counted(part, pairs, found)
        decided += more
    part.restore({"above": above, "tied": tied, "decided": np.array(decided)})


def _counted(part: Counts, pairs: Ints, found: Found) -> tuple[Ints, Ints, int]:
    """Return (above, tied) of some pairs, and how many candidates had to be scored exactly."""
    query, target, keys = part.query[pairs], part.target[pairs], part.keys[pairs]
    row = np.searchsorted(found.query, query)
    candidate, score = found.candidate[row], found.score[row]
    weight = np.where(candidate >= 0, _weights(part, candidate), 0)
    weight[candidate == target[:, None]] = 0  # counted below, by its number
    limit = keys * UNIT
    higher = score > (limit + found.band).astype(np.float32)[:, None]
    near = (score >= (limit - found.band).astype(np.float32)[:, None]) & ~higher & (weight > 0)
    above: Ints = (weight * higher).sum(axis=1)
    tied = _weights(part, target).copy()
    i, j = np.nonzero(near)
    if len(i):
        exact = found.exact(query[i], candidate[i, j])
        np.add.at(above, i, np.where(exact > keys[i], weight[i, j], 0))
        np.add.at(tied, i, np.where(exact == keys[i], weight[i, j], 0))
    return above, tied, len(i)


def _weights(part: Counts, candidate: Ints) -> Ints:
    if part.weights is None:
        return np.ones(candidate.shape, dtype=np.int64)
    weights: Ints = part.weights[np.maximum(candidate, 0)]
    return weights
