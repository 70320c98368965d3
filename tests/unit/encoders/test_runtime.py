import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.encoders.runtime import Memory, in_batches, in_parts
from xlingual.errors import DataWarning, InputError
from xlingual.records import Encoded, Texts


class OutOfMemoryError(RuntimeError):
    """As torch calls it."""


def two_columns(rows):
    return np.stack([rows, rows * 10], axis=1)


def memory_for(most, error):
    """Return a `run` that has memory for so many rows, and the sizes it is called with."""
    sizes = []

    def run(rows):
        sizes.append(len(rows))
        if len(rows) > most:
            raise error
        return two_columns(rows)

    return run, sizes


@given(st.lists(st.integers(0, 9)), st.integers(1, 7))
def test_every_row_is_run_once_and_the_order_is_restored(lengths, batch_size):
    seen = []

    def run(rows):
        assert 1 <= len(rows) <= batch_size
        assert min(lengths[row] for row in rows) >= 0.75 * lengths[rows[0]]
        seen.extend(rows.tolist())
        return two_columns(rows)

    vectors = in_batches(lengths, batch_size, run, who="x", dim=2)
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
def test_a_batch_that_does_not_fit_is_halved(error):
    run, sizes = memory_for(3, error)
    memory = Memory()
    with pytest.warns(DataWarning, match=r"^hf:x: a batch of 7 .*one of 3 did"):
        vectors = in_batches([4] * 7, 16, run, who="hf:x", memory=memory)
    np.testing.assert_array_equal(vectors, two_columns(np.arange(7)))
    in_batches([4] * 7, 16, run, who="hf:x", memory=memory)  # a second warning would be an error
    assert sizes == [7, 3, 3, 1, 3, 3, 1]


def test_one_row_that_does_not_fit_is_an_error():
    run, sizes = memory_for(0, MemoryError())
    with pytest.raises(InputError, match=r"^hf:x: out of memory with a single row \(of length 9\)"):
        in_batches([7, 9, 8], 2, run, who="hf:x")
    assert sizes == [2, 1]


def test_shorter_rows_are_still_taken_together_after_long_ones_did_not_fit():
    sizes = []

    def run(rows):
        sizes.append(len(rows))
        if len(rows) * lengths[rows].max() > 100:
            raise MemoryError
        return two_columns(rows)

    lengths = np.array([90] * 2 + [10] * 20)
    with pytest.warns(DataWarning, match="a batch of 2 did not fit into memory, one of 1 did"):
        vectors = in_batches(lengths, 16, run, who="x")
    np.testing.assert_array_equal(vectors, two_columns(np.arange(22)))
    assert sizes == [2, 1, 1, 9, 9, 2]


@pytest.mark.parametrize("size", [1, 3, 7, 8, 9])
def test_parts_are_put_together_in_order(size):
    words = [str(i) for i in range(8)]
    sizes = []

    def encode(batch):
        sizes.append(len(batch))
        number = np.array([int(word) for word in batch.text])
        return Encoded(two_columns(number).astype(np.float32), number % 2 == 0)

    whole = in_parts(encode, Texts(words, ["en"] * 8, words), size)
    np.testing.assert_array_equal(whole.vectors, two_columns(np.arange(8)))
    np.testing.assert_array_equal(whole.truncated, np.arange(8) % 2 == 0)
    assert max(sizes) <= size and sum(sizes) == 8
