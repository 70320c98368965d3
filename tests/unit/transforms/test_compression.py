"""Smaller vectors: each form against a plain transcription."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.errors import InputError
from xlingual.transforms.compression import (
    Levels,
    signs,
)
from xlingual.transforms.moments import FitData


def drawn(seed, n=20, d=7):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def levels(rows, **options):
    return Levels.of(FitData(rows, ["en"] * len(rows), unit=False, **options))


@settings(max_examples=30)
@given(st.integers(0, 999), st.integers(1, 40))
def test_cosines_of_signs_rank_as_the_hamming_distance(seed, d):
    x = drawn(seed, 12, d)
    found = signs(x).astype(np.float64)
    bits = np.unpackbits(np.packbits(x > 0, axis=1), axis=1, count=d).astype(int)
    for i, own in enumerate(bits):
        for j, other in enumerate(bits):
            hamming = int((own != other).sum())
            assert found[i] @ found[j] / d == pytest.approx(1 - 2 * hamming / d)


def test_a_zero_vector_has_no_signs_and_zero_counts_as_no_bit():
    found = signs(np.array([[0, 0], [0, 2], [-1, 0]], dtype=np.float32))
    assert found.tolist() == [[0, 0], [-1, 1], [-1, -1]]


@settings(max_examples=30)
@given(st.integers(0, 999))
def test_levels_are_those_of_a_plain_transcription(seed):
    fit, x = drawn(seed), 1.5 * drawn(seed + 1000)
    found = levels(fit)
    values = found.apply(x)
    for j in range(x.shape[1]):
        low, high = float(min(fit[:, j])), float(max(fit[:, j]))
        ladder = [low + k * (high - low) / 255 for k in range(256)]
        for i in range(len(x)):
            nearest = min(range(256), key=lambda k: abs(ladder[k] - float(x[i, j])))
            assert values[i, j] == pytest.approx(ladder[nearest], abs=1e-6)


def test_no_number_within_the_ends_moves_by_more_than_half_a_step():
    fit = drawn(3, 200)
    step = (fit.max(axis=0) - fit.min(axis=0)) / 255
    assert (np.abs(levels(fit).apply(fit) - fit) <= step / 2 + 1e-6).all()


def test_levels_of_nothing_or_of_others_are_refused():
    with pytest.raises(InputError, match="are zero"):
        levels(np.zeros((3, 2), np.float32))
    with pytest.raises(InputError, match="fitted on vectors of 7 dimensions, found 3"):
        levels(drawn(1)).apply(drawn(1)[:, :3])
