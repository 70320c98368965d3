"""Simultaneous intervals: equal to Student's for one mean, and right for several in simulations."""

import numpy as np
import pytest

from xlingual.stats.intervals import mean_interval
from xlingual.stats.simultaneous import Several, max_t


def test_one_mean_has_about_its_own_interval():
    values = np.random.default_rng(0).normal(size=400)
    clusters = np.arange(400)
    (found,) = max_t(Several([values], [clusters]), np.random.default_rng(1))
    own = mean_interval(values, (clusters,))
    assert found.low == pytest.approx(own.low, abs=0.006)
    assert found.high == pytest.approx(own.high, abs=0.006)


def test_equal_sets_cost_nothing_and_independent_ones_as_bonferroni():
    rng = np.random.default_rng(0)
    values, clusters = rng.normal(size=300), np.arange(300)
    one = max_t(Several([values], [clusters]), np.random.default_rng(1))[0]
    same = max_t(Several([values] * 8, [clusters] * 8), np.random.default_rng(1))[0]
    assert same.high - same.low == pytest.approx(one.high - one.low, rel=0.03)
    apart = [rng.normal(size=300) for _ in range(8)]
    wide = max_t(Several(apart, [clusters + 1000 * i for i in range(8)]), np.random.default_rng(1))
    bonferroni = [mean_interval(own, (clusters,), level=1 - 0.05 / 8) for own in apart]
    for mine, other in zip(wide, bonferroni, strict=True):
        assert mine.high - mine.low == pytest.approx(other.high - other.low, rel=0.05)


def test_sets_without_variance_have_an_interval():
    clusters = np.arange(50)
    found = max_t(
        Several([np.zeros(50), np.random.default_rng(0).normal(size=50)], [clusters, clusters]),
        np.random.default_rng(0),
    )
    assert found[0].low < 0 < found[0].high
    (alone,) = max_t(Several([np.zeros(50)], [clusters]), np.random.default_rng(0))
    assert alone.low < 0 < alone.high


@pytest.mark.parametrize(("n_clusters", "size", "skew"), [(40, 5, False), (60, 3, True)])
def test_all_means_are_covered_together(n_clusters, size, skew):
    rng, runs, missed = np.random.default_rng(0), 400, 0
    for _ in range(runs):
        shared = rng.normal(size=(n_clusters, 1))
        noise = rng.normal(size=(n_clusters, 6 * size))
        values = (shared + noise) if not skew else (np.exp((shared + noise) / 3) - np.exp(1 / 9))
        clusters = np.repeat(np.arange(n_clusters), size)
        sets = [values[:, size * i : size * (i + 1)].ravel() for i in range(6)]
        found = max_t(Several(sets, [clusters] * 6), rng, draws=499)
        missed += any(not each.low <= 0 <= each.high for each in found)
    assert missed / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
