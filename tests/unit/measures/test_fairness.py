"""PEER equals its authors' program and, ranked within levels, scipy's Kruskal-Wallis test."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.measures.fairness import peer

CUT = 8


def random_lists(rng, queries=12, size=24):
    """Return the lines of some queries: all candidates, ranked 1 to `size`."""
    query = np.repeat(np.arange(queries), size)
    rank = np.concatenate([rng.permutation(size) + 1.0 for _ in range(queries)])
    language = rng.integers(0, rng.integers(1, 5), len(query))
    relevant = rng.random(len(query)) < rng.choice([0.05, 0.3, 0.6])
    relevant[::size] = True  # a query without relevant candidates is not judged
    return query, rank, language, relevant


def published(query, rank, language, relevant, weights):
    """Return the values of the authors' program, by query.

    Its evaluator is called directly: its way through ir_measures needs a function that current versions lack.
    """
    peer_measure = pytest.importorskip("peer_measure")
    run, qrels, mapping = {}, {}, {}
    for number, (q, r, code, level) in enumerate(zip(query, rank, language, relevant, strict=True)):
        run.setdefault(str(q), {})[str(number)] = -float(r)
        qrels.setdefault(str(q), {})[str(number)] = int(level)
        mapping[str(number)] = "abcd"[code]
    measure = peer_measure.PEER(weights=dict(enumerate(weights)), lang_mapping=mapping) @ CUT
    meta, mappings = {id(mapping): [(CUT, measure)]}, {id(mapping): mapping}
    evaluator = peer_measure.PEEREvaluator([measure], qrels, meta, mappings)
    found = {int(one.query_id): one.value for one in evaluator._iter_calc(run)}
    return np.array([found[q] for q in range(len(found))])


@pytest.mark.parametrize("weights", [(0.5, 0.5), (1.0, 0.0), (0.0, 1.0), (0.2, 0.8)])
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_authors_program(seed, weights):
    lines = random_lists(np.random.default_rng(seed))
    wanted = published(*lines, weights)
    found = peer(*lines, n_queries=12, cut=CUT, weights=weights).value
    known = ~np.isnan(wanted)  # theirs divides by 0 where all ranks of a level are equal
    assert known.mean() > 0.7
    np.testing.assert_allclose(found[known], wanted[known], rtol=0, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_within_levels_it_is_the_textbook_test(seed):
    from scipy.stats import kruskal

    rng = np.random.default_rng(seed)
    query, rank, language, relevant = random_lists(rng, 5)
    rank = np.ceil(rank / 2) * 2 - 0.5  # pairs tie, with their mid-rank
    found = peer(query, rank, language, relevant, n_queries=5, cut=CUT, ranks="level")
    for q in range(5):
        for level, values in ((False, found.other), (True, found.relevant)):
            own = (query == q) & (relevant == level) & (relevant | (rank <= CUT))
            place = np.where(rank[own] <= CUT, rank[own], np.inf)
            groups = [place[language[own] == code] for code in np.unique(language[own])]
            if len(groups) < 2 or len(np.unique(place)) < 2:
                assert values[q] == 1
            else:
                assert values[q] == pytest.approx(kruskal(*groups).pvalue, abs=1e-12)


def test_one_relevant_candidate_per_language_says_nothing():
    """Whatever their order, every language is one rank: p does not move."""
    rng = np.random.default_rng(0)
    rank = np.concatenate([rng.permutation(20)[:5] + 1.0 for _ in range(50)])
    query, language = np.repeat(np.arange(50), 5), np.tile(np.arange(5), 50)
    found = peer(query, rank, language, np.ones(250, dtype=bool), n_queries=50)
    assert np.ptp(found.relevant) < 1e-12
    assert found.relevant_tested == 1 and found.other_tested == 0


def test_biased_and_balanced_lists():
    rank, query = np.arange(1.0, 21), np.zeros(20, dtype=np.int64)
    nothing = np.zeros(20, dtype=bool)
    blocks, turns = np.arange(20) // 10, np.arange(20) % 2
    biased = peer(query, rank, blocks, nothing, n_queries=1)
    balanced = peer(query, rank, turns, nothing, n_queries=1)
    alone = peer(query, rank, np.zeros(20, dtype=np.int64), nothing, n_queries=1)
    assert biased.other[0] < 0.001 < 0.6 < balanced.other[0]
    assert alone.other[0] == 1 and alone.other_tested == 0  # one language only counts as fair
    assert biased.value[0] == pytest.approx((biased.other[0] + 1) / 2)
    assert biased.means == {"value": biased.value[0], "relevant": 1.0, "other": biased.other[0]}


def test_all_tied_is_fair_and_empty_queries_too():
    query = np.array([0, 0, 0, 0, 2, 2])
    rank = np.array([2.5, 2.5, 2.5, 2.5, np.inf, np.inf])
    language = np.array([0, 0, 1, 1, 0, 1])
    relevant = np.array([False, False, False, False, True, True])
    for ranks in ("published", "level"):
        found = peer(query, rank, language, relevant, n_queries=3, ranks=ranks)
        np.testing.assert_array_equal(found.value, [1, 1, 1])
    empty = np.zeros(0, dtype=np.int64)
    assert peer(empty, empty + 0.0, empty, empty > 0, n_queries=2).value.tolist() == [1, 1]


@given(st.integers(0, 10**6), st.sampled_from(["published", "level"]))
def test_values_are_probabilities_and_order_of_lines_is_nothing(seed, ranks):
    rng = np.random.default_rng(seed)
    lines = random_lists(rng, 6)
    found = peer(*lines, n_queries=6, cut=CUT, ranks=ranks)
    assert ((found.value >= 0) & (found.value <= 1)).all()
    order = rng.permutation(len(lines[0]))
    again = peer(*(column[order] for column in lines), n_queries=6, cut=CUT, ranks=ranks)
    np.testing.assert_allclose(found.value, again.value, rtol=0, atol=1e-12)
    renamed = peer(lines[0], lines[1], 3 - lines[2], lines[3], n_queries=6, cut=CUT, ranks=ranks)
    np.testing.assert_allclose(found.value, renamed.value, rtol=0, atol=1e-12)


def test_irrelevant_candidates_beyond_the_cut_are_not_looked_at():
    lines = random_lists(np.random.default_rng(5))
    kept = lines[3] | (lines[1] <= CUT)
    short = peer(*(column[kept] for column in lines), n_queries=12, cut=CUT)
    np.testing.assert_array_equal(short.value, peer(*lines, n_queries=12, cut=CUT).value)


@pytest.mark.parametrize(("cut", "weights"), [(0, (0.5, 0.5)), (20, (0.5, 0.6)), (20, (-0.5, 1.5))])
def test_refusals(cut, weights):
    one = np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match="weights that sum to 1"):
        peer(one, one + 1.0, one, one > 0, n_queries=1, cut=cut, weights=weights)
