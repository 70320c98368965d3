"""Runs and judgements: the files that neighbouring tools write, their order, and what is refused."""

import gzip
import json
import struct
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.program import answer, command

from xlingual.data.runs import SearchRun, query_table
from xlingual.errors import DataWarning, InputError

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
        "a.csv": csv_of(rows(SCORES)),
        "a.parquet": table(rows(SCORES)),
        "ranx.json": json.dumps(SCORES),
        "ranx.lz4": lz4(lz4(cbor(SCORES))),  # ranx compresses twice
        "X_predictions.json": json.dumps(MTEB),
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


def test_predictions_of_several_languages_are_named_by_them(tmp_path):
    subsets = {"mteb_model_meta": {}, "de": {"test": SCORES}, "eng-deu": {"test": {"q9": {"d1": 1.0}}}}
    qrels = "".join(f"de:{q} 0 de:{d} {g}\n" for q, own in GRADES.items() for d, g in own.items())
    write(tmp_path / "X_predictions.json", json.dumps(subsets))
    assert reciprocal_rank(write(tmp_path / "q", qrels + "de:q9 0 en:d1 1\n"), tmp_path) == pytest.approx(
        2.5 / 3
    )


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
        "large.json": '{"q1": {"d1": 1' + "0" * 400 + "}}",
        "inner.json": '{"q1": {"d1": [1]}}',
        "none.jsonl": json.dumps(ROW | {"candidate_id": None}),
        "neither.jsonl": '{"qid": 1, "docid": 2}\n',
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


RESULTS = {"b": {"d3": 2.0, "d1": 0.5, "d2": 2.0}, "a": {"d9": -1.0}}


def as_lists(run):
    """Return {query: [the ids of each place]}."""
    found = {name: [] for name in run.queries}
    for query, candidate, level in zip(run.query, run.candidate, run.level, strict=True):
        own = found[run.queries[query]]
        if level == len(own):
            own.append(set())
        own[level].add(run.candidates[candidate])
    return found


def test_the_digest_has_no_order_of_lines_and_no_format(tmp_path):
    lines = ["b Q0 d1 3 0.5 t\n", "a Q0 d9 1 -1.0 t\n", "b Q0 d3 1 2.0 t\n", "b Q0 d2 2 2.0 t\n"]
    runs = [
        SearchRun.of(RESULTS),
        SearchRun.of({q: {d: 2 * s for d, s in o.items()} for q, o in RESULTS.items()}),
    ]
    for number, order in enumerate(permutations(lines)):
        (tmp_path / f"{number}.trec").write_text("".join(order))
        runs.append(SearchRun.read(tmp_path / f"{number}.trec"))
    assert len({run.digest for run in runs}) == 1
    others = [
        {"b": {"d3": 2.0, "d1": 2.0, "d2": 0.5}, "a": {"d9": -1.0}},  # another order
        {"a": {"d3": 2.0, "d1": 0.5, "d2": 2.0}, "b": {"d9": -1.0}},  # of other queries
        {"b": {"d3": 2.0, "d1": 0.5, "d2": 1.0}, "a": {"d9": -1.0}},  # without the tie
    ]
    assert len({run.digest for run in [runs[0], *map(SearchRun.of, others)]}) == 4
    swapped = SearchRun.of({"a": {"x": 2.0, "y": 1.0}}), SearchRun.of({"a": {"x": 3.0, "y": 1.0}})
    assert swapped[0].digest == swapped[1].digest


def test_scores_that_contradict_ranks_are_said(tmp_path):
    path = tmp_path / "r.trec"
    path.write_text("q Q0 a 1 0.1 t\nq Q0 b 2 0.9 t\nr Q0 a 1 2 t\nr Q0 b 2 2 t\n")
    with pytest.warns(DataWarning, match="ranks in 1 of 2 queries") as said:
        run = SearchRun.read(path)
    assert as_lists(run) == {"q": [{"b"}, {"a"}], "r": [{"a", "b"}]}
    assert len(said) == 1


def test_repeated_candidates_count_once(tmp_path):
    path = tmp_path / "r.trec"
    path.write_text("q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n")
    with pytest.warns(DataWarning, match="1 lines repeat"):
        run = SearchRun.read(path)
    assert as_lists(run) == {"q": [{"a"}, {"b"}]} and run.lengths.tolist() == [2]
    others = {"r": ["a", "b", "c"], "s": ["a"]}  # a list has ended where others have more results
    assert SearchRun.of(others).ended.tolist() == [False, True]


def test_infinite_scores_are_last_and_first():
    run = SearchRun.of({"q": {"a": float("-inf"), "b": 0.0, "c": float("inf"), "d": float("inf")}})
    assert as_lists(run) == {"q": [{"c", "d"}, {"b"}, {"a"}]}
    assert as_lists(run.in_trec_order()) == {"q": [{"d"}, {"c"}, {"b"}, {"a"}]}


NAMES = ["d10", "d9", "é", "a", "Z"]


def drawn(seed):
    """Draw results of three queries: scores that tie, some only as float32."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 3, 30) + rng.choice([0.0, 1e-10, 1e-3], 30)
    pairs = [divmod(place, len(NAMES)) for place in rng.choice(15, 11, replace=False).tolist()]
    return sorted((query, -value, candidate) for (query, candidate), value in zip(pairs, score, strict=False))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_sorting_by_float32_and_name_for_runs(seed):
    rows = drawn(seed)
    naive: dict[int, list[str]] = {}
    for query in sorted({query for query, *_ in rows}):
        own = [(np.float32(-minus), NAMES[c].encode()) for q, minus, c in rows if q == query]
        naive[query] = [name.decode() for _, name in sorted(own, reverse=True)]
    results: dict[str, dict[str, float]] = {}
    for query, minus, candidate in rows:
        results.setdefault(f"q{query}", {})[NAMES[candidate]] = -minus
    run = SearchRun.of(results).in_trec_order()
    assert [run.candidates[c] for c in run.candidate] == [name for own in naive.values() for name in own]


def test_a_query_table_gives_clusters_and_columns(tmp_path):
    (tmp_path / "t.csv").write_text("query,cluster,kind,text\nq1,c,a,x\nq2,c,,y\n")
    assert query_table(tmp_path / "t.csv") == ({"q1": "c", "q2": "c"}, {"kind": {"q1": "a"}})
    (tmp_path / "t.csv").write_text("query,kind\nq1,a\nq1,b\n")
    with pytest.raises(InputError, match="stands twice"):
        query_table(tmp_path / "t.csv")
