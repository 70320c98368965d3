"""Hashed words and n-grams: the features and counts of scikit-learn's HashingVectorizer, block by block."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.utils import murmurhash3_32

from xlingual.encoders import ngrams
from xlingual.encoders.chargram import FEATURES, ChargramEncoder
from xlingual.encoders.ngrams import counts, hashed_ngrams, hashed_words, murmur3
from xlingual.models.words import normalized, words
from xlingual.records import Texts

ODD = [
    *("", "  ", "a", "ab  c\u3000d", "aaa aaa aaa", "\u00a0x\u2003yy", "e\u0301te\u0301", "x" * 300),
    *(
        "日本語のテキスト 中文",
        "\U0001f600 x\U0001f600y",
        "İstanbul ﬁne Ⅳ",
        "\u05d0\u05d1 \u0e01\u0e34\u0e19",
    ),
]
TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=6)


def assert_same(found, expected):
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


@given(TEXTS, st.sampled_from([(3, 5), (1, 1), (1, 7), (6, 6)]))
def test_ngrams_are_those_of_scikit_learn(texts, n):
    texts = texts + ODD
    theirs = HashingVectorizer(
        analyzer="char_wb",
        ngram_range=n,
        n_features=256,
        preprocessor=normalized,
        alternate_sign=False,
        norm=None,
    )
    ours = counts([normalized(text).split() for text in texts], 256, partial(hashed_ngrams, n=n))
    assert_same(ours, theirs.transform(texts))


@given(TEXTS)
def test_words_are_those_of_scikit_learn(texts):
    texts = texts + ODD
    theirs = HashingVectorizer(analyzer=words, n_features=FEATURES, alternate_sign=False, norm=None)
    assert_same(counts([words(text) for text in texts], FEATURES, hashed_words), theirs.transform(texts))


def test_murmur_hashes_of_spans_of_every_length():
    encoded = bytes(range(256)) + bytes(4)
    length = np.arange(1, 41)
    start = 3 * length
    found = murmur3(np.frombuffer(encoded, np.uint8), start, length, 2**31)
    spans = [encoded[a : a + b] for a, b in zip(start.tolist(), length.tolist(), strict=True)]
    assert found.tolist() == [abs(murmurhash3_32(span)) for span in spans]


def test_blocks_cover_the_texts_in_order(monkeypatch):
    monkeypatch.setattr(ngrams, "MOST_TEXTS", 3)
    monkeypatch.setattr(ngrams, "_CHARACTERS", 10)
    texts = ["x" * 4, "x" * 6, "x", "x" * 30, "", "", "", "", "x" * 11]
    assert [(one.start, one.stop) for one in ngrams.blocks(texts)] == [
        (0, 2),
        (2, 3),
        (3, 4),
        (4, 7),
        (7, 8),
        (8, 9),
    ]
    assert list(ngrams.blocks([])) == []


@pytest.mark.parametrize("characters", [1, 50])
def test_vectors_do_not_depend_on_blocks(monkeypatch, characters):
    texts = ["Two young men", "zwei junge Männer", "", "zwei junge Männer", "x" * 90, "deux jeunes hommes"]
    batch = Texts(texts, ["en"] * len(texts), [str(i) for i in range(len(texts))])
    whole = ChargramEncoder(dim=16).encode(batch)
    assert (whole[2] == 0).all()
    np.testing.assert_array_equal(whole[1], whole[3])
    monkeypatch.setattr(ngrams, "_CHARACTERS", characters)
    monkeypatch.setattr("xlingual.encoders.chargram._TERMS", characters)
    np.testing.assert_array_equal(ChargramEncoder(dim=16).encode(batch), whole)


@pytest.mark.parametrize("dim", [16, 300])
def test_the_projection_sums_in_the_order_of_the_features(dim):
    from scipy.sparse import csr_matrix

    encoder, texts = ChargramEncoder(dim=dim), [text for text in ODD if text.strip()]
    dims, signs = encoder._projection
    ends = np.arange(0, dims.size + 1, dims.shape[1])
    values = signs.ravel() / np.sqrt(dims.shape[1])
    projection = csr_matrix((values, dims.ravel(), ends), (len(dims), dim))
    expected = (encoder._weights(texts, encoder._idf(texts)) @ projection).toarray().astype(np.float32)
    batch = Texts(texts, ["en"] * len(texts), texts)
    np.testing.assert_array_equal(encoder.encode(batch), expected)
