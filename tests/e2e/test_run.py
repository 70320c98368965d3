"""What results keep of how they were made, and `xlingual run`, which does what a TOML file asks."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

refused = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py")))).refused

XLR = ("evaluate", "xlr", "s", "--text-encoder", "v/good.{lang}.npy", "--pairs", "en-de,de-en")


def written(request: dict[str, Any], **more: Any) -> str:
    """Return a request as TOML; JSON writes lists, texts and numbers in the same way."""
    return "\n".join(f"{name} = {json.dumps(value)}" for name, value in {**request, **more}.items())


def test_what_results_keep_can_be_run_again(xlingual: Any, work: Path) -> None:
    assert xlingual(*XLR, "--threads", "1", "--sample", "50", "--out", "r").code == 0
    first = json.loads(Path("r/results.json").read_text(encoding="utf-8"))
    assert first["request"] == {
        "command": "evaluate crosslingual-retrieval",
        "manifest": "s",
        "text_encoders": ["v/good.{lang}.npy"],
        "pairs": ["en-de", "de-en"],
        "sample": 50,
        "texts_per_item": "all",
        "seed": 0,
        "seeds": 1,
        "similarity": "cosine",
        "cluster": "declared",
    }
    assert first["run"]["threads"] == 1 and first["run"]["backend"] == "auto" and first["run"]["out"] == "r"
    Path("again.toml").write_text(
        written(first["request"], out="again", quiet=True, threads=2), encoding="utf-8"
    )
    done = xlingual("run", "again.toml")
    assert done.code == 0, done.err
    second = json.loads(Path("again/results.json").read_text(encoding="utf-8"))
    for content in (first, second):
        del content["timings"], content["costs"], content["run"]
    assert second == first


def test_paths_count_from_the_file_and_tables_run_in_order(
    xlingual: Any, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "all.toml").write_text(
        '[first]\ncommand = "evaluate xlr"\nmanifest = "s"\n'
        'text-encoder = ["v/good.{lang}.npy", "v/bad.{lang}.npy"]\npairs = "en-de"\nout = "r"\nquiet = true\n'
        '[second]\ncommand = "gate"\ncandidate = "r#bad"\nbaseline = "r#good"\nmargin = 0.01\n'
        '[third]\ncommand = "compare"\nresults = ["r"]\nformat = "csv"\n'
    )
    (work / "elsewhere").mkdir()
    monkeypatch.chdir(work / "elsewhere")
    done = xlingual("run", "../all.toml")
    assert done.code == 1, done.err  # the gate fails, the others go on
    assert (work / "r" / "results.json").is_file() and "good" in done.out
    assert Path.cwd() == work / "elsewhere"


def test_a_sample_larger_than_the_data_takes_what_there_is(xlingual: Any, work: Path) -> None:
    given = {"manifest": "s", "text-encoder": ["v/good.{lang}.npy"], "pairs": "en-de", "sample": 10_000}
    Path("a.toml").write_text(written({"command": "evaluate xlr", **given}, seeds=2, out="a", quiet=True))
    assert xlingual("run", "a.toml").code == 0
    first = json.loads(Path("a/results.json").read_text(encoding="utf-8"))
    assert {entry["n_source"] for entry in first["results"]} == {60}  # half of the items: as many as BkR has
    assert all("|sample:60#" in entry["signature"] for entry in first["results"])
    by_hand = json.loads(xlingual(*XLR[:-1], "en-de", "--sample", "60", "--seeds", "2", "--json").out)
    assert [e["value"] for e in by_hand["results"]] == [e["value"] for e in first["results"]]
    refused(xlingual(*XLR, "--sample", "-3"), "neither a number of at least 1 nor 'all'")
    refused(xlingual(*XLR, "--sample", "thirty"), "thirty", "N|all|FILE")


def test_schemas(xlingual: Any) -> None:
    found = json.loads(xlingual("run", "--schema", "evaluate bkr").out)
    assert found["title"] == "BackretrievalRequest" and "manifest" in found["required"]
    refused(xlingual("run", "--schema", "evaluate"), "name one in full")
    refused(xlingual("run"), "FILE is missing")
    refused(xlingual("run", "none.toml"), "cannot read none.toml")


def test_a_study_keeps_its_request_in_its_key_alone(xlingual: Any, work: Path) -> None:
    given = ("--system", "good=v/good.{lang}.npy", "--system", "bad=v/bad.{lang}.npy", "--queries", "5")
    done = xlingual("study", "new", "s", "--source", "en", "--target", "de", *given, "--out", "st", "--quiet")
    assert done.code == 0, done.err
    key = json.loads(Path("st/secret/key.json").read_text(encoding="utf-8"))
    assert key["request"]["text_encoders"] == ["good=v/good.{lang}.npy", "bad=v/bad.{lang}.npy"]
    assert key["request"]["queries"] == 5 and "run" not in key  # equal studies have equal keys
    served = [path for path in Path("st").rglob("*") if path.is_file() and "secret" not in path.parts]
    assert served and not any(b"good" in path.read_bytes() for path in served if path.suffix != ".png")
