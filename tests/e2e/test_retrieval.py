"""`xlingual evaluate retrieval`: texts, judgements from a file, an encoder and the run of an engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from xlingual.results.schemas import schema_of

WORDS = {"en": ("red shoe", "blue hat", "green coat"), "de": ("roter Schuh", "blauer Hut", "grüner Mantel")}
N = 30


@pytest.fixture
def shop(work: Path) -> str:
    """Write a shop in two languages, judgements of its documents, and what an engine returned."""
    judged, run = [], []
    for tag, words in WORDS.items():
        folder = work / "shop" / tag
        folder.mkdir(parents=True)
        texts = [f"{words[i % 3]} {i // 3}" for i in range(N)]
        for name, kind in (("corpus", "d"), ("queries", "q")):
            rows = [{"_id": f"{kind}{i}", "text": text} for i, text in enumerate(texts)]
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
        for i in range(N):
            others = [other for other in WORDS if other != tag]
            judged += [f"{tag}:q{i} 0 {tag}:d{i} 2", f"{tag}:q{i} 0 {tag}:d{(i + 3) % N} 0"]
            judged += [f"{tag}:q{i} 0 {other}:d{i} 1" for other in others]
            if (tag, i) != ("de", 4):
                found = [f"{own}:d{(i + step) % N}" for step in range(4) for own in WORDS]
                run += [f"{tag}:q{i} Q0 {name} {n + 1} {9 - n} shop" for n, name in enumerate(found)]
    (work / "shop.qrels").write_text("\n".join(judged) + "\n")
    (work / "engine.trec").write_text("\n".join(run) + "\n")
    return "shop"


@pytest.fixture
def evaluate(shop: str, xlingual: Any) -> Any:
    def command(*more: object) -> Any:
        systems = ("--text-encoder", "letters=chargram", "--text-encoder", "engine=run:engine.trec")
        return xlingual("evaluate", "retrieval", shop, "--qrels", "shop.qrels", *systems, *more)

    return command


def test_what_it_shows_and_writes(evaluate: Any) -> None:
    outcome = evaluate(
        "--measure", "nDCG@5", "--measure", "bpref", "--out", "out", "--report", "--trec", "runs"
    )
    assert outcome.code == 0, outcome.err
    assert "1 of 60 queries of the pool have no results: they count as misses" in outcome.err
    assert "engine returned nothing for 1 of 60 queries" in " ".join(outcome.out.split())
    assert "nDCG@5 by query language" in outcome.out and "Judged@5" in outcome.out
    content = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, schema_of("results"))
    assert [(row["encoder"], row["measure"]) for row in content["results"]] == [
        (name, measure) for name in ("letters", "engine") for measure in ("nDCG@5", "Bpref")
    ]
    assert content["request"]["qrels"] == "shop.qrels"
    assert {path.name for path in Path("runs").iterdir()} == {"qrels.txt", "letters.run", "engine.run"}
    assert "What was judged" in Path("out/report.html").read_text(encoding="utf-8")


def test_two_of_its_results_are_compared_and_gated_by_language(evaluate: Any, xlingual: Any) -> None:
    evaluate("--measure", "nDCG@5", "--out", "out")
    compared = xlingual("compare", "out", "--by", "language")
    assert compared.code == 0 and "language = de" in compared.out, compared.err
    gated = xlingual("gate", "out#engine", "out#letters", "--margin", "0.5", "--by", "language")
    assert gated.code in (0, 1, 2) and "de" in gated.out, gated.err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--measure", "AP"], "so AP is not known"),
        (["--measure", "nDCG@50"], "ask for a measure up to rank 8"),
        (["--relevant-from", "5"], "a lower --relevant-from"),
        (["--qrels", "no.qrels"], "no.qrels"),
        (["--ties", "random"], "trec"),
    ],
)
def test_what_cannot_be_is_one_line(evaluate: Any, more: list[str], message: str) -> None:
    outcome = evaluate(*more)
    assert outcome.code != 0 and message in outcome.err
    assert "Traceback" not in outcome.err
