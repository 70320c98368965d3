"""nDCG, bpref and Judged@k are the exact expectation over every order of tied candidates."""

from fractions import Fraction
from itertools import groupby, permutations, product
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.measures import parse_measure
from xlingual.measures.graded import NDCG, Bpref, JudgedAt
from xlingual.records import JudgedCounts

CUTS = (1, 2, 3, 5, 8)
UNJUDGED, MISSED = None, -9  # as a grade; as a score: the system did not return it


def counts_of(queries):
    """Return the counts of queries, each (scores [m], grades [m], None for an unjudged one)."""
    rows = [
        (number, *_place(scores, i), grades[i])
        for number, (scores, grades) in enumerate(queries)
        for i in range(len(scores))
        if grades[i] is not UNJUDGED
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    pool, listed = (
        np.array([count(scores) for scores, _ in queries], dtype=np.int64)
        for count in (len, lambda scores: sum(s != MISSED for s in scores))
    )
    return JudgedCounts(*columns, pool, listed)


def _place(scores, i):
    if scores[i] == MISSED:
        return len(scores), 1
    return sum(s > scores[i] for s in scores), scores.count(scores[i])


def mean_over_orders(value, scores, grades):
    """Return the expectation of `value` (of the grades by rank, and all grades) over the orders of ties."""
    ranked = sorted((i for i, s in enumerate(scores) if s != MISSED), key=lambda i: -scores[i])
    groups = [[grades[i] for i in tied] for _, tied in groupby(ranked, key=lambda i: scores[i])]
    found = [
        value([one for part in parts for one in part], grades)
        for parts in product(*(permutations(group) for group in groups))
    ]
    return float(sum(found) / len(found))


def plain_ndcg(ranking, grades, k=None, gain=lambda grade: grade):
    def dcg(order):
        return sum(gain(max(g or 0, 0)) / log2(rank + 1) for rank, g in enumerate(order[:k], start=1))

    return dcg(ranking) / dcg(sorted(grades, key=lambda g: -(g or 0)))


def plain_bpref(ranking, grades):
    """Return bpref as trec_eval computes it."""
    relevant = sum(g is not UNJUDGED and g >= 1 for g in grades)
    wrong = sum(g is not UNJUDGED and g < 1 for g in grades)
    total, so_far = Fraction(0), 0
    for g in ranking:
        if g is UNJUDGED:
            continue
        if g < 1:
            so_far += 1
        elif so_far:
            total += 1 - Fraction(min(so_far, relevant), min(wrong, relevant))
        else:
            total += 1
    return total / relevant


def plain_judged(ranking, grades, k):
    top = ranking[:k]
    return Fraction(sum(g is not UNJUDGED for g in top), max(len(top), 1))


@st.composite
def judged(draw, most=6):
    """Draw (scores, grades) with many ties, unjudged and missed candidates, and a relevant one."""
    scores = draw(st.lists(st.sampled_from([0, 1, 2, 3, MISSED]), min_size=1, max_size=most))
    grade = st.sampled_from([UNJUDGED, -1, 0, 0, 1, 2, 3])
    grades = draw(st.lists(grade, min_size=len(scores), max_size=len(scores)))
    grades[draw(st.integers(0, len(scores) - 1))] = draw(st.integers(1, 3))
    return scores, grades


@settings(max_examples=60, deadline=None)
@given(st.lists(judged(), min_size=1, max_size=4))
def test_every_measure_is_the_mean_over_all_orders(queries):
    counts = counts_of(queries)

    def check(measure, value):
        wanted = [mean_over_orders(value, *query) for query in queries]
        np.testing.assert_allclose(measure.per_query(counts), wanted, rtol=0, atol=1e-12)

    check(NDCG(), plain_ndcg)
    check(Bpref(), plain_bpref)
    for k in CUTS:
        check(NDCG(k), lambda ranking, grades, k=k: plain_ndcg(ranking, grades, k))
        exponential = NDCG(k, "exp-log2")
        check(exponential, lambda ranking, grades, k=k: plain_ndcg(ranking, grades, k, lambda g: 2**g - 1))
        check(JudgedAt(k), lambda ranking, grades, k=k: plain_judged(ranking, grades, k))


@given(st.lists(judged(), min_size=1, max_size=4), st.randoms())
def test_the_order_of_candidates_changes_nothing(queries, random):
    places = [random.sample(range(len(scores)), len(scores)) for scores, _ in queries]
    moved = [
        ([scores[i] for i in order], [grades[i] for i in order])
        for (scores, grades), order in zip(queries, places, strict=True)
    ]
    for measure in (NDCG(), NDCG(3), Bpref(), JudgedAt(2)):
        one, other = measure.per_query(counts_of(queries)), measure.per_query(counts_of(moved))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)


def test_a_worked_example():
    """Ranks 1 to 3 tie; of them one has grade 2; the best list has grades 2, 1."""
    counts = counts_of([([5, 5, 5, 1], [2, UNJUDGED, 0, 1])])
    ideal = 2 + 1 / log2(3)
    tied = 2 * (1 + 1 / log2(3) + 1 / log2(4)) / 3
    assert NDCG(10).per_query(counts)[0] == pytest.approx((tied + 1 / log2(5)) / ideal, abs=1e-15)
    assert NDCG(2).per_query(counts)[0] == pytest.approx(2 * (1 + 1 / log2(3)) / 3 / ideal, abs=1e-15)
    # R = 2, W = 1: the candidate of grade 2 has the wrong one above it in half of the orders
    assert Bpref().per_query(counts)[0] == pytest.approx((0.5 + 0) / 2)
    assert JudgedAt(2).per_query(counts)[0] == pytest.approx(2 / 3)


def test_a_query_without_gain_has_no_value():
    counts = counts_of([([2, 1], [0, -1]), ([2, 1], [0, 1])])
    np.testing.assert_allclose(NDCG(10).per_query(counts), [np.nan, 1 / log2(3)])
    np.testing.assert_allclose(Bpref().per_query(counts), [np.nan, 0.0])


def test_a_cut_of_any_size_costs_nothing():
    assert NDCG(10**15).per_query(counts_of([([1, 0], [0, 1])]))[0] == pytest.approx(1 / log2(3))


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ndcg@10", "nDCG@10"),
        ("nDCG", "nDCG"),
        ("ndcg_at_10", None),
        ("nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@5"),
        ("bpref", "Bpref"),
        ("judged@10", "Judged@10"),
    ],
)
def test_names_are_read_and_printed(written, name):
    if name is None:
        with pytest.raises(Exception, match="nDCG@10"):
            parse_measure(written)
    else:
        measure = parse_measure(written)
        assert measure.name == name
        assert parse_measure(measure.name) == measure
