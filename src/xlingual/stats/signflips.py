"""Differences in units of their standard error, for many random sign flips of clusters at once.

A *group* of queries (an own cluster, the queries that retrieved one node, those of one own cluster that did)
has two sums: R, its residuals (those of a less those of b), and C, the weights of its queries of a and of b.
Where a replicate flips own clusters by signs f and its difference is δ, the residuals of a group within one
own cluster are f·R − δ/2·C: each system's mean has moved by half of the difference. So the standard error of
a replicate follows from sums and their products, without going back to the queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.stats.intervals import small_sample_factor
from xlingual.stats.paired_queries import Paired

_DENSE = 1_000_000  # cells up to which a dense product is faster than a sparse one


@dataclass(frozen=True)
class Sums:
    """R and C of some groups; `cluster` is the own cluster of each."""

    residual: Floats
    weight: Floats
    cluster: Ints

    def values(self, place: Ints, signs: Floats, difference: Floats) -> Floats:
        """Return f·R − δ/2·C of the groups at `place`, [groups, B]."""
        moved = np.outer(self.weight[place], difference / 2)
        found: Floats = self.residual[place, None] * signs[self.cluster[place]] - moved
        return found

    def squares(self, signs: Floats, difference: Floats) -> Floats:
        """Return Σ over groups of (f·R − δ/2·C)² for each replicate [B]."""
        cross = _sums(self.cluster, self.residual * self.weight, len(signs)) @ signs
        constant, weights = self.residual @ self.residual, self.weight @ self.weight
        found: Floats = constant - difference * cross + difference**2 / 4 * weights
        return found


@dataclass(frozen=True)
class FlippedClusters:
    """Sums of the own clusters of paired queries, and how they fall on nodes by way of what was retrieved."""

    own: Sums
    edges: Sums | None  # of each (own cluster, retrieved node); None where nothing is retrieved
    opposite: tuple[Ints, Ints]  # edges (i, j) where one retrieved the other's own cluster, and the reverse
    fall: Any  # [nodes, clusters] residuals by retrieved node, own nodes first; sparse where large
    fallen_weight: Floats  # [nodes]
    correction: float  # the small-sample factor of the observed queries

    @classmethod
    def of(cls, data: Paired, *, no_difference: bool) -> FlippedClusters:
        """Sum up paired queries, with residuals about each system's mean, or about the mean of both.

        About the mean of both (`no_difference`), a flip swaps the two systems' answers: what is as likely as
        the observed answers where the systems do not differ.
        """
        owners, own = np.unique(data.own, return_inverse=True)
        mean_a, mean_b = float(data.weight @ data.a), float(data.weight @ data.b)
        if no_difference:
            mean_a = mean_b = (mean_a + mean_b) / 2
        a, b = data.weight * (data.a - mean_a), -data.weight * (data.b - mean_b)
        n = len(owners)
        residual, weight = _sums(own, a + b, n), _sums(own, 2 * data.weight, n)
        sums = Sums(residual, weight, np.arange(n))
        ways = [way for way in (data.own, data.retrieved_a, data.retrieved_b) if way is not None]
        correction = small_sample_factor([(way, data.weight) for way in ways])
        if data.retrieved_a is None or data.retrieved_b is None:
            nothing = np.empty(0, dtype=np.int64)
            return cls(sums, None, (nothing, nothing), None, np.empty(0), correction)
        retrieved = np.concatenate([data.retrieved_a, data.retrieved_b])
        doubled = np.concatenate([own, own])
        edges, nodes = _edges(owners, doubled, retrieved, np.concatenate([a, b]), np.tile(data.weight, 2))
        fall, fallen = _fall(edges, nodes, n)
        return cls(sums, edges, _opposite(edges, nodes), fall, fallen, correction)

    def studentised(self, signs: Floats) -> Floats:
        """Return difference/error [B] of replicates whose clusters have these signs [clusters, B]."""
        difference = self.own.residual @ signs
        total = self.own.squares(signs, difference) + np.maximum(self.shared(signs), 0)
        error = np.sqrt(np.maximum(total, 0) * self.correction)  # rounding may leave less than nothing
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = difference / error
        # nothing varies in this replicate: as far off as can be, or not at all
        return np.where(error > 0, ratio, np.where(difference == 0, 0.0, np.copysign(np.inf, difference)))

    def shared(self, signs: Floats) -> Floats:
        """Return what nodes that queries share add to the sum of squares of own clusters, by replicate [B].

        Where a flip has broken what shared targets have in common, it is noise about zero.
        """
        difference = self.own.residual @ signs
        if self.edges is None:
            return np.zeros_like(difference)
        n = len(self.own.residual)
        node = self.fall @ signs - np.outer(self.fallen_weight, difference / 2)
        node[:n] += self.own.residual[:, None] * signs - np.outer(self.own.weight, difference / 2)
        total = np.sum(node**2, axis=0) - self.edges.squares(signs, difference)
        one, other = (self.edges.values(place, signs, difference) for place in self.opposite)
        total -= 2 * np.sum(one * other, axis=0)  # they share both nodes: together they are one edge
        found: Floats = total - self.own.squares(signs, difference)
        return found


def _edges(owners: Ints, own: Ints, retrieved: Ints, residual: Floats, weight: Floats) -> tuple[Sums, Ints]:
    """Return the sums of each (own cluster, retrieved node), and the node of each, own nodes first."""
    apart = owners[own] != retrieved  # a query that hangs on one node twice hangs on it once
    own, retrieved, residual, weight = own[apart], retrieved[apart], residual[apart], weight[apart]
    others = np.setdiff1d(retrieved, owners)
    place = np.minimum(np.searchsorted(owners, retrieved), len(owners) - 1)
    node = np.where(owners[place] == retrieved, place, len(owners) + np.searchsorted(others, retrieved))
    width = len(owners) + len(others)
    keys, edge = np.unique(own * width + node, return_inverse=True)
    cluster, nodes = np.divmod(keys, width)
    residuals: Floats = _sums(edge, residual, len(keys))
    weights: Floats = _sums(edge, weight, len(keys))
    return Sums(residuals, weights, cluster), nodes


def _opposite(edges: Sums, nodes: Ints) -> tuple[Ints, Ints]:
    """Return pairs of edges that join the same two clusters in opposite roles, each pair once."""
    width = int(max(edges.cluster.max(initial=0), nodes.max(initial=0))) + 1
    forward = edges.cluster * width + nodes  # ascending
    back = nodes * width + edges.cluster
    place = np.minimum(np.searchsorted(forward, back), max(len(forward) - 1, 0))
    first = np.flatnonzero((forward[place] == back) & (edges.cluster < nodes)) if len(forward) else place
    return first, place[first]


def _fall(edges: Sums, nodes: Ints, n: int) -> tuple[Any, Floats]:
    """Return residuals [nodes, n] and weights [nodes] by retrieved node."""
    from scipy.sparse import csr_array

    height = max(n, int(nodes.max(initial=0)) + 1)
    fall = csr_array((edges.residual, (nodes, edges.cluster)), shape=(height, n))
    weight: Floats = _sums(nodes, edges.weight, height)
    return (fall.toarray() if height * n <= _DENSE else fall), weight


def _sums(labels: Ints, values: Floats, n: int) -> Floats:
    """Return the sums [n] of values by label."""
    return np.bincount(labels, values, n).astype(np.float64)
