"""Intervals against textbook formulas and plain loops over pairs of queries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binomtest
from scipy.stats import t as student

from xlingual.stats import interval, mean_interval, median_interval, multiway_variance, standard_error

UNIT = (0.0, 1.0)


def wilson(p, n, quantile):
    """Return both θ with |p − θ| = quantile · √(θ(1 − θ)/n): what Wilson's interval is."""

    def excess(theta):
        return (p - theta) ** 2 - quantile**2 * theta * (1 - theta) / n

    low = 0.0 if p == 0 else brentq(excess, 0, p)
    return low, (1.0 if p == 1 else brentq(excess, p, 1))


@pytest.mark.parametrize(("hits", "n"), [(1, 8), (30, 100), (99, 100), (200, 400)])
def test_independent_hits_have_wilsons_interval(hits, n):
    values = np.arange(n) < hits
    found = mean_interval(values.astype(float), bounds=UNIT)
    # p(1 − p)/s² · n is n − 1, and the quantile is Student's with as many degrees of freedom
    assert (found.low, found.high) == pytest.approx(wilson(hits / n, n - 1, student.ppf(0.975, n - 1)))
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
    freedom = 20**2 / sum(size**2 for size in sizes) - 1
    half = student.ppf(0.975, freedom) * np.sqrt(pair_loop((values - values.mean()) / 20, [codes]))
    assert found.high - found.low == pytest.approx(2 * half)
    assert found.method == "t, 1-way clusters"


def pair_loop(residuals, ways):
    """Return Σ r_i r_j over pairs that share a cluster of every way, times G/(G − 1)."""
    total = 0.0
    for i, a in enumerate(residuals):
        for j, b in enumerate(residuals):
            total += a * b * all(way[i] == way[j] for way in ways)
    groups = len(set(zip(*(way.tolist() for way in ways), strict=True)))
    return total * groups / (groups - 1)


codes_ = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.floats(-1, 1)), min_size=3, max_size=25)


@given(codes_)
def test_one_way_variance_equals_a_loop_over_pairs(rows):
    way = np.array([row[0] for row in rows])
    residuals = np.array([row[2] for row in rows])
    if len(set(way.tolist())) > 1:
        assert multiway_variance(residuals, [way]) == pytest.approx(pair_loop(residuals, [way]), abs=1e-12)


@given(codes_)
def test_two_way_variance_equals_inclusion_and_exclusion_over_pairs(rows):
    a, b = (np.array([row[i] for row in rows]) * 7 - 3 for i in (0, 1))
    residuals = np.array([row[2] for row in rows])
    if min(len(set(a.tolist())), len(set(b.tolist()))) < 2:
        return
    one, two = pair_loop(residuals, [a]), pair_loop(residuals, [b])
    total = one + two - pair_loop(residuals, [a, b])
    if abs(total) < 1e-9:
        return
    wanted = total if total > 0 else max(one, two)
    assert multiway_variance(residuals, [a, b]) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_two_way_variance_is_the_sum_over_pairs_that_share_any_cluster():
    """Where clusters are many, the factors G/(G − 1) go to one and this is what remains."""
    rng = np.random.default_rng(2)
    n = 600
    a, b = rng.integers(0, 300, n), rng.integers(0, 250, n)
    residuals = rng.normal(size=n) + rng.normal(size=300)[a] + rng.normal(size=250)[b]
    share = (a[:, None] == a) | (b[:, None] == b)
    plain = residuals @ share @ residuals
    assert multiway_variance(residuals, [a, b]) == pytest.approx(plain, rel=0.01)


def test_ways_in_which_every_query_is_alone_say_nothing():
    rng = np.random.default_rng(3)
    values, way = rng.random(30), rng.integers(0, 9, 30)
    alone = np.arange(30) * 5 - 70
    assert mean_interval(values, [alone]) == mean_interval(values)
    assert mean_interval(values, [way, alone]) == mean_interval(values, [way])
    residuals = values - values.mean()
    assert standard_error(residuals, [alone]) == standard_error(residuals)


@given(st.permutations(range(12)))
def test_names_of_clusters_and_order_of_queries_do_not_matter(order):
    values = np.sin(np.arange(12.0))
    way, other = np.arange(12) // 3, np.arange(12) % 5
    before = mean_interval(values, [way, other], bounds=(-1.0, 1.0))
    order = np.array(order)
    after = mean_interval(values[order], [100 - way[order], other[order] ** 2], bounds=(-1.0, 1.0))
    assert (after.low, after.high) == pytest.approx((before.low, before.high))


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
    found = interval(0.0, np.zeros(60), span=2.0)
    assert found.high == pytest.approx(2 * (1 - 0.05 ** (1 / 60)))
    assert found.low == -found.high
    assert "rule of three" in found.method


def test_a_value_at_its_bound_but_for_rounding_is_kept_inside():
    for value in (1 + 1e-15, -1e-15):
        found = interval(value, np.zeros(50), bounds=UNIT)
        assert 0 <= found.low < found.high <= 1


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.booleans())
def test_a_median_lies_in_its_interval(ranks, clustered):
    values = np.array(ranks, dtype=float)
    found = median_interval(values, [np.arange(len(values)) // 3] if clustered else [])
    assert found.low <= np.median(values) <= found.high
    assert values.min() <= found.low and found.high <= values.max()
    assert found.method.startswith("Woodruff")
