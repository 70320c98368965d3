"""`xlingual evaluate multilingual-pool` with bad input: exit code 2, one line, and nothing is written."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__)
shared = SimpleNamespace(**run_path(str(HERE.with_name("refusals.py"))))
squads = SimpleNamespace(**run_path(str(HERE.with_name("squads.py"))))
BOTH = "v/pool.{role}.{lang}.npy"
LANGUAGES = ("de", "en", "es")


@pytest.fixture
def evaluate(xlingual: Any) -> Any:
    """Return the command on the pool `pool` of three languages, 20 paragraphs, split; files of vectors."""
    squads.write_squad(n=20, languages=LANGUAGES)
    made = xlingual("data", "squad-to-pool", "squad", "--out", "pool", "--train", ".4", "--quiet")
    assert made.code == 0, made.err
    rng = np.random.default_rng(0)
    for role in ("questions", "candidates"):
        for language in LANGUAGES:
            np.save(f"v/pool.{role}.{language}.npy", rng.standard_normal((40, 8)).astype(np.float32))
        np.save(f"v/whole.{role}.npy", rng.standard_normal((120, 8)).astype(np.float32))

    def command(*more: object, pool: str = "pool", text: str = BOTH) -> Any:
        named = ("--text-encoder", text, "--out", "out", "--trec", "trec", "--threads", "1")
        return xlingual("evaluate", "lareqa", pool, *named, instead=more)

    return command


def refused(outcome: Any, *words: str) -> None:
    shared.refused(outcome, *words)
    assert "Traceback" not in outcome.err
    assert not Path("trec").exists() or Path("trec").is_file()


OPTIONS: dict[str, tuple[list[object], list[str]]] = {
    "subset without AP": (["--subset", "de,en", "--measure", "RR"], ["views of AP", "--measure AP"]),
    "picture without AP": (["--picture", "de,en", "--measure", "RR"], ["views of AP", "--measure AP"]),
    "unknown measure": (["--measure", "AP@20/mn"], ["'AP@20/mn'", "Did you mean 'AP@20/min'?"]),
    "measure of images": (["--measure", "SIM"], ["SIM", "images", "Success@k"]),
    "R@0": (["--measure", "R@0"], ["'R@0'", "k of at least 1"]),
    "subset": (["--subset", "de,fr"], ["subset 'de,fr'", "'fr'", "de, en, es"]),
    "empty subset": (["--subset", ""], ["subset ''"]),
    "subset without views": (["--no-views", "--subset", "de,en"], ["--subset", "views"]),
    "picture of an absent language": (["--picture", "de,fr"], ["'de,fr'", "de, en, es"]),
    "picture of one language": (["--picture", "de"], ["--picture de", "two languages"]),
    "picture of one language twice": (["--picture", "de,de"], ["'de,de'", "two languages"]),
    "candidate text": (["--candidate-text", "context"], ["'context'", "Did you mean 'sentence+context'?"]),
    "absent language": (["--languages", "de,fr"], ["pool", "'fr'", "de, en, es"]),
    "mistyped language": (["--languages", "de,enn"], ["'enn'", "Did you mean 'en'?"]),
    "language twice": (["--languages", "de,de"], ["'de'", "twice"]),
    "no language": (["--languages", ","], ["no language is named"]),
    "one language": (["--languages", "de"], ["'de'", "two languages"]),
    "unknown split": (["--split", "tset"], ["'tset'", "Did you mean 'test'?"]),
    "depth of none": (["--trec-depth", "0"], ["--trec-depth", "'0'", "'all'"]),
    "depth in words": (["--trec-depth", "many"], ["'many'", "'all'"]),
    "negative seed": (["--seed", "-1"], ["--seed", "-1"]),
    "huge seed": (["--seed", "9" * 25], ["--seed", "9" * 25]),
    "no threads": (["--threads", "0"], ["--threads", "0"]),
    "run files into a file": (["--trec", "img.npy"], ["--trec img.npy is a file"]),
    "run files below a file": (["--trec", "img.npy/x"], ["--trec", "is a file"]),
    "results into a file": (["--out", "img.npy"], ["--out img.npy is a file"]),
    "another pool": (["squad"], ["'pool' and 'squad' hold the same questions"]),
    "unknown option": (["--measures", "AP"], ["'--measures'", "'--measure'"]),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_option(evaluate: Any, case: str) -> None:
    more, words = OPTIONS[case]
    refused(evaluate(*more), *words)


SPECS: dict[str, tuple[str, list[str]]] = {
    "no role": ("v/pool.questions.{lang}.npy", ["'pool.questions'", "no {role}"]),
    "neither role nor language": ("v/whole.questions.npy", ["no {role}"]),
    "other rows with languages": (
        "v/short.{role}.{lang}.npy",
        ["v/short.questions.de.npy", "39 lines", "40"],
    ),
    "other rows without languages": ("v/short.{role}.npy", ["v/short.candidates.npy", "119 lines", "120"]),
    "no candidates": ("v/asked.{role}.npy", ["v/asked.candidates.npy", "Did you mean"]),
    "other dimensions": ("v/wide.{role}.npy", ["'wide'", "8", "9", "one space"]),
    "not a number": ("v/nan.{role}.npy", ["v/nan.candidates.npy", "line 5"]),
    "fitted on what is evaluated": (
        "lsa:?pairs=5&fit=pool#train",
        ["'lsa'", "60 of the 240", "--split test"],
    ),
    "fitted on rows of a pool": ("lsa:?pairs=5&fit=pool#0:9", ["fit=pool#0:9", "POOL#SPLIT"]),
    "fitted on a split that is not there": ("lsa:?pairs=5&fit=pool#dev", ["pool#dev", "'dev'"]),
    "fitted on nothing that is said": ("lsa", ["fit=FILE#train"]),
    "mistyped role": ("v/whole.{roles}.npy", ["{roles}", "{role}"]),
    "star without role": (
        "v/pool.*.{lang}.npy",
        ["no {role}"],
    ),
    "star for all": ("v/whole*.npy", ["no {role}"]),
    "images only": ("pixels", ["'pixels'", "encodes images, not texts"]),
}


@pytest.mark.parametrize("case", SPECS)
def test_spec(evaluate: Any, case: str) -> None:
    spec, words = SPECS[case]
    whole = np.load("v/whole.questions.npy")
    bad = whole.copy()
    bad[4, 2] = np.nan
    for name, rows in {
        "short.questions.de": whole[:39],
        "short.questions.en": whole[:40],
        "short.questions.es": whole[:40],
        "short.candidates.de": whole[:40],
        "short.candidates.en": whole[:40],
        "short.candidates.es": whole[:40],
        "short.questions": whole,
        "short.candidates": whole[:119],
        "asked.questions": whole,
        "wide.questions": whole,
        "wide.candidates": np.hstack([whole, whole[:, :1]]),
        "nan.questions": whole,
        "nan.candidates": bad,
    }.items():
        np.save(f"v/{name}.npy", rows)
    refused(evaluate(text=spec), *words)


def test_rows_that_are_evaluated_are_found_before_anything_is_fitted(
    evaluate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("fitted")

    monkeypatch.setattr("xlingual.encoders.lsa.right_singular_vectors", fail)
    spec = "lsa:?pairs=5&fit=pool#train"
    refused(evaluate(text=spec), "'lsa' was fitted on 60 of the 240 texts")
    with pytest.raises(AssertionError, match="fitted"):
        evaluate("--split", "test", text=spec)


def test_a_second_encoder_that_cannot_be_used(evaluate: Any) -> None:
    np.save("v/short.questions.npy", np.ones((120, 3)))
    np.save("v/short.candidates.npy", np.ones((119, 3)))
    refused(evaluate("--text-encoder", "v/short.{role}.npy"), "v/short.candidates.npy has 119 lines")


def test_a_failure_leaves_the_files_of_an_earlier_run(evaluate: Any) -> None:
    assert evaluate().code == 0
    before = {path: path.read_bytes() for folder in ("out", "trec") for path in Path(folder).iterdir()}
    assert {path.name for path in before} > {"results.json", "qrels.txt", "pool.run"}
    np.save("v/pool.candidates.es.npy", np.ones((39, 8)))
    outcome = evaluate("--seed", "1")
    assert outcome.code == 2 and "v/pool.candidates.es.npy has 39 lines" in outcome.err
    after = {path: path.read_bytes() for folder in ("out", "trec") for path in Path(folder).iterdir()}
    assert after == before


BROKEN: dict[str, tuple[Any, list[str]]] = {
    "overlap": (lambda p: p["sentence_breaks"][1].__setitem__(0, 1), ["sentence break 2"]),
    "unsorted": (lambda p: p["sentence_breaks"].reverse(), ["sentence break 2", "sort the breaks"]),
    "beyond": (
        lambda p: p["sentence_breaks"][1].__setitem__(1, 999),
        ["sentence break 2"],
    ),
    "answer": (
        lambda p: p["qas"][0]["answers"][0].update(answer_start=-5),
        ["'2first'", "no sentence holds"],
    ),
    "no answers": (lambda p: p["qas"][0].update(answers=[]), ["'2first'", "no answers"]),
    "id twice": (lambda p: p["qas"][0].update(id="1second"), ["'1second'", "used before in this language"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_paragraph(evaluate: Any, case: str) -> None:
    change, words = BROKEN[case]
    path = squads.changed("en", change)
    refused(evaluate(pool="squad", text="chargram"), f"{path}, article 1 'Towns', paragraph 3", *words)


def test_a_pool_that_is_not_sound(evaluate: Any, xlingual: Any) -> None:
    refused(evaluate(pool="pol"), "pol: no such file or folder")
    refused(evaluate(pool="v"), "v is no pool")
    refused(evaluate(pool="s"), "s is no pool")
    made = xlingual("data", "squad-to-pool", "squad", "--out", "p", "--file-format", "jsonl", "--quiet")
    assert made.code == 0
    candidates = Path("p/candidates.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in candidates.splitlines()]
    write_rows([row | {"keys": []} if "3first" in row["keys"] else row for row in rows])
    refused(evaluate(pool="p"), "question '3first' (de) has no relevant candidate")
    write_rows([*rows, rows[0]])
    refused(evaluate(pool="p"), f"{rows[0]['id']!r}")


def test_a_manifest_is_no_pool(evaluate: Any) -> None:
    refused(evaluate(pool="s"), "s is no pool", "xlingual data mix-pool")
    Path("captions.csv").write_text("id,text\n", encoding="utf-8")
    refused(evaluate(pool="captions.csv"), "captions.csv is no pool", "data mix-pool")


def test_a_pool_is_no_manifest(evaluate: Any, xlingual: Any, bkr: Any) -> None:
    words = ("pool holds no manifest", "questions and candidates")
    refused(xlingual("data", "mix-pool", "pool", "--out", "out"), *words)
    refused(bkr(manifest="pool"), *words)


def write_rows(rows: list[dict[str, Any]]) -> None:
    shared.write_lines("p/candidates.jsonl", rows)


def test_results_of_another_task_are_not_lost(evaluate: Any, bkr: Any) -> None:
    assert bkr().code == 0
    before = Path("out/results.json").read_bytes()
    outcome = evaluate()
    assert outcome.code == 2 and "--out out holds results of backretrieval" in outcome.err
    assert Path("out/results.json").read_bytes() == before and not Path("trec").exists()


def test_a_depth_of_runs_needs_a_folder_for_them(evaluate: Any, xlingual: Any) -> None:
    command = ("evaluate", "lareqa", "pool", "--text-encoder", BOTH, "--out", "out")
    refused(xlingual(*command, "--trec-depth", "1000"), "--trec-depth", "--trec DIR")
    assert xlingual(*command).code == 0


def test_a_report_needs_a_folder(evaluate: Any, xlingual: Any) -> None:
    refused(xlingual("evaluate", "lareqa", "pool", "--text-encoder", BOTH, "--report"), "--out DIR")
    refused(xlingual("evaluate", "lareqa", "pool"), "'--text-encoder'", "--help")
    refused(xlingual("evaluate", "lareqa"), "'POOL'")
    refused(xlingual("evaluate", "larequa", "pool"), "'larequa'", "Did you mean 'lareqa'?")
