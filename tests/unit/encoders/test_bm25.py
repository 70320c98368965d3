"""`bm25:` scores as the formula does, and ranks as a brute-force search with it."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual import InputError, Manifest, crosslingual_retrieval
from xlingual.embed.sides import embed_sides
from xlingual.encoders import text_encoders
from xlingual.forms import COSINE, DOT
from xlingual.records import Texts

WORDS = ["red", "blue", "chair", "table", "lamp", "glass", "the", "a", "of", "kallax", "40", "malm"]
LINES = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), min_size=1, max_size=12)


def texts(*lines, role=None, language="en", fields=None):
    tags = [language] * len(lines) if isinstance(language, str) else list(language)
    return Texts(list(lines), tags, [f"{role}{i}" for i in range(len(lines))], role=role, fields=fields or {})


def encoder(spec="bm25:", fit=()):
    (made,) = text_encoders([spec], languages=["en", "de"], fit_texts=lambda reference: texts(*fit)).values()
    return made


def scores(spec, query, candidates, fit=()):
    query = query if isinstance(query, Texts) else texts(*query, role="query")
    sides = embed_sides(query, candidates, "bm25", encoder(spec, fit), any_form=True)
    assert sides.questions.compared_by == sides.candidates.compared_by == DOT
    return (sides.questions.matrix.astype(np.float64) @ sides.candidates.matrix.T).toarray()


def naive(query, document, documents, k1=1.5, b=0.75):
    """Transcribe the formula of Kamphuis et al. 2020, term by term; words are split at blanks."""
    n, average = len(documents), sum(len(d.split()) for d in documents) / len(documents)
    counts, total = Counter(document.split()), 0.0
    for term in query.split():
        df, tf = sum(term in d.split() for d in documents), counts[term]
        if tf == 0:
            continue
        norm = k1 * (1 - b + b * len(document.split()) / average)
        total += math.log(1 + (n - df + 0.5) / (df + 0.5)) * tf / (norm + tf)
    return total


@pytest.mark.filterwarnings("ignore:.*all-zero vector:xlingual.errors.DataWarning")
@settings(max_examples=60, deadline=None)
@given(
    queries=LINES,
    documents=LINES.filter(any),
    k1=st.sampled_from([0.0, 0.9, 1.5]),
    b=st.sampled_from([0.0, 0.4, 1.0]),
)
def test_scores_are_those_of_the_formula(queries, documents, k1, b):
    found = scores(f"bm25:?k1={k1}&b={b}", queries, texts(*documents))
    expected = [[naive(q, d, documents, k1, b) for d in documents] for q in queries]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    backwards = scores(f"bm25:?k1={k1}&b={b}", queries, texts(*documents[::-1]))
    np.testing.assert_array_equal(found[:, ::-1], backwards)


def test_words_are_counted_by_language_or_in_other_texts():
    lines, languages = ["kallax red", "kallax", "kallax rot", "rot"], ["en", "en", "de", "de"]
    apart = scores("bm25:", ["kallax"], texts(*lines, language=languages))[0]
    assert apart.tolist() == pytest.approx(
        [naive("kallax", d, part) for part in (lines[:2], lines[2:]) for d in part]
    )

    fit = ("red lamp", "red chair", "table")
    found = scores("bm25:?fit=m", ["red malm"], texts("red malm", "lamp"), fit)
    idf = [math.log(1 + (3 - df + 0.5) / (df + 0.5)) for df in (2, 0)]  # malm: in none of the fit texts
    assert found[0, 0] == pytest.approx(sum(idf) / (1 + 1.5 * (0.25 + 0.75 * 2 / (5 / 3))))
    made = encoder("bm25:?fit=m", fit)
    assert made.fitted_on == texts(*fit).row_digests() and not made.depends_on_batch
    with pytest.raises(InputError, match="'de'"):
        scores("bm25:?fit=m", ["a"], texts("a", language="de"), fit)


def test_columns_are_read():
    query = texts("lamp", role="query", fields={"title": ["lamp"]})
    data = texts("of glass", "with a lamp", fields={"title": ["lamp", "chair"]})
    for spec, expected in (("?field=title", [1, 0]), ("", [0, 1]), ("?field=title,text", [1, 1])):
        assert (scores(f"bm25:{spec}", query, data)[0] > 0).tolist() == expected
    with pytest.raises(InputError, match=r"'titel'.*title"):
        scores("bm25:?field=titel", query, data)


def test_scripts_without_blanks_have_bigrams():
    query = texts("京都", role="query", language="ja")
    found = scores("bm25:", query, texts("東京都に行く", "大阪", language="ja"))[0]
    assert (found > 0).tolist() == [True, False]


def test_texts_without_roles_are_compared_by_the_cosine():
    vectors = encoder().encode(texts("red chair", "red", "", "red chair"))
    assert vectors.compared_by == COSINE and vectors.zero().tolist() == [2]
    assert vectors.row_bytes(0) == vectors.row_bytes(3) != vectors.row_bytes(1)
    assert encoder().encode(texts()).shape == (0, 1)


def test_cross_lingual_retrieval_ranks_by_the_formula_and_counts_ties():
    rng = np.random.default_rng(0)
    lines = {tag: [f"{' '.join(rng.choice(WORDS, 4))} n{i % 17}" for i in range(40)] for tag in ("en", "de")}
    rows = [{"id": f"p{i}", "text_en": lines["en"][i], "text_de": lines["de"][i]} for i in range(40)]
    found = crosslingual_retrieval(Manifest.of(rows), "bm25:", measures=["R@5"], store=None)
    for entry in found.entries:
        documents = lines[entry.target]
        matrix = np.array([[naive(q, d, documents) for d in documents] for q in lines[entry.source]])
        right = np.diag(matrix)[:, None]
        tied = (np.abs(matrix - right) < 5e-7).sum(axis=1)
        above = (matrix > right + 5e-7).sum(axis=1)
        assert entry.value == pytest.approx(np.clip((5 - above) / tied, 0, 1).mean(), abs=1e-12)
        assert entry.n_tied == (tied > 1).sum()
