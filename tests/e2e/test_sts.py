"""`xlingual evaluate sts`: what it writes and shows, and bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

refused = run_path(str(Path(__file__).parent / "refusals.py"))["refused"]
ENCODER = """
import numpy as np
class Words:
    content, identity = ("text",), "words"
    def encode(self, batch):
        return np.array([[1.0, *(text.count(c) for c in "abc")] for text in batch.text], np.float32)
"""
ROWS = [
    {"score": i % 6 + i / 7, "sentence1": f"a{'b' * (i % 5)} {i}", "sentence2": f"a{'bc' * (i % 6)} {i}"}
    for i in range(60)
]


@pytest.fixture
def pairs(work: Path) -> str:
    Path("pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    Path("words.py").write_text(ENCODER)
    return "pairs.jsonl"


WORDS = ("--text-encoder", "words=python:words.py:Words")
BOTH = (*WORDS, "--text-encoder", "chargram")


def test_what_is_written_and_shown(xlingual: Any, pairs: str) -> None:
    done = xlingual("evaluate", "sts", pairs, "--lang", "en", *BOTH, "--out", "out", "--report")
    assert done.code == 0 and done.warnings == []
    assert "sts · Pearson · en" in done.out and "sts · Spearman · en" in done.out
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "pairs.parquet", "per_query.parquet", "report.html", "results.json"
    ]  # fmt: skip
    again = xlingual("report", "out", "--out", "again.html")
    assert again.code == 0
    assert Path("again.html").read_bytes() == Path("out/report.html").read_bytes()
    other = xlingual("evaluate", "sts", pairs, "--lang", "en", *BOTH, "--json", "--threads", "1")
    content, written = json.loads(other.out), json.loads(Path("out/results.json").read_text())
    of_a_run = ("files", "timings", "costs", "run")
    assert {**content, **dict.fromkeys(of_a_run)} == {**written, **dict.fromkeys(of_a_run)}
    assert xlingual("evaluate", "sts", pairs, "--lang", "en", *BOTH, "--quiet").out == ""


def test_compare_says_who_compares_correlations(xlingual: Any, pairs: str) -> None:
    assert xlingual("evaluate", "sts", pairs, "--lang", "en", *BOTH, "--out", "r").code == 0
    refused(
        xlingual("compare", "r#words", "r#chargram"), "Pearson has no value for each query", "--baseline NAME"
    )
    refused(
        xlingual("gate", "r#words", "r#chargram", "--margin", "0.01"), "Pearson has no value for each query"
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("pairs.jsonl",), ("Missing option '--lang'", "Language of all sentences")),
        (("--lang", "en"), ("Missing argument", "FILE")),
        (("nothing.jsonl", "--lang", "en"), ("nothing.jsonl: no such file",)),
        (
            ("pairs.jsonl", "--lang", "en", "--columns", "score=gold"),
            ("no column 'gold'", "score, sentence1"),
        ),
        (
            ("pairs.jsonl", "--lang", "en", "--baseline", "word"),
            ("--baseline word is", "Did you mean 'words'?"),
        ),
        (("pairs.jsonl", "--lang", "en", "--report"), ("--out DIR",)),
        (
            ("pairs.jsonl", "pairs.jsonl", "--lang", "en"),
            ("pairs.jsonl and pairs.jsonl are both called", "each file once"),
        ),
        (("s", "--lang", "en"), ("s: a folder; give a file of sentence pairs",)),
    ],
)
def test_bad_options_are_refused(
    xlingual: Any, pairs: str, more: tuple[str, ...], words: tuple[str, ...]
) -> None:
    refused(xlingual("evaluate", "sts", *more, *WORDS), *words)


def test_results_of_another_task_are_kept(xlingual: Any, pairs: str, bkr: Any) -> None:
    assert bkr().code == 0
    before = Path("out/results.json").read_bytes()
    done = xlingual("evaluate", "sts", pairs, "--lang", "en", *WORDS, "--out", "out")
    assert (done.code, "holds results of backretrieval" in done.err) == (2, True)
    assert Path("out/results.json").read_bytes() == before
