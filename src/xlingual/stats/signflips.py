"""Differences in units of their standard error, for many random sign flips of clusters at once.

A *group* of queries (an own cluster, the queries that retrieved one node, those of one own cluster that did)
has two sums: R, its residuals (those of a less those of b), and C, the weights of its queries of a and of b.
Where a replicate flips own clusters by signs f and its difference is δ, the residuals of a group within one
own cluster are f·R − δ/2·C: each system's mean has moved by half of the difference. So the standard error of
a replicate follows from sums and their products, without going back to the queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values, numbered
from xlingual.stats.intervals import small_sample_factor
from xlingual.stats.paired_queries import Paired

_DRAWN = 1 << 16  # signs that are drawn at once
_CACHED = 1 << 18  # numbers of a piece of a block that stays in the processor's cache


class Signs:
    """Random signs [n, size], −1 or 1, block after block, in a room that the next block overwrites.

    They are those of `rng.choice([-1.0, 1.0], (n, size))`, in a seventh of the time: the highest bit of
    each 32-bit number of the stream.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng, self._room = rng, np.empty(0)

    def draw(self, n: int, size: int) -> Floats:
        """Return the signs [n, size] of the next block."""
        if len(self._room) < n * size:
            self._room = np.empty(n * size)
        flat = self._room[: n * size]
        for start in range(0, len(flat), _DRAWN):
            piece = flat[start : start + _DRAWN]
            bits = ~self._rng.integers(0, 1 << 32, len(piece), dtype=np.uint32)
            np.copysign(1.0, bits.view(np.int32), out=piece)
        return flat.reshape(n, size)


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
    fall: Any  # [nodes, clusters] residuals by retrieved node, own nodes first; sparse
    fallen_weight: Floats  # [nodes]
    correction: float  # the small-sample factor of the observed queries

    @classmethod
    def of(cls, data: Paired, *, no_difference: bool) -> FlippedClusters:
        """Sum up paired queries, with residuals about each system's mean, or about the mean of both.

        About the mean of both (`no_difference`), a flip swaps the two systems' answers: what is as likely as
        the observed answers where the systems do not differ.
        """
        owners, own = distinct_values(data.own), numbered(data.own)
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
        own = self.own.squares(signs, difference)
        total = own + np.maximum(self._shared(signs, difference, own), 0)
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
        return self._shared(signs, difference, self.own.squares(signs, difference))

    def _shared(self, signs: Floats, difference: Floats, own: Floats) -> Floats:
        """Return `shared` of replicates with these differences and sums of squares of own clusters [B]."""
        if self.edges is None:
            return np.zeros_like(difference)
        nodes, both = np.empty_like(difference), np.zeros_like(difference)
        for some in _pieces(len(difference), len(self.fallen_weight), least=64):
            part = signs if len(signs[0, some]) == len(difference) else signs[:, some].copy()
            if len(self.opposite[0]):  # they share both nodes: together they are one edge
                one, other = (self.edges.values(place, part, difference[some]) for place in self.opposite)
                np.sum(np.multiply(one, other, out=one), axis=0, out=both[some])
            nodes[some] = self._node_squares(part, difference[some] / 2)
        found: Floats = nodes - self.edges.squares(signs, difference) - 2 * both - own
        return found

    def _node_squares(self, signs: Floats, half: Floats) -> Floats:
        """Return Σ over nodes of (Σ of what hangs on the node)² for each replicate [B].

        `half` [B] are the halves of the differences. Clusters of a node and nodes add up in their order, on
        any machine, however they are divided into pieces.
        """
        total, n = np.zeros(len(half)), len(signs)
        for rows in _pieces(len(self.fallen_weight), len(half), least=64):
            room = np.empty((rows.stop - rows.start + 1, len(half)))
            node = self.fall[rows] @ signs
            moved = np.multiply(self.fallen_weight[rows, None], half, out=room[1:])
            node -= moved
            own = slice(rows.start, min(rows.stop, n))
            if own.start < n:
                flipped = self.own.residual[own, None] * signs[own]
                flipped -= np.multiply(self.own.weight[own, None], half, out=moved[: len(flipped)])
                node[: len(flipped)] += flipped
            np.multiply(node, node, out=room[1:])
            room[0] = total  # the sum so far
            np.add.reduce(room, axis=0, out=total)
        return total


def _pieces(number: int, width: int, *, least: int) -> Iterator[slice]:
    """Yield slices of a number of things of `width` cells each that stay in the cache, or of the least."""
    step = max(_CACHED // max(width, 1), least)
    for start in range(0, number, step):
        yield slice(start, min(start + step, number))


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
    return fall, weight


def _sums(labels: Ints, values: Floats, n: int) -> Floats:
    """Return the sums [n] of values by label."""
    return np.bincount(labels, values, n).astype(np.float64)
