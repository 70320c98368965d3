"""Every similarity has the keys of its definition, and scores within half its band of them."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array
from tests import scored
from tests.rankings import FunctionScores, constants, cosine, problems, setting, tally_of

from xlingual.errors import InputError
from xlingual.forms import SparseVectors, TokenVectors
from xlingual.ranking import UnitVectors
from xlingual.ranking.pools import Pool, rows_of, similarity_of
from xlingual.ranking.tiles import Device


@settings(max_examples=100)
@given(problems(), constants())
def test_keys_depend_on_the_pair_alone(problem, chosen):
    rng, similarity, keys = problem
    rows, columns = (rng.integers(0, size, 90) for size in keys.shape)
    before, is_read = tally_of(similarity).decided, isinstance(similarity, FunctionScores)
    with setting(**chosen):
        np.testing.assert_array_equal(similarity.keys(rows, columns), keys[rows, columns])
        assert tally_of(similarity).decided == before + 90 * (not is_read)
        np.testing.assert_array_equal(similarity.key_block(rows, columns), keys[np.ix_(rows, columns)])
        assert tally_of(similarity).decided == before + 90 * 91 * (not is_read)
        assert similarity.keys(rows[:0], columns[:0]).tolist() == []


@settings(max_examples=100)
@given(problems(), constants())
def test_scores_are_within_half_the_band(problem, chosen):
    _, similarity, keys = problem
    (n, m), before = keys.shape, tally_of(similarity).screened
    with setting(**chosen):
        for columns in (slice(0, (m + 1) // 2), slice((m + 1) // 2, m)):
            panel = similarity.panel(columns, Device())
            for rows in (slice(0, n), slice(n // 2, n)):
                room = np.full((rows.stop - rows.start, columns.stop - columns.start), np.nan, np.float32)
                for scores in (panel(rows, room), panel(rows, None)):
                    assert scores.dtype == np.float32
                    errors = np.abs(scores - keys[rows, columns] * 1e-9)
                    assert errors.max(initial=0) <= similarity.band / 2 + 1e-9
    if not isinstance(similarity, FunctionScores):
        assert tally_of(similarity).screened == before + 2 * (n + n - n // 2) * m


def texts(numbers, compared_by="maxsim"):
    return rows_of(
        TokenVectors.of([np.array(text, np.float32).reshape(-1, 2) for text in numbers], compared_by)
    )


def test_texts_in_pieces_of_few_tokens():
    rows = texts([[1, 2] * size for size in (2, 0, 1, 5, 1, 1, 2)])
    pieces = [[piece.tolist() for piece in rows.pieces(3, *ends)] for ends in ((), (1, 6))]
    assert pieces == [[[0, 1, 2], [3], [4, 5], [6]], [[1, 2], [3], [4, 5]]]


def test_bounds_of_scores_by_hand():
    queries, candidates = [[[3, 4], [0, 0]], [[1, 0]], []], [[[0, 2], [1, 0]], []]
    for form, largest in (("maxsim", 10), ("meanmaxsim", 5)):
        assert similarity_of(texts(queries, form), texts(candidates, form)).largest == largest
    rows = [rows_of(SparseVectors.of(csr_array(np.array(side)))) for side in ([[3, 4], [1, 0]], [[0, 2]])]
    assert similarity_of(*rows).largest == 10
    similarity, _ = cosine("random", np.random.default_rng(0), 50, 50, 9)
    assert similarity.band == pytest.approx(1e-6)
    for side, fits in ((1000, True), (1000.01, False), (0.0101, True), (0.0099, False), (0, True)):
        rows = [rows_of(SparseVectors.of(csr_array(np.array([[side]]))))] * 2
        with contextlib.nullcontext() if fits else pytest.raises(InputError, match="multiply all vectors"):
            similarity_of(*rows)


@settings(max_examples=40)
@given(problems(["float32", "float16", "function"]), constants())
def test_means_are_those_of_all_pairs(problem, chosen):
    rng, similarity, keys = problem
    weights = [rng.integers(0, 4, size) + 1 for size in keys.shape]
    with setting(**chosen):
        mean = similarity.mean(*weights)
    assert mean == pytest.approx(
        (weights[0] @ keys @ weights[1]) * 1e-9 / weights[0].sum() / weights[1].sum(), abs=1e-8
    )


def test_whole_numbers_are_recognised():
    cases = [
        ([3, -4], [0, 1]),
        ([1, 0], [0, 200]),
        ([1, 0], [600, 0]),
        ([1 / 3, 1], [0, 0]),
        ([0, 0], [0, 0]),
    ]
    with setting(CHUNK=1):
        assert [UnitVectors(np.array(rows, float)).bits for rows in cases] == [16, 23, None, None, 0]


def test_components_along_a_direction():
    rows, direction = np.array([[3.0, 4], [0, 0], [-8, 6]]), np.array([1.0, 2])
    with setting(CHUNK=2):
        np.testing.assert_allclose(UnitVectors(rows).along(direction), [2.2, 0, 0.4])
        np.testing.assert_allclose(UnitVectors(rows).mean(np.array([1, 2, 3])), [-0.3, 2.6 / 6])


@pytest.mark.parametrize("form", ["dot", "cosine", "maxsim", "meanmaxsim"])
def test_equal_rows_and_texts_are_collapsed(form):
    rng = np.random.default_rng(0)
    make = scored.sparse if form in ("dot", "cosine") else scored.tokens
    for kind in scored.KINDS:
        queries, candidates = (make(kind, rng, size, 4, form) for size in (6, 20))
        pool, keys = Pool.of(candidates), scored.naive_keys(queries, candidates)
        assert (keys == scored.naive_keys(queries, candidates[pool.vectors.rows])[:, pool.code]).all()
        assert len({candidates.row_bytes(i) for i in range(20)}) == len(pool.vectors)


def test_scores_at_a_rounding_boundary_have_one_key():
    rng, n, d = np.random.default_rng(0), 70, 48
    query = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    cosines = (rng.integers(0, 10**9, 10 * n) + 0.5) * 1e-9
    candidates = cosines[:, None] * query[0] + np.sqrt(1 - cosines**2)[:, None] * query[1]
    queries = np.tile(query[0], (n, 1)) * rng.integers(1, 4, (n, 1))
    similarity = similarity_of(UnitVectors(queries), UnitVectors(candidates))
    rows, columns = np.arange(n), np.arange(10 * n)
    alone = [similarity.keys(np.array([0]), np.array([column]))[0] for column in columns]
    np.testing.assert_array_equal(similarity.key_block(rows[:1], columns)[0], alone)
    every = similarity.keys(np.repeat(rows, 10 * n), np.tile(columns, n)).reshape(n, -1)
    np.testing.assert_array_equal(every[0], alone)
    np.testing.assert_array_equal(similarity.key_block(rows, columns), every)
