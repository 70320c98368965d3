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
        return xlingual("evaluate", "retrieval", shop, "--qrels", "shop.qrels", *systems, instead=more)

    return command


def test_what_it_shows_and_writes(evaluate: Any) -> None:
    outcome = evaluate(
        "--measure", "nDCG@5", "--measure", "bpref", "--out", "out", "--report", "--trec", "runs"
    )
    assert outcome.code == 0, outcome.err
    assert "1 of 60 queries of the pool have no results: they count as misses" in outcome.err
    assert "engine has no results for 1 of 60 queries" in " ".join(outcome.out.split())
    assert "nDCG@5 by query language" in outcome.out and "Judged@5" in outcome.out
    content = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, schema_of("results"))
    assert [(row["encoder"], row["measure"]) for row in content["results"]] == [
        (name, measure) for name in ("letters", "engine") for measure in ("nDCG@5", "Bpref")
    ]
    assert content["request"]["qrels"] == "shop.qrels"
    assert {path.name for path in Path("runs").iterdir()} == {"qrels.txt", "letters.run", "engine.run"}
    assert "Share of judged candidates" in Path("out/report.html").read_text(encoding="utf-8")


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


@pytest.fixture
def other_run(shop: str, work: Path) -> str:
    """Write a second engine, which is worse in German."""
    lines = []
    for line in (work / "engine.trec").read_text().splitlines():
        query, _, name, rank, score, tag = line.split()
        worse = query.startswith("de:") and int(rank) <= 4
        lines.append(f"{query} Q0 {name} {rank} {float(score) - (8 if worse else 0)} {tag}")
    (work / "other.trec").write_text("\n".join(lines) + "\n")
    return "other.trec"


def test_runs_are_compared_straight_from_their_files(other_run: str, xlingual: Any) -> None:
    given = ("--qrels", "shop.qrels", "engine.trec", f"new={other_run}", "--measure", "nDCG@5", "--out", "c")
    outcome = xlingual("compare", *given, "--by", "language", "--format", "latex")
    assert outcome.code == 0, outcome.err
    assert "toprule" in outcome.out
    found = json.loads(Path("c/comparison.json").read_text(encoding="utf-8"))
    assert [part["label"] for part in found["boards"]] == [None, "de", "en"]
    whole = found["boards"][0]
    assert {row["encoder"] for row in whole["rows"]} == {"engine", "new"} and whole["baseline"] == "engine"
    assert whole["n_queries"] == 60 and whole["n_clusters"] == 30  # equal ids in two languages are dependent
    assert found["request"]["qrels"] == "shop.qrels"


def test_a_table_of_queries_clusters_and_divides_them(other_run: str, xlingual: Any) -> None:
    rows = [f"{tag}:q{i}\t{i % 6}\t{'shoes' if i % 3 else 'hats'}" for tag in WORDS for i in range(N)]
    Path("queries.tsv").write_text("query\tcluster\tkind\n" + "\n".join(rows) + "\n")
    given = ("--qrels", "shop.qrels", "engine.trec", other_run, "--query-table", "queries.tsv", "--out", "c")
    outcome = xlingual("compare", *given, "--by", "kind", "--baseline", "other", "--measure", "nDCG@5")
    assert outcome.code == 0, outcome.err
    boards = json.loads(Path("c/comparison.json").read_text(encoding="utf-8"))["boards"]
    assert [part["label"] for part in boards] == [None, "hats", "shoes"]
    assert boards[0]["n_clusters"] == 6 and boards[0]["baseline"] == "other"


def test_a_new_engine_is_gated_in_every_language(other_run: str, xlingual: Any) -> None:
    given = ("gate", "--qrels", "shop.qrels", "--margin", "0.05", "--by", "language", "--measure", "nDCG@5")
    assert xlingual(*given, other_run, "engine.trec").code == 1
    outcome = xlingual(*given, "new=engine.trec", other_run)
    assert outcome.code in (0, 3), outcome.err


def test_the_gate_passes_a_run_and_its_copy(other_run: str, xlingual: Any) -> None:
    Path("copy.trec").write_bytes(Path("engine.trec").read_bytes())
    outcome = xlingual(
        *("gate", "--qrels", "shop.qrels", "copy.trec", "engine.trec"),
        *("--margin", "0.001", "--measure", "nDCG@5"),
    )
    assert outcome.code == 0, outcome.err
    assert "PASS: nothing changed:" in " ".join(outcome.out.split())
    assert "query language" in outcome.out and "all queries" in outcome.out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["engine.trec", "engine.trec"], "two encoders are named 'engine'"),
        (["engine.trec", "no.trec"], "error: no.trec: there is no such file"),
        (["engine.trec", "other.trec", "--measure", "R@1%"], "ask for R@k"),
        (["engine.trec", "other.trec", "--measure", "AP"], "is not known"),
        (["engine.trec", "other.trec", "--query-table", "shop.qrels"], "no 'query'"),
        (["engine.trec", "other.trec", "--baseline", "third"], "no encoder 'third'"),
    ],
)
def test_runs_that_cannot_be_compared_are_one_line(
    other_run: str, xlingual: Any, more: list[str], message: str
) -> None:
    if "--measure" not in more:
        more = [*more, "--measure", "nDCG@5"]
    outcome = xlingual("compare", "--qrels", "shop.qrels", *more)
    assert outcome.code == 2 and message in outcome.err.replace("system", "encoder")
    assert "Traceback" not in outcome.err


def test_options_of_runs_need_judgements(xlingual: Any, work: Path) -> None:
    outcome = xlingual("compare", "out", "--ties", "trec")
    assert outcome.code == 2 and "--ties is for runs with judgements: add --qrels FILE" in outcome.err


def test_runs_without_judgements_are_runs(other_run: str, xlingual: Any) -> None:
    for given in (("engine.trec", other_run), (f"new={other_run}", "engine.trec")):
        outcome = xlingual("compare", *given)
        assert outcome.code == 2
        assert "is a run, not a folder of results: add --qrels FILE" in outcome.err


@pytest.mark.parametrize("content", ['{"q1": {"d1": 1.0}}', '{"responses": []}'])
def test_json_runs_without_judgements_are_runs(content: str, xlingual: Any, work: Path) -> None:
    (work / "ranx.json").write_text(content)
    for given in (("compare", "ranx.json"), ("gate", "a=ranx.json", "ranx.json", "--margin", "0.1")):
        outcome = xlingual(*given)
        assert outcome.code == 2
        assert "ranx.json is a run, not a folder of results: add --qrels FILE" in outcome.err


def test_ids_alone_have_no_language(other_run: str, xlingual: Any) -> None:
    for name in ("shop.qrels", "engine.trec", other_run):
        bare = Path(name).read_text().splitlines()
        Path(f"bare.{name}").write_text("\n".join(line[3:] for line in bare if line.startswith("de:")) + "\n")
    given = ("--qrels", "bare.shop.qrels", "bare.engine.trec", f"bare.{other_run}", "--measure", "nDCG@5")
    outcome = xlingual("compare", *given, "--by", "language")
    assert outcome.code == 2 and "--query-table), or name queries language:id" in outcome.err
    queries = {line.split()[0] for line in Path("bare.shop.qrels").read_text().splitlines()}
    for column in ("qid", "query_id"):
        Path("q.tsv").write_text(f"{column}\tlanguage\n" + "".join(f"{q}\tde\n" for q in sorted(queries)))
        outcome = xlingual("compare", *given, "--by", "language", "--query-table", "q.tsv")
        assert outcome.code == 0, outcome.err
