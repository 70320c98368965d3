"""Tests of all pairs at once: bounds that hold the p of each test by itself, and are close to it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.stats import all_pairs
from xlingual.stats.all_pairs import AllPairs
from xlingual.stats.paired import skewed_t_test, t_test
from xlingual.stats.paired_queries import Paired


def systems(seed, *, count=5, n=120, clusters=40, retrieved=True, near=0.1):
    """Return values, weight, own and retrieved clusters of some systems; two of them are one."""
    rng = np.random.default_rng(seed)
    weight = rng.choice([1.0, 2.0, 3.0], n)
    hard, own = rng.random(n), rng.integers(0, clusters, n)
    values = np.stack(
        [(hard + 0.3 * rng.random(n) < 0.6 + near * i).astype(np.float64) for i in range(count)]
    )
    if rng.random() < 0.5:
        values = values * rng.random(n).round(1)
    usual = rng.integers(0, 2 * clusters, n)  # own clusters and others
    chosen = np.where(rng.random((count, n)) < 0.5, usual, rng.integers(0, 2 * clusters, (count, n)))
    values[-1], chosen[-1] = values[0], chosen[0]
    return values, weight / weight.sum(), own, chosen if retrieved else None


def pair(data, i, j):
    values, weight, own, retrieved = data
    ways = (None, None) if retrieved is None else (retrieved[i], retrieved[j])
    return Paired(values[i], values[j], weight, own, *ways)


@given(st.integers(0, 100_000), st.booleans(), st.sampled_from([3, 40, 120]))
@settings(max_examples=120)
def test_bounds_hold_the_p_of_each_pair(seed, retrieved, clusters):
    data = systems(seed, retrieved=retrieved, clusters=clusters)
    found = AllPairs.of(*data)
    for i in range(5):
        for j in range(5):
            _, error, freedom, p = t_test(pair(data, i, j))
            assert found.low[i, j] <= p <= found.high[i, j]
            assert found.freedom[i, j] == freedom
            if not found.flat[i, j]:
                assert error > 0
                assert found.error[i, j] == pytest.approx(error, rel=1e-9)
                assert found.high[i, j] - found.low[i, j] <= 1e-6
    assert found.flat[0, 4]  # one system twice


@given(st.integers(0, 100_000), st.booleans())
@settings(max_examples=60)
def test_bounds_hold_the_skewed_p_of_each_pair(seed, retrieved):
    data = systems(seed, retrieved=retrieved, near=0.02)
    found, known = AllPairs.of(*data), 0
    for i in range(4):
        for j in range(i + 1, 4):
            ends = found.skewed(i, j)
            if ends is not None:
                known += 1
                assert ends[0] <= skewed_t_test(pair(data, i, j)) <= ends[1]
                assert ends[1] - ends[0] < 1e-5
    assert known


def test_edges_do_not_depend_on_how_many_are_sorted_at_once(monkeypatch):
    data = systems(3)
    whole = AllPairs.of(*data)
    monkeypatch.setattr(all_pairs, "_KEYS", 7)
    monkeypatch.setattr(all_pairs, "_COLUMNS", 5)
    parts = AllPairs.of(*data)
    np.testing.assert_allclose(parts.error, whole.error, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(parts.flat, whole.flat)


def test_one_cluster_leaves_nothing_known():
    values, weight, own, _ = systems(1)
    found = AllPairs.of(values, weight, np.zeros_like(own), None)
    assert found.flat.all()
    assert (found.low == 0).all() and (found.high == 1).all()
