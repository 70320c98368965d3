"""Runs and judgements are read from the files that neighbouring tools write, through the command line."""

import gzip
import json
import struct

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.program import answer, command

from xlingual import runs_against_qrels
from xlingual.errors import DataWarning
from xlingual.evaluation.run_systems import RunSystem

INF = float("inf")
GRADES = {"q1": {"d1": 1, "d2": 0}, "q2": {"d2": 2}}
SCORES = {q: {"d1": 0.9, "d2": 0.5, "d3": -INF} for q in GRADES}  # RR is (1 + .5)/2
PLACES = [(q, d, n, s) for q, own in SCORES.items() for n, (d, s) in enumerate(own.items(), 1)]
JUDGED = [(q, d, g) for q, own in GRADES.items() for d, g in own.items()]
TREC = "".join(f"{q} Q0 {d} {n} {s} t\n" for q, d, n, s in PLACES)
QRELS = "".join(f"{q} 0 {d} {g}\n" for q, d, g in JUDGED)
MSMARCO = "".join(f"{q}\t{d}\t{n}\n" for q, d, n, _ in PLACES)
BEIR = "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{g}\n" for q, d, g in JUDGED)
MTEB = {"mteb_model_meta": {"model_name": "x", "revision": None}, "default": {"test": SCORES}}


def cbor(value):
    """Encode maps, texts and floats as CBOR does."""
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    kind, length = (0x60, len(value.encode())) if isinstance(value, str) else (0xA0, len(value))
    head = bytes([kind + length]) if length < 24 else bytes([kind + 24, length])
    if isinstance(value, str):
        return head + value.encode()
    return head + b"".join(cbor(key) + cbor(own) for key, own in value.items())


def lz4(raw):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as stream:
        stream.write(raw)
    return sink.getvalue().to_pybytes()


def rows(results, **names):
    names = {"query": "q_id", "candidate": "doc_id", "score": "score"} | names
    triples = ((q, d, v) for q, own in results.items() for d, v in own.items())
    return [dict(zip(names.values(), triple, strict=True)) for triple in triples]


def lines(found):
    return "".join(json.dumps(row) + "\n" for row in found)


def table(found):
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_pylist(found), sink)
    return sink.getvalue().to_pybytes()


def csv_of(found):
    return "\n".join(",".join(map(str, row)) for row in [found[0].keys(), *(row.values() for row in found)])


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def reciprocal_rank(qrels, run, *words):
    found = answer(
        "compare", "--qrels", qrels, f"a={run}", f"b={run}", "--measure", "RR", "--ties", "trec", *words
    )
    (value,) = {row["value"] for row in found["boards"][0]["rows"]}
    return value


@pytest.mark.parametrize(
    ("name", "content"),
    {
        "a.trec": TREC,
        "more.trec": TREC.replace(" t\n", " t 12 x y\n"),  # as in trec_eval's own test files
        "tabs.run": TREC.replace(" ", "\t").replace("\n", " \r\n") + "\n\n",
        "a.trec.gz": gzip.compress(TREC.encode(), mtime=0),
        "marked.trec": b"\xef\xbb\xbf" + TREC.encode(),
        "msmarco.tsv": MSMARCO,
        "a.jsonl": lines(rows(SCORES)),
        "a.jsonl.gz": gzip.compress(lines(rows(SCORES)).encode(), mtime=0),
        "lines.json": lines(rows(SCORES)),
        "a.csv": csv_of(rows(SCORES)),
        "a.parquet": table(rows(SCORES)),
        "ranx.json": json.dumps(SCORES),
        "ranx.lz4": lz4(lz4(cbor(SCORES))),  # ranx compresses twice
        "X_predictions.json": json.dumps(MTEB),
        "hits.jsonl": lines(
            {"qid": q, "took": 3, "hits": [{"id": d, "score": s} for d, s in own.items()]}
            for q, own in SCORES.items()
        ),
    }.items(),
)
def test_runs(tmp_path, name, content):
    assert reciprocal_rank(write(tmp_path / "q", QRELS), write(tmp_path / name, content)) == 0.75


@pytest.mark.parametrize(
    ("name", "content"),
    {
        "a.qrels": QRELS,
        "floats.qrels": QRELS.replace("\n", ".0\n"),
        "beir.tsv": BEIR,
        "noheader.tsv": BEIR.partition("\n")[2],
        "beir.tsv.gz": gzip.compress(BEIR.encode(), mtime=0),
        "ranx.json": json.dumps(GRADES),
        "ranx.parquet": table(rows(GRADES)),
        "mteb.parquet": table(rows(GRADES, query="query-id", candidate="corpus-id")),
        "a.jsonl": lines(rows(GRADES)),
        "a.csv.gz": gzip.compress(csv_of(rows(GRADES)).encode(), mtime=0),
    }.items(),
)
def test_judgements(tmp_path, name, content):
    assert reciprocal_rank(write(tmp_path / name, content), write(tmp_path / "a.trec", TREC)) == 0.75


def test_where_tabs_divide_names_may_hold_spaces(tmp_path):
    qrels = write(tmp_path / "q.tsv", BEIR.replace("d", "d ").replace("i ", "i"))
    assert reciprocal_rank(qrels, write(tmp_path / "r.tsv", MSMARCO.replace("d", "d "))) == 0.75


def test_predictions_of_several_languages_are_named_by_them(tmp_path):
    subsets = {"mteb_model_meta": {}, "de": {"test": SCORES}, "eng-deu": {"test": {"q9": {"d1": 1.0}}}}
    qrels = "".join(f"de:{q} 0 de:{d} {g}\n" for q, own in GRADES.items() for d, g in own.items())
    write(tmp_path / "X_predictions.json", json.dumps(subsets))
    assert reciprocal_rank(write(tmp_path / "q", qrels + "de:q9 0 en:d1 1\n"), tmp_path) == pytest.approx(
        2.5 / 3
    )


def test_numbers_of_predictions_are_those_of_pytrec_eval(tmp_path):
    """MTEB averages pytrec_eval's values over the queries that it predicts, those judged 0 alone too."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    draw = np.random.default_rng(0)
    grades = {f"q{q}": {f"d{d}": int(draw.integers(0, 3)) for d in draw.choice(50, 9)} for q in range(30)}
    grades["q7"] = {"d1": 0, "d2": 0}
    scores = {q: {f"d{d}": float(np.float32(draw.normal())) for d in range(50)} for q in grades}
    theirs = pytrec_eval.RelevanceEvaluator(grades, {"ndcg_cut.10"}).evaluate(scores)
    mean = np.mean([own["ndcg_cut_10"] for own in theirs.values()])
    write(tmp_path / "p_predictions.json", json.dumps(MTEB | {"default": {"test": scores}}))
    for ties in ("trec", "expected"):
        with pytest.warns(DataWarning, match="1 of 30 queries"):
            found = runs_against_qrels(grades, tmp_path / "p_predictions.json", measures="nDCG@10", ties=ties)
        assert found.entries[0].value == pytest.approx(mean, abs=1e-9)


def test_the_highest_grades_do_not_overflow(tmp_path):
    qrels = write(tmp_path / "q", "q 0 d1 1029\nq 0 d2 1030\n")
    found = answer(
        "compare", "--qrels", qrels, *(f"{n}={write(tmp_path / n, f'q Q0 {d} 1 1 t{chr(10)}')}" for n, d in
        (("a", "d1"), ("b", "d2"))), "--measure", "nDCG(dcg='exp-log2')@1", "--ties", "trec",
    )  # fmt: skip
    assert {row["encoder"]: row["value"] for row in found["boards"][0]["rows"]} == {"a": 0.5, "b": 1.0}


OWN = {"q1": {"q1": 3.0, "d1": 2.0}, "q2": {"q2": 3.0, "d2": 2.0}}


def test_a_querys_own_id_is_left_out_on_demand(tmp_path):
    run = write(tmp_path / "r.json", json.dumps(OWN))
    qrels = write(tmp_path / "q", "q1 0 d1 1\nq2 0 d2 1\n")
    outcome = command("compare", "--qrels", qrels, f"a={run}", f"b={run}", "--measure", "RR@1")
    assert "2 of 2 queries" in outcome.err
    assert reciprocal_rank(qrels, run) == 0.5
    assert reciprocal_rank(qrels, run, "--ignore-identical-ids") == 1.0


ROW = {"query_id": "q1", "candidate_id": "d1", "score": 1}


@pytest.mark.parametrize(
    ("name", "content"),
    {
        "short.trec": "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 t\n",
        "word.trec": "q1 Q0 d1 1 high t\n",
        "nan.trec": "q1 Q0 d1 1 nan t\n",
        "nan.json": '{"q1": {"d1": NaN}}',
        "latin.trec": b"q1 Q0 d1 1 1 t\nq1 Q0 \xe9 1 1 t\n",
        "empty": "",
        "empty.json": "{}",
        "list.json": "[1, 2]",
        "number.json": '{"q1": 3}',
        "scores.tsv": "q1\td1\t7\nq1\td2\t5\n",  # three columns, and the third is no rank
        "cut.json.gz": gzip.compress(json.dumps(SCORES).encode(), mtime=0)[:-9],
        "cut.lz4": lz4(cbor(SCORES)[:-3]),
        "half.json": '{"q1": {"\\ud83d": 1}}',
        "half.jsonl": '{"qid": "q1", "docid": "\\ud83d", "score": 1}',
        "deep.json": "[" * 100_000,
        "large.json": '{"q1": {"d1": 1' + "0" * 400 + "}}",
        "inner.json": '{"q1": {"d1": [1]}}',
        "none.jsonl": json.dumps(ROW | {"candidate_id": None}),
        "neither.jsonl": '{"qid": 1, "docid": 2}\n',
        "late.jsonl": json.dumps(ROW | {"took": -1}),
        "broken.jsonl": "{broken\n",
        "broken.parquet": "PAR",
        "lists.parquet": table([ROW | {"candidate_id": ["d1"]}]),
        "bytes.parquet": table([ROW | {"candidate_id": b"\xff"}]),
        "sts_predictions.json": '{"mteb_model_meta": {}, "default": {"test": [0.5]}}',
        "splits_predictions.json": '{"mteb_model_meta": {}, "default": {"dev": {}, "train": {}}}',
    }.items(),
)
def test_broken_runs_are_refused_in_a_line(tmp_path, name, content):
    run = write(tmp_path / name, content)
    outcome = command("compare", "--qrels", write(tmp_path / "q", QRELS), f"a={run}", f"b={run}")
    assert outcome.code == 2 and str(run) in outcome.err.splitlines()[-1] and "Traceback" not in outcome.err


@pytest.mark.parametrize(
    "content",
    [
        "q1 0 d1 1\nq1 0 d1 2\n",
        "q1 0 d1 0.5\n",
        "q1 0 d1 1" + "0" * 19 + "\n",
        "q1 0 d1 x\n",
        '{"q1": 3}',
        "",
    ],
)
def test_broken_judgements_are_refused_in_a_line(tmp_path, content):
    run, qrels = write(tmp_path / "r", TREC), write(tmp_path / "q", content)
    outcome = command("compare", "--qrels", qrels, f"a={run}", f"b={run}")
    assert outcome.code == 2 and str(qrels) in outcome.err.splitlines()[-1] and "Traceback" not in outcome.err


def test_latency_is_a_column(tmp_path):
    times = np.random.default_rng(0).lognormal(3, 1, 50)
    found = [ROW | {"query_id": f"q{i}", "latency_ms": float(time)} for i, time in enumerate(times)]
    cost = RunSystem(str(write(tmp_path / "run.jsonl", lines([*found, ROW | {"query_id": "x"}])))).cost
    assert cost["latency_ms"] == pytest.approx(np.median(times), abs=1e-3) and cost["queries_timed"] == 50
