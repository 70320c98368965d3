"""Commands that print tables of what they found print them as CSV and Markdown too."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual.records import Encoded
from xlingual.store import Store

TEXTS = "".join(f"das ist ein kleiner satz nummer {n} von vielen\n" for n in range(6))
NBEST = "".join(
    f"{n} ||| das ist {word} satz nummer {n} von vielen ||| good= {value} tm= {-n} ||| {value}\n"
    for n in range(6)
    for word, value in (("ein kleiner", 1.0), ("ein", 0.5), ("der", 0.1))
)
TUNING = ("--references", "ref.txt", "--epochs", "1", "--tunings", "1")


@pytest.fixture
def full(xlingual: Any) -> Any:
    """Return the command line in a folder with a pool, a store and lists."""
    Path("ref.txt").write_text(TEXTS, encoding="utf-8")
    Path("best.txt").write_text(TEXTS.replace("kleiner ", ""), encoding="utf-8")
    Path("lists.nbest").write_text(NBEST, encoding="utf-8")
    Store(Path("kept")).collection("st:some").add([bytes(16)], Encoded(np.ones((1, 8), dtype=np.float32)))
    made = xlingual("data", "mix-pool", "s", "--out", "pool", "--quiet")
    assert made.code == 0, made.err
    return xlingual


@pytest.mark.parametrize(
    ("command", "head", "row"),
    [
        (("data", "check", "s"), "bkr sources", "en-de"),
        (("data", "describe", "pool"), "questions", "all"),
        (("encoders",), "what it is", "chargram:"),
        (("encoders", "lsa"), "default", "dim"),
        (("store", "ls", "--store", "kept"), "vectors", "st:some"),
        (("rerank", "tune", "lists.nbest", *TUNING, "--out", "w.json"), "BLEU", "decoder's choice"),
        (("rerank", "score", "best.txt", "--references", "ref.txt"), "value", "best.txt"),
        (("rerank", "ablate", "lists.nbest", *TUNING, "--folds", "2"), "gain of having them", "without good"),
    ],
)
def test_tables_are_printed_as_csv_and_markdown(
    full: Any, command: tuple[str, ...], head: str, row: str
) -> None:
    if command[0] == "rerank":
        pytest.importorskip("sacrebleu")
    found = full(*command, "--format", "csv")
    assert found.code == 0, found.err
    records = list(csv.DictReader(found.out.splitlines()))
    assert records and head in records[0]
    assert any(row in record.values() and record[head] for record in records)
    lines = full(*command, "--format", "markdown").out.splitlines()
    assert any(line.startswith("|") and f"| {head} |" in line for line in lines)
    assert any(line.startswith(f"| {row} |") for line in lines)
