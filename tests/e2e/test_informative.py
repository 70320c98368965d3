"""`data check --image-encoder`: thirty near-identical images get a no, built-in scenes a yes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def alike(work: Path) -> str:
    """Write thirty images of one scene, each pixel moved by one grey level at most."""
    rng = np.random.default_rng(0)
    base = np.kron(rng.integers(20, 230, (8, 8, 3)), np.ones((8, 8, 1))).astype(int)
    rows = []
    for i in range(30):
        Image.fromarray((base + rng.integers(-1, 2, base.shape)).astype(np.uint8)).save(work / f"{i}.png")
        colour = ("red", "blue", "green")[i % 3]
        rows.append(
            {"id": str(i), "image": f"{i}.png", "text_en": f"lamp {i} {colour}", "text_de": f"Lampe {i}"}
        )
    (work / "alike.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return "alike.jsonl"


def test_near_identical_images_get_a_no(xlingual: Any, alike: str) -> None:
    outcome = xlingual("data", "check", alike, "--image-encoder", "pixels", "--no-store")
    assert outcome.code == 0
    assert "No: Backretrieval cannot separate text encoders on these data." in outcome.out
    assert "warning: No: Backretrieval cannot separate text encoders" in outcome.err
    found = json.loads(xlingual("data", "check", alike, "--image-encoder", "pixels", "--json").out)
    tells = found["backretrieval"]
    assert tells["reasons"][0] == "near-identical images" and tells["distance"] < 0.005
    assert all(pair["oracle"] > 0.9 > pair["chance"] for pair in tells["pairs"])
    assert "Backretrieval tells nothing" in [one["kind"] for one in found["findings"]]
    plain = json.loads(xlingual("data", "check", alike, "--json").out)
    assert "backretrieval" not in plain
    assert all(found[key] == plain[key] for key in plain if key != "findings")


def test_an_evaluation_warns_of_them(xlingual: Any, alike: str) -> None:
    outcome = xlingual(
        "evaluate",
        "bkr",
        alike,
        "--text-encoder",
        "chargram",
        "--image-encoder",
        "pixels",
        "--json",
        "--no-store",
    )
    found = json.loads(outcome.out)
    assert outcome.code == 0 and 0 < found["diagnostics"]["near_identical_images"] < 0.005
    assert any(
        one.startswith("to the image encoder all images look nearly the same") for one in found["warnings"]
    )


def test_scenes_get_a_yes_or_are_too_few(xlingual: Any) -> None:
    outcome = xlingual("data", "check", "s", "--image-encoder", "pixels", "--no-store", "--json")
    found = json.loads(outcome.out)["backretrieval"]
    assert outcome.code == 0 and not found["reasons"]
    assert {reason for pair in found["pairs"] for reason in pair["reasons"]} <= {"few queries"}


@pytest.mark.parametrize(
    ("option", "named"),
    [(("--pairs", "en-de"), "--pairs"), (("--k", "5"), "--k"), (("--no-store",), "--store")],
)
def test_options_of_images_need_an_image_encoder(xlingual: Any, alike: str, option: Any, named: str) -> None:
    outcome = xlingual("data", "check", alike, *option)
    assert outcome.code == 2 and named in outcome.err and "--image-encoder SPEC" in outcome.err


def test_broken_images_are_left_out(xlingual: Any, alike: str, work: Path) -> None:
    (work / "0.png").write_bytes(b"no image")
    outcome = xlingual("data", "check", alike, "--image-encoder", "pixels", "--no-store", "--json")
    found = json.loads(outcome.out)
    assert found["backretrieval"]["n_images"] == 29
    assert "broken images" in [one["kind"] for one in found["findings"]]
