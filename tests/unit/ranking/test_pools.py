"""Which rows are one: identical ones, and those whose unit vectors agree to 12 decimals."""

import numpy as np
import pytest

from xlingual.ranking import Cosine, Pool, UnitVectors, identical_rows


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_equal_rows_are_one_and_others_are_not(dtype):
    rows = np.array([[0, 1], [1, 0], [0, 4], [-0.0, 1], [1, 1], [0, 0], [-0.0, 0]], dtype=dtype)
    pool = Pool.of(rows)
    assert pool.code.tolist() == [0, 1, 0, 0, 2, 3, 3]
    np.testing.assert_array_equal(pool.vectors.stored(np.arange(4)), rows[[0, 1, 4, 5]].astype(float))
    assert Pool.of(rows, np.array([4, 2, 3])).code.tolist() == [0, 1, 1]
    assert pool.take(np.array([4, 3, 6, 2])).code.tolist() == [0, 1, 2, 1]


def test_multiples_scaled_in_float32_are_not_one():
    """Rounding them to float32 turned them: they stand apart in the ninth decimal of some cosines."""
    base = np.random.default_rng(0).standard_normal(300).astype(np.float32)
    assert len(Pool.of(np.array([base, base * np.float32(1.7)])).vectors) == 2
    assert len(Pool.of(np.array([base, base * np.float32(2)])).vectors) == 1


@pytest.mark.parametrize("d", [20, 300])
def test_categories_of_any_length_are_as_many_vectors_as_classes(d):
    rng = np.random.default_rng(1)
    classes = rng.integers(0, 20, 5000)
    pool = Pool.of(np.eye(20, d, dtype=np.float32)[classes] * rng.uniform(0.5, 2, (5000, 1)))
    assert len(pool.vectors) == len(np.unique(np.stack([pool.code, classes]), axis=1).T) == 20


def test_identical_rows_are_those_with_the_same_numbers():
    raw = np.array([[1, 0], [2, 0], [1, -0.0], [0, 1], [2, 0]], dtype=np.float32)
    first, code = identical_rows(raw)
    assert (first.tolist(), code.tolist()) == ([0, 1, 3], [0, 1, 0, 2, 1])


@pytest.mark.parametrize(("large", "wider"), [(1, False), (1000, True)])
def test_a_probe_widens_the_band_where_products_lose_digits(large, wider):
    """Sums that begin with one large term round all terms after it."""
    rows = np.random.default_rng(2).standard_normal((200, 300)).astype(np.float32)
    rows[:, 0] *= large
    unit = UnitVectors(rows)
    assert (Cosine(unit, unit).band > 2e-7 * 300**0.5 + 4.1e-7) == wider
