"""`chargram:` and `wordgram:` against their formulas, written as loops."""

from collections import Counter

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.records import Texts

SENTENCES = ["A man rides a horse.", "a Horse, ridden by a man", "Two dogs play", "dogs dogs dogs", "", "…!"]


def texts(*lines):
    return Texts(list(lines), ["en"] * len(lines), [str(i) for i in range(len(lines))])


def encoder(spec, *fit):
    (made,) = text_encoders([spec], languages=["en"], fit_texts=lambda reference: texts(*fit)).values()
    return made


def cosines(vectors):
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    return vectors.astype(np.float64) @ vectors.T / np.outer(*[np.where(norms > 0, norms, 1)] * 2)


def words_of(text):
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


def ngrams_of(text):
    padded = [f" {word} " for word in text.lower().split()]
    return [word[i : i + n] for word in padded for n in (2, 3) for i in range(len(word) - n + 1)]


def tfidf(counted):
    """(1 + ln tf)·(ln((1 + N)/(1 + df)) + 1) of each text's terms, dense."""
    terms = sorted(set().union(*counted))
    df = np.array([sum(term in row for row in counted) for term in terms])
    tf = np.array([[row[term] for term in terms] for row in map(Counter, counted)])
    return np.where(tf, 1 + np.log(np.maximum(tf, 1)), 0) * (np.log((1 + len(counted)) / (1 + df)) + 1)


@pytest.mark.parametrize(
    ("spec", "terms", "tolerance"),
    [("wordgram:?dim=65536", words_of, 1e-6), ("chargram:?dim=8192&n=2-3", ngrams_of, 0.06)],
)
def test_cosines_are_those_of_tfidf(spec, terms, tolerance):
    expected = cosines(tfidf([terms(text) for text in SENTENCES]))
    for made in (encoder(spec), encoder(f"{spec}&fit=F", *SENTENCES, *SENTENCES)):
        vectors = made.encode(texts(*SENTENCES, *SENTENCES))  # frequencies are those of distinct texts
        np.testing.assert_allclose(cosines(vectors)[:6, :6], expected, atol=tolerance)


def test_overlap_is_that_of_sets_of_words():
    sets = [set(words_of(text)) for text in SENTENCES]
    expected = [[len(a & b) / (len(a) * len(b)) ** 0.5 if a and b else 0.0 for b in sets] for a in sets]
    made = encoder("wordgram:?dim=65536&weight=overlap&fit=F", "a")
    np.testing.assert_allclose(cosines(made.encode(texts(*SENTENCES))), expected, atol=1e-6)
    assert not made.depends_on_batch and not made.fitted_on


def test_letter_case_and_width_do_not_matter_and_blocks_change_nothing(monkeypatch):
    batch = texts("Table", "ｔＡＢＬＥ", "chair", "x" * 300)
    whole = encoder("chargram:").encode(batch)
    np.testing.assert_array_equal(whole[0], whole[1])
    monkeypatch.setattr("xlingual.encoders.ngrams._BLOCK", 1)
    np.testing.assert_array_equal(encoder("chargram:").encode(batch), whole)
