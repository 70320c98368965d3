"""Spearman's correlation against scipy, and its influence against derivatives and resampling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from xlingual.stats import RankedTable, influence_sums, spearman, spearman_influence
from xlingual.stats import correlation as correlation_module


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
    """Return text and image similarities [n, n] with row and column effects."""
    left, right = rng.normal(size=(n, 4)), rng.normal(size=(n, 4))
    images = left @ right.T
    texts = images + 2 * rng.normal(size=(n, 3)) @ rng.normal(size=(3, n))
    if kind == "zero rows":
        texts[: n // 3] = 0
    if kind == "rounded":
        texts = np.round(texts)
    return texts, images


@pytest.mark.parametrize("kind", ["plain", "zero rows", "rounded"])
@pytest.mark.cases(1)
def test_row_and_column_sums_give_the_variance_of_resampling_both(kind, full):
    """Drawing rows and columns anew adds the variance of single pairs once to those of rows and columns."""
    rng = np.random.default_rng(3)
    texts, images = tables(kind, rng)
    n = len(texts)
    share = influence(texts, images) / texts.size
    linear = sum(part @ part for part in (share.sum(0), share.sum(1), share.ravel()))
    drawn = []
    for _ in range(2000 if full else 700):
        rows, columns = rng.integers(0, n, (2, n))
        chosen = np.ix_(rows, columns)
        drawn.append(correlation(texts[chosen], images[chosen]))
    assert linear == pytest.approx(np.var(drawn), rel=0.15 if full else 0.2)
    one_by_one = (share.ravel() @ share.ravel()) ** 0.5
    assert one_by_one < np.std(drawn) / 2  # pairs taken as independent would be far off


@pytest.mark.parametrize("kind", ["plain", "ties", "wide", "whole", "signed zero", "one", "equal"])
def test_midranks_equal_scipys_however_they_are_sorted(kind):
    """Scores of 9 decimals are sorted as packed whole numbers, others by position."""
    rng = np.random.default_rng(7)
    scores = {
        "plain": np.round(rng.uniform(-1, 1, 200_000), 9),
        "ties": np.round(rng.uniform(-1, 1, 200_000), 4),  # runs of ties across blocks
        "wide": rng.standard_normal(3000) * 1e300,
        "whole": rng.integers(-(2**62), 2**62, 3000),
        "signed zero": np.array([0.0, -0.0, 1e-9, -1e-9, 0.5]),
        "one": np.array([0.25]),
        "equal": np.full(70_000, 0.1),
    }[kind]
    table = RankedTable.of(scores)
    np.testing.assert_array_equal(table.twice, 2 * rankdata(scores) - 1)
    assert table.is_constant == (len(np.unique(scores)) == 1)


@settings(max_examples=150)
@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from([1, 3, 8, 1 << 16]),
    st.sampled_from(["few", "about zero", "ends", "any"]),
    st.integers(0, 2**32),
)
def test_ranks_of_a_part_of_a_table_equal_scipys(n_rows, n_columns, block, kind, seed):
    """Also where runs of ties cross blocks and keys change their sign; what the room held does not matter."""
    rng = np.random.default_rng(seed)
    low, high = {"few": (0, 3), "about zero": (-2, 2), "ends": (-(2**31), 2**31), "any": (-(10**9), 10**9)}[
        kind
    ]
    keys = rng.integers(low, high, (12, 11), dtype=np.int64)
    if kind == "ends":
        keys = np.where(rng.random(keys.shape) < 0.5, rng.choice([low, high - 1], keys.shape), keys)
    rows, columns = rng.integers(0, 12, n_rows), rng.integers(0, 11, n_columns)
    scores = keys[np.ix_(rows, columns)].ravel()
    room = rng.integers(-(2**62), 2**62, 100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(correlation_module, "_BLOCK", block)
        found = [
            RankedTable.within(keys.astype(np.int32), rows, columns, room),
            RankedTable.of(scores),
            RankedTable.of(scores * 1e290),  # by position
        ]
    for table in found:
        assert (table.twice == 2 * rankdata(scores) - 1).all()


def test_ranks_of_a_large_part_equal_scipys():
    """Eight blocks, one of them not full, with runs of ties in them and across them."""
    rng = np.random.default_rng(11)
    keys = np.rint(rng.standard_normal((900, 800)) * 2e4).astype(np.int32)
    rows, columns = np.sort(rng.permutation(900)[:701]), rng.permutation(800)[:703]
    table = RankedTable.within(keys, rows, columns, np.empty(701 * 703, dtype=np.int64))
    scores = keys[rows][:, columns].ravel()
    assert len(np.unique(scores)) < len(scores)
    assert (table.twice == 2 * rankdata(scores) - 1).all()


def test_sums_of_influence_are_those_of_its_pairs():
    rng = np.random.default_rng(8)
    x = np.round(rng.standard_normal((400, 450)), 2)
    y = np.round(x + rng.standard_normal(x.shape), 9)
    a, b = RankedTable.of(x.ravel()), RankedTable.of(y.ravel())
    rho = spearman(a, b)
    rows, columns, squares = influence_sums(a, b, rho, x.shape)
    pairs = spearman_influence(a, b, rho).reshape(x.shape)
    np.testing.assert_allclose(rows, pairs.sum(axis=1), atol=1e-7)
    np.testing.assert_allclose(columns, pairs.sum(axis=0), atol=1e-7)
    assert squares == pytest.approx((pairs**2).sum())


def test_many_pairs_share_places_and_their_influence_hardly_changes(monkeypatch):
    rng = np.random.default_rng(9)
    x = rng.standard_normal(200_000)
    y = x + rng.standard_normal(x.shape)
    coarse = influence(x, y)
    monkeypatch.setattr(correlation_module, "_PLACES", 1 << 30)
    np.testing.assert_allclose(coarse, influence(x, y), atol=1e-4)
