import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.encoders.lsa import LsaEncoder, choose
from xlingual.encoders.words import character_terms
from xlingual.errors import InputError
from xlingual.models.words import is_spaced, words
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
    items, languages, words = zip(*rows, strict=True) if rows else ((), (), ())
    return Texts(list(words), list(languages), [f"r{i}" for i in range(len(rows))], items=list(items))


def encoder(rows=ROWS, languages=("en", "de"), **options):
    return LsaEncoder(lambda: texts(rows), languages, **options)


def some(language, *words):
    return Texts(list(words), [language] * len(words), [str(i) for i in range(len(words))])


def dense_tfidf(documents, fitted_on):
    """Return the TF-IDF rows of documents, by loops: (1 + ln tf)·(ln((1 + N)/(1 + df)) + 1), unit length."""
    fit = [words(text) for text in fitted_on]
    terms = sorted(set().union(*fit))
    rows = np.zeros((len(documents), len(terms)))
    for row, text in enumerate(documents):
        for column, term in enumerate(terms):
            tf = words(text).count(term)
            df = sum(term in document for document in fit)
            rows[row, column] = (1 + np.log(tf)) * (np.log((1 + len(fit)) / (1 + df)) + 1) if tf else 0
        rows[row] /= np.linalg.norm(rows[row]) or 1
    return rows


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 50])
def test_it_is_the_dense_singular_value_decomposition(dim):
    english = [text for _, language, text in ROWS[:10] if language == "en"]
    german = [text for _, language, text in ROWS[:10] if language == "de"]
    fit = np.hstack([dense_tfidf(english, english), dense_tfidf(german, german)])
    _, _, right = np.linalg.svd(fit, full_matrices=False)
    axes = right[: min(dim, 5)].T
    split = dense_tfidf([], english).shape[1]
    new_english, new_german = ["blue glass", "a chair", "nothing known"], ["Glas", "roter roter Tisch"]
    expected = np.vstack(
        [dense_tfidf(new_english, english) @ axes[:split], dense_tfidf(new_german, german) @ axes[split:]]
    )
    lsa = encoder(ROWS[:10], dim=dim)
    found = np.vstack([lsa.encode(some("en", *new_english)), lsa.encode(some("de", *new_german))])
    assert found.shape == (5, min(dim, 5))
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-6)


def test_translations_come_near():
    lsa = encoder(dim=4)
    english = lsa.encode(some("en", "chair", "table", "lamp", "water"))
    german = lsa.encode(some("de", "Stuhl", "Tisch", "Lampe", "Wasser"))
    english /= np.linalg.norm(english, axis=1, keepdims=True)
    german /= np.linalg.norm(german, axis=1, keepdims=True)
    np.testing.assert_array_equal((english @ german.T).argmax(axis=1), range(4))


def test_every_run_gives_the_same_numbers():
    batch = some("de", *[text for _, _, text in ROWS])
    for dim in (2, 20):
        np.testing.assert_array_equal(encoder(dim=dim).encode(batch), encoder(dim=dim).encode(batch))


def test_the_fit_texts_are_loaded_once():
    loads = []

    def fit():
        loads.append(1)
        return texts(ROWS)

    lsa = LsaEncoder(fit, ["en", "de"])
    assert loads == []
    lsa.encode(some("en", "chair"))
    lsa.encode(some("de", "Stuhl"))
    assert lsa.identity
    assert len(lsa.fitted_on) == 10
    assert loads == [1]


def test_pairs_are_items_that_have_all_languages():
    chosen = choose(texts(ROWS), ["en", "de"], 3, seed=0)
    assert len(chosen) == 6
    assert "6" not in chosen.items
    for item in set(chosen.items):
        assert sorted(lang for i, lang in zip(chosen.items, chosen.language, strict=True) if i == item) == [
            "de",
            "en",
        ]
    assert set(choose(texts(ROWS), ["en", "de"], 5, seed=0).items) == set("12345")


def test_more_pairs_hold_the_fewer_ones_and_seeds_choose_others():
    few, more = (choose(texts(ROWS), ["en", "de"], pairs, seed=3) for pairs in (2, 4))
    assert few.row_digests() < more.row_digests()
    chosen = {tuple(choose(texts(ROWS), ["en", "de"], 2, seed).items) for seed in range(10)}
    assert len(chosen) > 1


def test_without_pairs_two_of_the_languages_are_enough():
    rows = [*ROWS, ("7", "fr", "une chaise"), ("7", "en", "a chair")]
    lsa = encoder(rows, ("en", "de", "fr"), dim=5)
    assert len(lsa.fitted_on) == 12
    assert lsa.encode(some("fr", "chaise")).any()


def test_other_languages_are_left_alone():
    rows = [*ROWS, ("1", "fr", "une chaise rouge")]
    assert encoder(rows).fitted_on == encoder(ROWS).fitted_on


def test_the_rows_are_known_before_it_is_fitted():
    lsa = encoder()
    assert len(lsa.fitted_on) == 10 and "fit=" in lsa.identity
    assert "model" not in vars(lsa)


def test_several_texts_of_an_item_are_one_document():
    split = [("1", "en", "red"), ("1", "en", "chair"), ("1", "de", "roter Stuhl"), *ROWS[2:]]
    joined = [("1", "en", "red chair"), ("1", "de", "roter Stuhl"), *ROWS[2:]]
    batch = some("en", "a red table", "chair")
    first, second = encoder(split, dim=9).encode(batch), encoder(joined, dim=9).encode(batch)
    np.testing.assert_allclose(first @ first.T, second @ second.T, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: encoder(pairs=6).model,
            r"lsa: 6 items .* all of the languages de, en .* have 5: lower pairs=",
        ),
        (lambda: encoder(ROWS[-1:]).model, "two of de, en are needed to fit it, the fit texts have 0"),
        (lambda: encoder(languages=("en", "de", "fr")).model, "no words of the language fr"),
        (lambda: encoder([("1", "en", "!"), ("1", "de", "ein Haus")]).model, "no words of the language en"),
        (lambda: encoder().encode(some("fr", "chaise")), "not fitted on the language fr; it has de, en"),
        (lambda: LsaEncoder(lambda: some("en", "a"), ["en"]).model, "carry no items"),
    ],
)
def test_errors(make, says):
    with pytest.raises(InputError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_identity_tells_parameters_and_rows_apart():
    encoders = [
        encoder(),
        encoder(pairs=5),
        encoder(pairs=2),
        encoder(dim=3),
        encoder(seed=1),
        encoder(ROWS[:8]),
        encoder(languages=("en",)),
    ]
    assert len({lsa.identity for lsa in encoders}) == len(encoders)
    assert encoder().identity == encoder(languages=("de", "en")).identity


def test_one_language_alone_is_plain_lsa():
    assert encoder(languages=("en",), dim=3).encode(some("en", "red chair")).shape == (1, 3)


def test_terms():
    assert words("Don't PANIC, Straße №1") == ["don", "t", "panic", "straße", "no1"]
    assert words("हिन्दी की किताब") == ["हिन्दी", "की", "किताब"]
    assert character_terms("赤い 椅") == ["赤", "い", "赤い", "椅"]
    assert [is_spaced(tag) for tag in ("en", "zh-Hant", "JA", "th_TH", "zha", "ko")] == [
        True,
        False,
        False,
        False,
        True,
        True,
    ]


def test_languages_without_spaces_match_by_characters():
    rows = [
        ("1", "en", "red chair"),
        ("1", "zh", "红色椅子"),
        ("2", "en", "blue lamp"),
        ("2", "zh", "蓝色的灯"),
    ]
    lsa = encoder(rows, ("en", "zh"), dim=2)
    english, chinese = lsa.encode(some("en", "chair", "lamp")), lsa.encode(some("zh", "一把椅子", "灯"))
    np.testing.assert_array_equal((english @ chinese.T).argmax(axis=1), [0, 1])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text("ab c", min_size=1, max_size=6), min_size=1, max_size=8), st.integers(1, 12))
def test_any_texts_can_be_fitted_and_encoded(written, dim):
    rows = [(str(i), language, f"x {text}") for i, text in enumerate(written) for language in ("en", "de")]
    vectors = encoder(rows, dim=dim).encode(some("en", *written))
    assert vectors.shape[0] == len(written)
    assert 1 <= vectors.shape[1] <= min(dim, len(written))
    assert np.isfinite(vectors).all()
