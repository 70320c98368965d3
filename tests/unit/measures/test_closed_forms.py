"""The closed forms equal the mean over every order of the tied candidates."""

from itertools import combinations, permutations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.measures import MedianRank, ReciprocalRank, SuccessAt
from xlingual.records import RankCounts


def counts(above, tied, relevant, pool=None):
    columns = np.broadcast_arrays(*np.atleast_1d(above, tied, relevant))
    return RankCounts(*columns, columns[0] + columns[1] if pool is None else np.atleast_1d(pool))


def first_ranks(above, tied, relevant):
    """Return the rank of the first relevant candidate for every way to place the relevant ones."""
    return [above + places[0] for places in combinations(range(1, tied + 1), relevant)]


GROUPS = [(g, n, r) for g in (0, 1, 3, 9, 10, 50) for n in range(1, 8) for r in range(1, n + 1)]


@pytest.mark.parametrize("k", [1, 2, 5, 10, 11, 60])
def test_success_at_k(k):
    found = SuccessAt(k).per_query(counts(*map(np.array, zip(*GROUPS, strict=True))))
    wanted = [fmean(rank <= k for rank in first_ranks(*group)) for group in GROUPS]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)


@pytest.mark.parametrize("cut", [None, 1, 2, 5, 10, 11, 60])
def test_reciprocal_rank(cut):
    found = ReciprocalRank(cut).per_query(counts(*map(np.array, zip(*GROUPS, strict=True))))
    wanted = [fmean((rank <= (cut or rank)) / rank for rank in first_ranks(*group)) for group in GROUPS]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)


def test_rank_is_the_mid_rank():
    found = MedianRank().per_query(counts(*map(np.array, zip(*GROUPS, strict=True))))
    np.testing.assert_allclose(found, [fmean(first_ranks(*group)) for group in GROUPS], rtol=0, atol=1e-12)
    assert MedianRank().per_query(counts(7, 4, 1)) == [7 + 5 / 2]


@pytest.mark.parametrize("relevant", [1, 2, 4])
def test_placing_the_relevant_ones_is_the_same_as_ordering_all(relevant):
    labels = [True] * relevant + [False] * (5 - relevant)
    by_order = [3 + order.index(True) + 1 for order in permutations(labels)]
    assert fmean(by_order) == pytest.approx(fmean(first_ranks(3, 5, relevant)))
    for k in (3, 4, 6):
        wanted = fmean(rank <= k for rank in by_order)
        assert SuccessAt(k).per_query(counts(3, 5, relevant)) == pytest.approx(wanted)


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_one_relevant_has_the_textbook_form(above, tied, k):
    one = counts(above, tied, 1)
    assert SuccessAt(k).per_query(one)[0] == pytest.approx(np.clip((k - above) / tied, 0, 1), abs=1e-12)
    wanted = np.sum(1 / (above + np.arange(1.0, tied + 1))) / tied
    assert ReciprocalRank().per_query(one)[0] == pytest.approx(wanted, rel=1e-6)


@given(st.integers(0, 30), st.integers(1, 40), st.integers(1, 40))
def test_values_are_bounded_and_fall_with_rank(above, tied, k):
    worse = counts(above + 1, tied, 1)
    better = counts(above, tied, 1)
    for measure in (SuccessAt(k), ReciprocalRank()):
        low, high = measure.bounds
        assert low <= measure.per_query(worse)[0] <= measure.per_query(better)[0] <= high
    assert SuccessAt(k).per_query(better)[0] <= SuccessAt(k + 1).per_query(better)[0]
    assert MedianRank().per_query(worse)[0] == MedianRank().per_query(better)[0] + 1


def test_aggregates():
    values = np.array([1.0, 2.0, 9.0, 4.0])
    assert SuccessAt(1).aggregate(values) == ReciprocalRank().aggregate(values) == 4
    assert MedianRank().aggregate(values) == 3


def test_no_queries_give_no_values():
    empty = np.zeros(0, dtype=np.int64)
    for measure in (SuccessAt(3), ReciprocalRank(), MedianRank()):
        assert measure.per_query(RankCounts(empty, empty, empty, empty)).shape == (0,)


@pytest.mark.parametrize("ranks", [[1], [1, 2], [2, 1, 2, 3], [4, 9, 2, 2, 7], [3, 8, 1, 30]])
def test_the_floored_median_is_that_of_the_ranking_literature(ranks):
    """As in the published evaluation code: floor(median of the ranks counted from 0) + 1."""
    values = np.array(ranks, dtype=float)
    assert MedianRank(floor=True).aggregate(values) == np.floor(np.median(values - 1)) + 1
    assert MedianRank(floor=True) != MedianRank()
