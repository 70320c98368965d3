"""Fusions on the command line: systems of the same command, encoders and runs, as one."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

refused = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py")))).refused
XLR = ("evaluate", "xlr", "s", "--pairs", "en-de", "--text-encoder", "good=v/good.{lang}.npy")


def test_a_fusion_stands_beside_its_parts(xlingual: Any) -> None:
    done = xlingual(*XLR, "--trec", "trec", "--trec-depth", "all", "--quiet")
    assert done.code == 0, done.err
    fused = ("--text-encoder", "h=rrf:good+engine", "--run", "engine=trec/en-de/good.run")
    done = xlingual(*XLR, *fused, "--out", "o", "--report")
    assert done.code == 0, done.err
    found = json.loads(Path("o/results.json").read_text(encoding="utf-8"))["results"]
    assert [entry["encoder"] for entry in found] == ["good", "h", "engine"]
    assert found[1]["value"] == found[2]["value"]  # the run has the order of its encoder, and no ties
    assert "::(" in found[1]["signature"]


def test_unknown_parts_and_circles_are_refused(xlingual: Any) -> None:
    refused(xlingual(*XLR, "--text-encoder", "h=rrf:good+enigne"), "'h'", "'enigne'")
    refused(
        xlingual(*XLR, "--text-encoder", "h=rrf:good+chargram"), "Systems: ", "add --text-encoder chargram"
    )
    circle = ("--text-encoder", "h=rrf:good+i", "--text-encoder", "i=rrf:good+h")
    refused(xlingual(*XLR, *circle), "made of itself", "h → i → h")
    refused(xlingual(*XLR, "--text-encoder", "cross-encoder:DIR"), "which system", "::NAME")
