"""`xlingual papers` from end to end on small data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from xlingual.papers import lareqa

SIZES = {"trainings": 1, "epochs": 1, "steps": 1, "dim": 8, "buckets": 64, "threads": 1, "device": "cpu"}
SMALL = [word for name, value in SIZES.items() for word in (f"--{name}", value)]


def test_lareqa_on_built_in_data(xlingual: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    built_in_pool = lareqa.built_in_pool
    monkeypatch.setattr(lareqa, "built_in_pool", lambda folder: built_in_pool(folder, 40, ("en", "de")))
    out = tmp_path / "out"
    asked = ("papers", "lareqa", "--out", out, "--regimes", "x-y", *SMALL)
    done = xlingual(*asked, "--report")
    assert done.code == 0 and "x-y-0 (1 of 2): epoch 1/1" in done.err, done.err
    content = json.loads((out / "paper_study.json").read_text())
    assert content["request"]["command"] == "papers lareqa" and content["facts"]["questions evaluated"] == 40
    again = xlingual(*asked, "--format", "csv")
    assert again.code == 0 and "epoch 1/1" not in again.err  # nothing is trained twice
    assert again.out.splitlines()[0].startswith("section,table,system,mAP,")
    page = xlingual("report", out, "--out", tmp_path / "again.html")
    assert page.code == 0 and "untrained" in (tmp_path / "again.html").read_text()
    refused = xlingual(*asked, instead=("--dim", "4"))
    assert refused.code == 2 and "dim was 8 and is 4" in refused.err
    assert xlingual("papers", "lareqa", *SMALL).code == 2  # no --out
