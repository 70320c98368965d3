"""Output that cannot be written, reports of no results: one line, and nothing is lost."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py"))))
GOOD = shared.GOOD
refused = shared.refused
with_bad_values = shared.with_bad_values


def test_output_that_cannot_be_written(xlingual: Any) -> None:
    Path("file").touch()
    run = ("evaluate", "bkr", "s", "--text-encoder", GOOD, "--image-encoder", "img.npy")
    refused(xlingual(*run, "--out", "file"), "--out file is a file", "folder")
    refused(xlingual(*run, "--out", "file/below/it"), "file is a file", "choose another")
    refused(xlingual(*run, "--report"), "--report", "--out DIR")
    refused(xlingual("demo", "--out", "file"), "--out file is a file")
    refused(xlingual("data", "scenes", "--n", "3", "--out", "file"), "file", "another --out")
    assert Path("file").read_bytes() == b""


def test_report_of_what_is_no_result(xlingual: Any, bkr: Any) -> None:
    assert bkr("--quiet").code == 0
    Path("out").rename("kept")
    refused(xlingual("report", "v", "--out", "r.html"), "v/results.json is missing", "--out")
    refused(xlingual("report", "kept", "--out", "s"), "s is a folder", "report.html")
    file = Path("kept/results.json")
    content = file.read_text(encoding="utf-8")
    for broken, words in (
        (content[:-20], ["not valid JSON", "again"]),
        ("[]", ["holds no results"]),
        (content.replace("results/1", "results/9"), ["'xlingual/results/9'", "another version"]),
        (content.replace('"measure"', '"mesure"'), ["the field", "is missing", "again"]),
    ):
        file.write_text(broken, encoding="utf-8")
        refused(xlingual("report", "kept", "--out", "r.html"), "kept/results.json", *words)
    assert not Path("r.html").exists()


def test_a_failing_evaluation_leaves_earlier_results(bkr: Any) -> None:
    assert bkr("--quiet", "--report").code == 0
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    np.save("img.npy", with_bad_values())
    outcome = bkr("--report")
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before
