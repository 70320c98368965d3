"""Power against scipy's noncentral t, against simulation, and against itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nct, t

from xlingual.stats.paired import t_test
from xlingual.stats.paired_queries import Paired
from xlingual.stats.power import Growth, detectable, power, queries_needed


@pytest.mark.parametrize("df", [2, 3.5, 9, 40, 364, 1e5])
@pytest.mark.parametrize("centre", [0, 0.3, 1, 2.8, 6])
@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_power_is_that_of_the_noncentral_t(df, centre, alpha):
    two, one = t.isf(alpha / 2, df), t.isf(alpha, df)
    expected = nct.sf(two, df, centre) + nct.cdf(-two, df, centre)
    assert power(centre * 0.5, 0.25, df, alpha) == pytest.approx(expected, abs=1e-6)
    assert power(centre, 1, df, alpha, two_sided=False) == pytest.approx(nct.sf(one, df, centre), abs=1e-6)


@pytest.mark.slow  # a simulation of fewer runs: test_planned_queries_have_the_planned_power
def test_power_is_what_a_simulation_finds():
    rng = np.random.default_rng(5)
    n, effect, runs = 60, 0.13, 4000
    own = np.arange(n)
    hits = 0
    for _ in range(runs):
        a, b = rng.normal(effect, 0.3, n), rng.normal(0, 0.2, n)
        hits += t_test(Paired(a, b, np.full(n, 1 / n), own))[3] <= 0.05
    expected = power(effect, 0.13 / n, n - 1)
    assert 0.6 < expected < 0.9
    assert abs(hits / runs - expected) < 4 * math.sqrt(expected * (1 - expected) / runs)


def test_planned_queries_have_the_planned_power(full):
    """Plan from one sample with hubs, at a fixed set of targets; then draw larger samples."""
    rng = np.random.default_rng(11)
    targets, n, effect = 150, 400, 0.08

    def sample(size, quality):
        first, second = rng.integers(0, targets, size), rng.integers(0, targets, size)
        a = quality[first] + rng.normal(effect, 0.4, size)
        b = quality[second] + rng.normal(0, 0.4, size)
        own = np.arange(size)
        return Paired(a, b, np.full(size, 1 / size), own, size + first, size + second)

    def qualities():
        return rng.normal(0, 0.15, targets)

    planned = [
        queries_needed(effect, Growth.of(sample(n, qualities()), n)) for _ in range(60 if full else 20)
    ]
    size = int(np.median([count for count in planned if count is not None]))
    found = np.mean([t_test(sample(size, qualities()))[3] <= 0.05 for _ in range(400 if full else 100)])
    assert 0.7 < found < 0.9


@given(st.floats(1e-6, 1), st.floats(1, 1e4), st.floats(0.1, 0.99))
def test_detectable_turns_power_round(variance, df, wanted):
    effect = detectable(variance, df, wanted)
    assert power(effect, variance, df) == pytest.approx(wanted, abs=1e-6)


@given(st.floats(0.005, 0.5), st.integers(10, 2000), st.booleans())
def test_one_query_fewer_is_too_few(effect, n, two_sided):
    growth = Growth(n, 0.2 / n, 0.0, 1 / n)
    needed = queries_needed(effect, growth, two_sided=two_sided)
    assert growth.power(effect, needed, two_sided=two_sided) >= 0.8
    assert needed == 2 or growth.power(effect, needed - 1, two_sided=two_sided) < 0.8


def test_shared_targets_set_a_limit():
    growth = Growth(400, 4e-4, 1e-4, 1 / 400, 1 / 800, 1 / 300)
    limit = growth.detectable()
    assert limit == pytest.approx(detectable(1e-4, 299))
    assert queries_needed(limit * 0.99, growth) is None
    assert queries_needed(limit * 1.05, growth) > 400
    assert growth.detectable(400) > growth.detectable(4000) > limit


def test_sources_that_are_retrieved_elsewhere_do_not_set_a_limit():
    """Items are sources in one direction and targets in the other; no two queries share a target."""
    n = 300
    rng = np.random.default_rng(2)
    luck = rng.normal(size=n)
    own, retrieved = np.tile(np.arange(n), 2), np.concatenate([np.arange(n) + n, np.roll(np.arange(n), 1)])
    a = luck[own] + np.concatenate([rng.normal(size=n), luck[retrieved[n:]]])
    data = Paired(a, rng.normal(size=2 * n), np.full(2 * n, 1 / (2 * n)), own, retrieved, retrieved)
    growth = Growth.of(data, n)
    assert growth.shared == 0
    assert growth.variance(n) == pytest.approx(t_test(data)[1] ** 2)


def test_no_variance_shows_everything():
    assert detectable(0.0, 9) == 0 and power(0.1, 0.0, 9) == 1 and power(0.0, 0.0, 9) == 0
