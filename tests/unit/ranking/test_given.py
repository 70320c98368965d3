"""Scores that a function gives: ranked as the plain reference ranks them, each pair asked for once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from xlingual.ranking import Cosine, Cpu, GivenScores, UnitVectors, counts, reference, top
from xlingual.ranking import given as module
from xlingual.ranking.similarity import UNIT

SCORES = arrays(
    np.float64,
    st.tuples(st.integers(1, 9), st.integers(1, 12)),
    elements=st.one_of(
        st.sampled_from([-2.0, 0.0, 1.0, 1 + 1e-9, 1 + 4e-10, 3e5, 3e5 + 1e-9]), st.floats(-1e9, 1e9)
    ),
)


def similarity(scores):
    return GivenScores(scores.shape, lambda queries, candidates: scores[np.ix_(queries, candidates)])


@settings(deadline=None, max_examples=60)
@given(SCORES, st.integers(1, 4), st.sampled_from([16, 64, 1 << 20]))
def test_ranks_are_those_of_the_reference(scores, k, budget):
    n, m = scores.shape
    keys = np.rint(scores / UNIT).astype(np.int64)
    query, target = (index.ravel() for index in np.indices((n, m)))
    above, tied = counts(similarity(scores), query, target, ranker=Cpu(budget=budget))
    np.testing.assert_array_equal((above[:, 0], tied[:, 0]), reference.counts(keys, query, target))
    found = top(similarity(scores), k, ranker=Cpu(budget=budget))[0]
    lines = list(zip(found.query, found.candidate, found.above, found.tied, strict=True))
    expected = [(q, *line) for q, row in enumerate(reference.top(keys, k)) for line in row]
    assert sorted(lines) == sorted(expected)


def test_each_pair_is_asked_for_once(monkeypatch):
    monkeypatch.setattr(module, "_SIDE", 3)
    asked = np.zeros((7, 8), dtype=int)
    steps = []

    def scores(queries, candidates):
        assert len(queries) <= 3 and len(candidates) <= 3
        asked[np.ix_(queries, candidates)] += 1
        return np.subtract.outer(queries, candidates).astype(np.float32)

    found = GivenScores(asked.shape, scores, progress=lambda done, total: steps.append((done, total)))
    counts(found, np.arange(7), np.arange(7))
    top(found, 2)
    assert (asked == 1).all()
    assert steps[-1] == (56, 56) and len(steps) == 3


def test_a_file_holds_what_is_too_much_for_memory(monkeypatch):
    scores = np.random.default_rng(0).standard_normal((20, 30))
    small = similarity(scores)
    monkeypatch.setattr(module, "_MEMORY", 100)
    large = similarity(scores)
    assert isinstance(large._keys, np.memmap) and not isinstance(small._keys, np.memmap)
    query, target = np.arange(20), np.arange(20)
    for one, other in zip(counts(small, query, target), counts(large, query, target), strict=True):
        np.testing.assert_array_equal(one, other)


def test_means_are_those_of_the_cosine():
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((5, 3)), rng.standard_normal((6, 3))
    cosine = Cosine(UnitVectors(a), UnitVectors(b))
    given_scores = GivenScores((5, 6), lambda queries, candidates: cosine.block(queries, candidates))
    weights = rng.integers(0, 3, 5), rng.integers(1, 3, 6)
    assert given_scores.mean(*weights) == pytest.approx(cosine.mean(*weights), abs=1e-9)
    np.testing.assert_array_equal(
        given_scores.exact(np.arange(5), np.arange(5)), cosine.exact(np.arange(5), np.arange(5))
    )
