"""Batches of like length, and memory that runs out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.encoders.runtime import Batches
from xlingual.errors import DataWarning, InputError


class OutOfMemoryError(RuntimeError):
    """As torch calls it."""


def two_columns(rows):
    return np.stack([rows, rows * 10], axis=1)


@given(st.lists(st.integers(0, 9)), st.integers(1, 7))
def test_every_row_is_run_once_and_the_order_is_restored(lengths, batch_size):
    seen = []

    def run(rows):
        assert 1 <= len(rows) <= batch_size
        assert min(lengths[row] for row in rows) >= 0.75 * lengths[rows[0]]
        seen.extend(rows.tolist())
        return two_columns(rows)

    vectors = Batches(batch_size, "x").run(lengths, run, dim=2)
    np.testing.assert_array_equal(vectors, two_columns(np.arange(len(lengths))))
    assert vectors.dtype == np.float32
    assert seen == sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OutOfMemoryError("Tried to allocate 2 GiB"),
        RuntimeError("MPS backend out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    ],
)
def test_a_batch_that_does_not_fit_is_halved_for_good(error):
    sizes, batches = [], Batches(16, "hf:x")

    def run(rows):
        sizes.append(len(rows))
        if len(rows) > 3:
            raise error
        return two_columns(rows)

    with pytest.warns(DataWarning, match="batch=3"):
        vectors = batches.run([4] * 7, run)
    np.testing.assert_array_equal(vectors, two_columns(np.arange(7)))
    batches.run([4] * 7, run)  # a second warning would be an error
    assert sizes == [7, 3, 3, 1, 3, 3, 1]


def test_one_row_that_does_not_fit_is_an_error():
    def run(rows):
        raise MemoryError

    with pytest.warns(DataWarning), pytest.raises(InputError, match="single row"):
        Batches(2, "hf:x").run([7, 9, 8], run)
