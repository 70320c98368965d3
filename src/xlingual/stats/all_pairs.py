"""The paired t-tests of all pairs of systems at once, each p between two bounds.

A test's standard error is a sum of squares of what two systems differ by on each cluster, (x − y)² = x² + y²
− 2xy: sums of each system alone, and their products, which one matrix product gives for all pairs. Queries
are read once for each system, not once for each pair.

Products round otherwise than `paired.t_test` does, so a p comes as a lower and an upper bound that hold what
`t_test` returns. Bounds are those of float64 summation, |error| ≤ N·u·Σ|addends| (Higham, Accuracy and
Stability of Numerical Algorithms, 2002, section 4.2), times four. Where they do not decide, `t_test` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.stats.intervals import effective_clusters
from xlingual.stats.paired import corrected

_NOTHING = 2e-12  # a standard error that may be one of nothing: twice that of `t_test`
_KEYS = 8_000_000  # edges that are sorted at once
_COLUMNS = 1 << 14  # columns of a matrix product
_CLOSE = 1e-3  # share of a p that bounds of a skewed test may be off; more is no bound


@dataclass(frozen=True)
class AllPairs:
    """Bounds [E, E] of the two-sided p of each pair of E systems, and what they were computed from.

    `flat` [E, E]: pairs in which perhaps nothing varies; their bounds are 0 and 1.
    """

    low: Floats
    high: Floats
    flat: np.ndarray
    far: Floats  # difference over standard error
    error: Floats  # standard errors
    slack: Floats  # what the two above may be off, as a share
    freedom: Floats
    own_sums: Floats  # [E, clusters] residuals by own cluster
    own_size: Floats  # [E] the same of their sizes, summed up as third powers
    rounding: float

    @classmethod
    def of(cls, values: Floats, weight: Floats, own: Ints, retrieved: Ints | None) -> AllPairs:
        """Return the bounds for values [E, n] of n queries.

        `weight` [n] sums to 1; `own` [n] and `retrieved` [E, n] are clusters, numbered from 0 together.
        """
        from scipy.special import stdtr

        rounding = 4 * 4 * values.shape[1] * float(np.finfo(np.float64).eps)
        sums = _Sums.of(values, weight, own, retrieved)
        freedom, factor = _clusters(weight, own, retrieved, len(values))
        least, off = sums.by_owner.of_differences(), rounding * sums.by_owner.most()
        squares = least
        if sums.by_node is not None and sums.by_edge is not None:
            squares = sums.by_node.of_differences() - sums.by_edge.of_differences()
            off_both = rounding * (sums.by_node.most() + sums.by_edge.most())
            squares, off = np.maximum(squares, least), np.maximum(off, off_both)
        error = np.sqrt(np.maximum(squares, 0) * factor)
        with np.errstate(divide="ignore", invalid="ignore"):
            slack = np.where(squares > 0, off / squares, np.inf)
            flat = ~(np.sqrt(np.maximum(squares - off, 0) * factor) > _NOTHING) | ~(slack < 0.5)
            apart = np.abs(sums.means[:, None] - sums.means)
            off_mean = rounding * (sums.sizes[:, None] + sums.sizes)
            nearest = np.maximum(apart - off_mean, 0) / (error * (1 + slack))
            farthest = (apart + off_mean) / (error * (1 - slack))
            low = 2 * stdtr(freedom, -farthest) * (1 - 1e-9)
            high = np.minimum(2 * stdtr(freedom, -nearest) * (1 + 1e-9), 1.0)
            far = (sums.means[:, None] - sums.means) / error
            slack = slack + np.where(apart > 0, off_mean / apart, np.inf)
        low, high = np.where(flat, 0.0, low), np.where(flat, 1.0, high)
        own_sums, own_size = sums.own_sums, sums.own_size
        return cls(low, high, flat, far, error, slack, freedom, own_sums, own_size, rounding)

    def skewed(self, a: int, b: int) -> tuple[float, float] | None:
        """Return bounds of `paired.skewed_t_test` of two systems; None where none are close enough."""
        from scipy.special import stdtr

        far, freedom = float(self.far[a, b]), float(self.freedom[a, b])
        if self.flat[a, b] or not np.isfinite(far) or not self.slack[a, b] < _CLOSE:
            return None
        sums = self.own_sums[a] - self.own_sums[b]
        scale = float(self.error[a, b]) ** 3
        skewness = float(np.sum(sums**3)) / scale
        most = float(self.own_size[a] ** (1 / 3) + self.own_size[b] ** (1 / 3)) ** 3
        off = 3 * self.rounding * most / scale + 3 * float(self.slack[a, b]) * abs(skewness)
        if abs(skewness) < 1e-9:  # so near to none, the correction is rounding alone
            return None
        sides = (stdtr(freedom, -corrected(far, skewness)), stdtr(freedom, -corrected(-far, -skewness)))
        p = max(float(2 * stdtr(freedom, -abs(far))), min(2 * float(min(sides)), 1.0))
        # how a p follows its t: d ln p ≈ −t·dt; the correction adds t² times what the skewness is off
        share = (1 + abs(far)) ** 2 * float(self.slack[a, b]) + (1 + abs(far)) ** 3 * off
        share = 10 * (share + (1 + abs(far)) * 1e-15 / abs(skewness)) + 1e-9
        return (p * (1 - share), min(p * (1 + share), 1.0)) if share < _CLOSE else None


@dataclass(frozen=True)
class _Products:
    """Products [E, E] of sums of residuals, and the squares [E] of sums of their sizes."""

    products: Floats
    sizes: Floats

    def of_differences(self) -> Floats:
        """Return Σ(x − y)² for each pair of systems."""
        own = np.diagonal(self.products)
        found: Floats = own[:, None] + own - 2 * self.products
        return found

    def most(self) -> Floats:
        """Return what no Σ(|x| + |y|)² exceeds, for each pair of systems."""
        roots = np.sqrt(self.sizes)
        found: Floats = (roots[:, None] + roots) ** 2
        return found


@dataclass(frozen=True)
class _Sums:
    """Of each system its mean, and residuals by own cluster, by node, and by edge (see `intervals`)."""

    means: Floats  # [E]
    sizes: Floats  # [E] means of the sizes of values
    own_sums: Floats  # [E, clusters]
    own_size: Floats  # [E]
    by_owner: _Products
    by_node: _Products | None
    by_edge: _Products | None

    @classmethod
    def of(cls, values: Floats, weight: Floats, own: Ints, retrieved: Ints | None) -> _Sums:
        count, n = len(values), int(own.max()) + 1
        means = np.array([float(weight @ row) for row in values])
        sizes = np.array([float(weight @ np.abs(row)) for row in values])
        owners = np.flatnonzero(np.bincount(own, minlength=n))
        own_sums, own_size, squares = np.empty((count, len(owners))), np.empty(count), np.empty(count)
        nodes = n if retrieved is None else max(n, int(retrieved.max()) + 1)
        node_sums, node_squares = np.empty((0 if retrieved is None else count, nodes)), np.empty(count)
        for place, row in enumerate(values):
            residuals = weight * (row - means[place])
            by_owner = np.bincount(own, residuals, nodes)
            size_by_owner = np.bincount(own, np.abs(residuals), nodes)
            own_sums[place] = by_owner[owners]
            squares[place], own_size[place] = size_by_owner @ size_by_owner, np.sum(size_by_owner**3)
            if retrieved is not None:
                apart = retrieved[place] != own
                node, one = retrieved[place][apart], residuals[apart]
                np.add(by_owner, np.bincount(node, one, nodes), out=node_sums[place])
                size = size_by_owner + np.bincount(node, np.abs(one), nodes)
                node_squares[place] = size @ size
        found = _Products(_products(own_sums), squares)
        if retrieved is None:
            return cls(means, sizes, own_sums, own_size, found, None, None)
        by_node = _Products(_products(node_sums), node_squares)
        edges = _edge_products(values, means, weight, own, retrieved, nodes)
        by_edge = _Products(edges, 2 * squares)  # an edge is a part of two own clusters at most
        return cls(means, sizes, own_sums, own_size, found, by_node, by_edge)


def _products(rows: Floats) -> Floats:
    """Return rows·rowsᵀ [E, E] of rows [E, n]."""
    found: Floats = rows @ rows.T
    return found


def _edge_products(
    values: Floats, means: Floats, weight: Floats, own: Ints, retrieved: Ints, nodes: int
) -> Floats:
    """Return the products of sums by edge: of a query's cluster and that of what it retrieved."""
    count = len(values)
    products = np.zeros((count, count))
    for first, last in _ranges(own, retrieved, nodes):
        keys, residuals, systems = [], [], []
        for place, row in enumerate(values):
            low, high = np.minimum(own, retrieved[place]), np.maximum(own, retrieved[place])
            chosen = np.flatnonzero((low >= first) & (low < last) & (low != high))
            keys.append(low[chosen] * nodes + high[chosen])
            residuals.append(weight[chosen] * (row[chosen] - means[place]))
            systems.append(np.full(len(chosen), place))
        key, residual, system = (np.concatenate(each) for each in (keys, residuals, systems))
        order = np.argsort(key)
        key, residual, system = key[order], residual[order], system[order]
        edge = np.cumsum(np.append(False, key[1:] != key[:-1])) if len(key) else key
        times = np.bincount(edge)
        alone = times[edge] == 1  # of one query of one system: it adds to that system's squares alone
        products[np.diag_indices(count)] += np.bincount(system[alone], residual[alone] ** 2, count)
        number = np.cumsum(times > 1) - 1
        products += _products_by(number[edge[~alone]], residual[~alone], system[~alone], count)
    return products


def _products_by(edge: Ints, residual: Floats, system: Ints, count: int) -> Floats:
    """Return the products [count, count] of sums by edge (ascending) and system."""
    products = np.zeros((count, count))
    for start in range(0, int(edge[-1]) + 1 if len(edge) else 0, _COLUMNS):
        begin, end = np.searchsorted(edge, [start, start + _COLUMNS])
        cell = system[begin:end] * _COLUMNS + edge[begin:end] - start
        sums = np.bincount(cell, residual[begin:end], count * _COLUMNS)
        rows = np.asarray(sums, dtype=np.float64)
        products += _products(rows.reshape(count, _COLUMNS))
    return products


def _ranges(own: Ints, retrieved: Ints, nodes: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of nodes that are the lower end of so many edges as can be sorted at once."""
    count = np.zeros(nodes, dtype=np.int64)
    for row in retrieved:
        count += np.bincount(np.minimum(own, row), minlength=nodes)
    part = (np.cumsum(count) - 1) // _KEYS
    starts = np.flatnonzero(np.append(True, part[1:] != part[:-1])).tolist()
    yield from zip(starts, [*starts[1:], nodes], strict=True)


def _clusters(weight: Floats, own: Ints, retrieved: Ints | None, count: int) -> tuple[Floats, Floats]:
    """Return for each pair of systems the degrees of freedom and the small-sample factor, [E, E].

    They are those of `t_test` to the last digit. The factor is 0 where a way has one cluster.
    """
    of_own = effective_clusters(own, weight)
    ways = [of_own] * count if retrieved is None else [effective_clusters(row, weight) for row in retrieved]
    alone = [np.ptp(own) == 0] * count if retrieved is None else [np.ptp(row) == 0 for row in retrieved]
    one = np.array(alone) | (np.ptp(own) == 0)
    least = np.minimum(np.minimum.outer(np.array(ways), np.array(ways)), of_own)
    clusters = np.maximum(least, 2.0)
    factor = np.where(one[:, None] | one, 0.0, clusters / (clusters - 1))
    return np.maximum(least - 1, 1.0), factor
