"""Damaged files of results: one line that names file and field, whatever was done to them."""

import hashlib
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual.errors import InputError
from xlingual.results import Entry, Interval
from xlingual.results.document import plain
from xlingual.results.gate import Gate
from xlingual.results.tables import read_tables
from xlingual.results.views import (
    Against,
    AgreementAgainst,
    HubCounts,
    ImageSentenceViews,
    PoolIntervals,
    PoolViews,
    StsViews,
    tagged,
    untagged,
)
from xlingual.typed import convert

QUERY = {
    **dict.fromkeys(("task", "encoder", "source", "target", "measure", "query", "retrieved", "item"), "x"),
    **dict.fromkeys(("seed", "cluster", "retrieved_cluster", "above", "tied"), 1),
    "value": 0.5,
    "by.kind": "chair",
}


def gate(**changes):
    content = {
        "schema": "xlingual/gate/1", "outcome": "pass", "task": "t", "measure": "R@10", "candidate": "a",
        "baseline": "b", "margin": 0.1, "alpha": 0.05, "power": 0.8, "per_pair": False, "pairs": ["en-de"],
        "n_seeds": 1, "decisions": [], "conditions": {}, "warnings": [], "seed": 0, "replicates": 9,
    }  # fmt: skip
    return content | changes


def problem_of(content, kind):
    """Return what is wrong with the content of a file, None where nothing is."""
    try:
        convert(content, kind, where="file", remedy="mend it")
    except InputError as error:
        return str(error).removeprefix("file: ").removesuffix(": mend it")
    return None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, None),
        ({"added by a later version": [1]}, None),
        ({"margin": "0.1"}, 'margin must be a number of at least 0, found "0.1"'),
        ({"margin": True}, "margin must be a number of at least 0, found true"),
        ({"margin": 10**400}, "margin must be a number of at least 0, found a number that is too large"),
        ({"margin": -1e300}, "margin must be a number of at least 0, found a number that is too large"),
        ({"margin": float("inf")}, "margin must be a number of at least 0, found Infinity"),
        ({"n_seeds": 1.5}, "n_seeds must be a whole number of at least 1, found 1.5"),
        ({"seed": 2**70}, "seed must be a whole number of at least 0, found a number that is too large"),
        ({"outcome": "perhaps"}, 'outcome must be "pass" or "fail" or "cannot tell", found "perhaps"'),
        ({"pairs": ["en-de", None]}, "pairs[1] must be text, found null"),
        ({"pairs": {}}, "pairs must be a list, found an object of 0"),
        ({"decisions": [{}]}, "the field 'decisions[0].source' is missing"),
        ({"alpha": 2}, "alpha must be a number above 0 and below 1, found 2"),
    ],
)
def test_the_field_is_named_with_what_it_must_be(changes, problem):
    assert problem_of(gate(**changes), Gate) == problem


def test_what_is_wrong_deep_within_is_named():
    ci = {"low": 0.1, "high": "x", "level": 0.95, "method": "m"}
    entry = dict.fromkeys(("task", "source", "target", "encoder", "measure", "signature"), "x")
    entry |= dict.fromkeys(("image_encoder", "value", "chance", "oracle", "ceiling", "normalized", "n_tied"))
    entry |= {"ci": ci, "n_source": 1, "n_target": 1, "seed": 0}
    assert problem_of(entry, Entry) == 'ci.high must be a number, found "x"'
    entry |= {"ci": None, "task": "multilingual-pool", "views": {"one_target": {"en->de": "much"}}}
    assert problem_of(tagged(entry), Entry) == (
        'views.one_target.en->de must be a number or null, found "much"'
    )
    entry |= {"views": 3}
    assert problem_of(tagged(entry), Entry) == "views must be an object or null, found 3"


@pytest.mark.parametrize(
    "views",
    [
        PoolViews(
            languages=["en"],
            remove_one={"same": 0.5, "n_questions": 3},
            hubs=HubCounts(k=10, n=2),
            ci=PoolIntervals(macro=Interval(0.1, 0.2, 0.95, "m"), subsets={}),
        ),
        ImageSentenceViews(folds=[0.5, None]),
        ImageSentenceViews(Against("base", 0.1, None)),
        StsViews(AgreementAgainst("base", 0.1, None, 0.04, "Williams", None, 0.08)),
    ],
)
def test_views_are_written_without_their_task_and_read_by_that_of_their_row(views):
    task = views.__struct_config__.tag
    numbers = dict.fromkeys(("image_encoder", "value", "ci", "chance", "oracle", "ceiling", "normalized"))
    names = dict.fromkeys(("source", "target", "encoder", "measure", "signature"), "x")
    entry = Entry(task=task, n_source=1, n_target=1, n_tied=None, seed=0, views=views, **names, **numbers)
    content = untagged(plain(entry))
    assert "task" not in content["views"]
    again = convert(tagged(json.loads(json.dumps(content))), Entry, where="row")
    assert again == entry and json.dumps(untagged(plain(again))) == json.dumps(content)


def test_views_of_an_unknown_task_are_left_out():
    row = {"task": "of a later version", "views": {"one_target": 3}}
    assert tagged(row) == {"task": "of a later version", "views": None}
    assert tagged([]) == [] and tagged({"task": [], "views": {}}) == {"task": [], "views": None}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "nested too deep"),
        ('{"schema": NaN}', "NaN is no number"),
        ('{"schema": ' + "1" * 5000 + "}", "not valid JSON"),
        ("", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        ('{"schema": "xlingual/gate/1", "margin": 1e999}', "margin must be .*, found Infinity"),
    ],
)
def test_what_is_no_json_is_one_line(tmp_path, text, said):
    path = tmp_path / "gate.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=said) as raised:
        Gate.read(path)
    assert str(raised.value).startswith(str(path)) and "\n" not in str(raised.value)


def test_a_pipe_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "gate.json")
    with pytest.raises(InputError, match="is a named pipe"):
        Gate.read(tmp_path / "gate.json")


def read_again(folder, **columns):
    """Write queries of two rows, with some columns replaced (None leaves one out), and read them."""
    table = {name: pa.array([value] * 2) for name, value in QUERY.items()} | columns
    kept = {name: column for name, column in table.items() if column is not None}
    path = Path(folder) / "per_query.parquet"
    pq.write_table(pa.table(kept), path)
    return read_tables(path.parent, {path.name: hashlib.sha256(path.read_bytes()).hexdigest()})


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"value": None}, "has no column 'value'"),
        ({"value": pa.array(["a", "b"])}, "'value' must hold numbers, found string"),
        ({"value": pa.array([0.5, None])}, "'value' must hold numbers, found 1 rows without a value"),
        ({"value": pa.array([0.5, float("nan")])}, "'value' must hold numbers, found one that is not finite"),
        ({"seed": pa.array([0.5, 1.5])}, "'seed' must hold whole numbers, found double"),
        ({"cluster": pa.array([2**63] * 2, pa.uint64())}, "'cluster' .* found one that is too large"),
        ({"encoder": pa.array([1, 2])}, "'encoder' must hold text, found int64"),
        ({"query": pa.array([["x"]] * 2)}, "'query' must hold text, found list"),
        ({"by.kind": pa.array([[1]] * 2)}, "'by.kind' must hold text, found list"),
    ],
)
def test_a_column_that_is_not_what_it_must_be_is_named(tmp_path, columns, said):
    with pytest.raises(InputError, match=rf"per_query\.parquet.*{said}"):
        read_again(tmp_path, **columns)


def test_columns_are_given_as_the_program_writes_them(tmp_path):
    columns = {
        "seed": pa.array([1, 2], pa.uint8()),
        "value": pa.array([1, 0], pa.int32()),
        "retrieved": pa.nulls(2),
        "above": pa.array([None, 3], pa.int16()),
        "encoder": pa.array(["a", "b"]).dictionary_encode(),
        "more": pa.array([[1], [2]]),
    }
    table = read_again(tmp_path, **columns)["per_query"]
    assert table.schema.field("seed").type == table.schema.field("above").type == pa.int64()
    assert table.schema.field("value").type == pa.float64()
    assert table["retrieved"].to_pylist() == [None, None] and table["retrieved"].type == pa.string()
    assert table["encoder"].to_pylist() == ["a", "b"] and "more" in table.schema.names


def test_a_table_with_bad_bytes_in_a_text_is_damaged(tmp_path):
    offsets = pa.array(["ab", "cd"]).buffers()[:2]
    bad = pa.Array.from_buffers(pa.string(), 2, [*offsets, pa.py_buffer(b"\xff\xfe\xff\xfe")])
    with pytest.raises(InputError, match="is damaged"):
        read_again(tmp_path, query=bad)


def test_references_within_a_file_are_checked(tmp_path):
    from xlingual.results.comparison import Board, Compared, Comparison

    row = Compared("a", 0.5, None, None, None, None, None, "baseline", None, None)
    numbers = {"n_queries": 1, "n_clusters": 1, "n_pairs": 1, "n_seeds": 1, "chance": None, "replicates": 9}
    board = Board("t", "R@1", None, None, None, None, "b", rows=[row], n_tests=1, n_rank_tests=0, **numbers)
    Comparison(["f"], True, "holm", 0.05, None, 0, {}, [board]).write(tmp_path)
    with pytest.raises(InputError, match="'b' is not among the encoders of its board"):
        Comparison.read(tmp_path)
    json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))


def test_a_comparison_by_sim_has_a_chance_below_zero(tmp_path):
    from xlingual.results.comparison import Board, Compared, Comparison

    row = Compared("a", 0.5, None, None, None, None, None, "baseline", None, None)
    numbers = {"n_queries": 1, "n_clusters": 1, "n_pairs": 1, "n_seeds": 1, "chance": -0.002, "replicates": 9}
    board = Board("t", "SIM", None, None, None, None, "a", rows=[row], n_tests=1, n_rank_tests=0, **numbers)
    Comparison(["f"], True, "holm", 0.05, None, 0, {}, [board]).write(tmp_path)
    assert Comparison.read(tmp_path).boards[0].chance == -0.002


def test_a_file_reaches_the_disk_before_it_takes_its_place(tmp_path, monkeypatch):
    from xlingual import files

    done = []
    replace, sync = os.replace, files.sync
    monkeypatch.setattr(files, "sync", lambda path: (done.append("sync"), sync(path)))
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("replace"), replace(*paths)))
    for durable in (True, False):
        with files.atomic_file(tmp_path / "file", durable=durable) as temporary:
            temporary.write_text("x")
    assert done == ["sync", "replace", "replace"]
