from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.encoders.chargram import FEATURES, NONZEROS, ChargramEncoder
from xlingual.errors import InputError
from xlingual.records import Texts

WORDS = ["red chair", "rote Stuhl", "chairs", "a lamp of glass", "Lampe aus Glas", "tisch", "赤い椅子"]


def texts(*words, language="en"):
    return Texts(list(words), [language] * len(words), [str(i) for i in range(len(words))])


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def exact_weights(words, n):
    """Return TF-IDF vectors of the collection without hashing, [words, n-grams]."""
    counted = []
    for text in words:
        padded = [f" {word} " for word in text.lower().split()]
        counted.append(
            Counter(w[i : i + k] for w in padded for k in range(*n) for i in range(len(w) - k + 1))
        )
    terms = sorted(set().union(*counted))
    df = np.array([sum(term in row for row in counted) for term in terms])
    rows = np.array([[1 + np.log(row[t]) if t in row else 0 for t in terms] for row in counted])
    rows = rows * (np.log((1 + len(words)) / (1 + df)) + 1)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_cosines_are_those_of_tfidf_without_hashing_and_projection():
    words = ["red chair", "red chairs", "chair chair", "glass table", "banana"]
    vectors = ChargramEncoder(dim=4096, n=(2, 3)).encode(texts(*words))
    expected = exact_weights(words, (2, 4))
    np.testing.assert_allclose(vectors @ vectors.T, expected @ expected.T, atol=0.08)


def test_what_is_spelt_alike_is_near():
    vectors = ChargramEncoder().encode(texts("television", "Televisions", "grandmother"))
    assert cosine(vectors[0], vectors[1]) > 0.5 > 0.3 > cosine(vectors[0], vectors[2])


def test_case_and_width_do_not_matter():
    vectors = ChargramEncoder().encode(texts("Table", "TABLE", "ｔａｂｌｅ"))
    np.testing.assert_array_equal(vectors[0], vectors[1])
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_frequencies_of_the_collection_count_distinct_texts():
    once = ChargramEncoder().encode(texts(*WORDS))
    twice = ChargramEncoder().encode(texts(*WORDS, *WORDS))
    np.testing.assert_array_equal(once, twice[: len(WORDS)])
    alone = ChargramEncoder().encode(texts(WORDS[0]))
    assert not np.allclose(once[0], alone[0])


def test_fitted_frequencies_make_rows_independent():
    encoder = ChargramEncoder(fit=lambda: texts(*WORDS))
    together = encoder.encode(texts(*WORDS, "new"))
    for row, word in enumerate([*WORDS, "new"]):
        np.testing.assert_array_equal(encoder.encode(texts(word))[0], together[row])
    np.testing.assert_array_equal(ChargramEncoder().encode(texts(*WORDS)), together[: len(WORDS)])


def test_what_it_was_fitted_on_is_known():
    assert ChargramEncoder().fitted_on == frozenset()
    assert ChargramEncoder().depends_on_batch
    fitted = ChargramEncoder(fit=lambda: texts(*WORDS))
    assert fitted.fitted_on == texts(*WORDS).row_digests()
    assert not fitted.depends_on_batch
    with pytest.raises(InputError, match="names no texts"):
        ChargramEncoder(fit=texts).encode(texts("a"))


def test_identity_tells_parameters_and_frequencies_apart():
    encoders = [
        ChargramEncoder(),
        ChargramEncoder(dim=128),
        ChargramEncoder(n=(2, 5)),
        ChargramEncoder(seed=1),
        ChargramEncoder(fit=lambda: texts(*WORDS)),
        ChargramEncoder(fit=lambda: texts(*WORDS[1:])),
    ]
    assert len({encoder.identity for encoder in encoders}) == len(encoders)
    assert "df=collection" in encoders[0].identity


def test_blocks_give_the_same_vectors(monkeypatch):
    whole = ChargramEncoder().encode(texts(*WORDS))
    monkeypatch.setattr("xlingual.encoders.ngrams.MOST_TEXTS", 2)
    np.testing.assert_array_equal(ChargramEncoder().encode(texts(*WORDS)), whole)


def test_the_projection_is_fixed_by_its_seed_and_keeps_lengths():
    first, again, other = (ChargramEncoder(seed=seed)._projection for seed in (0, 0, 1))
    for one, same, another in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(one, same)
        assert (one != another).any()
        assert one.shape == (FEATURES, NONZEROS)
    assert first[0].max() == 255
    assert set(np.unique(first[1])) == {-1, 1}
    norms = np.linalg.norm(ChargramEncoder(dim=2048).encode(texts(*WORDS)), axis=1)
    np.testing.assert_allclose(norms, 1, atol=0.15)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(max_size=20), max_size=8))
def test_any_texts_have_finite_vectors(words):
    vectors = ChargramEncoder(dim=16).encode(texts(*words))
    assert vectors.shape == (len(words), 16)
    assert np.isfinite(vectors).all()
