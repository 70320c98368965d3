"""The alarm: what chance gives, a bound that no-hub data do not pass, and one that a hub does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, skew

from xlingual.measures.hub_alarm import BOUND, ByChance, bins_of, is_alarm
from xlingual.measures.hubness import Places, hubness_of, skewness_error

SIZES = st.tuples(st.integers(1, 300), st.integers(2, 400), st.integers(1, 10))


@given(SIZES)
def test_by_chance_occurrences_are_binomial(size):
    n, m, k = size
    chance, one = ByChance(n, m, k), binom(n, min(k, m) / m)
    if k < m:
        assert chance.skewness == pytest.approx(float(one.stats("s")))
    else:
        assert chance.skewness == 0.0 and chance.never == 0.0
    assert chance.never == pytest.approx(one.pmf(0))
    least = np.array([0, 1, 2, 4, 8, 16])
    assert chance.among(least).sum() == pytest.approx(m)
    assert chance.among(least)[2] == pytest.approx(m * (one.pmf(2) + one.pmf(3)))
    assert 0 < chance.held_by_largest <= 1 and chance.skewness_bound > chance.skewness


def test_the_largest_hold_what_they_do_on_average():
    """The share that the largest hundredth holds, against binomial draws."""
    rng = np.random.default_rng(0)
    drawn = np.sort(rng.binomial(400, 1 / 400, (2000, 400)), axis=1)[:, -4:].sum(axis=1)
    assert ByChance(400, 400, 1).held_by_largest == pytest.approx(drawn.mean() / 400, rel=0.05)


@pytest.mark.parametrize("variance", [0.5, 2.0, 20.0])
def test_the_bound_is_in_standard_errors_of_the_skewness(variance):
    m = 3000
    n = round(variance * m)
    one = ByChance(n, m, 1)
    drawn = np.random.default_rng(1).binomial(n, 1 / m, (1500, m))
    error = (one.skewness_bound - one.skewness) / BOUND
    assert skew(drawn, axis=1).std() == pytest.approx(error, rel=0.1)


def ranked(scores, k):
    first = np.argsort(-scores, axis=1)[:, :k]
    n, m = scores.shape
    rank = np.tile(np.arange(k), n)
    return Places(k, n, m, np.repeat(np.arange(n), k), first.ravel(), rank, np.ones_like(rank))


def one_language(places):
    return hubness_of(places, np.zeros(places.n_candidates, dtype=np.int64), 1)


@pytest.mark.parametrize("matched", [False, True])
@pytest.mark.parametrize("size", [(300, 300, 1), (300, 300, 10), (60, 400, 1), (800, 100, 10)])
def test_random_directions_are_no_alarm(size, matched):
    n, m, k = size
    for seed in range(10):
        rng = np.random.default_rng(seed)
        candidates = rng.standard_normal((m, 32))
        candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
        queries = rng.standard_normal((n, 32))
        queries = candidates[np.arange(n) % m] + queries * 0.7 if matched else queries
        found = one_language(ranked(queries @ candidates.T, k))
        assert found.skewness <= ByChance(n, m, k).skewness_bound


@pytest.mark.parametrize("size", [(300, 300, 1), (300, 300, 10), (60, 400, 1), (800, 200, 10)])
def test_a_candidate_that_is_near_to_a_third_of_the_queries_is_beyond_the_bound(size):
    n, m, k = size
    scores = np.random.default_rng(0).standard_normal((n, m))
    scores[: n // 3, 7] += 10
    found = one_language(ranked(scores, k))
    assert found.skewness > ByChance(n, m, k).skewness_bound and found.hubs[0] == 7


def test_an_alarm_needs_both():
    assert is_alarm(3.0, 2.0, 0.4)
    assert not is_alarm(1.9, 2.0, 0.4) and not is_alarm(3.0, 2.0, 0.01) and not is_alarm(3.0, 2.0, None)


def test_bins_hold_every_candidate_once():
    least, counted = bins_of(np.array([0.0, 0.4, 0.5, 1.0, 2.0, 3.49, 3.5, 9.0]))
    assert least.tolist() == [0, 1, 2, 4, 8] and counted.tolist() == [2, 2, 2, 1, 1]
    least, counted = bins_of(np.zeros(3))
    assert (least.tolist(), counted.tolist()) == ([0], [3])


@st.composite
def lists(draw):
    """Return places with ties, some lists that leave candidates out, and clusters."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, m = draw(st.integers(2, 9)), draw(st.integers(2, 12))
    k = draw(st.integers(1, 12))
    scores = rng.integers(0, draw(st.integers(1, 6)), (n, m))
    above = (scores[:, :, None] < scores[:, None, :]).sum(axis=2)
    tied = (scores[:, :, None] == scores[:, None, :]).sum(axis=2)
    named = (above < k) & (rng.random((n, m)) < draw(st.sampled_from([0.5, 1.0])))
    query, candidate = np.nonzero(named)
    ended = rng.random(n) < 0.3 if draw(st.booleans()) else None
    cluster = rng.integers(0, 4, n)
    cluster[:2] = 0, 1
    return Places(k, n, m, query, candidate, above[named], tied[named], ended), cluster


def without(places, kept):
    """Return the places of some queries alone."""
    number = np.cumsum(kept) - 1
    lines = kept[places.query]
    ended = None if places.ended is None else places.ended[kept]
    columns = (column[lines] for column in (places.candidate, places.above, places.tied))
    m = places.n_candidates
    return Places(places.k, int(kept.sum()), m, number[places.query[lines]], *columns, ended)


@given(lists())
def test_the_error_of_the_skewness_leaves_out_one_cluster_after_another(case):
    places, cluster = case
    groups = np.unique(cluster)
    spread = places.occurrences.mean()
    values = []
    for one in groups:
        count = without(places, cluster != one).occurrences
        values.append(skew(count) if count.std() > 1e-9 * (spread or 1.0) else 0.0)
    wanted = np.sqrt((len(groups) - 1) * np.var(values))
    error, n_clusters = skewness_error(places, cluster)
    assert n_clusters == len(groups) and error == pytest.approx(wanted, abs=1e-6)


@given(lists(), st.integers(0, 10**6))
def test_the_order_of_candidates_and_queries_changes_nothing(case, seed):
    places, cluster = case
    rng = np.random.default_rng(seed)
    q, c = rng.permutation(places.n_queries), rng.permutation(places.n_candidates)
    ended = places.ended
    if ended is not None:
        ended = np.empty_like(ended)
        ended[q] = places.ended
    n, m = places.n_queries, places.n_candidates
    other = Places(places.k, n, m, q[places.query], c[places.candidate], places.above, places.tied, ended)
    assert other.occurrences[c] == pytest.approx(places.occurrences)
    moved = np.empty_like(cluster)
    moved[q] = cluster
    assert one_language(other).skewness == pytest.approx(one_language(places).skewness, abs=1e-9)
    assert skewness_error(other, moved)[0] == pytest.approx(skewness_error(places, cluster)[0], abs=1e-7)


@given(lists())
def test_the_same_queries_twice_in_their_clusters_change_no_skewness_and_no_error(case):
    places, cluster = case
    n = places.n_queries
    query = np.concatenate([places.query, places.query + n])
    columns = (np.tile(column, 2) for column in (places.candidate, places.above, places.tied))
    ended = None if places.ended is None else np.tile(places.ended, 2)
    twice = Places(places.k, 2 * n, places.n_candidates, query, *columns, ended)
    assert twice.occurrences == pytest.approx(2 * places.occurrences)
    assert one_language(twice).skewness == pytest.approx(one_language(places).skewness, abs=1e-9)
    error = skewness_error(twice, np.tile(cluster, 2))[0]
    assert error == pytest.approx(skewness_error(places, cluster)[0], abs=1e-7)


@given(lists())
def test_occurrences_by_group_add_up(case):
    places, cluster = case
    every = np.arange(places.n_candidates)
    table = places.by_group(cluster, 4, every)
    assert table.sum(axis=1) == pytest.approx(places.occurrences, abs=1e-9)
    for group in np.unique(cluster):
        own = without(places, cluster == group).occurrences
        assert table[:, group] == pytest.approx(own, abs=1e-9)


def test_one_cluster_gives_no_error():
    places = ranked(np.random.default_rng(0).random((4, 9)), 3)
    assert np.isnan(skewness_error(places, np.zeros(4, dtype=np.int64))[0])
