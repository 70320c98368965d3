"""`bm25:` scores as the formula does, and ranks in every task as a brute-force search with it."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual import InputError, Manifest, backretrieval, crosslingual_retrieval
from xlingual.embed.texts import embed_roles, embed_sides
from xlingual.encoders import text_encoders
from xlingual.encoders.bm25 import Weighting
from xlingual.encoders.bm25_terms import TermReader
from xlingual.encoders.dictionary import DictionaryTranslator
from xlingual.forms import COSINE, DOT
from xlingual.models.words import terms
from xlingual.records import Texts

WORDS = ["red", "blue", "chair", "table", "lamp", "glass", "the", "a", "of", "kallax", "40", "malm"]


def texts(*lines, role=None, language="en", fields=None):
    tags = [language] * len(lines) if isinstance(language, str) else list(language)
    return Texts(list(lines), tags, [f"{role}{i}" for i in range(len(lines))], role=role, fields=fields or {})


def encoder(spec="bm25:", **more):
    return text_encoders({"bm25": spec}, languages=["en", "de"], **more)["bm25"]


def scores(spec, queries, candidates, **more):
    found = embed_sides(queries, candidates, "bm25", encoder(spec, **more), any_form=True)
    assert found.questions.compared_by == found.candidates.compared_by == DOT
    return (found.questions.matrix.astype(np.float64) @ found.candidates.matrix.T).toarray()


def naive(query, document, documents, method="lucene", k1=1.5, b=0.75):
    """Transcribe the formulas of Kamphuis et al. 2020, term by term; words are split at blanks."""
    n, average = len(documents), sum(len(d.split()) for d in documents) / len(documents)
    counts, total = Counter(document.split()), 0.0
    for term in query.split():
        df, tf = sum(term in d.split() for d in documents), counts[term]
        if tf == 0:
            continue
        norm = k1 * (1 - b + b * len(document.split()) / average)
        if method == "lucene":
            total += math.log(1 + (n - df + 0.5) / (df + 0.5)) * tf / (norm + tf)
        elif method == "robertson":
            total += math.log(max(1, (n - df + 0.5) / (df + 0.5))) * tf / (norm + tf)
        else:
            total += math.log(n / df) * tf * (k1 + 1) / (norm + tf)
    return total


def test_a_score_by_hand():
    """One of two texts has the word: idf ln(1 + 1.5/1.5) = ln 2; lengths 1 and 3, average 2."""
    found = scores("bm25:?k1=1.2&b=0.5", texts("lamp lamp", role="query"), texts("lamp", "a red chair"))
    assert found[0].tolist() == pytest.approx([2 * math.log(2) / (1 + 1.2 * (0.5 + 0.5 / 2)), 0])


LINES = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), min_size=1, max_size=12)


EMPTY = pytest.mark.filterwarnings("ignore:.*no known word:xlingual.errors.DataWarning")


@EMPTY
@settings(max_examples=60, deadline=None)
@given(
    queries=LINES,
    documents=LINES.filter(any),
    method=st.sampled_from(["lucene", "robertson", "atire"]),
    k1=st.sampled_from([0.0, 0.9, 1.5]),
    b=st.sampled_from([0.0, 0.4, 1.0]),
)
def test_scores_are_those_of_the_formula(queries, documents, method, k1, b):
    found = scores(f"bm25:?method={method}&k1={k1}&b={b}", texts(*queries, role="query"), texts(*documents))
    expected = [[naive(q, d, documents, method, k1, b) for d in documents] for q in queries]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@EMPTY
@settings(max_examples=20, deadline=None)
@given(documents=LINES.filter(any), order=st.randoms(use_true_random=False))
def test_the_order_of_candidates_changes_nothing(documents, order):
    shuffled = list(range(len(documents)))
    order.shuffle(shuffled)
    query = texts(" ".join(WORDS), role="query")
    found = scores("bm25:", query, texts(*documents))
    again = scores("bm25:", query, texts(*(documents[i] for i in shuffled)))
    np.testing.assert_array_equal(found[:, shuffled], again)


def test_words_are_counted_by_language_or_in_one_index():
    languages = ["en", "en", "de", "de"]
    lines = ["kallax red", "kallax", "kallax rot", "rot"]
    query = texts("kallax", role="query")
    apart = scores("bm25:", query, texts(*lines, language=languages))[0]
    expected = [naive("kallax", d, own) for own in (lines[:2], lines[2:]) for d in own]
    assert apart.tolist() == pytest.approx(expected)
    together = scores("bm25:?index=all", query, texts(*lines, language=languages))[0]
    assert together.tolist() == pytest.approx([naive("kallax", d, lines) for d in lines])


def test_words_can_be_counted_in_other_texts():
    fit = texts("red lamp", "red chair", "table", language="en")
    load = {"fit_texts": lambda reference: fit}
    found = scores("bm25:?fit=m#train", texts("red malm", role="query"), texts("red malm", "lamp"), **load)
    idf = [math.log(1 + (3 - df + 0.5) / (df + 0.5)) for df in (2, 0)]  # malm: in none of the fit texts
    assert found[0, 0] == pytest.approx(sum(idf) / (1 + 1.5 * (0.25 + 0.75 * 2 / (5 / 3))))
    made = encoder("bm25:?fit=m#train", **load)
    assert made.fitted_on == fit.row_digests()
    assert not made.depends_on_batch
    with pytest.raises(InputError, match=r"no texts in 'de', only in en, .*index=all"):
        scores("bm25:?fit=m", texts("a", role="query"), texts("a", language="de"), **load)
    with pytest.raises(InputError, match="fit=m names no texts"):
        scores("bm25:?fit=m", texts("a", role="query"), texts("a"), fit_texts=lambda reference: texts())


def test_columns_are_read():
    fields = {"title": ["lamp", "chair"]}
    query = texts("lamp", role="query", fields={"title": ["lamp"]})
    data = texts("of glass", "with a lamp", fields=fields)
    assert (scores("bm25:?field=title", query, data)[0] > 0).tolist() == [True, False]
    assert (scores("bm25:", query, data)[0] > 0).tolist() == [False, True]
    assert (scores("bm25:?field=title,text", query, data)[0] > 0).tolist() == [True, True]
    with pytest.raises(InputError, match=r"no column 'titel'. Did you mean 'title'\? .*text, title"):
        scores("bm25:?field=titel", query, data)


def test_scripts_without_blanks_have_bigrams():
    assert terms("東京都 iPhoneを2台", "ja") == ["東京", "京都", "iphone", "を", "2", "台"]
    assert terms("ein großes Regal", "de") == ["ein", "großes", "regal"]
    assert terms("हिन्दी", "hi") == ["हिन्दी"]
    assert terms("IŞIK", "tr") == ["ışık"]
    query = texts("京都", role="query", language="ja")
    found = scores("bm25:", query, texts("東京都に行く", "大阪", language="ja"))[0]
    assert (found > 0).tolist() == [True, False]


def test_texts_without_roles_are_compared_by_the_cosine():
    vectors = encoder().encode(texts("red chair", "red", "", "red chair"))
    assert vectors.compared_by == COSINE
    assert vectors.zero().tolist() == [2]
    assert vectors.row_bytes(0) == vectors.row_bytes(3) != vectors.row_bytes(1)
    assert encoder().encode(texts()).shape == (0, 1)


def test_identities_name_what_changes_scores():
    load = {"fit_texts": lambda reference: texts("red lamp")}
    specs = ["", "?k1=1", "?b=1", "?method=atire", "?index=all", "?field=title", "?fit=m"]
    found = [encoder(f"bm25:{spec}", **load).identity for spec in specs]
    assert len(set(found)) == len(specs)
    assert found[0] == (
        "bm25:v1?method=lucene&k1=1.5&b=0.75&index=language&field=text&stopwords=none&stemmer=none"
        "&df=collection"
    )


def test_stop_words_and_stems_go_by_language(monkeypatch):
    """Stand-ins of both packages."""
    module = "xlingual.encoders.bm25_terms"

    class Lists:
        STOPWORDS_EN = ("the", "of")

    class Stems:
        class Stemmer:
            def __init__(self, name):
                if name == "th":
                    raise KeyError(name)

            def stemWords(self, words):  # noqa: N802  (PyStemmer's name)
                return [word.removesuffix("s") for word in words]

    monkeypatch.setattr(f"{module}._stop_lists", lambda: Lists)
    monkeypatch.setattr(f"{module}._stemmers", lambda: Stems)
    for name in ("_stops", "_stem"):
        monkeypatch.setattr(f"{module}.{name}", __import__(module, fromlist="x").__dict__[name].__wrapped__)
    reader = TermReader(stopwords="bm25s", stemmer="snowball")
    assert reader.terms("The legs of the Chairs", "en-GB") == ["leg", "chair"]
    assert reader.terms("the chairs", "th") == ["the", "chairs"]
    assert reader.notes() == [
        "bm25: there are no stop words for th: all words of these count",
        "bm25: there is no stemmer for th: words of these stay as they are",
    ]
    assert reader.notes() == []


@pytest.fixture(scope="module")
def manifest():
    rng = np.random.default_rng(0)
    rows = []
    for i in range(40):
        english, german = ([*rng.choice(WORDS, rng.integers(2, 7))] for _ in range(2))
        rows.append({"id": f"p{i}", "text_en": f"{' '.join(english)} n{i % 17}"})
        rows[-1]["text_de"] = f"{' '.join(german)} n{i % 17}"
    return Manifest.of(rows)


def test_cross_lingual_retrieval_ranks_by_the_formula_and_counts_ties(manifest):
    found = crosslingual_retrieval(manifest, "bm25:", measures=["R@5", "RR"], store=None)
    lines = {tag: [manifest.text[r] for r in manifest.rows_of(tag).tolist()] for tag in ("en", "de")}
    for source, target in (("en", "de"), ("de", "en")):
        documents = lines[target]
        matrix = np.array([[naive(q, d, documents) for d in documents] for q in lines[source]])
        own = np.diag(matrix)[:, None]
        tied = (np.abs(matrix - own) < 5e-7).sum(axis=1)
        above = (matrix > own + 5e-7).sum(axis=1)
        expected = np.clip((5 - above) / tied, 0, 1).mean()
        (entry,) = [e for e in found.entries if (e.measure, e.source) == ("R@5", source)]
        assert entry.value == pytest.approx(expected, abs=1e-12)
        assert entry.n_tied == (tied > 1).sum()


def test_the_numbers_of_a_pair_do_not_depend_on_other_pairs(manifest):
    rows = [
        {"id": i, "text_en": manifest.text[2 * n], "text_de": manifest.text[2 * n + 1], "text_fr": f"a n{n}"}
        for n, i in enumerate(f"p{n}" for n in range(40))
    ]
    three = Manifest.of(rows)
    alone, among = (
        {
            (e.source, e.target): e.value
            for e in crosslingual_retrieval(three, "bm25:", pairs=pairs, store=None).entries
        }
        for pairs in ("en-de", None)
    )
    assert among["en", "de"] == alone["en", "de"]


def test_backretrieval_and_failures(manifest):
    images = np.random.default_rng(1).normal(size=(40, 4)).astype(np.float32)
    found = backretrieval(
        manifest, {"bm25": "bm25:"}, image_encoder=images, measures="R@3", store=None, examples=False
    )
    assert {e.encoder for e in found.entries} == {"bm25"}
    assert len(found.failures(encoder="bm25"))


def test_the_vectors_of_sides_are_those_of_roles(manifest):
    rows = np.arange(len(manifest))
    asked, offered = rows[::2], rows[1::2]
    one = embed_roles(manifest, "bm25", encoder(), asked, offered, any_form=True)
    sides = [
        replace(manifest.texts(side), role=role) for side, role in ((asked, "query"), (offered, "candidate"))
    ]
    other = embed_sides(*sides, "bm25", encoder(), any_form=True)
    for mine, theirs in ((one.queries.vectors, other.questions), (one.candidates.vectors, other.candidates)):
        assert (mine.matrix != theirs.matrix).nnz == 0


def test_weights_fall_with_the_number_of_texts():
    for method in ("lucene", "robertson", "atire"):
        idf = Weighting(method).idf(np.arange(1.0, 11), 10)
        assert (np.diff(idf) <= 0).all()
        assert (idf >= 0).all()


@pytest.mark.filterwarnings("ignore:.*the dictionary does not have")
def test_what_is_query_and_candidate_is_translated_once(tmp_path, monkeypatch):
    (tmp_path / "d.tsv").write_text("rot\tred\n")
    seen = []
    translate = DictionaryTranslator.translate

    def counted(self, texts, tag):
        seen.extend(texts)
        return translate(self, texts, tag)

    monkeypatch.setattr(DictionaryTranslator, "translate", counted)
    rows = [{"id": f"p{i}", "text_en": f"red {i}", "text_de": f"rot {i}"} for i in range(20)]
    found = crosslingual_retrieval(
        Manifest.of(rows), {"b": f"translate:{tmp_path}/d.tsv::bm25:"}, measures="R@1", store=None
    )
    assert [entry.value for entry in found.entries] == [1, 1]  # en-de and de-en
    assert sorted(seen) == sorted(row["text_de"] for row in rows)


def test_translations_are_searched(tmp_path):
    """Below a translator it is translations that are counted, each text translated once."""
    (tmp_path / "d.tsv").write_text("rot\tred\nstuhl\tchair\nlampe\tlamp\n")
    made = encoder(f"translate:{tmp_path}/d.tsv::bm25:")
    seen = []
    translate = made.translator.translate
    made.translator.translate = lambda texts, tag: (seen.extend(texts), translate(texts, tag))[1]
    query = texts("red lamp", role="query")
    data = replace(texts("rot stuhl", "lampe rot rot", "stuhl", language="de"), role="candidate")
    found = embed_sides(query, data, "bm25", made, any_form=True)
    english = ["red chair", "lamp red red", "chair"]
    expected = [naive("red lamp", d, english) for d in english]
    assert (found.questions.matrix @ found.candidates.matrix.T).toarray()[0].tolist() == pytest.approx(
        expected
    )
    assert sorted(seen) == sorted(data.text)
    assert made.by_role
    assert made.depends_on_batch
