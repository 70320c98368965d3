"""Intervals against textbook formulas; the variances behind them are in `test_variance.py`."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import binomtest
from scipy.stats import t as student

from xlingual.stats import ResidualPart, interval, mean_interval, median_interval, standard_error
from xlingual.stats.intervals import t_quantile

dyads = SimpleNamespace(**run_path(str(Path(__file__).with_name("dyads.py"))))
UNIT = (0.0, 1.0)


@pytest.mark.parametrize(("hits", "n"), [(1, 8), (30, 100), (99, 100), (200, 400)])
def test_independent_hits_have_wilsons_interval(hits, n):
    values = np.arange(n) < hits
    found = mean_interval(values.astype(float), bounds=UNIT)
    # p(1 − p)/s² · n is n − 1, and the quantile is Student's with as many degrees of freedom
    assert (found.low, found.high) == pytest.approx(dyads.wilson(hits / n, n - 1, student.ppf(0.975, n - 1)))
    textbook = binomtest(hits, n).proportion_ci(method="wilson")
    assert found.low == pytest.approx(textbook.low, abs=2 / n)
    assert found.high == pytest.approx(textbook.high, abs=2 / n)
    assert found.low < textbook.low and found.high > textbook.high - 1e-3 / n
    assert (found.level, found.method) == (0.95, "Wilson, independent queries")


def test_without_bounds_it_is_students():
    values = np.random.default_rng(0).normal(3, 2, 25)
    found = mean_interval(values, level=0.9)
    half = student.ppf(0.95, 24) * values.std(ddof=1) / 5
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half))
    assert found.method == "t, independent queries"


def test_bounds_other_than_the_unit_are_rescaled():
    values = np.random.default_rng(0).uniform(-0.2, 0.9, 40)
    unit = mean_interval((values + 1) / 2, bounds=UNIT)
    found = mean_interval(values, bounds=(-1.0, 1.0))
    assert (found.low, found.high) == pytest.approx((2 * unit.low - 1, 2 * unit.high - 1))


def test_clusters_use_student_with_the_effective_number_of_clusters():
    rng = np.random.default_rng(1)
    sizes = [1, 1, 2, 3, 5, 8]
    codes = np.repeat(np.arange(6), sizes)
    values = rng.normal(size=20)
    found = mean_interval(values, [codes])
    sums = [((values - values.mean()) / 20)[codes == c].sum() for c in range(6)]
    clusters = 20**2 / sum(size**2 for size in sizes)
    error = np.sqrt(clusters / (clusters - 1) * np.square(sums).sum())
    half = student.ppf(0.975, clusters - 1) * error
    assert found.high - found.low == pytest.approx(2 * half)
    assert found.method == "t, 1-way clusters"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(3, 9)), min_size=8, max_size=25), st.booleans())
def test_two_ways_equal_a_loop_over_pairs(queries, bounded):
    values = np.sin(np.arange(len(queries)) * 1.7)
    bounds = (-1.0, 1.0) if bounded else None
    part = dyads.mean_part(values, queries)
    if dyads.variance([part]) > 1e-6:
        found = mean_interval(values, np.array(queries).T, bounds=bounds)
        assert (found.low, found.high) == pytest.approx(dyads.ends(values.mean(), [part], bounds), abs=1e-8)


def test_what_was_counted_twice_is_taken_off_the_variance():
    values = np.random.default_rng(5).normal(size=30)
    part = ResidualPart((values - values.mean()) / 30)
    square = 30 / 29 * float(np.sum(part.residuals**2))
    full, less = (interval(0.0, [part], counted_twice=twice) for twice in (0.0, 0.36 * square))
    assert less.high == pytest.approx(0.8 * full.high)
    interval(0.0, [part], counted_twice=2 * square)  # never below zero


def test_ways_in_which_every_query_is_alone_say_nothing():
    rng = np.random.default_rng(3)
    way = rng.integers(0, 9, 30)
    values = rng.random(30) + rng.normal(size=9)[way]
    alone = -1 - 5 * np.arange(30)  # no name of `way`
    assert mean_interval(values, [alone]) == mean_interval(values)
    clustered, more = mean_interval(values, [way]), mean_interval(values, [way, alone])
    assert (more.low, more.high) == pytest.approx((clustered.low, clustered.high))
    residuals = values - values.mean()
    assert standard_error([ResidualPart(residuals, (alone,))]) == standard_error([ResidualPart(residuals)])


ONE_CLUSTER = [np.zeros(6, dtype=np.int64)]
PAIRS = [np.array([0, 0, 1, 1, 2, 2])]
CANCELLING = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]


@pytest.mark.parametrize("bounds", [None, UNIT, (-1.0, 1.0)])
@pytest.mark.parametrize(
    ("values", "ways"),
    [
        ([1.0] * 6, []),
        ([0.0] * 6, []),
        ([1.0] * 300, []),
        ([0.3] * 6, []),
        ([0.3] * 6, PAIRS),
        ([1.0] * 6, ONE_CLUSTER),
        ([0.0, 1, 1, 0, 1, 1], ONE_CLUSTER),
        ([0.0, 1, 0, 1, 0, 1], PAIRS),  # every cluster has the same mean
        ([0.0, 1, 1, 0], CANCELLING),  # every cluster of both ways has the same mean
        ([1.0], []),
        ([0.5], []),
    ],
)
def test_an_interval_never_has_zero_width(values, ways, bounds):
    values = np.array(values)
    found = mean_interval(values, ways, bounds=bounds)
    assert found.high - found.low > 0.001
    assert found.low <= values.mean() <= found.high
    if bounds is not None:
        assert bounds[0] <= found.low and found.high <= bounds[1]


def test_fewer_clusters_give_wider_intervals_where_nothing_varies():
    widths = []
    for size in (1, 2, 4, 10):
        found = mean_interval(np.ones(40), [np.arange(40) // size], bounds=UNIT)
        widths.append(found.high - found.low)
    assert widths == sorted(widths) and widths[0] < widths[-1] / 2


def test_no_variance_without_bounds_is_the_rule_of_three():
    """With n queries that all agree, a share of 1 − 0.05^(1/n) of others could still disagree."""
    found = interval(0.0, [ResidualPart(np.zeros(60))], span=2.0)
    assert found.high == pytest.approx(2 * (1 - 0.05 ** (1 / 60)))
    assert found.low == -found.high


def test_a_value_at_its_bound_but_for_rounding_is_kept_inside():
    for value in (1 + 1e-15, -1e-15):
        found = interval(value, [ResidualPart(np.zeros(50))], bounds=UNIT)
        assert 0 <= found.low < found.high <= 1


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.booleans())
def test_a_median_lies_in_its_interval(ranks, clustered):
    values = np.array(ranks, dtype=float)
    found = median_interval(values, [np.arange(len(values)) // 3] if clustered else [])
    assert found.low <= np.median(values) <= found.high
    assert values.min() <= found.low and found.high <= values.max()
    assert found.method.startswith("Woodruff")


@pytest.mark.parametrize("offset", [0, 10**12, -7])  # labels that are counted, and others that are sorted
def test_labels_of_any_size_are_the_same_clusters(offset):
    rng = np.random.default_rng(0)
    values, own, found = rng.random(60), rng.integers(0, 20, 60), rng.integers(0, 30, 60)
    plain = mean_interval(values, [own, found], bounds=(0.0, 1.0))
    assert mean_interval(values, [own + offset, found + offset], bounds=(0.0, 1.0)) == plain


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99, 0.9998])
def test_quantiles_of_student_are_those_of_scipy(level):
    freedoms = [1, 2, 2.5, 3, 4.7, 10, 29, 364.2, 999, 1001, 5e3, 1e6, np.inf]
    ours = [t_quantile(level, freedom) for freedom in freedoms]
    np.testing.assert_allclose(ours, stdtrit(freedoms, 0.5 + level / 2), rtol=1e-9)
