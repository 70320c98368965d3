"""Spearman's correlation against scipy, and its influence against derivatives and resampling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from xlingual.stats import RankedTable, spearman, spearman_influence


def correlation(x, y):
    return spearman(RankedTable.of(np.ravel(x)), RankedTable.of(np.ravel(y)))


def influence(x, y):
    a, b = RankedTable.of(np.ravel(x)), RankedTable.of(np.ravel(y))
    return spearman_influence(a, b, spearman(a, b)).reshape(np.shape(x))


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(-5, 5)), min_size=2, max_size=80))
def test_correlation_equals_scipys_with_any_ties(pairs):
    x, y = np.array(pairs, dtype=float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert correlation(x, y) is None
    else:
        assert correlation(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


def weighted_correlation(x, y, weights):
    """Return the correlation where pair i counts weights[i] times (not only whole times)."""
    w = weights / weights.sum()
    ranks = [((v < v[:, None]) + 0.5 * (v == v[:, None])) @ w - 0.5 for v in (x, y)]
    a, b = ranks
    return (w * a * b).sum() / np.sqrt((w * a * a).sum() * (w * b * b).sum())


@settings(max_examples=15)
@given(st.sampled_from(["plain", "few levels", "half equal"]), st.integers(0, 2**32))
def test_influence_is_the_derivative_by_the_weight_of_a_pair(kind, seed):
    rng = np.random.default_rng(seed)
    n, step = 60, 1e-5
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    if kind == "few levels":
        x, y = np.round(x), np.round(y / 2)
    if kind == "half equal":
        x[rng.permutation(n)[:30]] = 0
    found = influence(x, y)
    for i in range(0, n, 7):
        one = np.arange(n) == i
        up = weighted_correlation(x, y, (1 - step) / n + step * one)
        down = weighted_correlation(x, y, (1 + step) / n - step * one)
        assert found[i] == pytest.approx((up - down) / (2 * step), abs=1e-5)
    assert found.mean() == pytest.approx(0, abs=1e-12)


def test_pairs_that_tie_have_influence_regardless_of_their_order():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 3, 50), rng.integers(0, 4, 50)
    order = rng.permutation(50)
    np.testing.assert_allclose(influence(x[order], y[order]), influence(x, y)[order], atol=1e-12)


def tables(kind, rng, n=30):
    """Return text and picture similarities [n, n] with row and column effects."""
    left, right = rng.normal(size=(n, 4)), rng.normal(size=(n, 4))
    pictures = left @ right.T
    texts = pictures + 2 * rng.normal(size=(n, 3)) @ rng.normal(size=(3, n))
    if kind == "zero rows":
        texts[: n // 3] = 0
    if kind == "rounded":
        texts = np.round(texts)
    return texts, pictures


@pytest.mark.parametrize("kind", ["plain", "zero rows", "rounded"])
def test_row_and_column_sums_give_the_variance_of_resampling_both(kind):
    """Drawing rows and columns anew adds the variance of single pairs once to those of rows and columns."""
    rng = np.random.default_rng(3)
    texts, pictures = tables(kind, rng)
    n = len(texts)
    share = influence(texts, pictures) / texts.size
    linear = sum(part @ part for part in (share.sum(0), share.sum(1), share.ravel()))
    drawn = []
    for _ in range(2000):
        rows, columns = rng.integers(0, n, (2, n))
        chosen = np.ix_(rows, columns)
        drawn.append(correlation(texts[chosen], pictures[chosen]))
    assert linear == pytest.approx(np.var(drawn), rel=0.15)
    one_by_one = (share.ravel() @ share.ravel()) ** 0.5
    assert one_by_one < np.std(drawn) / 2  # pairs taken as independent would be far off
