"""The binomial distribution, summed up: importing scipy.special takes longer than a small evaluation."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats, Ints

_FAR = 40.0  # standard deviations beyond which nothing is left


def at_most(count: Ints, n: int, p: float) -> Floats:
    """Return the chance of at most `count` [c] hits of n that have a chance of p each, [c].

    >>> at_most(np.array([-1, 0, 1, 2]), 2, 0.5).tolist()
    [0.0, 0.25, 0.75, 1.0]
    """
    if p >= 1:
        return np.where(count < n, 0.0, 1.0)
    chance = _cumulated(n, p)
    return np.where(count < 0, 0.0, chance[np.clip(count, 0, len(chance) - 1)])


def quantile(share: Floats, n: int, p: float) -> Ints:
    """Return the least number of hits that is not exceeded with a chance of `share` or more, [s].

    Each share [s] is above 0 and below 1; n and p are those of `at_most`.

    >>> quantile(np.array([0.2, 0.3, 0.8]), 2, 0.5).tolist()
    [0, 1, 2]
    """
    return np.full(len(share), n) if p >= 1 else np.searchsorted(_cumulated(n, p), share).astype(np.int64)


def _cumulated(n: int, p: float) -> Floats:
    """Return the chances of at most 0, 1, 2 … hits; the last one is 1."""
    most = min(n, int(n * p + _FAR * np.sqrt(n * p + 1) + _FAR))
    hits = np.arange(1, most + 1)
    log = n * np.log1p(-p) + np.cumsum(np.log((n - hits + 1) / hits) + np.log(p) - np.log1p(-p))
    chance: Floats = np.minimum(np.cumsum(np.exp(np.append(n * np.log1p(-p), log))), 1.0)
    chance[-1] = 1.0
    return chance
