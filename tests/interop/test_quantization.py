"""Smaller vectors against the quantization of sentence-transformers, and its search with rescoring."""

import numpy as np
import pytest

from xlingual.evaluation.compression.asked import ordered_again
from xlingual.evaluation.compression.vector_lists import vector_lists
from xlingual.ranking import CPU, TextPool, rows_of
from xlingual.transforms.affine import unit_rows
from xlingual.transforms.compression import Levels, signs
from xlingual.transforms.moments import FitData

quantization = pytest.importorskip("sentence_transformers.quantization")


def drawn(seed, n, d=32):
    return unit_rows(np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32))


def test_levels_are_their_int8_but_for_the_rounding():
    fit, x = drawn(0, 300), drawn(1, 50)
    found = Levels.of(FitData(fit, ["en"] * len(fit))).codes(x).astype(int) - 128
    theirs = quantization.quantize_embeddings(x, "int8", calibration_embeddings=fit).astype(int)
    away = found - theirs  # the nearest level, where they take the one below
    assert set(np.unique(away)) == {0, 1}
    assert 0.4 < (away == 1).mean() < 0.6


def test_signs_are_their_binary_vectors():
    x = drawn(2, 50)
    theirs = np.unpackbits(quantization.quantize_embeddings(x, "ubinary"), axis=1)
    np.testing.assert_array_equal(signs(x) > 0, theirs.astype(bool))


def test_rescoring_orders_as_their_search_does():
    pytest.importorskip("faiss")
    queries, candidates = drawn(3, 20, 256), drawn(4, 400, 256)
    bits = quantization.quantize_embeddings(candidates, "ubinary")
    found, *_ = quantization.semantic_search_faiss(
        queries,
        corpus_embeddings=bits,
        corpus_precision="ubinary",
        top_k=5,
        rescore=True,
        rescore_multiplier=8,
    )
    small = signs(queries), signs(candidates)
    lists = vector_lists(*map(TextPool.of, small), 40, CPU)
    lists = ordered_again(lists, rows_of(queries), rows_of(small[1]))
    for query, theirs in enumerate(found):
        ours = lists.candidate[lists.query == query].tolist()
        # theirs may hold some that tie over the 40th place, which none of ours does
        known = [one["corpus_id"] for one in theirs if one["corpus_id"] in ours]
        assert len(known) >= 3
        assert [name for name in ours if name in known] == known
