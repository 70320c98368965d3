"""Smaller vectors against the quantization of sentence-transformers."""

import numpy as np
import pytest

from xlingual.transforms.affine import unit_rows
from xlingual.transforms.compression import Levels, signs
from xlingual.transforms.moments import FitData

quantization = pytest.importorskip("sentence_transformers.quantization")


def drawn(seed, n, d=32):
    return unit_rows(np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32))


def test_levels_are_their_int8_but_for_the_rounding():
    fit, x = drawn(0, 300), drawn(1, 50)
    levels = Levels.of(FitData(fit, ["en"] * len(fit)))
    found = np.rint((levels.apply(x) - levels.low) / ((levels.high - levels.low) / 255)).astype(int) - 128
    theirs = quantization.quantize_embeddings(x, "int8", calibration_embeddings=fit).astype(int)
    away = found - theirs  # the nearest level, where they take the one below
    assert set(np.unique(away)) == {0, 1}
    assert 0.4 < (away == 1).mean() < 0.6


def test_signs_are_their_binary_vectors():
    x = drawn(2, 50)
    theirs = np.unpackbits(quantization.quantize_embeddings(x, "ubinary"), axis=1)
    np.testing.assert_array_equal(signs(x) > 0, theirs.astype(bool))
