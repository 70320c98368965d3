"""Paired tests, against replicates built query by query, and against what must and must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.stats import variance
from xlingual.stats.paired import paired_test, t_test
from xlingual.stats.paired_queries import Paired
from xlingual.stats.signflips import FlippedClusters


def case(seed, n=40, clusters=15, targets=12, *, retrieved=True, apart=True):
    """Return paired queries; `apart`: what is retrieved are other nodes than the queries' own."""
    rng = np.random.default_rng(seed)
    first = 1000 if apart else 0
    chosen = [rng.integers(first, first + targets, n) if retrieved else None for _ in range(2)]
    if retrieved:  # some queries of the two retrieve the same
        chosen[1] = np.where(rng.random(n) < 0.4, chosen[0], chosen[1])
    weight = rng.choice([1.0, 2.0], n)
    return Paired(
        a=rng.integers(0, 2, n).astype(float),
        b=rng.random(n).round(1),
        weight=weight / weight.sum(),
        own=rng.integers(0, clusters, n),
        retrieved_a=chosen[0],
        retrieved_b=chosen[1],
    )


def relative(spread, paired, other):
    """Return a variance with the correction of the observed queries in place of the replicate's own."""
    return spread / factor_of(other) * factor_of(paired)


def factor_of(paired):
    ways = [way for way in (paired.own, paired.retrieved_a, paired.retrieved_b) if way is not None]
    sizes = [[paired.weight[way == node].sum() for node in np.unique(way)] for way in ways]
    effective = [1 / np.square(size).sum() for size in sizes]
    return min(effective) / (min(effective) - 1)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("retrieved", [False, True])
def test_a_swapped_replicate_is_what_swapped_answers_give(retrieved, apart):
    paired = case(7, retrieved=retrieved, apart=apart)
    owners, own = np.unique(paired.own, return_inverse=True)
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (len(owners), 8))
    found = FlippedClusters.of(paired, no_difference=True).studentised(signs)
    for replicate, sign in zip(found, signs.T, strict=True):
        swap = sign[own] < 0
        other = Paired(
            a=np.where(swap, paired.b, paired.a),
            b=np.where(swap, paired.a, paired.b),
            weight=paired.weight,
            own=paired.own,
            retrieved_a=np.where(swap, paired.retrieved_b, paired.retrieved_a) if retrieved else None,
            retrieved_b=np.where(swap, paired.retrieved_a, paired.retrieved_b) if retrieved else None,
        )
        wanted = other.difference / np.sqrt(relative(variance(other.parts()), paired, other))
        assert replicate == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("retrieved", [False, True])
def test_a_flipped_replicate_is_what_flipped_residuals_give(retrieved):
    """About their own means, residuals are the answers of two systems without a difference."""
    paired = case(8, retrieved=retrieved)
    centred = Paired(
        paired.a - paired.weight @ paired.a,
        paired.b - paired.weight @ paired.b,
        paired.weight,
        paired.own,
        paired.retrieved_a,
        paired.retrieved_b,
    )
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (len(np.unique(paired.own)), 8))
    found = FlippedClusters.of(paired, no_difference=False).studentised(signs)
    wanted = FlippedClusters.of(centred, no_difference=True).studentised(signs)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_no_flip_is_what_was_observed():
    paired = case(3)
    none = np.ones((len(np.unique(paired.own)), 1))
    difference, error, _, _ = t_test(paired)
    found = FlippedClusters.of(paired, no_difference=True).studentised(none)
    assert found[0] == pytest.approx(difference / error)
    assert FlippedClusters.of(paired, no_difference=False).studentised(none)[0] == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_swapping_the_systems_turns_the_difference_round(seed):
    paired = case(seed)
    other = Paired(paired.b, paired.a, paired.weight, paired.own, paired.retrieved_b, paired.retrieved_a)
    one = paired_test(paired, rng=np.random.default_rng(0), replicates=99)
    back = paired_test(other, rng=np.random.default_rng(0), replicates=99)
    assert one.difference == pytest.approx(-back.difference)
    assert one.standard_error == pytest.approx(back.standard_error)
    assert one.p == pytest.approx(back.p)
    np.testing.assert_allclose(one.strays, back.strays, atol=1e-9)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_order_and_names_of_queries_do_not_matter(seed):
    paired = case(seed)
    order = np.random.default_rng(seed).permutation(len(paired.a))
    other = Paired(
        paired.a[order],
        paired.b[order],
        paired.weight[order],
        paired.own[order] + 5,
        paired.retrieved_a[order] + 5,
        paired.retrieved_b[order] + 5,
    )
    one, same = (paired_test(p, rng=np.random.default_rng(0), replicates=99) for p in (paired, other))
    assert one.p == pytest.approx(same.p)
    np.testing.assert_allclose(one.strays, same.strays, atol=1e-9)


def test_equal_systems_cannot_be_told_apart():
    paired = case(5)
    paired = Paired(paired.a, paired.a, paired.weight, paired.own, paired.retrieved_a, paired.retrieved_a)
    found = paired_test(paired, rng=np.random.default_rng(0), replicates=99)
    assert found.difference == 0 and found.p == 1
    interval = found.interval()
    assert interval.low < 0 < interval.high
    assert found.p_equivalent(0.9) < 0.05 < found.p_equivalent(0.01)


def test_p_and_interval_agree_on_a_clear_difference():
    rng = np.random.default_rng(2)
    a, own = rng.random(300), np.arange(300)
    paired = Paired(a, a - 0.1 + 0.2 * rng.standard_normal(300), np.full(300, 1 / 300), own)
    found = paired_test(paired, rng=rng, replicates=999)
    assert found.p == 1 / 1000  # no flip is as far out, and Student's p is smaller yet
    assert found.interval().low > 0
    assert found.p_above(0.0) == 1 / 2000
    assert found.p_below(0.0) > 0.99
    assert found.p_equivalent(0.2) == 1 / 2000


@pytest.mark.parametrize("retrieved", [False, True])
@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_one_sided_tests_turn_where_their_bounds_are(alpha, retrieved):
    found = paired_test(case(8, retrieved=retrieved), rng=np.random.default_rng(0), replicates=1999)
    step = 1e-6
    assert found.p_above(found.lower(alpha) - step) <= alpha < found.p_above(found.lower(alpha) + step)
    assert found.p_below(found.upper(alpha) + step) <= alpha < found.p_below(found.upper(alpha) - step)


def test_bounds_where_nothing_varies_are_where_the_tests_turn():
    paired = case(5)
    same = Paired(paired.a, paired.a, paired.weight, paired.own, paired.retrieved_a, paired.retrieved_a)
    found = paired_test(same, rng=np.random.default_rng(0), replicates=99)
    assert found.p_above(found.lower(0.05)) == pytest.approx(0.05)
    assert found.p_below(found.upper(0.05)) == pytest.approx(0.05)


@pytest.mark.parametrize("seed", range(40))
def test_the_interval_excludes_zero_exactly_where_p_is_small(seed):
    rng = np.random.default_rng(seed)
    paired = case(seed, retrieved=bool(seed % 2))
    lead = np.clip(paired.a + (rng.random(len(paired.a)) < 0.35), 0, 1)
    paired = Paired(lead, paired.b, paired.weight, paired.own, paired.retrieved_a, paired.retrieved_b)
    found = paired_test(paired, rng=rng, replicates=399)
    interval = found.interval()
    assert (found.p <= 0.05) == (not interval.low <= 0 <= interval.high)


def test_weights_decide_how_many_clusters_count():
    """A sample of 5 queries that counts as much as one of 2000 leaves about 10 effective clusters."""
    rng = np.random.default_rng(1)
    weight = np.concatenate([np.full(5, 0.1), np.full(2000, 0.5 / 2000)])
    a, b = rng.standard_normal((2, 2005))
    assert t_test(Paired(a, b, weight, np.arange(2005)))[2] == pytest.approx(1 / np.sum(weight**2) - 1)
    assert 15 < 1 / np.sum(weight**2) < 25


def test_a_t_test_is_scipys_for_independent_queries():
    from scipy.stats import ttest_rel

    rng = np.random.default_rng(9)
    a, b = rng.standard_normal((2, 30))
    found = t_test(Paired(a, b, np.full(30, 1 / 30), np.arange(30)))
    wanted = ttest_rel(a, b)
    assert found[3] == pytest.approx(wanted.pvalue)
    assert found[2] == wanted.df


def test_a_huge_difference_is_shown_however_skew():
    rng = np.random.default_rng(0)
    n = 40
    a, b = np.ones(n), (rng.random(n) < 0.14).astype(float)
    found = paired_test(Paired(a, b, np.full(n, 1 / n), np.arange(n)), rng=rng, replicates=999)
    assert found.skewness < -0.1
    assert found.p_above(-0.01) < 0.01 < 0.99 < found.p_below(-0.01)
    assert 0.5 < found.lower(0.05) < found.difference < found.upper(0.05) < 1


def test_rare_losses_do_not_pass_as_no_loss(full):
    """Where the truth lies on the margin and losses are rare, few samples may look as if it did not."""
    rng = np.random.default_rng(1)
    n, margin = 730, 0.01
    passed, runs = 0, 100 if full else 30
    for _ in range(runs):
        loss, hit = rng.random(n) < margin, rng.random(n) < 0.5
        found = rng.integers(10**6, 10**6 + 200, n)
        a, b = (hit & ~loss).astype(float), (hit | loss).astype(float)
        paired = Paired(a, b, np.full(n, 1 / n), np.arange(n), found, found)
        passed += paired_test(paired, rng=rng, replicates=199).p_above(-margin) <= 0.05
    assert passed <= (10 if full else 4)
