"""What the numbers of a study would be with other queries and raters, and whether a difference is luck.

Queries are resampled with replacement and, independently, raters (the pigeonhole bootstrap: A. B. Owen,
Annals of Applied Statistics 1(2), 2007), which is a little cautious. With fewer than `FEWEST_RATERS` they
stay as they are: too few raters say nothing about other raters.

The test swaps the labels of two systems within queries. Where neither is better, each query's suggestions
might as well have come from the other one. So a query's difference (the mean over its raters, who saw the
same suggestions) keeps or changes its sign at random, and p is how often the mean then is as far from zero as
the observed one. With few queries all ways of swapping are gone through; else p is (c + 1)/(n + 1) of random
ones (Phipson and Smyth 2010).

Where raters are enough to stand for others (`FEWEST_RATERS`), their leanings towards one system
change sign too, and differences are compared in units of their standard errors. Signs of five raters are few:
p is that of Student's t (degrees of freedom by Satterthwaite) where it is larger.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from xlingual.arrays import Floats
from xlingual.stats.intervals import t_quantile
from xlingual.study.analysis.scores import Bools, RatedPages, mean_seen

FEWEST_RATERS = 5
_ALL = 12  # queries up to which all swaps are gone through
_CELLS = 4_000_000  # of a block of replicates
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Replicates:
    """Numbers of B resampled studies."""

    relevant: Floats  # [B, S] score-1 suggestions of a query, mean over raters and queries
    mean: Floats  # [B, S] mean score
    wins: Floats  # [B, pairs] win rates


def resample(
    scores: RatedPages, pairs: Sequence[tuple[int, int]], rng: np.random.Generator, replicates: int
) -> Replicates:
    """Resample a study; `pairs` are of systems, by their places."""
    both = len(scores.raters) >= FEWEST_RATERS
    found = [
        _means(scores, pairs, queries, raters)
        for queries, raters in _weights(scores.seen.shape, rng, replicates, both, len(scores.systems))
    ]
    relevant, mean, wins = (np.concatenate(part) for part in zip(*found, strict=True))
    whole = np.isfinite(relevant).all(axis=1)  # raters drawn together have seen some query
    return Replicates(relevant[whole], mean[whole], wins[whole])


def won(relevant: Floats, mean: Floats, first: int, second: int) -> Floats:
    """Return 1 where the first system wins a query, ½ for a tie and 0 for a loss, [...] of [..., S].

    More score-1 suggestions win; where they are as many, the better (lower) mean score does.
    """
    better = relevant[..., first] - relevant[..., second]
    nearer = mean[..., second] - mean[..., first]
    decides = np.where(np.abs(better) > _ROUNDING, better, np.where(np.abs(nearer) > _ROUNDING, nearer, 0.0))
    return (np.sign(decides) + 1) / 2


@dataclass(frozen=True)
class VarianceParts:
    """The variance of a mean over queries and raters, by where it comes from."""

    queries: float
    raters: float  # 0 where raters stay as they are
    freedom: float  # degrees of freedom of their sum (Satterthwaite)

    @classmethod
    def of(cls, values: Floats, seen: Bools) -> VarianceParts:
        """Return the variance of the mean of values [R, Q] where seen; queries count alike.

        The variance of queries is that of their means over raters, the variance of raters that of their mean
        distance from the queries' means. Either holds the noise of single ratings too.
        """
        by_query, (m, n) = mean_seen(values, seen, 0), values.shape
        away = mean_seen(values - by_query, seen, 1)
        queries = float(np.var(by_query, ddof=1) / n) if n > 1 else 0.0
        raters = float(np.var(away, ddof=1) / m) if m >= FEWEST_RATERS else 0.0
        return cls(queries, raters, max(freedom_of(queries, n, raters, m, n - 1), 1.0))

    def error(self, replicates: Floats) -> float:
        """Return the standard error: the resampled one, or that of the variances where it is larger."""
        variance = self.queries + self.raters
        if variance <= _ROUNDING**2:
            return 0.0
        return max(float(np.std(replicates)), float(np.sqrt(variance)))

    def reach(self, replicates: Floats, level: float, besides: float = 0.0) -> float:
        """Return how far from the estimate an interval goes: Student's t times the standard error.

        `besides` is a variance that is known, not estimated from the sample.
        """
        known = t_quantile(level, 1e12) * math.sqrt(besides)
        return math.hypot(t_quantile(level, self.freedom) * self.error(replicates), known)


def freedom_of(queries: float, n: float, raters: float, m: float, otherwise: float) -> float:
    """Return the degrees of freedom of the sum of two variances, of n and m values (Satterthwaite)."""
    below = queries**2 / max(n - 1, 1) + raters**2 / max(m - 1, 1)
    return float((queries + raters) ** 2 / below if below > 0 else otherwise)


def _means(
    scores: RatedPages, pairs: Sequence[tuple[int, int]], queries: Floats, raters: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """Return means [b, S] of both values and win rates [b, pairs] by weights [b, Q] and [b, R]."""
    relevant, mean = (_by_query(values, scores.seen, raters) for values in (scores.relevant, scores.mean))
    weight = queries * np.isfinite(relevant[..., 0])
    weight = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
    weight[weight.sum(axis=1) == 0] = np.nan
    wins = [np.sum(weight * np.nan_to_num(won(relevant, mean, *pair)), axis=1) for pair in pairs]
    means = [np.sum(weight[..., None] * np.nan_to_num(values), axis=1) for values in (relevant, mean)]
    return means[0], means[1], np.stack(wins, axis=1) if wins else np.empty((len(weight), 0))


def _by_query(values: Floats, seen: Bools, raters: Floats | None) -> Floats:
    """Return means over raters [b or 1, Q, S]; not a number where none of those drawn saw the query."""
    R, Q, S = values.shape
    drawn = np.ones((1, R)) if raters is None else raters
    count = drawn @ seen
    total = (drawn @ values.reshape(R, Q * S)).reshape(-1, Q, S)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count[..., None] > 0, total / count[..., None], np.nan)


def _weights(
    shape: tuple[int, int], rng: np.random.Generator, replicates: int, both: bool, systems: int
) -> Iterator[tuple[Floats, Floats | None]]:
    R, Q = shape
    size = max(_CELLS // (Q * systems), 1)
    for start, stop in pairwise([*range(0, replicates, size), replicates]):
        queries = rng.multinomial(Q, np.full(Q, 1 / Q), stop - start).astype(np.float64)
        raters = rng.multinomial(R, np.full(R, 1 / R), stop - start).astype(np.float64) if both else None
        yield queries, raters


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
