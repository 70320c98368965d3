"""`xlingual inspect --static` and `--table`, and `xlingual nearest`, as a person would use them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest


@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
def test_failures_as_a_page_and_as_a_table(work: Path, xlingual: Any) -> None:
    evaluated = xlingual("evaluate", "xlr", "s", "--text-encoder", "v/bad.{lang}.npy", "--out", "out")
    assert evaluated.code == 0, evaluated.err
    files = ("--static", "f.html", "--table", "t.parquet", "--text-encoder", "bad=v/bad.{lang}.npy")
    looked = xlingual("inspect", "out", *files, "--quiet")
    assert (looked.code, looked.out, looked.err) == (0, "", "")
    rows = pq.read_table("t.parquet").to_pylist()
    failed = json.loads(xlingual("inspect", "out", "--json").out)["encoders"][0]["n_failed"]
    assert failed == sum(row["kind"] != "answered" for row in rows) > 0
    assert all(row["x"] is not None for row in rows)
    assert Path("f.html").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("--static", "f.txt"), "f.txt"),
        (("--table", "t.csv"), "t.csv"),
        (("--text-encoder", "bad=v/bad.{lang}.npy"), "--table"),
    ],
)
def test_files_that_cannot_be_written(work: Path, xlingual: Any, words: tuple[str, ...], name: str) -> None:
    outcome = xlingual("inspect", "out", *words)
    assert outcome.code == 2 and name in outcome.err and outcome.err.count("\n") == 1, outcome.err


def test_nearest_in_every_form(work: Path, xlingual: Any) -> None:
    asked = ("nearest", "s", "chargram", "two red cars", "--top", "3", "--no-store")
    near = json.loads(xlingual(*asked, "--json").out)["nearest"]
    assert {tag: len(rows) for tag, rows in near.items()} == dict.fromkeys(near, 3)
    texts = [row["text"] for rows in near.values() for row in rows]
    for form, more in (("table", ()), ("csv", ("--format", "csv"))):
        shown = xlingual(*asked, *more).out
        assert all(text[:20] in shown for text in texts), form
    for wrong in (("chargram", "cars", "--language", "fr"), ("chargram", " "), ("none.{lang}.npy", "cars")):
        refused = xlingual("nearest", "s", *wrong)
        assert refused.code == 2 and refused.err.count("\n") == 1, refused.err
