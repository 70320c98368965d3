"""Retrieval folders of BEIR and MTEB as pools: every layout gives the pairs that the judgements name."""

import gzip
import json
import warnings
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.data.pools.pool import MultilingualPool, is_pool
from xlingual.data.pools.retrieval_folder import Subset, rows_of
from xlingual.errors import DataWarning, InputError

QRELS = (("q0", "d0", 1), ("q0", "d1", 0), ("q1", "d1", 2), ("q1", "d2", 1), ("q2", "d2", -1))


def texts(prefix, language, n=3, **more):
    return [{"_id": f"{prefix}{i}", "text": f"{prefix} {i} {language}", **more} for i in range(n)]


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
        return
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


def write_qrels(path, rows=QRELS, header=True, trec=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["query-id\tcorpus-id\tscore"] if header else []
    lines += [f"{q} 0 {d} {g}" if trec else f"{q}\t{d}\t{g}" for q, d, g in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_folder(folder, language="en", **more):
    write(folder / "corpus.jsonl", texts("d", language, **more))
    write(folder / "queries.jsonl", texts("q", language, **more))
    write_qrels(folder / "qrels" / "test.tsv")


def pairs(pool):
    q, c, tags = pool.questions, pool.candidates, pool.languages
    return {
        (tags[q.language[i]], q.ids[i], tags[c.language[j]], c.ids[j])
        for i, j in zip(*(part.tolist() for part in pool.relevant), strict=True)
    }


def read(folder, *args, **more):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        pool = MultilingualPool.read(folder, *args, **more)
    return pool, [str(one.message) for one in caught]


def beir_gz(folder, language):
    write(folder / "corpus.jsonl.gz", texts("d", language))
    write(folder / "queries.jsonl.gz", texts("q", language))
    write_qrels(folder / "qrels" / "test.tsv", header=False)


def beir_parquet(folder, language):
    write(folder / "corpus" / "corpus-00000-of-00001.parquet", texts("d", language))
    write(folder / "queries" / "queries-00000-of-00001.parquet", texts("q", language))
    write_qrels(folder / "qrels" / "test.tsv", header=False, trec=True)


def mteb_parquet(folder, language):
    rows = [{"query-id": q, "corpus-id": d, "score": float(g)} for q, d, g in QRELS]
    both = texts("d", language)
    write(folder / "corpus" / "test-00000-of-00002.parquet", both[:1])
    write(folder / "corpus" / "test-00001-of-00002.parquet", both[1:])
    write(folder / "queries" / "test-00000-of-00001.parquet", texts("q", language))
    write(folder / "data" / "test-00000-of-00001.parquet", rows)


@pytest.mark.parametrize("layout", [write_folder, beir_gz, beir_parquet, mteb_parquet])
def test_every_layout_gives_the_same_pool(tmp_path, layout):
    layout(tmp_path / "x", "en")
    assert is_pool(tmp_path / "x")
    pool, said = read(tmp_path / "x", ["en"])
    assert pairs(pool) == {("en", "q0", "en", "d0"), ("en", "q1", "en", "d1"), ("en", "q1", "en", "d2")}
    assert pool.candidates.grades == [(1,), (2,), (1,)]
    assert pool.candidates.text == ["d 0 en", "d 1 en", "d 2 en"]  # the one that answers nothing, too
    assert pool.questions.split == ["test", "test"]
    assert any("grades -1 (1), 0 (1), 1 (2), 2 (1)" in line for line in said)


def test_titles_stand_before_texts(tmp_path):
    write_folder(tmp_path, "en", title="T")
    assert read(tmp_path, "en")[0].candidates.text[0] == "T d 0 en"


def test_one_folder_per_language_of_the_same_questions(tmp_path):
    for language in ("en", "de"):
        write_folder(tmp_path / language, language)
    pool, _said = read(tmp_path)
    expected = {
        (asked, q, answered, d)
        for asked in ("en", "de")
        for answered in ("en", "de")
        for q, d, grade in QRELS
        if grade > 0
    }
    assert pairs(pool) == expected
    assert pool.questions.cluster.tolist() == [0, 1, 0, 1]
    only, _ = read(tmp_path, ["de"])
    assert pairs(only) == {pair for pair in expected if pair[0] == pair[2] == "de"}


def test_languages_of_their_own_questions_share_nothing(tmp_path):
    write_folder(tmp_path / "ar-x", "ar")  # no language: said
    with pytest.raises(InputError, match="'ar-x' is no language"):
        read(tmp_path)
    (tmp_path / "ar-x").rename(tmp_path / "ar")
    write_folder(tmp_path / "te", "te")
    write_qrels(tmp_path / "te" / "qrels" / "test.tsv", [("q0", "d2", 1), ("q1", "d0", 1)])
    pool, _said = read(tmp_path)
    assert pairs(pool) == {
        ("ar", "ar:q0", "ar", "d0"),
        ("ar", "ar:q1", "ar", "d1"),
        ("ar", "ar:q1", "ar", "d2"),
        ("te", "te:q0", "te", "d2"),
        ("te", "te:q1", "te", "d0"),
    }
    assert len(set(pool.questions.cluster.tolist())) == 4


def test_subsets_of_mteb_name_the_languages_of_corpus_and_queries(tmp_path):
    for pair, corpus, queries in (("eng-deu", "en", "de"), ("deu-deu", "de", "de")):
        write(tmp_path / f"{pair}-corpus" / "test-00000-of-00001.parquet", texts("d", corpus))
        write(tmp_path / f"{pair}-queries" / "test-00000-of-00001.parquet", texts("q", queries))
        write_qrels(tmp_path / f"{pair}-qrels" / "test.tsv", [("q0", "d1", 1)])
    pool, _ = read(tmp_path)
    assert pairs(pool) == {("de", "q0", "de", "d1"), ("de", "q0", "en", "d1")}
    assert pool.languages == ("de", "en")


def test_an_id_with_two_texts_in_one_language_is_two_documents(tmp_path):
    for pair in ("eng-deu", "eng-fra"):
        write(tmp_path / f"{pair}-corpus" / "test.parquet", texts("d", pair))
        write(tmp_path / f"{pair}-queries" / "test.parquet", texts("q", pair))
        write_qrels(tmp_path / f"{pair}-qrels" / "test.tsv", [("q0", "d1", 1)])
    pool, _said = read(tmp_path)
    assert pairs(pool) == {
        ("de", "eng-deu:q0", "en", "d1"),
        ("fr", "eng-fra:q0", "en", "eng-fra:d1"),
    }


def test_documents_with_two_texts_are_two_where_no_question_is_shared(tmp_path):
    for pair, query in (("eng-deu", "q0"), ("eng-fra", "q1")):
        write(tmp_path / f"{pair}-corpus" / "test.parquet", texts("d", pair))
        write(tmp_path / f"{pair}-queries" / "test.parquet", texts("q", pair))
        write_qrels(tmp_path / f"{pair}-qrels" / "test.tsv", [(query, "d1", 1)])
    pool, _ = read(tmp_path)
    assert pairs(pool) == {("de", "q0", "en", "d1"), ("fr", "q1", "en", "eng-fra:d1")}
    assert len(pool.candidates) == 6


def test_equal_ids_may_be_said_to_be_different_questions_or_the_same(tmp_path):
    for language in ("en", "de"):  # numbered in each language: query i is judged with document i
        write_folder(tmp_path / language, language)
        write_qrels(tmp_path / language / "qrels" / "test.tsv", [(f"q{i}", f"d{i}", 1) for i in range(3)])
    found, said = read(tmp_path)
    same, said = read(tmp_path, equal_ids="same")
    assert pairs(same) == pairs(found) and len(pairs(same)) == 12 and not said
    assert same.digest == found.digest
    pool, said = read(tmp_path, equal_ids="different")
    assert pairs(pool) == {(tag, f"{tag}:q{i}", tag, f"d{i}") for tag in ("en", "de") for i in range(3)}
    assert len(set(pool.questions.cluster.tolist())) == 6 and not said
    assert pool.digest != found.digest
    write_qrels(tmp_path / "de" / "qrels" / "test.tsv", [(f"q{i}", f"d{2 - i}", 1) for i in range(3)])
    assert ("en", "q0", "de", "d2") in pairs(read(tmp_path, equal_ids="same")[0])


@pytest.mark.parametrize("layout", ["{}/{}.jsonl", "{}-{}/test.jsonl"])
def test_a_language_with_a_corpus_alone_has_candidates_only(tmp_path, layout):
    write(tmp_path / layout.format("en", "corpus"), texts("d", "en"))
    write(tmp_path / layout.format("en", "queries"), texts("q", "en"))
    qrels = tmp_path / ("en-qrels" if "-" in layout else "en/qrels") / "test.tsv"
    write_qrels(qrels, [("q0", "d1", 1)])
    write(tmp_path / layout.format("de", "corpus"), texts("d", "de"))
    pool, _said = read(tmp_path)
    assert pairs(pool) == {("en", "q0", "en", "d1")} and pool.candidates.text[:2] == ["d 0 de", "d 1 de"]
    write(tmp_path / layout.format("fr", "queries"), texts("q", "fr"))
    with pytest.raises(InputError, match="fr has queries but no corpus and no qrels"):
        read(tmp_path)


def test_splits_are_those_of_the_judgements(tmp_path):
    write_folder(tmp_path / "en")
    write_qrels(tmp_path / "en" / "qrels" / "dev.tsv", [("q2", "d0", 1), ("q0", "d2", 1)])
    pool, said = read(tmp_path)
    assert sorted(pool.questions.split) == ["dev", "dev", "test"]
    assert any("several splits" in line and "--split" in line for line in said)
    assert pairs(read(tmp_path, split="test")[0]) == {
        ("en", "q0", "en", "d0"),
        ("en", "q1", "en", "d1"),
        ("en", "q1", "en", "d2"),
    }
    assert {pair[1] for pair in pairs(read(tmp_path, split="dev")[0])} == {"q0", "q2"}
    with pytest.raises(InputError, match=r"no split 'tset'.*'test'"):
        read(tmp_path, split="tset")


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_grades_are_written_and_read(tmp_path, form):
    for language in ("en", "de"):
        write_folder(tmp_path / "b" / language, language)
    pool, _ = read(tmp_path / "b")
    again, _ = read(pool.write(tmp_path / "p", form))
    assert again.candidates.grades == pool.candidates.grades
    assert again.candidates.keys == pool.candidates.keys and again.digest == pool.digest


def test_a_damaged_gz_is_named(tmp_path):
    beir_gz(tmp_path, "en")
    whole = (tmp_path / "corpus.jsonl.gz").read_bytes()
    (tmp_path / "corpus.jsonl.gz").write_bytes(whole[:-12])
    with pytest.raises(InputError, match=r"corpus\.jsonl"):
        read(tmp_path, ["en"])


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-1, 3)), min_size=1),
    st.lists(st.sampled_from(["de", "en", "ja"]), min_size=1, max_size=3, unique=True),
)
@settings(deadline=None, max_examples=30)
def test_relevant_pairs_are_those_of_a_loop_over_the_judgements(judged, languages):
    grades = {(f"q{q}", f"d{d}"): grade for q, d, grade in judged}
    read_ones = []
    for language in languages:
        documents = {(language, f"d{i}"): f"{language} {i}" for i in range(5)}
        queries = {(language, f"q{i}"): f"{language} ask {i}" for i in range(4)}
        own = Subset(language, {}, documents, queries)
        for (query, document), grade in grades.items():
            own.grades.setdefault(query, {})[document] = grade
            own.split[query] = "test"
        read_ones.append(own)
    expected = {
        (asked, query, answered, document, grade)
        for asked in languages
        for answered in languages
        for (query, document), grade in grades.items()
        if grade > 0
    }
    if not expected:
        with pytest.raises(InputError, match="no judgement above 0"):
            rows_of("x", read_ones, Counter())
        return
    known, questions, candidates, _ = rows_of("x", read_ones, Counter())
    found = set()
    for i, key in enumerate(questions.key):
        for j, keys in enumerate(candidates.keys):
            if key in keys:
                grade = candidates.grades[j][keys.index(key)]
                place = (known[candidates.language[j]], candidates.ids[j])
                found.add((known[questions.language[i]], questions.ids[i], *place, grade))
    assert found == expected
