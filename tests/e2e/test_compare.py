"""`xlingual compare` from folders of results to tables, files and errors."""

import json
import os

import pytest


@pytest.fixture
def folder(work, xlingual):
    """Give a folder of results of two encoders."""
    outcome = xlingual(
        *("evaluate", "xlr", "s", "--text-encoder", "v/good.{lang}.npy", "--text-encoder"),
        *("v/bad.{lang}.npy", "--pairs", "en-de,de-en", "--out", "r", "--quiet"),
    )
    assert outcome.code == 0, outcome.err
    return "r"


def test_a_table_and_a_verdict(folder, xlingual):
    outcome = xlingual("compare", folder, "--baseline", "r#bad", "--per-pair")
    assert outcome.code == 0, outcome.err
    assert "XLR R@10 · en → de" in outcome.out
    assert "good is better by +0." in " ".join(outcome.out.split())


def test_files_and_formats(folder, xlingual, work):
    outcome = xlingual("compare", folder, "--format", "json", "--out", "c")
    content = json.loads(outcome.out)
    assert content["schema"] == "xlingual/comparison/1"
    assert json.loads((work / "c" / "comparison.json").read_text(encoding="utf-8")) == content
    assert "xlingual comparison" in (work / "c" / "report.html").read_text(encoding="utf-8")
    assert "| rank | encoder |" in xlingual("compare", folder, "--format", "markdown").out
    assert xlingual("compare", folder, "--format", "csv", "--quiet").out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], "error: nosuch/results.json is missing"),
        (["r#good"], "error: only one encoder to compare (good)"),
        (["r", "--by", "shap"], "error: no column 'shap'"),
        (["r", "--measure", "MedR"], "error: no encoder has MedR"),
        (["r", "--out", "img.npy"], "error: --out img.npy is a file"),
    ],
)
def test_errors_are_one_line(folder, xlingual, arguments, message):
    outcome = xlingual("compare", *arguments)
    assert outcome.code == 2 and outcome.err.startswith(message)
    assert outcome.err.count("\n") == 1


def test_lines_of_a_pipe_have_no_padding(folder, xlingual):
    outcome = xlingual("compare", folder, "--per-pair")
    assert outcome.out.strip() and all(line == line.rstrip() for line in outcome.out.splitlines())


@pytest.mark.parametrize("options", [[], pytest.param(["--format", "markdown"], marks=pytest.mark.slow)])
def test_a_reader_that_has_enough_is_no_error(folder, process, options):
    reading, writing = os.pipe()
    os.close(reading)  # nobody reads
    outcome = process("compare", folder, *options, stdout=writing)
    os.close(writing)
    assert (outcome.code, outcome.err) == (141, "")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(["gate", "r#good", "r#bad", "--margin", "0.01"], "gate"), (["plan", "r", "--effect", "0.05"], "plan")],
)
def test_gate_and_plan_write_their_file(folder, xlingual, work, arguments, name):
    outcome = xlingual(*arguments, "--json", "--out", "g")
    content = json.loads(outcome.out)
    assert outcome.code == {"pass": 0, "fail": 1, "cannot tell": 3}[content.get("outcome", "pass")]
    assert [path.name for path in (work / "g").iterdir()] == [f"{name}.json"]
    assert json.loads((work / "g" / f"{name}.json").read_text(encoding="utf-8")) == content
    assert f"wrote g/{name}.json" in outcome.err
    for out, message in (
        ("r", "--out r holds results of crosslingual"),
        ("img.npy", "--out img.npy is a file"),
    ):
        refused = xlingual(*arguments, "--out", out)
        assert refused.code == 2 and refused.err.startswith(f"error: {message}")
        assert refused.out == "" and refused.err.count("\n") == 1
    assert not (work / "r" / f"{name}.json").exists()
