"""AP, AP@k/min and SetR@k are the exact expectation over every order of tied candidates."""

from fractions import Fraction
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.measures import AveragePrecision, RecallAt, ReciprocalRank, SetRecallAt, average_precision
from xlingual.records import TargetCounts

oracle = SimpleNamespace(**run_path(str(Path(__file__).with_name("pools.py"))))
CUTS = (1, 2, 3, 5, 8)


def every_order(value, queries):
    return [oracle.mean_over_orders(value, *query) for query in queries]


@settings(max_examples=60, deadline=None)
@given(st.lists(oracle.pools(), min_size=1, max_size=4))
def test_every_measure_is_the_mean_over_all_orders(queries):
    counts = oracle.counts_of(queries)

    def check(found, value):
        np.testing.assert_allclose(found, every_order(value, queries), rtol=0, atol=1e-13)

    check(average_precision(counts), oracle.plain_ap)
    check(ReciprocalRank().per_query(counts.best()), oracle.plain_rr)
    for k in CUTS:
        check(AveragePrecision(k).per_query(counts), lambda ranking, k=k: oracle.plain_ap(ranking, k))
        check(SetRecallAt(k).per_query(counts), lambda ranking, k=k: oracle.plain_set_recall(ranking, k))
        check(RecallAt(k).per_query(counts.best()), lambda ranking, k=k: oracle.plain_hit(ranking, k))


def test_ties_across_the_cut():
    query = ([2, 1, 1, 1, 1, 0], [False, True, False, True, True, True])  # ranks 2 to 5 tie, cut at 3
    counts = oracle.counts_of([query])
    wanted = oracle.mean_over_orders(lambda ranking: oracle.plain_ap(ranking, 3), *query)
    assert AveragePrecision(3).per_query(counts)[0] == pytest.approx(wanted, abs=1e-15)
    assert SetRecallAt(3).per_query(counts)[0] == pytest.approx(3 * (2 / 4) / 4)


@given(st.integers(1, 60), st.integers(0, 10**6))
def test_without_ties_it_is_equation_1(size, seed):
    """AP_i = (1/R_i) Σ_j h(i, j)·P_i@j, as the LAReQA paper writes it."""
    rng = np.random.default_rng(seed)
    relevant = rng.random(size) < 0.3
    relevant[rng.integers(size)] = True
    scores = rng.permutation(size)
    ranking = relevant[np.argsort(-scores)]
    equation = np.sum(ranking * np.cumsum(ranking) / np.arange(1, size + 1)) / relevant.sum()
    counts = oracle.counts_of([(scores.tolist(), relevant.tolist())])
    assert average_precision(counts)[0] == pytest.approx(equation, abs=1e-13)


def test_a_worked_example():
    counts = oracle.counts_of([([9, 8, 7, 6, 5], [True, False, True, False, False])])
    assert average_precision(counts)[0] == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(counts, 2)[0] == pytest.approx(1 / 2)
    assert average_precision(counts, 1)[0] == 1


@pytest.mark.parametrize(("size", "relevant"), [(1, 1), (2, 1), (7, 3), (50, 11), (400, 11), (13_014, 11)])
def test_a_constant_encoder_scores_a_random_ranking(size, relevant):
    counts = _constant(size, relevant)
    j = np.arange(1, size + 1)
    beside = (relevant - 1) / max(size - 1, 1)
    wanted = np.sum((1 + (j - 1) * beside) / j) / size  # E[P@j · relevant at j], summed, over R
    assert average_precision(counts)[0] == pytest.approx(wanted, rel=1e-12)
    assert SetRecallAt(10).per_query(counts)[0] == pytest.approx(min(10 / size, 1))


def test_a_random_ranking_by_drawing():
    rng = np.random.default_rng(0)
    rankings = np.argsort(rng.random((40_000, 30)), axis=1) < 4
    precision = np.cumsum(rankings, axis=1) / np.arange(1, 31)
    drawn = (rankings * precision).sum(axis=1) / 4
    error = drawn.std() / np.sqrt(len(drawn))
    assert abs(average_precision(_constant(30, 4))[0] - drawn.mean()) < 4 * error


@given(oracle.pools(most=12, levels=6), st.integers(1, 8))
def test_only_the_order_of_scores_counts(pool, k):
    scores, relevant = pool
    other = oracle.counts_of([([float(np.exp(3 * s) - 7) for s in scores], relevant)])
    for measure in (AveragePrecision(), AveragePrecision(k), SetRecallAt(k)):
        assert measure.per_query(oracle.counts_of([pool])) == measure.per_query(other)


@given(oracle.pools(most=12), st.integers(1, 14))
def test_bounds_and_neighbours(pool, k):
    scores, relevant = pool
    counts = oracle.counts_of([pool])
    value, cut = average_precision(counts)[0], average_precision(counts, k)[0]
    share, hit = SetRecallAt(k).per_query(counts)[0], RecallAt(k).per_query(counts.best())[0]
    assert 0 < value <= 1 + 1e-15 and 0 <= cut <= 1 + 1e-15
    assert share <= hit + 1e-12
    if k >= len(scores):
        assert cut == pytest.approx(value, abs=1e-14)
    if sum(relevant) == 1:
        assert share == pytest.approx(hit, abs=1e-14)
        assert value == pytest.approx(ReciprocalRank().per_query(counts.best())[0], abs=1e-14)


@pytest.mark.parametrize("above", [0, 5, 31, 32, 33, 13_000, 10**7, 10**9])
@pytest.mark.parametrize(("tied", "relevant"), [(1, 1), (2, 2), (3, 2), (12, 11), (40, 3), (300, 300)])
def test_large_ranks_are_exact(above, tied, relevant):
    query = np.zeros(relevant, dtype=np.int64)
    counts = TargetCounts(query, query + above, query + tied, np.array([above + tied]))
    beside = Fraction(relevant - 1, max(tied - 1, 1))
    wanted = sum((1 + j * beside) / (above + 1 + j) for j in range(tied)) / tied
    assert average_precision(counts)[0] == pytest.approx(float(wanted), rel=1e-12, abs=1e-14)


def test_against_sorting_whole_pools():
    """A float64 oracle that sorts: 40 queries of 500 candidates, few ties in some, none in others."""
    rng = np.random.default_rng(1)
    scores = rng.random((40, 500)).round(9)
    relevant = rng.random((40, 500)) < 0.02
    relevant[:, 0] = True
    ranking = np.take_along_axis(relevant, np.argsort(-scores, axis=1), axis=1)
    precision = np.cumsum(ranking, axis=1) / np.arange(1, 501)
    wanted = (ranking * precision).sum(axis=1) / relevant.sum(axis=1)
    wanted_20 = (ranking * precision)[:, :20].sum(axis=1) / np.minimum(relevant.sum(axis=1), 20)
    counts = oracle.counts_of([(s.tolist(), r.tolist()) for s, r in zip(scores, relevant, strict=True)])
    np.testing.assert_allclose(average_precision(counts), wanted, rtol=0, atol=1e-13)
    np.testing.assert_allclose(average_precision(counts, 20), wanted_20, rtol=0, atol=1e-13)


def test_queries_are_independent_of_their_company():
    rng = np.random.default_rng(2)
    queries = []
    for _ in range(30):
        size = int(rng.integers(1, 12))
        relevant = rng.random(size) < 0.4
        relevant[0] = True
        queries.append((rng.integers(0, 4, size).tolist(), relevant.tolist()))
    together = average_precision(oracle.counts_of(queries))
    alone = [average_precision(oracle.counts_of([query]))[0] for query in queries]
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-15)


def test_refusals_and_no_queries():
    empty = np.zeros(0, dtype=np.int64)
    assert average_precision(TargetCounts(empty, empty, empty, empty)).shape == (0,)
    one = np.ones(1, dtype=np.int64)
    with pytest.raises(ValueError, match="query 0 has no relevant candidate"):
        average_precision(TargetCounts(one, one, one, np.array([5, 5])))
    for wrong in (0, -1, 2.5, True, "10"):
        with pytest.raises(ValueError, match="at least 1"):
            AveragePrecision(wrong)
        with pytest.raises(ValueError, match="at least 1"):
            SetRecallAt(wrong)


def _constant(size, relevant):
    query = np.zeros(relevant, dtype=np.int64)
    return TargetCounts(query, query, query + size, np.array([size]))


def test_equals_pytrec_eval_without_ties():
    """`map` is AP; `map_cut_k` divides by R where AP@k/min divides by min(R, k)."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(3)
    scores = np.stack([rng.permutation(100) for _ in range(25)])
    relevant = rng.random((25, 100)) < 0.2
    relevant[:, 0] = True
    run = {str(q): {str(d): float(s) for d, s in enumerate(row)} for q, row in enumerate(scores)}
    judged = {str(q): {str(d): int(r) for d, r in enumerate(row)} for q, row in enumerate(relevant)}
    found = pytrec_eval.RelevanceEvaluator(judged, {"map", "map_cut_10", "recall_10", "success_10"}).evaluate(
        run
    )

    def theirs(name):
        return np.array([found[str(q)][name] for q in range(25)])

    counts = oracle.counts_of([(s.tolist(), r.tolist()) for s, r in zip(scores, relevant, strict=True)])
    total = relevant.sum(axis=1)
    assert (total > 10).any()
    scaled = theirs("map_cut_10") * total / np.minimum(total, 10)
    np.testing.assert_allclose(average_precision(counts), theirs("map"), rtol=0, atol=1e-12)
    np.testing.assert_allclose(average_precision(counts, 10), scaled, rtol=0, atol=1e-12)
    np.testing.assert_allclose(SetRecallAt(10).per_query(counts), theirs("recall_10"), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        RecallAt(10).per_query(counts.best()), theirs("success_10"), rtol=0, atol=1e-12
    )
