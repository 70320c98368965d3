"""The binomial distribution: chances against exact fractions, quantiles against scipy.stats."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from xlingual.measures.binomial import chances, quantile

# hits, as queries find candidates: n draws of a chance of k/m
SIZES = st.tuples(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 30))


@pytest.mark.parametrize(("n", "m", "k"), [(1, 2, 1), (5, 4, 3), (60, 60, 10), (365, 365, 10), (500, 900, 5)])
def test_chances_are_the_exact_ones(n, m, k):
    p = Fraction(k / m)
    exact = [float(comb(n, hits) * p**hits * (1 - p) ** (n - hits)) for hits in range(min(n, 32))]
    np.testing.assert_allclose(chances(n, k / m)[: len(exact)], exact, rtol=1e-11)


@given(SIZES)
def test_quantiles_are_those_of_scipy_stats(size):
    n, m, k = size
    p = min(k, m) / m
    share = np.append(1 - (np.arange(max(m // 100, 1))[:500] + 0.5) / m, np.linspace(0.001, 0.999, 50))
    np.testing.assert_array_equal(quantile(share, n, p), binom.ppf(share, n, p))


def test_a_share_that_is_met_exactly_is_not_exceeded():
    assert quantile(np.array([0.25, 0.5, 0.75]), 2, 0.5).tolist() == [0, 1, 1]
    assert quantile(np.array([0.25, 0.75]), 1, 0.25).tolist() == [0, 0]
