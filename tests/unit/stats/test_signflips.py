"""Sign flips in pieces: their draws are those of `choice`, their sums those of whole float64 matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.stats import signflips
from xlingual.stats.paired_queries import Paired
from xlingual.stats.signflips import FlippedClusters, Signs


def paired(seed, n=80, clusters=25, targets=25, *, retrieved=True):
    """Return paired queries; some retrieve their own cluster, some one another's."""
    rng = np.random.default_rng(seed)
    weight = rng.choice([1.0, 2.0], n)
    ways = [rng.integers(0, targets, n) for _ in range(2)] if retrieved else [None, None]
    values = [(rng.random(n) < 0.5) * 1.0, rng.random(n)]
    return Paired(*values, weight / weight.sum(), rng.integers(0, clusters, n), *ways)


def plain(data, signs, *, no_difference):
    """Return what `studentised` returns, from dense matrices of whole blocks."""
    known = FlippedClusters.of(data, no_difference=no_difference)
    owners, own = np.unique(data.own, return_inverse=True)
    means = [data.weight @ data.a, data.weight @ data.b]
    if no_difference:
        means = [sum(means) / 2] * 2
    sides = [data.weight * (data.a - means[0]), -data.weight * (data.b - means[1])]
    member = np.eye(len(owners))[:, own]  # [clusters, n]
    residual, weight = member @ (sides[0] + sides[1]), member @ (2 * data.weight)
    delta = residual @ signs

    def moved(sums, weights):
        return sums - np.outer(weights, delta / 2)

    of_own = moved(residual[:, None] * signs, weight)
    total, own_squares = 0.0, np.sum(of_own**2, axis=0)
    if data.retrieved_a is not None:
        place = {owner: number for number, owner in enumerate(owners)}
        nodes, edges = {}, {}
        for retrieved, side in zip((data.retrieved_a, data.retrieved_b), sides, strict=True):
            for query, node in enumerate(retrieved):
                if node != data.own[query]:
                    one = side[query] * signs[own[query]] - data.weight[query] * delta / 2
                    nodes[node] = nodes.get(node, 0.0) + one
                    ends = tuple(sorted((data.own[query], node)))  # an edge is one whichever way it is gone
                    edges[ends] = edges.get(ends, 0.0) + one
        for owner, number in place.items():
            nodes[owner] = nodes.get(owner, 0.0) + of_own[number]
        total = sum(one**2 for one in nodes.values()) - sum(one**2 for one in edges.values()) - own_squares
    return delta / np.sqrt(np.maximum(own_squares + np.maximum(total, 0), 0) * known.correction)


@given(st.integers(0, 10_000), st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=4))
@settings(max_examples=50)
def test_signs_are_those_of_choice(seed, blocks):
    drawn, rng = Signs(np.random.default_rng(seed)), np.random.default_rng(seed)
    for n, size in [*blocks, (3, signflips._DRAWN)]:
        np.testing.assert_array_equal(drawn.draw(n, size), rng.choice([-1.0, 1.0], (n, size)))


@given(st.integers(0, 10_000), st.booleans(), st.booleans())
@settings(max_examples=40)
def test_replicates_are_those_of_dense_sums(seed, retrieved, no_difference):
    data = paired(seed, retrieved=retrieved)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (len(np.unique(data.own)), 7))
    found = FlippedClusters.of(data, no_difference=no_difference).studentised(signs)
    np.testing.assert_allclose(found, plain(data, signs, no_difference=no_difference), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("no_difference", [False, True])
def test_a_replicate_does_not_depend_on_the_pieces_of_its_block(no_difference, monkeypatch):
    data = paired(1, n=500, clusters=150, targets=200)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(np.unique(data.own)), 300))
    flipped, before = FlippedClusters.of(data, no_difference=no_difference), signs.copy()
    whole = flipped.studentised(signs)
    monkeypatch.setattr(signflips, "_CACHED", 1)  # pieces of 64 replicates and of 64 nodes
    np.testing.assert_array_equal(flipped.studentised(signs), whole)
    np.testing.assert_array_equal(signs, before)  # pieces are copies
