"""`xlingual data from`: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from xlingual.data.corpora import CORPORA


def test_a_corpus_becomes_a_manifest_that_is_evaluated(xlingual: Any) -> None:
    Path("c/task1/raw").mkdir(parents=True)
    for tag in ("en", "de"):
        Path(f"c/task1/raw/val.{tag}").write_text("".join(f"{n} {tag}\n" for n in range(20)))
    words = ("data", "from", "multi30k", "c", "--out", "m.parquet", "--json")
    made = json.loads(xlingual(*words).out)
    assert made["texts"] == {"en": 20, "de": 20} and made["corpus"]["name"] == "multi30k"
    assert xlingual(*words).code == 2 and xlingual(*words, "--force").code == 0
    assert xlingual("evaluate", "xlr", "m.parquet", "--text-encoder", "chargram").code == 0


def test_the_list_and_what_is_missing(xlingual: Any) -> None:
    listed = json.loads(xlingual("data", "from", "--list", "--json").out)["corpora"]
    assert [one["name"] for one in listed] == list(CORPORA)
    for words in ((), ("stair",), ("stairs", "x", "--out", "m.parquet"), ("stair", "x", "--out", "m.csv")):
        made = xlingual("data", "from", *words)
        assert made.code == 2 and made.err.count("\n") == 1
