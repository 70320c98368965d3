"""Intervals of queries that hang on nodes, written out: loops over pairs of queries, and root finding."""

from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.stats import t as student


def weight(one, other):
    """Return how often a pair of queries is counted; a query is the tuple of the nodes it hangs on.

    Once for each node of one that is a node of the other, but once only where both are, in the same roles.
    A query whose two nodes are equal hangs on one.
    """
    nodes, others = (query[:1] if len(set(query)) == 1 else query for query in (one, other))
    shared = sum(a == b for a, b in product(nodes, others))
    return shared - (len(nodes) == 2 and nodes == others)


def by_role(role):
    """Return the weight that counts pairs that share the node of one role alone."""
    return lambda one, other: one[role] == other[role]


def either_way(one, other):
    """Return how often a pair of queries of a difference is counted: shared nodes, both together once."""
    nodes, others = (query[:1] if len(set(query)) == 1 else query for query in (one, other))
    shared = len(set(nodes) & set(others))
    return shared - (shared == 2)


def total(parts, weigh):
    """Return Σ weight · r_i · r_j over all ordered pairs of queries; a part is (residuals, queries)."""
    rows = [row for residuals, queries in parts for row in zip(residuals, queries, strict=True)]
    return sum(weigh(a, b) * r * s for (r, a), (s, b) in product(rows, rows))


def factor(parts):
    """Return G/(G − 1), G the smallest n²/Σ n_g² of any way, at least 2; 0 where there is one cluster."""
    ways = [way for _, queries in parts for way in zip(*queries, strict=True)]
    if min(len(set(way)) for way in ways) == 1:
        return 0.0
    clusters = max(2, min(len(way) ** 2 / sum(way.count(node) ** 2 for node in set(way)) for way in ways))
    return clusters / (clusters - 1)


def variance(parts):
    """Return the variance of an estimate: of its parts' pairs, and no less than one way alone gives."""
    roles = range(len(parts[0][1][0])) if len(parts) == 1 else [0]
    least = [total(parts, by_role(role)) for role in roles]
    whole = total(parts, weight if len(parts) == 1 else either_way)
    return max(whole, *least) * factor(parts)


def effective(parts):
    """Return the smallest n²/Σ n_g² of the ways in which any two queries share a cluster, n without any."""
    counts = []
    for _, queries in parts:
        for way in zip(*queries, strict=True):
            sizes = [way.count(node) for node in set(way)]
            if max(sizes) > 1:
                counts.append(len(way) ** 2 / sum(size**2 for size in sizes))
    return min(counts, default=len(parts[0][0]))


def wilson(p, n, quantile):
    """Return both θ with |p − θ| = quantile · √(θ(1 − θ)/n): what Wilson's interval is."""

    def excess(theta):
        return (p - theta) ** 2 - quantile**2 * theta * (1 - theta) / n

    # θ = p is itself a root where p is 0 or 1: the other one is wanted
    low = 0.0 if p == 0 else brentq(excess, 0, min(p, 1 - 1e-9))
    return low, (1.0 if p == 1 else brentq(excess, max(p, 1e-9), 1))


def ends(estimate, parts, bounds=None, var=None):
    """Return (low, high): Wilson's with the effective number of queries, or without bounds Student's t.

    Where nothing varies, Wilson's is that of the effective number of clusters.
    """
    var = variance(parts) if var is None else var
    quantile = student.ppf(0.975, max(effective(parts) - 1, 1))
    if bounds is None:
        return estimate - quantile * var**0.5, estimate + quantile * var**0.5
    low, width = bounds[0], bounds[1] - bounds[0]
    p = (estimate - low) / width
    varies = var > 1e-24 and 0 < p < 1
    n = p * (1 - p) / (var / width**2) if varies else effective(parts)
    return tuple(low + width * end for end in wilson(p, n, quantile))


def mean_part(values, queries):
    """Return the part of a mean of values: residuals that sum to zero."""
    values = np.asarray(values, dtype=float)
    return ((values - values.mean()) / len(values)).tolist(), queries
