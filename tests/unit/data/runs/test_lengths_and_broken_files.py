"""Which lists of a run have ended, and files of which something is broken."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from xlingual import runs_against_qrels
from xlingual.data.runs import SearchRun
from xlingual.data.runs.lines import RunLines
from xlingual.errors import DataWarning, InputError


def of_rows(rows):
    query, candidate, score = zip(*rows, strict=True)
    return SearchRun.of_lines(
        "run", RunLines(pa.array(query), pa.array(candidate), pa.array(score).to_numpy())
    )


def test_a_list_whose_passages_are_of_few_documents_has_not_ended():
    passages = {"a": ["d1", "d1", "d2", "d3"], "b": ["d1", "d2", "d3", "d4"], "c": ["d1"]}
    rows = [(q, d, 9.0 - i) for q, own in passages.items() for i, d in enumerate(own)]
    with pytest.warns(DataWarning, match="repeat a candidate"):
        run = of_rows(rows)
    assert run.lengths.tolist() == [3, 4, 1]
    assert run.ended.tolist() == [False, False, True]
    with pytest.raises(InputError, match="1 of 3 lists end before rank 4"):
        runs_against_qrels({q: {"d4": 1} for q in "abc"}, {"x": run}, measures=["R@4"])


def test_whether_a_list_has_ended_is_part_of_the_digest():
    rows = [("a", "d1", 3.0), ("a", "d2", 2.0), ("b", "d1", 3.0), ("b", "d2", 2.0), ("b", "d3", 1.0)]
    with pytest.warns(DataWarning, match="repeat a candidate"):
        repeated = of_rows([*rows, ("a", "d1", 1.0)])
    assert not repeated.ended.any()
    assert of_rows(rows).ended.tolist() == [True, False]
    assert repeated.digest != of_rows(rows).digest


def test_lists_of_one_length_beside_longer_ones_are_odd():
    cut = {f"q{i}": {f"d{j}": -j for j in range(10)} for i in range(3)}
    longer = {"q9": {f"d{j}": -j for j in range(12)}}
    every = np.ones(4, dtype=bool)
    said = SearchRun.of(cut | longer).uneven(every)
    assert said and said.startswith("3 of 4 lists have 10 results, the longest has 12")
    assert SearchRun.of(cut | longer).uneven(np.array([True, True, True, False])) is None
    growing = {f"q{i}": {f"d{j}": -j for j in range(8 + i)} for i in range(3)}
    assert SearchRun.of(longer | growing).uneven(every) is None


@pytest.mark.parametrize("text", [" q1 Q0 d1 1 2 t\n q1 Q0 d2 2 1 t", "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t "])
def test_spaces_at_the_ends_of_lines_do_not_matter(tmp_path, text):
    (tmp_path / "a.trec").write_text(text)
    assert list(SearchRun.read(tmp_path / "a.trec").candidates) == ["d1", "d2"]


ROW = {"query_id": "q", "candidate_id": "d", "score": 1}


@pytest.mark.parametrize(
    ("name", "found", "match"),
    [
        ("a.json", {"q": {"d": [1]}}, "expected a number"),
        ("a.json", {"q": {"d": 10**400}}, "expected a number"),
        ("a.json", {"hits": {"hits": []}}, "expected a number"),
        ("a.jsonl", ROW | {"score": [1]}, "expected a number"),
        ("a.jsonl", ROW | {"candidate_id": "\ud800"}, "not valid Unicode"),
        ("a.parquet", ROW | {"candidate_id": ["d"]}, "column of ids holds list"),
        ("a.parquet", ROW | {"candidate_id": b"\xff"}, "column of ids holds binary"),
    ],
)
def test_what_is_no_result_is_refused(tmp_path, name, found, match):
    path = tmp_path / name
    if name.endswith(".parquet"):
        parquet.write_table(pa.Table.from_pylist([found]), path)
    else:
        path.write_text(json.dumps(found))
    with pytest.raises(InputError, match=match):
        SearchRun.read(path)
