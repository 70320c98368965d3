from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.encoders.wordgram import OVERLAP, WordgramEncoder
from xlingual.records import Texts

SENTENCES = [
    "A man rides a horse.",
    "a Horse, ridden by a man",
    "Two dogs play in the snow",
    "dogs dogs dogs",
    "",
]


def texts(*words):
    return Texts(list(words), ["en"] * len(words), [str(i) for i in range(len(words))])


def cosines(vectors):
    wide = vectors.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1)
    return wide @ wide.T / np.outer(np.where(norms > 0, norms, 1), np.where(norms > 0, norms, 1))


def words_of(sentence):
    return "".join(c if c.isalnum() else " " for c in sentence.lower()).split()


def test_overlap_is_that_of_sets_of_words():
    sets = [set(words_of(one)) for one in SENTENCES]
    expected = [[len(a & b) / (len(a) * len(b)) ** 0.5 if a and b else 0.0 for b in sets] for a in sets]
    found = cosines(WordgramEncoder(2**16, weight=OVERLAP).encode(texts(*SENTENCES)))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_tfidf_is_that_of_the_formula():
    counted = [Counter(words_of(one)) for one in SENTENCES]
    terms = sorted(set().union(*counted))
    rows = []
    for own in counted:
        row = []
        for term in terms:
            df = sum(term in other for other in counted)
            idf = np.log((1 + len(SENTENCES)) / (1 + df)) + 1
            row.append((1 + np.log(own[term])) * idf if own[term] else 0.0)
        rows.append(row)
    found = WordgramEncoder(2**16).encode(texts(*SENTENCES))
    np.testing.assert_allclose(cosines(found), cosines(np.array(rows)), atol=1e-6)


def test_only_tfidf_depends_on_the_collection():
    overlap, tfidf = WordgramEncoder(weight=OVERLAP), WordgramEncoder()
    assert tfidf.depends_on_batch and not overlap.depends_on_batch
    assert "df=" in tfidf.identity and "df=" not in overlap.identity
    alone = overlap.encode(texts(SENTENCES[0]))
    np.testing.assert_array_equal(alone[0], overlap.encode(texts(*SENTENCES))[0])
    fitted = WordgramEncoder(fit=lambda: texts(*SENTENCES))
    np.testing.assert_array_equal(fitted.encode(texts(*SENTENCES)), tfidf.encode(texts(*SENTENCES)))
    np.testing.assert_array_equal(fitted.encode(texts(SENTENCES[2]))[0], fitted.encode(texts(*SENTENCES))[2])
    assert len(fitted.fitted_on) == len(SENTENCES)
    assert not WordgramEncoder(weight=OVERLAP, fit=lambda: texts(*SENTENCES)).fitted_on


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(["red", "blue", "chair", "table", "lamp", "of", "the"]), min_size=1, max_size=8),
    st.randoms(),
)
@pytest.mark.parametrize("weight", ["overlap", "tfidf"])
def test_the_order_of_words_does_not_matter(weight, words, random):
    shuffled = list(words)
    random.shuffle(shuffled)
    vectors = WordgramEncoder(weight=weight).encode(texts(" ".join(words), " ".join(shuffled)))
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-7)
