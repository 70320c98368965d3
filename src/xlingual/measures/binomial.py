"""The binomial distribution, summed up: importing scipy.special takes longer than a small evaluation."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats, Ints

_FAR = 40.0  # standard deviations beyond which nothing is left


def quantile(share: Floats, n: int, p: float) -> Ints:
    """Return the least number of hits that is not exceeded with a chance of `share` or more, [s].

    Each share [s] is above 0 and below 1; there are n draws, each with a chance of p.

    >>> quantile(np.array([0.2, 0.3, 0.8]), 2, 0.5).tolist()
    [0, 1, 2]
    """
    if p >= 1:
        return np.full(len(share), n)
    return np.minimum(np.searchsorted(np.cumsum(chances(n, p)), share), n).astype(np.int64)


def chances(n: int, p: float) -> Floats:
    """Return the chances of 0, 1, 2 … hits, up to where nothing is left; p is below 1."""
    most = min(n, int(n * p + _FAR * np.sqrt(n * p + 1) + _FAR))
    hits = np.arange(1, most + 1)
    log = n * np.log1p(-p) + np.cumsum(np.log((n - hits + 1) / hits) + np.log(p) - np.log1p(-p))
    return np.asarray(np.exp(np.append(n * np.log1p(-p), log)))
