"""`xlingual repair`: from a manifest to a model that is used."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

refused = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py")))).refused
ENCODER = "chargram:?dim=16&fit=s#train"
REPAIR = ("repair", "s", "--split", "test", "--text-encoder", ENCODER)


def test_a_manifest_is_repaired_and_the_model_is_used(xlingual: Any, work: Path) -> None:
    done = xlingual(*REPAIR, "--out", "r", "--report")
    assert done.code == 0, done.err
    assert (
        "questions that took no part in the choice" in done.out or "is better than the unchanged" in done.out
    )
    found = json.loads(Path("r/repair.json").read_text(encoding="utf-8"))
    assert found["schema"] == "xlingual/repair/1"
    assert found["request"]["command"] == "repair"
    assert found["tried"][0]["spec"] == found["chosen"]
    assert "</html>" in Path("r/report.html").read_text(encoding="utf-8")
    again = xlingual("report", "r", "--out", "again.html")
    assert again.code == 0, again.err
    assert found["parts"] == "parts.parquet" and "wrote r/parts.parquet" in done.err
    spec = f"centre:?fit=r/parts.parquet#fit::{ENCODER}"
    parts = xlingual("evaluate", "xlr", "r/parts.parquet", "--split", "test", "--text-encoder", spec)
    assert parts.code == 0, parts.err
    if found["model"] is None:
        return
    assert Path("r/test/report.html").exists()
    page, again = (Path(file).read_text(encoding="utf-8") for file in ("r/report.html", "again.html"))
    assert 'href="test/report.html"' in page and "The space, before and after" in page
    assert "The space, before and after" in again and "href" not in again  # it may lie anywhere
    spec = f"model:r/model::{ENCODER}"
    plain = f"model:r/model?hubs=plain::{ENCODER}"
    use = ("evaluate", "xlr", "--text-encoder", spec)
    refused(xlingual(*use, "s", "--split", "test"), "was fitted on", "its part for testing")
    refused(xlingual("repair", "s", "--split", "test", "--text-encoder", plain), "was fitted on")


def test_formats_and_quiet(xlingual: Any, work: Path) -> None:
    assert xlingual(*REPAIR, "--no-hubs", "--quiet").out == ""
    table = xlingual(*REPAIR, "--no-hubs", "--format", "csv").out
    assert "transform" in table and "difference" in table
    as_json = json.loads(xlingual(*REPAIR, "--no-hubs", "--json").out)
    assert {one["similarity"] for one in as_json["tried"]} == {"cosine"}
    assert as_json["criterion"] == "mAP"
    other = json.loads(xlingual(*REPAIR, "--no-hubs", "--criterion", "crosslingual", "--json").out)
    assert other["criterion"] == "cross-lingual mAP"
    assert other["whole"]["before"] == as_json["other"]["before"]


def test_mistakes(xlingual: Any, work: Path) -> None:
    refused(xlingual(*REPAIR, "--shares", "1,2"), "--shares", "three numbers above 0")
    refused(xlingual(*REPAIR, "--shares", "a,b,c"), "--shares")
    refused(xlingual(*REPAIR, "--delta", "3"), "--delta")
    refused(xlingual(*REPAIR, "--criterion", "mrr"), "--criterion", "crosslingual")
    refused(xlingual("repair", "s", "--text-encoder", "chargram"), "other vectors among other texts")
    refused(xlingual("repair", "s", "--text-encoder", ENCODER), "was fitted on", "choose other rows")
