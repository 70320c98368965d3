"""Correlations of a sample, and of other samples like it: clusters of its pairs drawn with replacement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints

REPLICATES = 2000
_CELLS = 2_000_000  # of a block of weights
_FLAT = 1e-12  # a variance of nothing, of variables whose variance is 1


def weights(cluster: Ints, rng: np.random.Generator, replicates: int = REPLICATES) -> Iterator[Floats]:
    """Yield how often each pair [n] counts in each replicate, float64 [some, n], block by block.

    As many clusters are drawn as there are; a pair counts as often as its cluster was drawn.
    """
    codes = np.unique(cluster, return_inverse=True)[1]
    count = int(codes.max()) + 1
    step = max(_CELLS // len(codes), 1)
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        drawn = rng.integers(0, count, (size, count)) + np.arange(size)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        yield times[:, codes].astype(np.float64)


def pearson(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    """Return Pearson's correlation of x [n] or [b, n] with y, for each row of the weights [b, n].

    NaN where either does not vary among what counts.
    """
    weight = np.ones((1, x.shape[-1])) if weight is None else weight
    total = np.maximum(weight.sum(axis=-1), _FLAT)  # nothing may count at all
    x, y = _standard(x), _standard(y)
    mean_x, mean_y = _sum(weight, x) / total, _sum(weight, y) / total
    xx = _sum(weight, x * x) / total - mean_x**2
    yy = _sum(weight, y * y) / total - mean_y**2
    xy = _sum(weight, x * y) / total - mean_x * mean_y
    varies = (xx > _FLAT) & (yy > _FLAT)
    r = np.divide(xy, np.sqrt(np.where(varies, xx * yy, 1.0)))
    return np.where(varies, np.clip(r, -1.0, 1.0), np.nan)


@dataclass(frozen=True)
class Ordered:
    """Numbers [n] in their order, for mean ranks under any weights."""

    order: Ints  # [n]
    group: Ints  # [n] in that order: which value, from 0
    ends: Ints  # the last place of each value

    @classmethod
    def of(cls, values: Floats) -> Ordered:
        """Sort the numbers; equal ones are one group."""
        order = np.argsort(values, kind="stable")
        new = np.diff(values[order], prepend=values[order[0]]) != 0
        group = np.cumsum(new)
        return cls(order, group, np.flatnonzero(np.append(new[1:], True)))

    def midranks(self, weight: Floats) -> Floats:
        """Return the mean rank [b, n] that equal numbers share, where each counts `weight` [b, n] times."""
        upto = np.cumsum(weight[:, self.order], axis=1)[:, self.ends]
        before = np.concatenate([np.zeros((len(weight), 1)), upto[:, :-1]], axis=1)
        ranks = np.empty_like(weight)
        ranks[:, self.order] = ((upto + before) / 2)[:, self.group]
        return ranks


def spearman(x: Ordered, y: Ordered, weight: Floats | None = None) -> Floats:
    """Return Spearman's correlation for each row of the weights [b, n]: Pearson's of mean ranks."""
    weight = np.ones((1, len(x.order))) if weight is None else weight
    return pearson(x.midranks(weight), y.midranks(weight), weight)


def influence(x: Floats, y: Floats, r: float) -> Floats:
    """Return how much each pair [n] moves Pearson's correlation: (u·v − r·(u² + v²)/2)/n, u and v of sd 1."""
    u, v = _standard(x), _standard(y)
    return np.asarray((u * v - r * (u * u + v * v) / 2) / len(x))


def _sum(weight: Floats, values: Floats) -> Floats:
    """Return Σ weight·value over the last axis, of values [n] or [b, n]."""
    if values.ndim == 1:
        return np.asarray(weight @ values)
    return np.asarray(np.einsum("bn,bn->b", weight, values))


def _standard(values: Floats) -> Floats:
    """Return the values with mean 0 and variance 1 over the last axis; 0 where they do not vary.

    What rounding leaves of a variance, relative to the values' size, counts as none.
    """
    centred = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True))
    size = np.max(np.abs(values), axis=-1, keepdims=True)
    varies = spread > 1e-12 * size
    return np.asarray(np.where(varies, centred / np.where(varies, spread, 1.0), 0.0))
