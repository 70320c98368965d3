"""Which rows are one: identical ones, and those whose unit vectors agree to 12 decimals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.ranking import Cosine, Pool, UnitVectors, identical_rows


def unit(raw):
    wide = raw.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0)


def rows(kind, rng, n, d):
    few = rng.standard_normal((max(1, n // 3), d))[rng.integers(0, max(1, n // 3), n)]
    if kind == "copies":
        return few.astype(np.float32)
    if kind == "float64 multiples":
        return few * rng.uniform(0.1, 10, (n, 1))
    if kind == "float32 multiples":
        return (few * rng.uniform(0.1, 10, (n, 1))).astype(np.float32)
    if kind == "one-hot":
        hot = np.eye(d, dtype=np.float32)[rng.integers(0, d, n)]
        return hot * rng.uniform(0.1, 10, (n, 1)).astype(np.float32)
    if kind == "signs and zeros":
        return rng.integers(-1, 2, (n, d)).astype(np.float16)
    return rng.standard_normal((n, d)).astype(np.float32)


KINDS = ("copies", "float64 multiples", "float32 multiples", "one-hot", "signs and zeros", "random")


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(KINDS), st.integers(1, 60), st.integers(1, 12), st.integers(0, 10**6))
def test_rows_are_one_where_their_unit_vectors_round_to_the_same(kind, n, d, seed):
    raw = rows(kind, np.random.default_rng(seed), n, d)
    wanted = np.rint(unit(raw) * 1e12) + 0.0
    pool = Pool.of(raw)
    # the oracle divides, the pool multiplies by the inverse: what is on the edge may round otherwise
    edge = np.abs(np.abs(unit(raw) * 1e12 - np.rint(unit(raw) * 1e12)) - 0.5).min() < 1e-3
    if not edge:
        same = (wanted[:, None] == wanted[None]).all(axis=2)
        np.testing.assert_array_equal(pool.code[:, None] == pool.code[None], same)
    first = [pool.code.tolist().index(code) for code in range(len(pool.vectors))]
    np.testing.assert_array_equal(pool.vectors.rows, first)
    assert first == sorted(first)


def test_multiples_scaled_in_float32_are_not_one():
    """Rounding them to float32 turned them: they stand apart in the ninth decimal of some cosines."""
    rng = np.random.default_rng(0)
    base = rng.standard_normal(300).astype(np.float32)
    assert len(Pool.of(np.array([base, base * np.float32(1.7)])).vectors) == 2
    assert len(Pool.of(np.array([base, base * np.float32(2)])).vectors) == 1


@pytest.mark.parametrize("d", [20, 300])
def test_categories_of_any_length_are_as_many_vectors_as_classes(d):
    rng = np.random.default_rng(1)
    classes = rng.integers(0, 20, 5000)
    lengths = rng.uniform(0.5, 2, (5000, 1)).astype(np.float32)
    pool = Pool.of(np.eye(20, d, dtype=np.float32)[classes] * lengths)
    assert len(pool.vectors) == 20
    assert len(np.unique(np.stack([pool.code, classes]), axis=1).T) == 20
    np.testing.assert_array_equal(np.sort(np.bincount(pool.code)), np.sort(np.bincount(classes)))


def test_identical_rows_are_those_with_the_same_numbers():
    raw = np.array([[1, 0], [2, 0], [1, -0.0], [0, 1], [2, 0]], dtype=np.float32)
    first, code = identical_rows(raw)
    assert first.tolist() == [0, 1, 3]
    assert code.tolist() == [0, 1, 0, 2, 1]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(("whole", "halves", "floats")),
    st.integers(1, 30),
    st.integers(1, 40),
    st.integers(0, 999),
)
def test_a_block_decides_as_single_pairs_do(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    sides = rng.integers(-3, 4, (2, n, d)) if kind != "floats" else rng.standard_normal((2, n, d))
    left, right = (sides * (0.5 if kind == "halves" else 1)).astype(np.float32)
    similarity = Cosine(UnitVectors(left), UnitVectors(right))
    i, j = np.divmod(np.arange(n * n), n)
    alone = np.array([similarity.keys(i[[p]], j[[p]])[0] for p in range(n * n)]).reshape(n, n)
    np.testing.assert_array_equal(similarity.key_block(np.arange(n), np.arange(n)), alone)


def test_scores_halfway_between_two_keys_are_decided_alike(monkeypatch):
    """Cosines of codes of 1,024 bits are multiples of 1/1024: every second one is halfway between keys."""
    rng = np.random.default_rng(2)
    codes = rng.choice(np.array([-1, 1], dtype=np.float32), (40, 1024))
    similarity = Cosine(UnitVectors(codes[:20]), UnitVectors(codes[20:]))
    i, j = np.divmod(np.arange(400), 20)
    alone = np.concatenate([similarity.keys(i[[p]], j[[p]]) for p in range(400)]).reshape(20, 20)
    monkeypatch.delattr(Cosine, "_pair_keys")  # no pair is computed again
    np.testing.assert_array_equal(similarity.key_block(np.arange(20), np.arange(20)), alone)
