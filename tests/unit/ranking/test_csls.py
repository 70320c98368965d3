"""CSLS against the paper's formula, on hand-made vectors, and the parts of its core that others will use."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.ranking import (
    CPU,
    Cosine,
    Csls,
    GivenScores,
    Offsets,
    Pool,
    Top,
    UnitVectors,
    adjusted,
    as_scores,
)


def offsets_of(left, right, k, queries=None, candidates=None):
    similarity = Cosine(UnitVectors(left), UnitVectors(right))
    ones = (np.ones(size, dtype=np.int64) for size in similarity.shape)
    sample = [one if given is None else given for one, given in zip(ones, (queries, candidates), strict=True)]
    request = Csls(k).request(*sample)
    CPU.scan(similarity, list(request.reductions))
    return similarity, request.result(similarity)


def csls_of(left, right, k):
    similarity, offsets = offsets_of(left, right, k)
    i, j = (index.ravel() for index in np.indices(similarity.shape))
    return as_scores(offsets.exact(similarity, i, j)).reshape(similarity.shape)


def as_the_paper_has_it(left, right, k):
    """Return eq. 3 of Conneau and others (2018) in float64, a pair at a time."""

    def cosine(x, y):
        lengths = np.sqrt(np.dot(x, x)) * np.sqrt(np.dot(y, y))
        return np.dot(x, y) / lengths if lengths > 0 else 0.0

    def mean_similarity(vector, others):
        return np.mean(sorted((cosine(vector, other) for other in others), reverse=True)[:k])

    left, right = left.astype(np.float64), right.astype(np.float64)
    return np.array(
        [
            [2 * cosine(x, y) - mean_similarity(x, right) - mean_similarity(y, left) for y in right]
            for x in left
        ]
    )


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 15))
def test_equals_the_formula_of_the_paper(seed, k):
    rng = np.random.default_rng(seed)
    sides = [rng.standard_normal((rng.integers(1, 15), 5)).astype(np.float32) for _ in range(2)]
    sides[0][rng.random(len(sides[0])) < 0.2] = 0
    np.testing.assert_allclose(csls_of(*sides, k), as_the_paper_has_it(*sides, k), rtol=0, atol=3.1e-9)


def test_a_hub_loses_its_lead():
    """Two queries, each with a match; the hub lies between both and is nearest to neither, but for cosine."""
    degrees = np.deg2rad([0, 60])
    queries = np.stack([np.cos(degrees), np.sin(degrees)], axis=1).astype(np.float32)
    degrees = np.deg2rad([-32, 92, 30])  # the matches, and the hub
    candidates = np.stack([np.cos(degrees), np.sin(degrees)], axis=1).astype(np.float32)
    similarity, offsets = offsets_of(queries, candidates, 2)
    plain, repaired = Top(1, (2, 3)), Top(1, (2, 3))
    CPU.scan(similarity, [plain, adjusted(repaired, offsets)])
    assert plain.result().candidate.tolist() == [2, 2]
    assert repaired.result().candidate.tolist() == [0, 1]
    cos = np.cos(np.deg2rad([32, 30, 92]))  # of a query to its match, to the hub, to the other's match
    r = [np.mean(cos[:2]), np.mean([cos[0], cos[2]]), cos[1]]  # of a query, of a match, of the hub
    assert csls_of(queries, candidates, 2)[0, 0] == pytest.approx(2 * cos[0] - r[0] - r[1], abs=1e-7)
    assert csls_of(queries, candidates, 2)[0, 2] == pytest.approx(2 * cos[1] - r[0] - r[2], abs=1e-7)


def test_vectors_count_as_often_as_they_occur():
    """Equal rows collapsed to one with a multiplicity give what they give each for itself."""
    rng = np.random.default_rng(0)
    base = rng.standard_normal((6, 3)).astype(np.float32)
    sides = base[rng.integers(0, 6, 30)], base[rng.integers(0, 6, 40)]
    pools = [Pool.of(side) for side in sides]
    _, each = offsets_of(*sides, 7)
    weights = [pool.weights(np.arange(len(pool.code))) for pool in pools]
    _, collapsed = offsets_of(
        *(side[pool.vectors.rows] for side, pool in zip(sides, pools, strict=True)), 7, *weights
    )
    np.testing.assert_array_equal(collapsed.queries[pools[0].code], each.queries)
    np.testing.assert_array_equal(collapsed.candidates[pools[1].code], each.candidates)


def test_offsets_are_those_of_the_sample_alone():
    """What a pass holds beside the sample has no part in its offsets, and none of its own."""
    rng = np.random.default_rng(1)
    left, right = (rng.standard_normal((size, 4)).astype(np.float32) for size in (30, 50))
    rows, columns = np.sort(rng.permutation(30)[:12]), np.sort(rng.permutation(50)[:20])
    sample = (np.isin(np.arange(30), rows).astype(int), np.isin(np.arange(50), columns).astype(int))
    _, within = offsets_of(left, right, 5, *sample)
    _, alone = offsets_of(left[rows], right[columns], 5)
    np.testing.assert_array_equal(within.queries[rows], alone.queries)
    np.testing.assert_array_equal(within.candidates[columns], alone.candidates)
    assert not within.queries[sample[0] == 0].any()
    assert not within.candidates[sample[1] == 0].any()


def test_zero_vectors_have_no_nearness_of_their_own():
    """Cosine 0 to everything: r is 0, and CSLS is less what the other side is near to."""
    left, right = np.float32([[0, 0], [1, 0]]), np.float32([[1, 0], [0, 0]])
    _, offsets = offsets_of(left, right, 1)
    assert offsets.queries.tolist() == [0, 10**9]
    assert offsets.candidates.tolist() == [10**9, 0]
    assert csls_of(left, right, 1).tolist() == [[-1, 0], [0, -1]]


def test_a_constant_encoder_ties_everything():
    _, offsets = offsets_of(
        np.ones((1, 3), dtype=np.float32), np.ones((1, 3), dtype=np.float32), 10, np.array([5]), np.array([7])
    )
    assert (offsets.queries.tolist(), offsets.candidates.tolist()) == ([10**9], [10**9])
    assert csls_of(*[np.ones((4, 3), dtype=np.float32)] * 2, 10).tolist() == [[0.0] * 4] * 4


def test_many_ties_with_the_last_place_are_not_listed_but_counted():
    candidates = np.repeat(np.eye(2, dtype=np.float32), 3000, axis=0) * np.arange(1, 6001)[:, None]
    _, offsets = offsets_of(np.float32([[3, 4]]), candidates.astype(np.float32), 4000)
    assert offsets.queries.tolist() == [round((3000 * 0.8 + 1000 * 0.6) / 4000 * 1e9)]


def test_offsets_of_another_similarity():
    """Scores that somebody gives, on a scale of their own, keep their exact order too."""
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 4, (20, 30)) * 1e6 + rng.integers(0, 3, (20, 30)) * 1e-8
    similarity = GivenScores(scores.shape, lambda q, c: scores[np.ix_(q, c)])
    offsets = Offsets(1, np.zeros(20, dtype=int), rng.integers(0, 5, 30) * 10)
    best = Top(1, scores.shape)
    CPU.scan(similarity, [adjusted(best, offsets)])
    keys = np.rint(scores * 1e9).astype(int) - offsets.candidates
    found = best.result()
    for query, row in enumerate(keys):
        assert found.candidate[found.query == query].tolist() == np.flatnonzero(row == row.max()).tolist()


def test_k_must_be_one_at_least():
    with pytest.raises(ValueError, match="k must be 1 at least"):
        Csls(0)
    assert Csls(5).name == "transductive-csls?k=5"
