"""Runs are given beside encoders, by files or in memory, with names of their own or those of their files."""

from pathlib import Path

import pytest

from xlingual import InputError, SearchRun
from xlingual.encoders import text_specs
from xlingual.evaluation.run_systems import joined
from xlingual.files import bare_name

LISTS = {"en:1": {"de:1": 2.0, "de:2": 1.0}}


def names(text_encoders, runs):
    return text_specs(joined(text_encoders, runs), languages=["en", "de"])


def test_without_runs_encoders_stay_what_they_are():
    given = {"random": "random:?dim=8"}
    assert joined(given, ()) is given


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ("engine=a/bm25.trec", {"engine": "run:a/bm25.trec"}),
        ("a/bm25.{source}-{target}.trec.gz", {"bm25": "run:a/bm25.{source}-{target}.trec.gz"}),
        (Path("a/dense.parquet"), {"dense": "run:a/dense.parquet"}),
        (
            ["a/bm25.run", "x=run:b.jsonl?order=rank"],
            {"bm25": "run:a/bm25.run", "x": "run:b.jsonl?order=rank"},
        ),
        ({"x": "b.json?order=rank"}, {"x": "run:b.json?order=rank"}),
        ("folder/a=b/run.trec", {"run": "run:folder/a=b/run.trec"}),
    ],
)
@pytest.mark.parametrize("encoders", [(), {"other": "random:?dim=8"}, "other=random:?dim=8"])
def test_files_are_named_by_their_users_or_by_themselves(runs, expected, encoders):
    before = {} if encoders == () else {"other": "random:?dim=8"}
    assert list(names(encoders, runs).items()) == list((before | expected).items())


def test_runs_in_memory(tmp_path):
    (tmp_path / "engine.trec").write_text("en:1 Q0 de:1 1 2 t\n")
    read = SearchRun.read(tmp_path / "engine.trec")
    found = names((), {"mapping": LISTS, "run": read})
    assert found["run"] is read and found["mapping"].digest == SearchRun.of(LISTS).digest
    assert list(names((), read)) == ["engine"] and list(names((), [read, SearchRun.of(LISTS)])) == [
        *("engine", "run")
    ]


@pytest.mark.parametrize(
    ("encoders", "runs", "message"),
    [
        ((), (), "text_encoders=… or runs=… is missing: name one system at least"),
        ({}, {}, "text_encoders=… or runs=… is missing"),
        ("x=random", "x=a.trec", "two systems are named 'x': .* x-2=run:a.trec"),
        ((), ["a/run.trec", "b/run.trec"], "two systems are named 'run': .* run-2=run:b/run.trec"),
        ((), {"x": {"de:1": 1.0}}, "x: the results of query 'de:1' are 1.0"),
        ((), {"x": 3}, "a run is a file, or .* found a int"),
    ],
)
def test_what_is_wrong_is_said(encoders, runs, message):
    with pytest.raises(InputError, match=message):
        names(encoders, runs)


def test_names_of_files():
    assert [bare_name(path) for path in ("{source}.trec", "x.en-de.run", "a/b.json.gz", "x_{seed}.trec")] == [
        *("", "x.en-de", "b", "x")
    ]
