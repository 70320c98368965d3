"""Search systems on the command line, by files of what they returned."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

refused = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py")))).refused
XLR = ("evaluate", "xlr", "s", "--pairs", "en-de")
GOOD = "v/good.{lang}.npy"


@pytest.fixture
def engine(xlingual: Any) -> str:
    """Return the run that an encoder's ranking is."""
    done = xlingual(*XLR, "--text-encoder", GOOD, "--trec", "trec", "--trec-depth", "all", "--quiet")
    assert done.code == 0, done.err
    return "trec/en-de/good.run"


def entries(folder: str) -> list[Any]:
    return json.loads(Path(folder, "results.json").read_text(encoding="utf-8"))["results"]


def test_a_run_stands_beside_encoders_or_alone(xlingual: Any, engine: str) -> None:
    done = xlingual(*XLR, "--text-encoder", GOOD, "--run", f"engine={engine}", "--out", "both", "--report")
    assert done.code == 0, done.err
    one, other = entries("both")
    assert (one["encoder"], other["encoder"]) == ("good", "engine")
    assert one["value"] == pytest.approx(other["value"], abs=0.02)  # files have no ties
    assert xlingual(*XLR, "--run", engine, "--run", f"two={engine}", "--out", "alone").code == 0
    assert [entry["encoder"] for entry in entries("alone")] == ["good", "two"]
    assert entries("alone")[0]["value"] == other["value"]


def test_what_results_keep_of_runs_can_be_run_again(xlingual: Any, engine: str) -> None:
    assert xlingual(*XLR, "--run", f"engine={engine}", "--out", "one").code == 0
    request = json.loads(Path("one/results.json").read_text(encoding="utf-8"))["request"]
    assert request["runs"] == [f"engine={engine}"] and "text_encoders" not in request
    lines = [f"{name} = {json.dumps(value)}" for name, value in {**request, "out": "two"}.items()]
    Path("again.toml").write_text("\n".join(lines), encoding="utf-8")
    assert xlingual("run", "again.toml").code == 0
    assert entries("two") == entries("one")
    Path("none.toml").write_text('command = "evaluate xlr"\nmanifest = "s"', encoding="utf-8")
    refused(xlingual("run", "none.toml"), "none.toml", "text_encoders=… or runs=…", "missing")
    schema = json.loads(xlingual("run", "--schema", "evaluate xlr").out)
    assert schema["anyOf"] == [{"required": ["text_encoders"]}, {"required": ["runs"]}]
    assert schema["required"] == ["command", "manifest"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*XLR, "--run", "engine=none.trec"], ["none.trec", "no such file"]),
        ([*XLR, "--text-encoder", f"x={GOOD}", "--run", "x={}"], ["two systems", "'x'", "x-2=run:{}"]),
        (
            ["evaluate", "corr", "s", "--image-encoder", "img.npy", "--run", "{}"],
            ["evaluate corr compares vectors", "--text-encoder"],
        ),
        (
            ["evaluate", "corr", "s", "--image-encoder", "img.npy", "--text-encoder", "run:{}"],
            ["'good' returns lists of candidates, but this command needs vectors"],
        ),
        (["embed", "s", "--text-encoder", "run:{}", "--out", "x"], ["this command needs vectors"]),
    ],
)
def test_what_cannot_be_is_refused(
    xlingual: Any, engine: str, arguments: list[str], words: list[str]
) -> None:
    filled = [argument.replace("{}", engine) for argument in arguments]
    refused(xlingual(*filled), *(word.replace("{}", engine) for word in words))
