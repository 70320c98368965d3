"""The order of trec_eval, of runs."""

from __future__ import annotations

import numpy as np
import pytest

from xlingual.data.runs import SearchRun
from xlingual.data.runs.search_run import places_of_names, trec_order

NAMES = ["d10", "d9", "é", "a", "Z"]


def drawn(seed):
    """Draw results of three queries: scores that tie, some only as float32."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 3, 30) + rng.choice([0.0, 1e-10, 1e-3], 30)
    pairs = [divmod(place, len(NAMES)) for place in rng.choice(15, 11, replace=False).tolist()]
    return sorted((query, -value, candidate) for (query, candidate), value in zip(pairs, score, strict=False))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_sorting_by_float32_and_name_for_runs(seed):
    rows = drawn(seed)
    naive: dict[int, list[str]] = {}
    for query in sorted({query for query, *_ in rows}):
        own = [(np.float32(-minus), NAMES[c].encode()) for q, minus, c in rows if q == query]
        naive[query] = [name.decode() for _, name in sorted(own, reverse=True)]
    results: dict[str, dict[str, float]] = {}
    for query, minus, candidate in rows:
        results.setdefault(f"q{query}", {})[NAMES[candidate]] = -minus
    run = SearchRun.of(results).in_trec_order()
    assert [run.candidates[c] for c in run.candidate] == [name for own in naive.values() for name in own]


def test_lines_that_are_in_no_order_are_sorted_too():
    order = trec_order(np.array([0, 0, 0]), np.array([1.0, 2.0, 1.0]), np.array([0, 1, 2]), ["a", "b", "c"])
    assert order.tolist() == [1, 2, 0]


def test_places_of_some_names_are_in_falling_order():
    assert places_of_names(["b", "c", "a"]).tolist() == [1, 0, 2]
    assert places_of_names(["b", "c", "a"], np.array([0, 2])).tolist() == [0, 0, 1]
