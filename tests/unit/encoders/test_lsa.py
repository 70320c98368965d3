import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.encoders.lsa import LsaEncoder, character_terms, choose, choose_power, fit_lsa
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


KINDS = {"noun": 10, "colour": 6, "material": 5, "style": 5}
CATALOGUE = ("de", "en", "fr")


def titles(n, *, lacking=0.3, seed=0, words=1):
    """A catalogue of short titles from few words, in any order, some left out; items lack languages."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(n):
        thing = [(kind, int(rng.integers(size * words))) for kind, size in KINDS.items()]
        for tag in CATALOGUE:
            said = [f"{tag}{kind}{i}" for kind, i in thing if kind == "noun" or rng.random() < 0.75]
            if rng.random() >= lacking:
                rows.append((str(item), tag, " ".join(rng.permutation(said))))
    return rows


def found_at_one(lsa, rows):
    """Return how often the nearest text in another language is of the same item, over all pairs."""
    of = {tag: {item: text for item, language, text in rows if language == tag} for tag in CATALOGUE}
    hits = []
    for source in CATALOGUE:
        for target in set(CATALOGUE) - {source}:
            both = sorted(of[source].keys() & of[target].keys())
            one, other = (lsa.encode(some(tag, *(of[tag][i] for i in both))) for tag in (source, target))
            one, other = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (one, other))
            hits.append(np.mean((one @ other.T).argmax(axis=1) == range(len(both))))
    return np.mean(hits)


@pytest.mark.parametrize("lacking", [0.0, 0.3])
def test_a_catalogue_of_few_words_is_no_trap_for_many_axes(lacking):
    rows = titles(360, lacking=lacking)
    fit, test = [r for r in rows if int(r[0]) < 300], [r for r in rows if int(r[0]) >= 300]
    lsa = encoder(fit, CATALOGUE)  # 78 terms, so as many axes as terms: V is square
    plain = fit_lsa(lsa.chosen, lsa.languages, lsa.dim, 0)
    assert lsa.power > 0 and lsa.identity.endswith(f"&power={lsa.power:g}")
    better = found_at_one(lsa, test)
    lsa.__dict__["model"] = plain
    assert found_at_one(lsa, test) < 0.2 and better > 0.4  # how near chance it is depends on rounding


def test_a_power_is_chosen_only_where_it_is_clearly_better():
    few = texts(titles(300))
    assert choose_power(few, CATALOGUE, 5, 0) == 0  # five axes: nothing to weigh
    assert choose_power(texts(titles(90)), CATALOGUE, 150, 0) == 0  # too few items to tell
    lsa = encoder(titles(300), CATALOGUE, dim=5)
    assert "power" not in lsa.identity


def test_unweighted_vectors_and_identities_are_those_of_before():
    lsa = encoder(dim=4)
    assert lsa.power == 0 and lsa.identity.startswith("lsa:v1?pairs=all&dim=4&seed=0&languages=de,en&fit=")
    np.testing.assert_array_equal(
        lsa.encode(some("en", "red chair")),
        fit_lsa(lsa.chosen, lsa.languages, 4, 0).fold_in(["red chair"], "en").astype(np.float32),
    )


def test_a_language_that_only_held_out_items_have_leaves_the_axes_as_they_are():
    rows = [row for row in titles(200, lacking=0.0) if row[1] != "fr"]
    last = choose(texts(rows), CATALOGUE, None, 0).items[-1]
    chosen = choose(texts([*rows, (last, "fr", "seul")]), CATALOGUE, None, 0)
    assert choose_power(chosen, CATALOGUE, 150, 0) == 0


def test_held_out_items_in_one_language_weigh_nothing_and_give_no_warning():
    alone = [row for row in titles(600, lacking=0) if row[1] == CATALOGUE[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_power(texts(alone), CATALOGUE[:1], 5, 0) == 0
