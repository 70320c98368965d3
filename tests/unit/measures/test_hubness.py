"""k-occurrences are shared out exactly, and hubs are found."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import skew

from xlingual.measures.hubness import hubness

oracle = SimpleNamespace(**run_path(str(Path(__file__).with_name("pools.py"))))


def lists(scores, k):
    """Return query, candidate, above and tied of all candidates that are, or tie with, the first k."""
    above = (scores[:, :, None] < scores[:, None, :]).sum(axis=2)
    tied = (scores[:, :, None] == scores[:, None, :]).sum(axis=2)
    query, candidate = np.nonzero(above < k)
    return query, candidate, above[query, candidate], tied[query, candidate]


def of_scores(scores, k, language=None, n_languages=1):
    language = np.zeros(scores.shape[1], dtype=np.int64) if language is None else language
    found = lists(scores, k)
    return hubness(*found, k=k, n_queries=len(scores), language=language, n_languages=n_languages)


@given(st.integers(1, 6), st.integers(1, 9), st.integers(1, 12), st.integers(1, 5), st.integers(0, 10**6))
def test_places_add_up(n_queries, size, k, levels, seed):
    scores = np.random.default_rng(seed).integers(0, levels, (n_queries, size))
    found = of_scores(scores, k)
    assert found.occurrences.sum() == pytest.approx(n_queries * min(k, size))
    assert found.expected == pytest.approx(n_queries * min(k, size) / size)
    assert (found.occurrences <= n_queries + 1e-12).all()


@given(oracle.pools(most=6), st.integers(1, 6))
def test_an_occurrence_is_the_chance_to_be_among_the_first_k(pool, k):
    scores, _ = pool
    found = of_scores(np.array([scores]), k)
    for i in range(len(scores)):
        only = [j == i for j in range(len(scores))]
        wanted = oracle.mean_over_orders(lambda ranking: oracle.plain_hit(ranking, k), scores, only)
        assert found.occurrences[i] == pytest.approx(wanted, abs=1e-12)


def test_without_ties_it_is_counting_and_scipys_skewness():
    rng = np.random.default_rng(0)
    popular = np.exp(rng.normal(size=80))
    scores = rng.random((60, 80)) * popular
    first = np.argsort(-scores, axis=1)[:, :5]
    counted = np.bincount(first.ravel(), minlength=80)
    language = rng.integers(0, 3, 80)
    found = of_scores(scores, 5, language, 3)
    np.testing.assert_allclose(found.occurrences, counted, rtol=0, atol=1e-12)
    assert found.skewness == pytest.approx(skew(counted))
    assert found.never == np.mean(counted == 0) and found.largest == counted.max()
    wanted = np.flatnonzero(counted > counted.mean() + 2 * counted.std())
    assert len(wanted) > 0 and set(found.hubs) == set(wanted)
    assert (np.diff(counted[found.hubs]) <= 0).all()
    for code in range(3):
        held = counted[wanted[language[wanted] == code]].sum() / (60 * 5)
        assert found.by_language[code] == pytest.approx(held)


@pytest.mark.parametrize("listed", [1, 4, 10])
def test_a_constant_encoder_prefers_nobody(listed):
    """Also where the lists name only some of the tied candidates, not the same for every query."""
    query = np.repeat(np.arange(7), listed)
    candidate = np.concatenate([(q + np.arange(listed)) % 10 for q in range(7)])
    language = np.arange(10) % 2
    found = hubness(
        query, candidate, 0 * query, 0 * query + 10, k=3, n_queries=7, language=language, n_languages=2
    )
    np.testing.assert_allclose(found.occurrences, np.full(10, 7 * 3 / 10), rtol=1e-12)
    assert found.skewness == 0 and found.never == 0 and len(found.hubs) == 0
    assert found.by_language.tolist() == [0, 0]


def test_longer_lists_change_nothing():
    scores = np.random.default_rng(1).integers(0, 30, (20, 40))
    language = np.zeros(40, dtype=np.int64)
    long = hubness(*lists(scores, 12), k=4, n_queries=20, language=language, n_languages=1)
    np.testing.assert_allclose(long.occurrences, of_scores(scores, 4).occurrences, rtol=0, atol=1e-12)
