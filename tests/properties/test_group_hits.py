"""Counts by group, whichever way targets are counted: among few hits, one by one, or in sorted scores."""

from itertools import pairwise

import numpy as np
import pytest

from xlingual.ranking import Cosine, GroupCounts, Transposed, UnitVectors, group_counts, hits, reference, scan

WAYS = {
    "hits": {"_FEW": 0, "_DEEP": 1000},
    "one by one": {"_MOST": 1000, "_DEEP": -1, "_AT_ONCE": 500},
    "both": {"_FEW": 0, "_MOST": 1000, "_DEEP": 4},
    "as it comes": {},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", ["plain", "many ties", "equal vectors"])
def test_every_way_counts_as_the_reference(monkeypatch, way, turned, kind):
    used = []

    def noting(*given):
        used.append(hits.screened(*given))
        return used[-1]

    monkeypatch.setattr(group_counts, "screened", noting)
    for name, value in WAYS[way].items():
        monkeypatch.setattr(hits, name, value)
    for seed in range(20):
        compare(np.random.default_rng(seed), kind, turned=turned)
    if kind == "plain" and WAYS[way]:
        assert any(found is not None for found in used)


def compare(rng, kind, *, turned):
    n, m, dim = rng.integers(1, 12), rng.integers(1, 400), rng.integers(1, 5)
    queries = rng.standard_normal((n, dim)).astype(np.float32)
    candidates = rng.standard_normal((m, dim)).astype(np.float32)
    if kind == "many ties":
        queries, candidates = np.rint(queries), np.rint(candidates)
    elif kind == "equal vectors":
        candidates = candidates[rng.integers(0, m, m)]
    weights = np.ones(m, dtype=np.int64) if rng.random() < 0.5 else rng.integers(0, 3, m)
    weights[0] = 1
    query, target = rng.integers(0, n, 50), rng.choice(np.flatnonzero(weights), 50)
    bounds = np.array([0, *np.sort(rng.integers(0, m + 1, rng.integers(0, 5))), m])
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    request = GroupCounts.of(similarity, query, target, bounds, weights=weights)
    budget = int(rng.choice([100, 5000, 1 << 25]))
    if turned:
        similarity = Cosine(UnitVectors(candidates), UnitVectors(queries))
        scan(similarity, [Transposed(request)], budget=budget)
    else:
        scan(similarity, [request], budget=budget)
    above, tied = request.result()
    keys = reference.keys(queries, candidates)
    for number, (first, last) in enumerate(pairwise(bounds)):
        own = weights * ((np.arange(m) >= first) & (np.arange(m) < last))
        expected = reference.counts(keys, query, target, own)
        np.testing.assert_array_equal(above[:, number], expected[0])
        np.testing.assert_array_equal(tied[:, number], expected[1])
