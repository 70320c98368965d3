"""`xlingual train mlmme` with a file of vectors for each of training and validation (Multi30k)."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

SMALL = ("--word-dim", 8, "--state-dim", 8, "--joint-dim", 8, "--batch", 8, "--threads", 1, "--epochs", 1)
TRAIN = ("train", "mlmme", "train.jsonl", "--image-encoder", "vectors:train.npy", "--no-store", *SMALL)
HELD = ("--validation", "val.jsonl#0:15")


@pytest.fixture
def files(work: Path) -> Path:
    """Return a folder with two manifests whose image files are not there, and vectors of each."""
    words = ["red", "blue", "green", "dog", "cat", "house", "runs", "sleeps", "sings"]
    rng = np.random.default_rng(0)
    for split, count in (("train", 40), ("val", 30)):
        rows = [
            {"id": f"{split}{i}", "image": f"{split}{i}.jpg"}
            | {
                f"text_{tag}_{n}": " ".join([split, *rng.choice(words, 4)])
                for tag in ("en", "de")
                for n in (1, 2)
            }
            for i in range(count)
        ]
        (work / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        np.save(work / f"{split}.npy", rng.normal(size=(count, 6)).astype(np.float32))
    return work


def test_the_paper_s_protocol(files: Path, xlingual: Any) -> None:
    done = xlingual(*TRAIN, *HELD, "--validation-image-encoder", "vectors:val.npy", "--out", "m")
    assert done.code == 0, done.err
    assert not any("report" in line for line in done.warnings)  # no report is made: no word of placeholders
    spec = "model:m::vectors:val.npy?base=trusted"
    told = xlingual(
        "evaluate", "image-sentence", "val.jsonl", "--text-encoder", "model:m", "--image-encoder", spec
    )
    card = Path("m/README.md").read_text(encoding="utf-8")
    assert "train (6 dimensions)" in card
    given = ("val.jsonl", "--rows", "15:", "--no-store", "--threads", 1, "--text-encoder", "model:m")
    told = xlingual("evaluate", "image-sentence", *given, "--image-encoder", "model:m::vectors:val.npy")
    spec = "model:m?base=trusted::vectors:val.npy"
    told = xlingual("evaluate", "image-sentence", *given, "--image-encoder", spec)
    assert told.code == 0 and "15 images, 30 sentences" in told.out
    assert not any("missing" in line for line in told.warnings)  # nothing of this task shows an image


def test_the_help_begins_with_what_matters(xlingual: Any) -> None:
    text = xlingual("train", "mlmme", "--help").out
    places = [text.index(f"\n  {name} ") for name in ("--languages", "--beta", "--epochs", "--out")]
    assert places == sorted(places)


def test_the_closing_summary_has_chance_beside_every_sum(files: Path, xlingual: Any) -> None:
    held = ("--validation", "val.jsonl#0:20", "--validation-image-encoder", "vectors:val.npy")
    done = xlingual(*TRAIN, *held, "--languages", "en", "--out", "m")
    assert done.code == 0, done.err
    told = " ".join(done.out[: done.out.index("Best epoch")].split())
    assert "with a sum of recalls of" in told and "mean" not in told
    # to an image: k of 20; to one of two sentences, 40 of which are tied: 1 - C(38, k)/C(40, k)
    chance = 100 * sum(k / 20 + 1 - comb(38, k) / comb(40, k) for k in (1, 5, 10))
    [row] = [line.split() for line in done.out.splitlines() if line.startswith(" image-en ")]
    assert row[-1] == f"{chance:.1f}"
    done = xlingual(*TRAIN, *held, "--out", "two")
