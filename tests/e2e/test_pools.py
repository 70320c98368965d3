"""`xlingual data describe` and `squad-to-pool`: what they print and write, and how they refuse bad input."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py"))))
refused = shared.refused
squads = SimpleNamespace(**run_path(str(Path(__file__).with_name("squads.py"))))
write_squad, changed = squads.write_squad, squads.changed


@pytest.mark.parametrize("breaks", [True, False])
@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_squad_becomes_a_pool(xlingual: Any, breaks: bool, form: str) -> None:
    write_squad(breaks=breaks)
    made = xlingual("data", "squad-to-pool", "squad", "--out", "out", "--format", form, "--train", ".5")
    assert (made.code, made.warnings) == (0, []), made.err
    assert "wrote out" in made.err and ("made here:" in made.out) is not breaks
    assert sorted(path.name for path in Path("out").iterdir()) == [f"candidates.{form}", f"questions.{form}"]
    found = xlingual("data", "describe", "out", "--json")
    content = json.loads(found.out)
    assert content["total"]["n_questions"] == 24 and content["total"]["n_candidates"] == 24
    assert [row["language"] for row in content["languages"]] == ["de", "en"]
    assert {(row["relevant_least"], row["relevant_most"]) for row in content["languages"]} == {(2, 2)}
    assert content["splits"] == {part: {"questions": 12, "candidates": 12} for part in ("train", "test")}
    assert (content["n_clusters"], content["n_articles"]) == (6, 1)


def test_a_pool_that_is_there_is_replaced_by_force_only(xlingual: Any) -> None:
    write_squad()
    make = ("data", "squad-to-pool", "squad", "--out", "p")
    assert xlingual(*make, "--file-format", "jsonl").err == "wrote p\n"
    before = Path("p/questions.jsonl").read_bytes()
    refused(xlingual(*make), "p holds questions.jsonl, candidates.jsonl", "would be lost", "--force")
    assert Path("p/questions.jsonl").read_bytes() == before
    forced = xlingual(*make, "--force")
    assert (forced.code, forced.err) == (0, "wrote p, replacing questions.jsonl, candidates.jsonl\n")
    assert sorted(path.name for path in Path("p").iterdir()) == ["candidates.parquet", "questions.parquet"]


def test_equal_seeds_write_equal_bytes(xlingual: Any) -> None:
    write_squad()
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        options = ("--train", "0.5", "--seed", seed, "--quiet", "--format", "jsonl")
        assert xlingual("data", "squad-to-pool", "squad", "--out", name, *options).out == ""
    first, second, third = (Path(name, "questions.jsonl").read_bytes() for name in "abc")
    assert first == second != third


def test_describe_prints_a_table(xlingual: Any) -> None:
    write_squad()
    found = xlingual("data", "describe", "squad", "--languages", "en")
    assert (found.code, found.err) == (0, "")
    assert "6 clusters and 1 article with questions" in found.out
    cells = next(line.split() for line in found.out.splitlines() if line.split()[:1] == ["en"])
    assert cells == ["en", "12", "12", "1.00", "100.0%", "12", "5", "1–1"]


def test_describe_counts_in_the_singular(xlingual: Any) -> None:
    pool = Path("p")
    pool.mkdir()
    rows = {"questions": {"key": "x", "cluster": "c"}, "candidates": {"context": "", "keys": ["x"]}}
    for name, more in rows.items():
        lines = [
            json.dumps({"id": "1", "lang": lang, "text": f"{name} {lang}"} | more) for lang in ("de", "en")
        ]
        (pool / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = xlingual("data", "describe", "p")
    assert " 1 cluster with questions" in found.out, found
    assert " 0 candidates answer nothing" in found.out and "paragraphs" not in found.out


def test_describe_warns_on_standard_error(xlingual: Any) -> None:
    write_squad()
    changed("en", lambda p: p["sentences"].__setitem__(0, "Other."))
    found = xlingual("data", "describe", "squad")
    assert found.code == 0 and len(found.warnings) == 1
    assert "sentences that differ from their slice" in found.warnings[0] and ": 1 [en 1]" in found.warnings[0]


@pytest.mark.parametrize("verb", ["describe", "squad-to-pool"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p["sentence_breaks"][1].__setitem__(0, 1), ["sentence break 2", "overlaps"]),
        (lambda p: p["sentence_breaks"].reverse(), ["sentence break 2", "sort the breaks"]),
        (lambda p: p["sentence_breaks"][1].__setitem__(1, 999), ["sentence break 2", "leaves the context"]),
        (lambda p: p["sentences"].pop(), ["1 sentences but 2 sentence breaks"]),
        (lambda p: p["qas"][0]["answers"][0].update(answer_start=-5), ["'2first'", "no sentence holds"]),
        (lambda p: p["qas"][0].update(answers=[]), ["'2first'", "no answers"]),
        (lambda p: p["qas"][0].update(id="1second"), ["'1second'", "used before in this language"]),
    ],
)
def test_a_broken_paragraph_is_named(xlingual: Any, verb: str, change: Any, words: list[str]) -> None:
    write_squad()
    path = changed("de", change)
    out = ("--out", "out") if verb == "squad-to-pool" else ()
    refused(xlingual("data", verb, "squad", *out), f"{path}, article 1 'Towns', paragraph 3", *words)


def test_files_that_are_no_pool(xlingual: Any) -> None:
    write_squad()
    refused(xlingual("data", "describe", "squat"), "squat", "Did you mean 'squad'?")
    refused(xlingual("data", "describe", "v"), "v holds no pool", "questions.parquet")
    refused(xlingual("data", "describe", "squad", "--languages", "en,dee"), "'dee'", "Did you mean 'de'?")
    refused(xlingual("data", "describe", "squad", "--languages", ","), "no language is named")
    refused(xlingual("data", "describe", "squad", "--split", "test"), "no column 'split'")
    Path("squad/en.json").write_text("{", encoding="utf-8")
    refused(xlingual("data", "describe", "squad"), "squad/en.json is not JSON", "SQuAD-style")
    Path("squad/en.json").write_bytes(b"\xff")
    refused(xlingual("data", "describe", "squad"), "squad/en.json is not JSON")


def test_a_question_without_an_answer_in_the_pool(xlingual: Any) -> None:
    write_squad()
    xlingual("data", "squad-to-pool", "squad", "--out", "p", "--format", "jsonl")
    path = Path("p/questions.jsonl")
    path.write_text(path.read_text(encoding="utf-8").replace('"key": "3first"', '"key": "x"', 1), "utf-8")
    refused(
        xlingual("data", "describe", "p"),
        "p/questions.jsonl, row 7, column 'key': question '3first' (de)",
        "no relevant candidate",
        "'x'",
    )


def test_squad_to_pool_refuses_bad_options(xlingual: Any) -> None:
    write_squad()
    make = ("data", "squad-to-pool", "squad", "--out")
    for share in ("0", "1", "1.5"):
        refused(xlingual(*make, "out", "--train", share), "--train", "share between 0 and 1")
    refused(xlingual(*make, "out", "--train", "nan"), "--train must be a number, found nan")
    refused(xlingual(*make, "out", "--train", "0.01"), "0.01 of 6 paragraphs", "no question in 'train'")
    refused(xlingual(*make, "img.npy/x"), "is a file")
    refused(xlingual("data", "squad-to-pool", "nothing.json", "--out", "out"), "nothing.json: no such file")
    Path("squad/de.json").rename("squad/dev-v2.0.json")
    refused(xlingual(*make, "out"), "holds none", "write LANG=squad/dev-v2.0.json")
    options = ("data", "squad-to-pool", "de=squad/dev-v2.0.json", "squad/en.json", "--out", "good")
    assert xlingual(*options).code == 0


def test_without_the_extra_the_pip_line_is_named(xlingual: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencex", None)
    write_squad(breaks=False)
    refused(xlingual("data", "squad-to-pool", "squad", "--out", "out"), "pip install 'xlingual[segment]'")


def test_help_loads_nothing_heavy(process: Any) -> None:
    for verb in ("describe", "squad-to-pool"):
        done = process("data", verb, "--help")
        assert (done.code, done.err) == (0, "") and f"Usage: xlingual data {verb}" in done.out
