"""Runs are read from the files that search systems and evaluation programs write."""

import gzip
import json
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from xlingual.data.runs import SearchRun
from xlingual.errors import DataWarning, InputError

# query b has a tie at its best score; its lines are in no order
RESULTS = {"b": {"d3": 2.0, "d1": 0.5, "d2": 2.0}, "a": {"d9": -1.0}}
TREC = "b Q0 d1 3 0.5 t\na Q0 d9 1 -1.0 t\nb Q0 d3 1 2.0 t\nb Q0 d2 2 2.0 t\n"


def as_lists(run):
    """Return {query: [the ids of each place]}."""
    found = {name: [] for name in run.queries}
    for query, candidate, level in zip(run.query, run.candidate, run.level, strict=True):
        own = found[run.queries[query]]
        if level == len(own):
            own.append(set())
        own[level].add(run.candidates[candidate])
    return found


WANTED = {"a": [{"d9"}], "b": [{"d2", "d3"}, {"d1"}]}


def write(path, form):
    rows = [
        {"query_id": q, "doc_id": d, "score": s} for q, results in RESULTS.items() for d, s in results.items()
    ]
    if form == "trec":
        path.write_text(TREC)
    elif form == "tabs":
        path.write_text(TREC.replace(" ", "\t").replace("\n", " \r\n") + "\n\n")
    elif form == "gz":
        path.write_bytes(gzip.compress(TREC.encode()))
    elif form == "lines":
        path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n")
    elif form == "queries":
        lists = [
            {"query": q, "hits": [{"id": d, "score": s} for d, s in own.items()]}
            for q, own in RESULTS.items()
        ]
        path.write_text("\n".join(map(json.dumps, lists)))
    elif form == "ranx":
        path.write_text(json.dumps(RESULTS, indent=1))
    elif form == "parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize(
    ("name", "form"),
    [
        *(("r.trec", "trec"), ("r.run", "tabs"), ("r.txt", "trec"), ("r.trec.gz", "gz"), ("r.run", "gz")),
        *(("r.jsonl", "lines"), ("r.ndjson", "queries"), ("r.json", "ranx"), ("r.json", "lines")),
        ("r.parquet", "parquet"),
    ],
)
def test_formats_that_are_read(tmp_path, name, form):
    run = SearchRun.read(write(tmp_path / name, form))
    assert as_lists(run) == WANTED
    assert (len(run), run.depth) == (2, 3)
    assert run.lengths.sum() == 4


def test_mappings_and_objects_with_to_dict():
    class Ranx:
        def to_dict(self):
            return RESULTS

    for results in (RESULTS, Ranx(), SearchRun.of(RESULTS)):
        assert as_lists(SearchRun.of(results)) == WANTED
    assert as_lists(SearchRun.of({"a": ["x", "y"]})) == {"a": [{"x"}, {"y"}]}


def test_the_digest_is_of_the_lists_alone(tmp_path):
    one, other = (SearchRun.read(write(tmp_path / n, f)) for n, f in (("r.json", "ranx"), ("r.run", "trec")))
    assert SearchRun.of(RESULTS).digest == one.digest
    assert as_lists(one) == as_lists(other)
    doubled = {q: {d: 2 * s for d, s in own.items()} for q, own in RESULTS.items()}
    assert SearchRun.of(doubled).digest == one.digest
    assert SearchRun.of({**RESULTS, "a": {"d8": 1.0}}).digest != one.digest


def test_the_digest_has_no_order_of_lines_and_no_format(tmp_path):
    lines = TREC.splitlines(keepends=True)
    runs = [SearchRun.read(write(tmp_path / "r.json", "ranx"))]
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


def test_the_order_of_trec_has_scores_of_its_own():
    run = SearchRun.of({"q": {"a": 1.0000000001, "b": 1.0, "c": 0.5}}).in_trec_order()
    assert as_lists(run) == {"q": [{"b"}, {"a"}, {"c"}]} and run.score.tolist() == [1.0, 1.0, 0.5]
    assert run.digest != SearchRun.of({"q": {"a": 1.1, "b": 1.0, "c": 0.5}}).in_trec_order().digest


def test_runs_of_ranks_have_no_scores(tmp_path):
    path = write(tmp_path / "r.trec", "trec")
    assert SearchRun.read(path).score is not None and SearchRun.read(path, order="rank").score is None
    assert SearchRun.of({"a": ["x", "y"]}).score is None
    mixed = SearchRun.of({"a": ["x", "y"], "b": {"y": 0.5, "x": 2.0, "z": 2.0}})
    assert mixed.score is None
    assert as_lists(mixed) == {"a": [{"x"}, {"y"}], "b": [{"x", "z"}, {"y"}]}
    assert as_lists(mixed.in_trec_order()) == {"a": [{"x"}, {"y"}], "b": [{"z"}, {"x"}, {"y"}]}


def test_ranks_alone_and_ranks_that_are_asked_for(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"qid": 1, "docid": 7, "rank": 2}\n{"qid": 1, "docid": 8, "rank": 1}\n')
    assert as_lists(SearchRun.read(path)) == {"1": [{"8"}, {"7"}]}
    path = write(tmp_path / "r.trec", "trec")
    assert as_lists(SearchRun.read(path, order="rank"))["b"] == [{"d3"}, {"d2"}, {"d1"}]
    with pytest.raises(InputError, match="order=rank, but its lines have no rank"):
        SearchRun.read(write(tmp_path / "r.json", "ranx"), order="rank")


def test_scores_that_contradict_ranks_are_said(tmp_path):
    path = tmp_path / "r.trec"
    path.write_text("q Q0 a 1 0.1 t\nq Q0 b 2 0.9 t\nr Q0 a 1 2 t\nr Q0 b 2 2 t\n")
    with pytest.warns(
        DataWarning, match=r"contradict ranks in 1 of 2 queries .*'q', rank 1 has .* 0\.1"
    ) as said:
        run = SearchRun.read(path)
    assert as_lists(run) == {"q": [{"b"}, {"a"}], "r": [{"a", "b"}]}
    assert len(said) == 1


def test_repeated_candidates_count_once(tmp_path):
    path = tmp_path / "r.trec"
    path.write_text("q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n")
    with pytest.warns(
        DataWarning, match=r"1 lines repeat a candidate of their query \(first: 'a' of query 'q'"
    ):
        assert as_lists(SearchRun.read(path)) == {"q": [{"a"}, {"b"}]}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.trec", "q Q0 a 1 0.5 t\nq Q0 b 2 t\n", "line 2 has 5 fields.*expected 6, query Q0 candidate"),
        ("r.trec", "q Q0 a 1 high t\n", "line 1: the score is 'high': expected a number"),
        ("r.trec", "q Q0 a 1 nan t\n", "the score of line 1 is no number"),
        ("r.trec", "", "holds no lines"),
        ("r.jsonl", '{"qid": 1, "score": 2}\n', "no column names the candidate.*found qid, score"),
        ("r.jsonl", '{"qid": 1, "docid": 2}\n', "neither score nor rank"),
        ("r.jsonl", '{"qid": 1, "docid": 2, "score": "x"}\n', "'x' stands for a score"),
        ("r.jsonl", '{"qid": 1, "docid": null, "score": 1}\n', "line 1 has no candidate"),
        ("r.jsonl", "{broken\n", "line 1 is no JSON"),
        ("r.json", "[1, 2]", "is no run: expected a TREC run"),
        ("r.json", '{"q": 3}', "is no run"),
        ("r.parquet", "PAR", "is no Parquet file"),
    ],
)
def test_broken_files_are_named_with_the_line(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        SearchRun.read(path)
    assert str(path) in str(error.value)


def test_a_list_is_as_long_as_its_lines():
    run = SearchRun.of({"a": {"x": 1.0}, "b": {"x": 1.0, "y": 0.5, "z": 0.1}})
    np.testing.assert_array_equal(run.lengths, [1, 3])
    assert run.depth == 3


@pytest.mark.parametrize(
    ("name", "form"), [("r.trec", "trec"), ("r.trec", "gz"), ("r.jsonl", "lines"), ("r.json", "ranx")]
)
def test_a_byte_order_mark_is_taken(tmp_path, name, form):
    raw = write(tmp_path / name, form).read_bytes()
    mark = "\ufeff".encode()
    marked = gzip.compress(mark + gzip.decompress(raw)) if form == "gz" else mark + raw
    (tmp_path / name).write_bytes(marked)
    assert as_lists(SearchRun.read(tmp_path / name)) == WANTED
