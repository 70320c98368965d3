"""Whether the difference of two systems is more than luck: their labels are swapped within queries.

Where neither system is better, each query's suggestions might as well have come from the other one. So a
query's difference (the mean over its raters, who saw the same suggestions) keeps or changes its sign at
random, and p is how often the mean then is as far from zero as the observed one. With few queries all
ways of swapping are gone through; else p is (c + 1)/(n + 1) of random ones (Phipson and Smyth 2010).

Where raters are enough to stand for others (`resampling.FEWEST_RATERS`), their leanings towards one system
change sign too, and differences are compared in units of their standard errors. Signs of five raters are few:
p is that of Student's t (degrees of freedom by Satterthwaite) where it is larger.
"""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats
from xlingual.study.analysis.resampling import FEWEST_RATERS
from xlingual.study.analysis.scores import Bools, mean_seen

_ALL = 12  # queries up to which all swaps are gone through
_ROUNDING = 1e-9


def permutation_p(
    differences: Floats, seen: Bools, rng: np.random.Generator, replicates: int, raters: bool | None = None
) -> float:
    """Return the two-sided p of differences [R, Q] (first minus second, 0 where not seen).

    `raters` says whether raters stand for others; by default, whether there are enough.
    """
    by_query = mean_seen(differences, seen, 0)
    away = mean_seen(differences - by_query, seen, 1)
    if raters is None:
        raters = len(differences) >= FEWEST_RATERS
    if np.abs(by_query).max() <= _ROUNDING:
        return 1.0
    if raters and max(np.ptp(by_query), np.ptp(away)) > _ROUNDING:  # without spread nothing to measure by
        return _two_ways(by_query, away - away.mean(), rng, replicates)
    return _one_way(by_query, rng, replicates)


def _one_way(by_query: Floats, rng: np.random.Generator, replicates: int) -> float:
    n = len(by_query)
    observed = abs(by_query.sum()) * (1 - _ROUNDING) - _ROUNDING
    if n <= _ALL:
        signs = 1.0 - 2 * ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1)
        return float(np.mean(np.abs(signs @ by_query) >= observed))
    swapped = np.abs(_signs(rng, replicates, n) @ by_query)
    return float((np.count_nonzero(swapped >= observed) + 1) / (replicates + 1))


def _two_ways(by_query: Floats, away: Floats, rng: np.random.Generator, replicates: int) -> float:
    """Return p where queries' differences [Q] and raters' distances from them [R] change signs."""
    from scipy.special import stdtr

    n, m = len(by_query), len(away)
    parts = np.array([_variance(by_query), _variance(away)])
    observed = abs(by_query.mean()) / np.sqrt(parts.sum())
    freedom = parts.sum() ** 2 / (parts[0] ** 2 / max(n - 1, 1) + parts[1] ** 2 / (m - 1))
    queries = by_query * _signs(rng, replicates, n)
    # distances from a common mean are too small by √((m − 1)/m), and their signs make up for it
    leanings = away * _signs(rng, replicates, m) * np.sqrt(m / (m - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.abs(queries.mean(axis=1) + leanings.mean(axis=1)) / np.sqrt(
            _variance(queries) + _variance(leanings)
        )
    far = np.where(np.isnan(far), 0.0, far)
    flipped = (np.count_nonzero(far >= observed * (1 - _ROUNDING)) + 1) / (replicates + 1)
    return float(max(flipped, 2 * stdtr(freedom, -observed)))


def _variance(values: Floats) -> Floats:
    """Return the variance of the mean of the last axis."""
    n = values.shape[-1]
    return np.var(values, axis=-1, ddof=1) / n if n > 1 else np.zeros(values.shape[:-1])


def _signs(rng: np.random.Generator, replicates: int, n: int) -> Floats:
    return np.where(rng.random((replicates, n)) < 0.5, -1.0, 1.0)
