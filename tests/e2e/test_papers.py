"""`xlingual papers` from end to end on small data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from xlingual.demo_data.scenes import write_scenes
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


def test_backretrieval_on_small_scenes(xlingual: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    write_scenes(tmp_path / "r", n=100, languages=["en", "es"], train=0.4)
    out = tmp_path / "out"
    done = xlingual(
        *("papers", "backretrieval", tmp_path / "r", "--text-encoder", "random:?dim=64", "--out", out),
        *("--image-encoder", "pixels", "--validation", "0.4", "--trainings", "1", "--epochs", "1"),
        *("--threads", "1", "--device", "cpu", "--report"),
    )
    assert done.code == 0, done.err
    assert "random-title-body" in done.out and "trained once" in done.out
    page = (out / "report.html").read_text()
    assert "Figure 3" in page and (out / "backretrieval" / "results.json").is_file()
    refused = xlingual("papers", "backretrieval", "r", "--out", out)
    assert refused.code == 2 and "--image-encoder" in refused.err
    assert "lareqa" in xlingual("papers", "--help").out
