"""AP, R@k and P@k are the exact expectation over every order of tied candidates; so are Success@k and RR."""

from fractions import Fraction
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.measures import (
    AveragePrecision,
    PrecisionAt,
    RecallAt,
    RecallShare,
    ReciprocalRank,
    SuccessAt,
    SuccessShare,
    average_precision,
    parse_measure,
)
from xlingual.records import RankCounts, TargetCounts

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
        least = AveragePrecision(k, of_least=True)
        check(AveragePrecision(k).per_query(counts), lambda ranking, k=k: oracle.plain_ap(ranking, k))
        check(least.per_query(counts), lambda ranking, k=k: oracle.plain_ap(ranking, k, of_least=True))
        check(RecallAt(k).per_query(counts), lambda ranking, k=k: oracle.plain_set_recall(ranking, k))
        check(PrecisionAt(k).per_query(counts), lambda ranking, k=k: oracle.plain_precision(ranking, k))
        check(SuccessAt(k).per_query(counts.best()), lambda ranking, k=k: oracle.plain_hit(ranking, k))
        check(ReciprocalRank(k).per_query(counts.best()), lambda ranking, k=k: oracle.plain_rr(ranking, k))


def test_ties_across_the_cut():
    query = ([2, 1, 1, 1, 1, 0], [False, True, False, True, True, True])  # ranks 2 to 5 tie, cut at 3
    counts = oracle.counts_of([query])
    wanted = oracle.mean_over_orders(lambda ranking: oracle.plain_ap(ranking, 3), *query)
    assert AveragePrecision(3).per_query(counts)[0] == pytest.approx(wanted, abs=1e-15)
    assert AveragePrecision(3, of_least=True).per_query(counts)[0] == pytest.approx(wanted * 4 / 3, abs=1e-15)
    assert RecallAt(3).per_query(counts)[0] == pytest.approx(3 * (2 / 4) / 4)
    assert PrecisionAt(3).per_query(counts)[0] == pytest.approx(3 * (2 / 4) / 3)
    # of the 4 tied places 3 are relevant: rank 2 with 3/4, else rank 3
    assert ReciprocalRank(3).per_query(counts.best())[0] == pytest.approx(3 / 4 / 2 + 1 / 4 / 3)
    assert ReciprocalRank(2).per_query(counts.best())[0] == pytest.approx(3 / 4 / 2)


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
    assert average_precision(counts, 1)[0] == 1 / 2  # the divisor is R
    assert average_precision(counts, 1, of_least=True)[0] == 1
    assert [RecallAt(k).per_query(counts)[0] for k in (1, 2, 3)] == [0.5, 0.5, 1]
    assert [SuccessAt(k).per_query(counts.best())[0] for k in (1, 2, 3)] == [1, 1, 1]
    assert [PrecisionAt(k).per_query(counts)[0] for k in (1, 2, 4, 10)] == [1, 0.5, 0.5, 0.2]
    late = oracle.counts_of([([9, 8, 7, 6, 5], [False, False, True, False, True])]).best()
    assert [ReciprocalRank(k).per_query(late)[0] for k in (2, 3)] == pytest.approx([0, 1 / 3])


def test_the_best_rank_tells_set_recall_only_where_it_is_the_only_one():
    one = oracle.counts_of([([3, 2, 2, 1], [False, True, False, False]), ([3, 2], [True, False])])
    for measure in (RecallAt(2), RecallShare(50.0)):
        np.testing.assert_array_equal(measure.per_query(one.best()), measure.per_query(one))
    for scores in ([3, 2, 1], [2, 2, 1]):  # two relevant candidates, apart and tied
        several = oracle.counts_of([(scores, [True, True, False])])
        for measure in (RecallAt(2), RecallShare(50.0)):
            with pytest.raises(ValueError, match="needs the ranks of all of them"):
                measure.per_query(several.best())
    ones = np.ones(2, dtype=np.int64)
    assert RecallAt(1).per_query(RankCounts(0 * ones, ones, ones, 9 * ones)).tolist() == [1, 1]


def test_shares_take_each_pool_for_itself():
    scores, relevant = list(range(8, 0, -1)), [True, False, True, False, False, False, True, False]
    counts = oracle.counts_of([(scores, relevant), (scores[:2], [False, True])])
    np.testing.assert_allclose(RecallShare(40.0).per_query(counts), [2 / 3, 0])  # k = 4 of 8, 1 of 2
    np.testing.assert_array_equal(SuccessShare(40.0).per_query(counts.best()), [1, 0])


@pytest.mark.parametrize(("size", "relevant"), [(1, 1), (2, 1), (7, 3), (50, 11), (400, 11), (13_014, 11)])
def test_a_constant_encoder_scores_a_random_ranking(size, relevant):
    counts = _constant(size, relevant)
    j = np.arange(1, size + 1)
    beside = (relevant - 1) / max(size - 1, 1)
    wanted = np.sum((1 + (j - 1) * beside) / j) / size  # E[P@j · relevant at j], summed, over R
    assert average_precision(counts)[0] == pytest.approx(wanted, rel=1e-12)
    assert RecallAt(10).per_query(counts)[0] == pytest.approx(min(10 / size, 1))
    assert PrecisionAt(10).per_query(counts)[0] == pytest.approx(min(10 / size, 1) * relevant / 10)


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
    for measure in (AveragePrecision(), AveragePrecision(k), RecallAt(k), PrecisionAt(k)):
        assert measure.per_query(oracle.counts_of([pool])) == measure.per_query(other)
    own = oracle.counts_of([pool]).best()
    for measure in (SuccessAt(k), ReciprocalRank(k)):
        assert measure.per_query(own) == measure.per_query(other.best())


@given(oracle.pools(most=12), st.integers(1, 14))
def test_bounds_and_neighbours(pool, k):
    scores, relevant = pool
    counts = oracle.counts_of([pool])
    value, cut = average_precision(counts)[0], average_precision(counts, k)[0]
    share, hit = RecallAt(k).per_query(counts)[0], SuccessAt(k).per_query(counts.best())[0]
    first, first_k = (m.per_query(counts.best())[0] for m in (ReciprocalRank(), ReciprocalRank(k)))
    precise = PrecisionAt(k).per_query(counts)[0]
    assert 0 < value <= 1 + 1e-15 and 0 <= cut <= 1 + 1e-15
    assert cut <= value + 1e-14 and first_k <= first + 1e-14 and first_k <= hit + 1e-12
    assert share <= hit + 1e-12
    assert precise * k == pytest.approx(share * sum(relevant), abs=1e-12)
    if k >= len(scores):
        assert cut == pytest.approx(value, abs=1e-14)
        assert first_k == first
    if sum(relevant) == 1:
        assert share == pytest.approx(hit, abs=1e-14)
        assert value == pytest.approx(first, abs=1e-14)
        assert cut == pytest.approx(first_k, abs=1e-14)


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
    found = average_precision(counts, 20, of_least=True)
    np.testing.assert_allclose(found, wanted_20, rtol=0, atol=1e-13)


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
        for measure in (AveragePrecision, RecallAt, PrecisionAt, SuccessAt, ReciprocalRank):
            with pytest.raises(ValueError, match="at least 1"):
                measure(wrong)
    with pytest.raises(ValueError, match="needs a k"):
        AveragePrecision(of_least=True)


def _constant(size, relevant):
    query = np.zeros(relevant, dtype=np.int64)
    return TargetCounts(query, query, query + size, np.array([size]))


# what pytrec_eval and ir_measures call our measures; k = 10
TREC_EVAL = {
    "map": "AP",
    "map_cut_10": "AP@10",
    "recall_10": "R@10",
    "success_10": "Success@10",
    "P_10": "P@10",
}
IR_MEASURES = {name: name for name in ("AP", "AP@10", "R@10", "Success@10", "P@10", "RR", "RR@10")}


def _values(name, counts):
    measure = parse_measure(name)
    return measure.per_query(counts.best() if name.startswith(("Success", "RR")) else counts)


def _tie_free(seed=3, queries=25, size=100):
    """Return our counts, and run and judgements as the other programs take them; some have R > 10."""
    rng = np.random.default_rng(seed)
    scores = np.stack([rng.permutation(size) for _ in range(queries)])
    relevant = rng.random((queries, size)) < 0.2
    relevant[:, 0] = True
    relevant[0] = relevant[1] = False
    relevant[0, 50], relevant[1, :3] = True, True
    run = {str(q): {str(d): float(s) for d, s in enumerate(row)} for q, row in enumerate(scores)}
    judged = {str(q): {str(d): int(r) for d, r in enumerate(row)} for q, row in enumerate(relevant)}
    counts = oracle.counts_of([(s.tolist(), r.tolist()) for s, r in zip(scores, relevant, strict=True)])
    return counts, run, judged, relevant.sum(axis=1)


def test_equals_pytrec_eval_without_ties():
    """Its `map_cut_k` is AP@k, with the divisor R; AP@k/min divides by min(R, k)."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    counts, run, judged, total = _tie_free()
    found = pytrec_eval.RelevanceEvaluator(judged, set(TREC_EVAL) | {"recip_rank"}).evaluate(run)
    theirs = {key: np.array([found[str(q)][key] for q in range(len(total))]) for key in found["0"]}
    for name, ours in TREC_EVAL.items():
        np.testing.assert_allclose(_values(ours, counts), theirs[name], rtol=0, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(_values("RR", counts), theirs["recip_rank"], rtol=0, atol=1e-12)
    assert (total > 10).any()
    scaled = theirs["map_cut_10"] * total / np.minimum(total, 10)
    np.testing.assert_allclose(_values("AP@10/min", counts), scaled, rtol=0, atol=1e-12)


def test_names_and_numbers_are_those_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    counts, run, judged, total = _tie_free(seed=4)
    wanted = [ir_measures.parse_measure(name) for name in IR_MEASURES]
    theirs = {str(measure): np.zeros(len(total)) for measure in wanted}
    for one in ir_measures.iter_calc(wanted, judged, run):
        theirs[str(one.measure)][int(one.query_id)] = one.value
    for name, ours in IR_MEASURES.items():
        np.testing.assert_allclose(_values(ours, counts), theirs[name], rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    "name", ["R@6", "R@99", "R@99.9%", "P@99", "Success@99", "Success@99.9%", "RR", "RR@99", "AP", "AP@99"]
)
def test_what_was_not_found_is_worth_nothing_at_any_depth(name):
    """A search misses a candidate: all of the pool are above it. One that it found is worth the same."""
    size, one = np.full(2, 6), np.ones(2, dtype=np.int64)
    counts = TargetCounts(np.arange(2), np.array([6, 2]), one, size)
    measure = parse_measure(name)
    values = measure.per_query(counts if hasattr(measure, "of_least") or name[0] == "P" else counts.best())
    assert values[0] == 0
    assert values[1] > 0
    both = TargetCounts(np.zeros(2, dtype=np.int64), np.array([2, 6]), one, size[:1])
    if name.startswith("R@"):
        assert measure.per_query(both)[0] == 0.5
