"""Approximate ranking on the command line: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual import extras

pytest.importorskip("faiss", reason="the extra ann is not installed")

refused = runpy.run_path(str(Path(__file__).with_name("refusals.py")))["refused"]
N, D = 30_000, 6  # as few as are searched


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a manifest of so many items, and vectors of its texts."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    ideal = rng.standard_normal((N, D)).astype(np.float32)
    words = [str(i) for i in range(N)]
    pq.write_table(pa.table({"id": words, "text_en": words, "text_de": words}), folder / "m.parquet")
    for language in ("en", "de"):
        noise = 0.1 * rng.standard_normal((N, D)).astype(np.float32)
        np.save(folder / f"good.{language}.npy", ideal + noise)
    return folder


def test_what_is_printed_and_written(large: Path, xlingual: Any) -> None:
    done = xlingual(
        *("evaluate", "xlr", large / "m.parquet", "--text-encoder", large / "good.{lang}.npy"),
        *("--pairs", "en-de", "--no-store", "--threads", "1"),
        *("--approximate", "--check", "200", "--out", "out", "--report"),
    )
    assert (done.code, done.warnings) == (0, []), done.err
    assert "R@10 is off by" in " ".join(done.out.split())
    content = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    entry = content["results"][0]
    known = entry["approximation"]
    assert known["n_checked"] == 200 and known["recall_nearest"] > 0.95
    assert known["ci"]["low"] <= known["difference"] <= known["ci"]["high"]
    assert "|search:ivf|depth:20|" in entry["signature"]
    assert entry["ci"]["method"].endswith("checked")
    shown = f"{entry['value']:.2f}"  # ±0.02 and no more
    assert f" {shown} " in done.out and f"{entry['value']:.3f}" not in done.out
    assert f">{shown}<" in Path("out/report.html").read_text(encoding="utf-8")


def test_small_data_is_ranked_exactly(bkr: Any) -> None:
    done = bkr("--approximate", "--pairs", "en-de")
    assert done.code == 0
    (warning,) = done.warnings
    assert "ranked exactly after all: en-de" in warning and "fewer than 30,000" in warning
    entry = json.loads(Path("out/results.json").read_text(encoding="utf-8"))["results"][0]
    assert entry["approximation"] is None and "search:" not in entry["signature"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--depth", "20"), ("--depth is about approximate ranking", "add --approximate")),
        (("--approximate", "--measure", "RR"), ("RR needs the exact rank", "leave out --approximate")),
        (("--approximate", "--measure", "R@200"), ("R@200 needs the 200 best", "raise --depth to 200")),
        (("--approximate", "--index", "flat"), ("'flat' is not one of", "ivf", "hnsw")),
        (("--approximate", "--check", "10"), ("--check", "at least 100")),
        (("--approximate", "--calibration", "c.json"), ("leave out --approximate",)),
        (
            ("--approximate", "--similarity", "transductive-csls"),
            ("transductive-csls?k=10 needs", "leave out --approximate"),
        ),
    ],
)
def test_what_cannot_be_is_refused(bkr: Any, options: tuple[str, ...], words: tuple[str, ...]) -> None:
    refused(bkr(*options), *words)


@pytest.mark.parametrize(
    "command", [("evaluate", "lareqa"), ("evaluate", "image-sentence"), ("validate", "bkr"), ("casestudy",)]
)
def test_commands_that_rank_exactly_say_why(xlingual: Any, command: tuple[str, ...]) -> None:
    refused(xlingual(*command, "--approximate"), "ranks exactly", "evaluate bkr and evaluate xlr")


def test_the_missing_package_is_named(bkr: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_installed", lambda package: package != "faiss-cpu")
    refused(bkr("--approximate"), "faiss-cpu", "pip install 'xlingual[ann]'")
