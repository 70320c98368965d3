"""Retrieval folders of BEIR and MTEB as pools: every layout gives the pairs that the judgements name."""

import gzip
import json
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.program import answer

from xlingual.data.pools.pool import MultilingualPool, is_pool
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
    pool, _ = read(tmp_path / "x", ["en"])
    assert pairs(pool) == {("en", "q0", "en", "d0"), ("en", "q1", "en", "d1"), ("en", "q1", "en", "d2")}
    assert pool.candidates.grades == [(1,), (2,), (1,)]
    assert pool.candidates.text == ["d 0 en", "d 1 en", "d 2 en"]  # the one that answers nothing, too
    assert pool.questions.split == ["test", "test"]


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


def judged(pool):
    sides = zip(*(side.tolist() for side in pool.judged), strict=True)
    q, c, tags = pool.questions, pool.candidates, pool.languages
    return {(tags[q.language[i]], q.ids[i], tags[c.language[j]], c.ids[j], grade) for i, j, grade in sides}


def test_what_was_judged_irrelevant_is_kept_and_changes_no_digest(tmp_path):
    write_folder(tmp_path / "a")
    pool, _ = read(tmp_path / "a", ["en"])
    zeros = {("q0", "d1", 0)}  # nothing is relevant to q2: it is left out
    expected = {("en", q, "en", d, g) for q, d, g in {*QRELS[:1], *QRELS[2:4]} | zeros}
    assert judged(pool) == expected
    assert judged(read(pool.write(tmp_path / "p"))[0]) == expected
    write_qrels(tmp_path / "a" / "qrels" / "test.tsv", [row for row in QRELS if row[2] > 0])
    without, _ = read(tmp_path / "a", ["en"])
    assert without.digest == pool.digest and without.candidates.irrelevant is None


def test_other_judgements_take_the_place_of_those_of_a_folder(tmp_path):
    write_folder(tmp_path / "a")
    (tmp_path / "q").write_text("q0 0 d2 3\nq0 0 d0 0\nq8 0 d1 1\nq0 0 d9 1\nq1 0 d1 0\n")
    expected = {("en", "q0", "en", "d2", 3), ("en", "q0", "en", "d0", 0)}
    pool, said = read(tmp_path / "a", ["en"], qrels=tmp_path / "q")
    assert judged(pool) == expected and len(pool.candidates) == 3
    assert any("(1)" in line for line in said)
    written = read(tmp_path / "a", ["en"])[0].write(tmp_path / "p")
    assert judged(read(written, qrels=tmp_path / "q")[0]) == expected
    with pytest.raises(InputError, match="no judgement above 0"):
        read(tmp_path / "a", ["en"], qrels={"q0": {"d0": 0}})


def test_data_check_counts_a_pool(tmp_path):
    write_folder(tmp_path, language="en", lang="en")
    counts = answer("data check", tmp_path)["languages"]
    assert counts == [{"language": "en", "questions": 2, "candidates": 3, "relevant": 1.5}]


def test_an_id_with_two_texts_in_a_file_is_refused(tmp_path):
    write_folder(tmp_path)
    write(tmp_path / "corpus.jsonl", [*texts("d", "en"), {"_id": "d1", "text": "another"}])
    with pytest.raises(InputError, match="stands twice"):
        read(tmp_path, ["en"])


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-1, 3)), min_size=1),
    st.lists(st.sampled_from(["de", "en", "ja"]), min_size=1, max_size=3, unique=True),
)
@settings(deadline=None, max_examples=15)
def test_relevant_pairs_are_those_of_a_loop_over_the_judgements(tmp_path_factory, lines, languages):
    grades = {(f"q{q}", f"d{d}"): grade for q, d, grade in lines}
    folder = tmp_path_factory.mktemp("folder")
    for language in languages:
        write(folder / language / "corpus.jsonl", texts("d", language, 5))
        write(folder / language / "queries.jsonl", texts("q", language, 4))
        write_qrels(folder / language / "qrels" / "test.tsv", [(*pair, g) for pair, g in grades.items()])
    expected = {
        (asked, query, answered, document, grade)
        for asked in languages
        for answered in languages
        for (query, document), grade in grades.items()
        if grade > 0
    }
    if not expected:
        with pytest.raises(InputError, match="no judgement above 0"):
            read(folder)
        return
    assert {row for row in judged(read(folder)[0]) if row[-1] > 0} == expected
