"""Cosines: screened in float32 within the stated band, decided in float64, equal rows collapsed."""

import numpy as np
import pytest

from xlingual.ranking import Cosine, Pool, UnitVectors, as_scores, counts, pairs, top
from xlingual.ranking.shared_lists import shared_lists


def exact(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    return (a / np.linalg.norm(a, axis=1, keepdims=True)) @ (b / np.linalg.norm(b, axis=1, keepdims=True)).T


@pytest.mark.parametrize("d", [2, 50, 300, 2048])
@pytest.mark.parametrize("shift", [0.0, 1.0, 100.0])
def test_two_screened_scores_err_by_less_than_the_band(d, shift):
    rng = np.random.default_rng(d)
    a, b = ((rng.standard_normal((200, d)) + shift).astype(np.float32) for _ in range(2))
    similarity = Cosine(UnitVectors(a), UnitVectors(b))
    screen = similarity.tile(slice(0, 200), slice(0, 200), np.empty((200, 200), dtype=np.float32))
    error = np.abs(screen - exact(a, b)).max()
    assert 2 * error < similarity.band


def test_exact_scores_are_rounded_cosines_however_many_are_asked_for():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((40, 30)).astype(np.float32), rng.standard_normal((50, 30)).astype(np.float16)
    similarity = Cosine(UnitVectors(a), UnitVectors(b))
    i, j = np.divmod(np.arange(2000), 50)
    found = pairs(similarity, i, j)
    np.testing.assert_allclose(found, exact(a, b).ravel(), rtol=0, atol=5.1e-10)
    np.testing.assert_allclose(found, np.round(found, 9), rtol=0, atol=1e-15)
    one_by_one = [similarity.exact(i[[k]], j[[k]])[0] for k in range(2000)]
    np.testing.assert_array_equal(as_scores(np.array(one_by_one)), found)


def test_lengths_do_not_matter_and_zero_is_similar_to_nothing():
    a = np.array([[3, 4], [3 * 2.0**-90, 4 * 2.0**-90], [3 * 2.0**90, 4 * 2.0**90], [0, 0]], dtype=np.float32)
    similarity = Cosine(UnitVectors(a), UnitVectors(np.array([[4, 3], [0, 0]], dtype=np.float32)))
    i, j = np.divmod(np.arange(8), 2)
    assert pairs(similarity, i, j) == pytest.approx([0.96, 0, 0.96, 0, 0.96, 0, 0, 0], abs=1e-15)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_equal_rows_are_one_and_others_are_not(dtype):
    rows = np.array([[0, 1], [1, 0], [0, 1], [-0.0, 1], [1, 1], [0, 0], [-0.0, 0]], dtype=dtype)
    pool = Pool.of(rows)
    assert pool.code.tolist() == [0, 1, 0, 0, 2, 3, 3]
    assert len(pool.vectors) == 4
    np.testing.assert_array_equal(pool.vectors.stored(pool.code), rows.astype(float))
    assert pool.weights(np.arange(7)).tolist() == [3, 1, 1, 2]
    assert pool.weights(np.array([1, 6])).tolist() == [0, 1, 0, 1]
    part = Pool.of(rows, np.array([4, 2, 3]))
    assert part.code.tolist() == [0, 1, 1]


def test_a_mean_of_unit_vectors_is_weighted():
    rows = np.array([[2, 0], [0, 5], [0, 0]], dtype=np.float32)
    assert UnitVectors(rows).mean(np.array([1, 2, 1])).tolist() == [0.25, 0.5]


def test_the_best_by_hand():
    queries = np.array([[1, 0]], dtype=np.float32)
    candidates = np.array([[1, 1], [2, 0], [0, 1], [1, -1], [3, 0]], dtype=np.float32)
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    (found,) = top(similarity, 3)
    rows = zip(found.candidate.tolist(), found.above.tolist(), found.tied.tolist(), strict=True)
    assert sorted(rows) == [(0, 2, 2), (1, 0, 2), (3, 2, 2), (4, 0, 2)]
    above, tied = counts(similarity, np.zeros(5, dtype=np.int64), np.arange(5))
    assert above.ravel().tolist() == [2, 0, 4, 2, 0]
    assert tied.ravel().tolist() == [2, 2, 1, 2, 2]
    by_group = top(similarity, 1, groups=np.array([0, 0, 0, 1, 1]))
    assert [group.candidate.tolist() for group in by_group] == [[1], [4]]


@pytest.mark.parametrize("kind", ["plain", "whole", "zeros"])
def test_pairs_of_queries_that_share_their_candidates_have_the_keys_of_single_pairs(kind):
    rng = np.random.default_rng(7)
    vectors = rng.standard_normal((500, 24)).astype(np.float32)
    if kind == "whole":
        vectors = np.rint(vectors)
    elif kind == "zeros":
        vectors[::9] = 0
    similarity = Cosine(UnitVectors(vectors[:200]), UnitVectors(vectors[200:]))
    lists = [np.sort(rng.choice(300, rng.integers(5, 11), replace=False)) for _ in range(20)]
    of = rng.integers(0, 20, 200)
    queries = np.repeat(np.arange(200), [len(lists[one]) for one in of])
    candidates = np.concatenate([lists[one] for one in of])
    assert shared_lists(queries, candidates) is not None
    for order in (np.arange(len(queries)), rng.permutation(len(queries))):
        found = similarity.exact(queries[order], candidates[order])
        single = [int(similarity.exact(queries[i : i + 1], candidates[i : i + 1])[0]) for i in order]
        np.testing.assert_array_equal(found, single)


@pytest.mark.parametrize("lengths", [[1.0], [1.0, 0.0], [1.0, 1e-20], [1.0, 1e15]])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_chosen_unit_vectors_are_the_same_whatever_is_known_of_others(lengths, kind):
    rng = np.random.default_rng(3)
    raw = (rng.standard_normal((60, 33)) * rng.choice(lengths, 60)[:, None]).astype(kind)
    unit, index = UnitVectors(raw), np.arange(5, 60, 7)
    plain = UnitVectors(raw, index).screen(0, len(index))
    np.testing.assert_array_equal(unit.screened(index), plain)
    unit.screen(0, 60)
    np.testing.assert_array_equal(unit.screened(index), plain)
