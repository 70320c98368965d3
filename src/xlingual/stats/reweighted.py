"""Differences in units of their standard error, for many reweightings of clusters at once.

A *group* of queries (an own cluster, the queries that retrieved one node, those of one own cluster that did)
has three sums: R, its residuals (those of a less those of b), and A and B, the weights of its queries of a
and of b. Under new means of the two systems its residuals are R + α·A + β·B, with α and β the same for all
groups. So the variance of any replicate follows from sums of products, without going back to the queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.records import Floats, Ints

if TYPE_CHECKING:
    from xlingual.stats.paired import Paired

_DENSE = 1_000_000  # cells up to which a dense product is faster than a sparse one


@dataclass(frozen=True)
class ReweightedClusters:
    """Sums of the own clusters of paired queries, and how they fall on nodes by way of what was retrieved.

    Columns of three are R, A, B; columns of six their products RR, RA, RB, AA, AB, BB.
    """

    n: int  # own clusters
    means: tuple[float, float]
    totals: Floats  # [n, 3] weight, weight·a, weight·b
    own: Floats  # [n, 3]
    edges: Floats | None  # [n, 6], summed over what was retrieved; None where nothing is
    falls: tuple[Any, Any, Any] | None  # R, A, B: [nodes, n], the n own nodes first; sparse where large
    correction: float  # G/(G − 1) of `intervals.variance`

    @classmethod
    def of(cls, data: Paired) -> ReweightedClusters:
        """Sum up paired queries."""
        owners, own = np.unique(data.own, return_inverse=True)
        n, weight = len(owners), data.weight
        means = float(weight @ data.a), float(weight @ data.b)
        a, b = weight * (data.a - means[0]), weight * (data.b - means[1])
        totals = _summed(own, n, weight, weight * data.a, weight * data.b)
        sums = _summed(own, n, a - b, weight, weight)
        ways = [way for way in (data.own, data.retrieved_a, data.retrieved_b) if way is not None]
        least = min(len(np.unique(way)) for way in ways)
        correction = least / max(least - 1, 1)
        if data.retrieved_a is None or data.retrieved_b is None:
            return cls(n, means, totals, sums, None, None, correction)
        none = np.zeros_like(weight)
        sides = (own, data.retrieved_a, (a, weight, none)), (own, data.retrieved_b, (-b, none, weight))
        return cls(n, means, totals, sums, *_fallen(owners, sides), correction)

    def swapped(self, signs: Floats) -> Floats:
        """Return the studentised differences [B] where the systems swap in clusters of sign −1 [n, B]."""
        difference = signs.T @ (self.totals[:, 1] - self.totals[:, 2])
        gap = (self.means[0] - self.means[1]) / 2
        # without a difference both systems have one mean: residuals are about it, not about each one's own
        return self._studentised(difference, signs, np.abs(signs), -difference / 2, -difference / 2, gap)

    def resampled(self, counts: Floats) -> Floats:
        """Return (difference − observed)/error [B] where clusters are drawn `counts` [n, B] times."""
        weight, a, b = self.totals.T @ counts
        alpha, beta = self.means[0] - a / weight, b / weight - self.means[1]
        return self._studentised(-(alpha + beta), counts, counts, alpha, beta, 0.0, 1 / weight)

    def _studentised(
        self,
        difference: Floats,
        signed: Floats,
        counts: Floats,
        alpha: Floats,
        beta: Floats,
        gap: float,
        scale: Floats | float = 1.0,
    ) -> Floats:
        """Return difference/error; `signed` is ± `counts`, and `gap` moves residuals to a common mean."""
        own = _moved(self.own, gap)
        alone = _quadratic(_products(own), signed, counts, alpha, beta)
        total = alone
        if self.falls is not None and self.edges is not None:
            r, a, b = self.falls
            fall = (r + gap * (a + b)) @ signed + alpha * (a @ counts) + beta * (b @ counts)
            mine = own[:, :1] * signed + alpha * own[:, 1:2] * counts + beta * own[:, 2:] * counts
            # copies of a drawn cluster are clusters of their own: products of two copies do not count
            nodes = np.sum(fall**2, axis=0) + 2 * np.sum(mine * fall[: self.n], axis=0) + alone
            edges = _quadratic(_moved_products(self.edges, gap), signed, counts, alpha, beta)
            total = np.maximum(nodes - edges, alone)
        error = np.sqrt(np.maximum(total, 0) * self.correction) * scale
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = difference / error
        # nothing varies in this replicate: as far off as can be, or not at all
        return np.where(error > 0, ratio, np.where(difference == 0, 0.0, np.copysign(np.inf, difference)))


_Side = tuple[Ints, Ints, tuple[Floats, Floats, Floats]]


def _fallen(owners: Ints, sides: tuple[_Side, _Side]) -> tuple[Floats, tuple[Any, Any, Any]]:
    """Return the products of each (own, retrieved), and the sums as they fall on the retrieved nodes."""
    from scipy.sparse import csr_array

    rows = np.concatenate([side[0] for side in sides])
    columns = np.concatenate([side[1] for side in sides])
    three = [np.concatenate([side[2][i] for side in sides]) for i in range(3)]
    apart = owners[rows] != columns  # a query that hangs on one node twice hangs on it once
    rows, columns, three = rows[apart], columns[apart], [values[apart] for values in three]
    others = np.setdiff1d(columns, owners)
    place = np.searchsorted(owners, columns)
    found = owners[np.minimum(place, len(owners) - 1)] == columns
    columns = np.where(found, place, len(owners) + np.searchsorted(others, columns))
    n, nodes = len(owners), len(owners) + len(others)
    keys, edge = np.unique(rows * nodes + columns, return_inverse=True)
    by_edge = _summed(edge, len(keys), *three)
    row, column = np.divmod(keys, nodes)
    falls = [csr_array((values, (column, row)), shape=(nodes, n)) for values in by_edge.T]
    if nodes * n <= _DENSE:
        falls = [fall.toarray() for fall in falls]
    return _summed(row, n, *_products(by_edge).T), (falls[0], falls[1], falls[2])


def _summed(labels: Ints, n: int, *values: Floats) -> Floats:
    """Return the sums [n, columns] of values by label."""
    return np.stack([np.bincount(labels, column, n) for column in values], axis=1)


def _products(sums: Floats) -> Floats:
    """Return RR, RA, RB, AA, AB, BB of sums [n, 3]."""
    r, a, b = sums.T
    return np.stack([r * r, r * a, r * b, a * a, a * b, b * b], axis=1)


def _moved(sums: Floats, gap: float) -> Floats:
    """Return the sums with residuals about means that are `gap` lower for a and higher for b."""
    moved = sums.copy()
    moved[:, 0] += gap * (sums[:, 1] + sums[:, 2])
    return moved


def _moved_products(products: Floats, gap: float) -> Floats:
    """Return the products of sums whose R is R + gap·(A + B)."""
    rr, ra, rb, aa, ab, bb = products.T
    return np.stack(
        [
            rr + 2 * gap * (ra + rb) + gap**2 * (aa + 2 * ab + bb),
            ra + gap * (aa + ab),
            rb + gap * (ab + bb),
            aa,
            ab,
            bb,
        ],
        axis=1,
    )


def _quadratic(products: Floats, signed: Floats, counts: Floats, alpha: Floats, beta: Floats) -> Floats:
    """Return Σ count·(±R + α·A + β·B)² [B] from products [n, 6]."""
    rr, _, _, aa, ab, bb = products.T @ counts
    _, ra, rb, _, _, _ = products.T @ signed
    squares: Floats = rr + 2 * (alpha * ra + beta * rb) + alpha**2 * aa + 2 * alpha * beta * ab + beta**2 * bb
    return squares
