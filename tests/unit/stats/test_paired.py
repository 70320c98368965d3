"""Paired tests, against replicates built query by query, and against what must and must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.stats import Part, variance
from xlingual.stats.paired import Paired, paired_test, t_test, variance_parts
from xlingual.stats.reweighted import ReweightedClusters


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


def literal(paired, copies, means=None):
    """Return difference and standard error of the queries of clusters drawn so often, copies kept apart.

    With `means` residuals are about these; else about the means of the copies.
    """
    owners = np.unique(paired.own)
    rows, own = [], []
    for cluster, count in zip(owners, copies, strict=True):
        members = np.flatnonzero(paired.own == cluster)
        for copy in range(int(count)):
            rows.append(members)
            own.append(np.full(len(members), 10_000 + 100 * copy + cluster if copy else cluster))
    rows, own = np.concatenate(rows), np.concatenate(own)
    weight = paired.weight[rows] / paired.weight[rows].sum()
    a, b = paired.a[rows], paired.b[rows]
    mean_a, mean_b = weight @ a, weight @ b
    values = [(weight * (a - mean_a), paired.retrieved_a), (-weight * (b - mean_b), paired.retrieved_b)]
    parts = [Part(r, (own,) if way is None else (own, way[rows])) for r, way in values]
    counts = [len(np.unique(way)) for part in parts for way in part.ways]
    return mean_a - mean_b, variance(parts) * (min(counts) - 1) / min(counts)


def plain(paired):
    """Return the correction that `literal` leaves out."""
    ways = [way for way in (paired.own, paired.retrieved_a, paired.retrieved_b) if way is not None]
    least = min(len(np.unique(way)) for way in ways)
    return least / (least - 1)


@pytest.mark.parametrize("retrieved", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_resampled_replicate_is_what_its_queries_give(seed, retrieved):
    paired = case(seed, retrieved=retrieved)
    n = len(np.unique(paired.own))
    copies = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), 6).T
    found = ReweightedClusters.of(paired).resampled(copies.astype(float))
    for replicate, column in zip(found, copies.T, strict=True):
        difference, spread = literal(paired, column)
        wanted = (difference - paired.difference) / np.sqrt(spread * plain(paired))
        assert replicate == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("retrieved", [False, True])
def test_a_swapped_replicate_is_what_swapped_answers_give(retrieved, apart):
    paired = case(7, retrieved=retrieved, apart=apart)
    owners, own = np.unique(paired.own, return_inverse=True)
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (len(owners), 8))
    found = ReweightedClusters.of(paired).swapped(signs)
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
        spread = variance(other.parts())
        ways = [w for w in (other.own, other.retrieved_a, other.retrieved_b) if w is not None]
        least = min(len(np.unique(way)) for way in ways)
        wanted = other.difference / np.sqrt(spread * (least - 1) / least * plain(paired))
        assert replicate == pytest.approx(wanted, rel=1e-9)


def test_all_clusters_once_is_what_was_observed():
    paired = case(3)
    once = np.ones((len(np.unique(paired.own)), 1))
    assert ReweightedClusters.of(paired).resampled(once)[0] == pytest.approx(0, abs=1e-12)
    difference, error, _, _ = t_test(paired)
    assert ReweightedClusters.of(paired).swapped(once)[0] == pytest.approx(difference / error)


def test_sparse_and_dense_sums_agree(monkeypatch):
    paired = case(4, n=200, clusters=60, targets=50)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(np.unique(paired.own)), 5))
    dense = ReweightedClusters.of(paired).swapped(signs)
    monkeypatch.setattr("xlingual.stats.reweighted._DENSE", 0)
    np.testing.assert_allclose(ReweightedClusters.of(paired).swapped(signs), dense, rtol=1e-12)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_swapping_the_systems_turns_the_difference_round(seed):
    paired = case(seed)
    other = Paired(paired.b, paired.a, paired.weight, paired.own, paired.retrieved_b, paired.retrieved_a)
    one = paired_test(paired, rng=np.random.default_rng(0), replicates=99)
    back = paired_test(other, rng=np.random.default_rng(0), replicates=99)
    assert one.difference == pytest.approx(-back.difference)
    assert one.standard_error == pytest.approx(back.standard_error)
    assert one.p == back.p
    np.testing.assert_allclose(one.resampled, -back.resampled[::-1], atol=1e-9)


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
    assert one.p == same.p
    np.testing.assert_allclose(one.resampled, same.resampled, atol=1e-9)


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
    assert found.p == 1 / 1000  # c = 0
    assert found.interval().low > 0
    assert found.p_above(0.0) == 1 / 1000
    assert found.p_below(0.0) > 0.99
    assert found.p_equivalent(0.2) == 1 / 1000


def test_one_sided_tests_turn_where_the_interval_ends():
    paired = case(8)
    found = paired_test(paired, rng=np.random.default_rng(0), replicates=1999)
    interval = found.interval(0.90)
    for end, test in ((interval.low, found.p_above), (interval.high, found.p_below)):
        assert test(end) == pytest.approx(0.05, abs=0.002)


def test_the_parts_of_a_variance_are_its_own_clusters_and_the_rest():
    paired = case(6)
    alone, shared = variance_parts(paired)
    first, second = paired.parts()
    assert alone == pytest.approx(variance([Part(first.residuals + second.residuals, (paired.own,))]))
    assert alone + shared == pytest.approx(max(variance([first, second]), alone))
    unretrieved = Paired(paired.a, paired.b, paired.weight, paired.own)
    assert variance_parts(unretrieved)[1] == 0


def test_a_t_test_is_scipys_for_independent_queries():
    from scipy.stats import ttest_rel

    rng = np.random.default_rng(9)
    a, b = rng.standard_normal((2, 30))
    found = t_test(Paired(a, b, np.full(30, 1 / 30), np.arange(30)))
    wanted = ttest_rel(a, b)
    assert found[3] == pytest.approx(wanted.pvalue)
    assert found[2] == wanted.df
