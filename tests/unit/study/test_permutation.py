"""Swapping labels within queries: exact values by hand, invariances, and what raters' leanings do."""

import numpy as np
import pytest

from xlingual.streams import stream
from xlingual.study.analysis.resampling import permutation_p

REPLICATES = 999


def p_of(differences, seen=None, seed=0, **options):
    differences = np.asarray(differences, dtype=float)
    seen = np.ones(differences.shape, dtype=bool) if seen is None else np.asarray(seen)
    return permutation_p(differences, seen, stream(seed, "test"), REPLICATES, **options)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1, 2, 3], 2 / 8),  # only all as they are, or all swapped
        ([1, 1, 0], 4 / 8),
        ([2, -1, 1], 6 / 8),  # |±2 ±1 ±1| is 4, 2, 2 and 0, twice each
        ([0, 0, 0], 1),
        ([5], 1),
    ],
)
def test_few_queries_are_gone_through(differences, p):
    assert p_of([differences]) == p


def test_random_swaps_come_near_to_all_swaps():
    rng = np.random.default_rng(4)
    twelve = rng.normal(0.5, 1, 12)
    exact = p_of([twelve])
    many = [p_of([np.append(twelve, 0.0)], seed=seed) for seed in range(30)]  # 13 queries: at random
    assert np.mean(many) == pytest.approx(exact, abs=0.01)


def test_p_is_never_zero():
    assert p_of([np.ones(40)]) == 1 / (REPLICATES + 1)


def test_raters_of_one_query_are_swapped_together():
    # twenty raters who say the same are one opinion on each of three queries
    assert p_of(np.tile([1.0, 2, 3], (4, 1))) == 2 / 8
    assert p_of(np.tile([1.0, 2, 3], (20, 1))) == pytest.approx(2 / 8, abs=0.04)  # at random from five on


def test_pages_that_were_not_seen_do_not_count():
    seen = [[True, True, True], [True, False, False]]
    assert p_of([[1, 2, 3], [1, 0, 0]], seen) == p_of([[1, 2, 3]])


def test_leanings_of_raters_count_where_raters_stand_for_others():
    # every query says the same, but only through three of five raters
    rng = np.random.default_rng(2)
    values = np.array([2.0, 2, 2, -1, -1])[:, None] + 0.3 * rng.normal(size=(5, 30))
    assert p_of(values) > 0.3
    assert p_of(values, raters=False) < 0.01


def test_agreement_of_queries_and_raters_is_found():
    values = 1 + 0.5 * np.random.default_rng(3).normal(size=(6, 20))
    assert p_of(values) < 0.01


def test_differences_that_are_all_the_same_can_be_tested_with_many_raters():
    assert p_of(np.ones((6, 5))) == 2 / 2**5
