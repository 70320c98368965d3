"""`lsa:` is the dense singular value decomposition of TF-IDF, and brings translations together."""

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.encoders.lsa import character_terms
from xlingual.errors import InputError
from xlingual.models.words import words
from xlingual.records import Texts

ROWS = [
    ("1", "en", "a red chair"),
    ("1", "de", "ein roter Stuhl"),
    ("2", "en", "a red table"),
    ("2", "de", "ein roter Tisch"),
    ("3", "en", "a blue chair and a blue lamp"),
    ("3", "de", "ein blauer Stuhl und eine blaue Lampe"),
    ("4", "en", "a lamp of glass"),
    ("4", "de", "eine Lampe aus Glas"),
    ("5", "en", "glass of water"),
    ("5", "de", "ein Glas Wasser"),
    ("6", "en", "only English"),
]


def texts(rows):
    items, languages, lines = zip(*rows, strict=True)
    return Texts(list(lines), list(languages), [f"r{i}" for i in range(len(rows))], items=list(items))


def encoder(options="", rows=ROWS, languages=("en", "de")):
    spec = f"lsa:?fit=F{options}"
    return text_encoders([spec], languages=languages, fit_texts=lambda reference: texts(rows))["lsa"]


def vectors(made, language, *lines):
    return made.encode(Texts(list(lines), [language] * len(lines), [str(i) for i in range(len(lines))]))


def dense_tfidf(documents, fitted_on):
    """TF-IDF by loops: (1 + ln tf)·(ln((1 + N)/(1 + df)) + 1), unit length."""
    fit = [words(text) for text in fitted_on]
    terms = sorted(set().union(*fit))
    rows = np.zeros((len(documents), len(terms)))
    for row, text in enumerate(documents):
        for column, term in enumerate(terms):
            tf, df = words(text).count(term), sum(term in document for document in fit)
            rows[row, column] = (1 + np.log(tf)) * (np.log((1 + len(fit)) / (1 + df)) + 1) if tf else 0
        rows[row] /= np.linalg.norm(rows[row]) or 1
    return rows


@pytest.mark.parametrize("dim", [1, 2, 4, 5, 50])
def test_it_is_the_dense_singular_value_decomposition(dim):
    english, german = ([text for _, tag, text in ROWS[:10] if tag == language] for language in ("en", "de"))
    fit = np.hstack([dense_tfidf(english, english), dense_tfidf(german, german)])
    _, _, right = np.linalg.svd(fit, full_matrices=False)
    axes = right[:dim].T
    split = dense_tfidf([], english).shape[1]
    new_english, new_german = ["blue glass", "a chair", "nothing known"], ["Glas", "roter roter Tisch"]
    expected = np.vstack(
        [dense_tfidf(new_english, english) @ axes[:split], dense_tfidf(new_german, german) @ axes[split:]]
    )
    lsa = encoder(f"&dim={dim}", ROWS[:10])
    found = np.vstack([vectors(lsa, "en", *new_english), vectors(lsa, "de", *new_german)])
    assert found.shape == (5, min(dim, 5))
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-6)


def test_pairs_are_items_in_all_languages_and_more_of_them_hold_the_fewer():
    few, more, five = (encoder(f"&pairs={pairs}&seed=3").fitted_on for pairs in (2, 4, 5))
    assert few < more < five == encoder("&pairs=5").fitted_on and len(five) == 10
    assert len({encoder(f"&pairs=2&seed={seed}").fitted_on for seed in range(10)}) > 1
    with pytest.raises(InputError, match="pairs="):
        _ = encoder("&pairs=6").fitted_on


def test_without_pairs_two_of_the_languages_are_enough():
    rows = [*ROWS, ("7", "fr", "une chaise"), ("7", "en", "a chair"), ("1", "nl", "een rode stoel")]
    lsa = encoder("&dim=5", rows, ("en", "de", "fr"))
    assert len(lsa.fitted_on) == 12 and vectors(lsa, "fr", "chaise").any()
    with pytest.raises(InputError, match="nl"):
        vectors(lsa, "nl", "stoel")


def test_languages_without_spaces_match_by_characters():
    assert character_terms("赤い 椅") == ["赤", "い", "赤い", "椅"]
    rows = [
        ("1", "en", "red chair"),
        ("1", "zh", "红色椅子"),
        ("2", "en", "blue lamp"),
        ("2", "zh", "蓝色的灯"),
    ]
    lsa = encoder("&dim=2", rows, ("en", "zh"))
    similarity = vectors(lsa, "en", "chair", "lamp") @ vectors(lsa, "zh", "一把椅子", "灯").T
    np.testing.assert_array_equal(similarity.argmax(axis=1), [0, 1])
