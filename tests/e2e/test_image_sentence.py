"""`xlingual evaluate image-sentence` on built-in data: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from xlingual.results.schemas import schema_of

GOOD, BAD = "v/good.{lang}.npy", "v/bad.{lang}.npy"
TASK = ("evaluate", "image-sentence", "s")


@pytest.fixture
def evaluate(work: Path, xlingual: Any) -> Any:
    def command(*more: object, code: int = 0) -> Any:
        outcome = xlingual(*TASK, *more)
        assert outcome.code == code, outcome.err
        return outcome

    return command


def test_two_systems_and_a_baseline(evaluate: Any, xlingual: Any) -> None:
    given = ("--text-encoder", GOOD, "--text-encoder", BAD, "--image-encoder", "img.npy", "--baseline", "bad")
    outcome = evaluate(*given, "--languages", "en,de", "--out", "out", "--report")
    first = " ".join(outcome.out.split("\n\n")[0].split())
    assert first.startswith("In English (en), good is ahead of the baseline bad: a sum of recalls of")
    assert "a real difference of +" in first
    for words in ("German (de) · 120 images, 120 sentences", "Sentence to image", "MedR", "sum of recalls"):
        assert words in outcome.out
    content = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema_of("results")).validate(content)
    assert {row["source"] for row in content["results"]} == {"en", "de", "image"}
    ahead = [row["views"]["against"] for row in content["results"] if row["encoder"] == "good"]
    assert all(view["baseline"] == "bad" and view["ci"]["low"] < view["ci"]["high"] for view in ahead)
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert (
        "Image–sentence ranking across de and en" in page
        and '<bdi>bad</bdi> <span class="tag">baseline</span>' in page
    )
    assert xlingual("compare", "out").code == 0
    assert xlingual("gate", "out#good", "out#bad", "--margin", "0.01", "--measure", "R@1").code == 0


def test_fold_without_a_size_is_a_thousand_images(evaluate: Any) -> None:
    given = ("--text-encoder", GOOD, "--image-encoder", "img.npy", "--languages", "en")
    assert "--fold: slices of 1000 need 1000 images" in evaluate(*given, "--fold", code=2).err
    outcome = evaluate(*given, "--fold", 40)
    assert "means over slices of 40 images" in " ".join(outcome.out.split()) and not outcome.warnings


def test_an_image_encoder_for_each_text_encoder(evaluate: Any) -> None:
    np.save("other.npy", np.load("img.npy")[:, :8])
    for language in ("en", "de", "es"):
        np.save(f"v/short.{language}.npy", np.load(f"v/good.{language}.npy")[:, :8])
    texts = ("--text-encoder", GOOD, "--text-encoder", "v/short.{lang}.npy")
    outcome = evaluate(*texts, "--image-encoder", "img.npy", "--image-encoder", "other.npy", "--json")
    eyes = {row["encoder"]: row["image_encoder"] for row in json.loads(outcome.out)["results"]}
    assert eyes == {"good": "img", "short": "other"}
    swapped = evaluate(*texts, "--image-encoder", "other.npy", "--image-encoder", "img.npy", code=2)
    assert "'good' gives 16 dimensions and image encoder 'other' gives 8" in swapped.err


def test_json_is_the_same_for_any_number_of_threads(evaluate: Any) -> None:
    given = ("--text-encoder", BAD, "--image-encoder", "img.npy", "--json")
    one, two = (json.loads(evaluate(*given, "--threads", n).out) for n in (1, 2))
    assert {**one, **dict.fromkeys(("timings", "costs", "run"))} == {
        **two,
        **dict.fromkeys(("timings", "costs", "run")),
    }


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--image-encoder", "img.npy", "--languages", "en,fr"), "has no texts in 'fr'"),
        (("--image-encoder", "img.npy", "--measure", "R@500"), "Success@500 needs more than 500 images"),
        (("--image-encoder", "img.npy", "--baseline", "goood"), "no text encoder. Did you mean 'good'?"),
        (("--image-encoder", "pixels"), "'good' gives 16 dimensions and image encoder 'pixels'"),
        (("--image-encoder", "img.npy", "--fold", "1"), "found '1': give a whole number of at least 2"),
        ((), "needs the image encoder of its space: give one (--image-encoder"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_refusals_are_one_line(evaluate: Any, more: tuple[str, ...], message: str) -> None:
    outcome = evaluate("--text-encoder", GOOD, *more, code=2)
    errors = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and message in errors[0]
