"""Simulations: a 95 % interval holds the truth in about 95 % of samples.

2000 samples have a Monte Carlo error of 0.5 points, so that 92 to 98 % is six of them; the fast run draws a
quarter of them. Seeds are fixed.
"""

import numpy as np
import pytest

from xlingual.stats import mean_interval, median_interval


@pytest.fixture(scope="module")
def number(full):
    """Give the number of samples."""
    return 2000 if full else 500


def coverage(truth, intervals):
    return np.mean([found.low <= truth <= found.high for found in intervals])


def test_independent_hits_are_covered(number):
    rng = np.random.default_rng(11)
    hits = rng.random((number, 200)) < 0.3
    found = coverage(0.3, [mean_interval(row.astype(float), bounds=(0.0, 1.0)) for row in hits])
    assert 0.94 <= found <= 0.98


def test_rare_hits_are_covered(number):
    rng = np.random.default_rng(12)
    hits = rng.random((number, 60)) < 0.02
    assert coverage(0.02, [mean_interval(row.astype(float), bounds=(0.0, 1.0)) for row in hits]) >= 0.92


def clustered_hits(rng, clusters=40, size=5):
    """Return 0/1 values with mean 0.3 that agree within a cluster far more than between (correlation 2/3)."""
    share = rng.beta(0.15, 0.35, clusters)
    return (rng.random((clusters, size)) < share[:, None]).astype(float).ravel()


def test_clustered_hits_need_their_clusters(number):
    rng = np.random.default_rng(13)
    way = np.repeat(np.arange(40), 5)
    samples = [clustered_hits(rng) for _ in range(number)]
    aware = coverage(0.3, [mean_interval(values, [way], bounds=(0.0, 1.0)) for values in samples])
    blind = coverage(0.3, [mean_interval(values, bounds=(0.0, 1.0)) for values in samples])
    assert 0.92 <= aware <= 0.98
    assert blind < 0.80


def test_two_ways_of_clustering_need_both(number):
    """Queries that share an image and queries that retrieve the same target, at once."""
    rng = np.random.default_rng(14)
    n, images, targets = 240, 60, 40
    both, one, blind = [], [], []
    for _ in range(number // 2):
        a, b = rng.permutation(n) % images, rng.permutation(n) % targets
        values = rng.normal(size=n) + rng.normal(size=images)[a] + rng.normal(size=targets)[b]
        both.append(mean_interval(values, [a, b]))
        one.append(mean_interval(values, [a]))
        blind.append(mean_interval(values))
    assert 0.92 <= coverage(0, both) <= 0.98
    assert coverage(0, one) < 0.88
    assert coverage(0, blind) < coverage(0, one)


@pytest.mark.parametrize("n", [31, 200])
def test_medians_are_covered(n, number):
    rng = np.random.default_rng(15)
    samples = rng.lognormal(1.0, 1.2, (number // 2, n))
    found = coverage(np.exp(1.0), [median_interval(values) for values in samples])
    assert 0.92 <= found <= 0.985


def test_medians_of_ranks_are_covered(number):
    """Ranks are whole numbers with ties; the interval covers their median (3 here) at least so often."""
    rng = np.random.default_rng(16)
    samples = rng.geometric(0.25, (number // 2, 150)).astype(float)
    assert coverage(3, [median_interval(values) for values in samples]) >= 0.92


def test_medians_of_clustered_values_need_their_clusters(number):
    rng = np.random.default_rng(17)
    way = np.repeat(np.arange(50), 4)
    samples = [rng.normal(size=50)[way] * 2 + rng.normal(size=200) for _ in range(number // 2)]
    assert 0.92 <= coverage(0, [median_interval(values, [way]) for values in samples]) <= 0.985
    assert coverage(0, [median_interval(values) for values in samples]) < 0.85
