"""Bad vectors: one line that names the file and the remedy; zeros and constants are measured as they are."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py"))))
refused = shared.refused
for_all_languages = shared.for_all_languages
with_bad_values = shared.with_bad_values


FILES: dict[str, tuple[Callable[[], np.ndarray], list[str]]] = {
    "rows": (lambda: np.ones((7, 4)), ["v/x.en.npy", "7 lines", "120 items", "one vector for each"]),
    "no rows": (lambda: np.ones((0, 4)), ["v/x.en.npy", "0 lines"]),
    "NaN and infinity": (with_bad_values, ["v/x.en.npy", "NaN", "line 5", "again"]),
    "one dimension": (lambda: np.ones(120), ["v/x.en.npy", "one vector per line", "120"]),
    "no dimension": (lambda: np.ones((120, 0)), ["v/x.en.npy", "(120, 0)"]),
    "strings": (lambda: np.full((120, 2), "a"), ["v/x.en.npy", "numbers", "<U1"]),
    "complex": (lambda: np.ones((120, 2), complex), ["v/x.en.npy", "complex128"]),
    "objects": (lambda: np.full((120, 2), None), ["v/x.en.npy", "pickle", "plain table"]),
}


@pytest.mark.parametrize("case", FILES)
def test_vectors_of_texts(bkr: Any, case: str) -> None:
    vectors, words = FILES[case]
    for_all_languages("x", vectors())
    refused(bkr(text="v/x.{lang}.npy"), *words)


@pytest.mark.parametrize("case", FILES)
def test_vectors_of_images(bkr: Any, case: str) -> None:
    vectors, words = FILES[case]
    np.save("images.npy", vectors())
    refused(bkr(image="images.npy"), "images.npy", *words[1:])


def test_dimensions_that_differ(bkr: Any) -> None:
    for_all_languages("x", np.ones((120, 4)))
    np.save("v/x.de.npy", np.ones((120, 5)))
    refused(bkr(text="v/x.{lang}.npy"), "v/x.en.npy has 4", "v/x.de.npy has 5", "one model")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (pickle.dumps({"a": 1}), ["pickle", "run code"]),
        (b"0.1 0.2 0.3\n", ["no plain table", "numpy.save"]),
        (b"", ["no plain table", "numpy.save"]),
        (b"\x93NUMPY\x01", ["damaged"]),
    ],
)
def test_file_that_is_no_npy(bkr: Any, content: bytes, words: list[str]) -> None:
    Path("x.npy").write_bytes(content)
    refused(bkr(text="x.npy"), "x.npy", *words)
    refused(bkr(image="x.npy"), "x.npy", *words)


def test_npy_with_a_damaged_head(bkr: Any) -> None:
    whole = Path("img.npy").read_bytes()
    for old, new in (
        (b"(120, 16)", b"(120, 16 "),
        (b"<f4", b"<q9"),
        (b"descr", b"d\n\0cr"),
        (b"120", b"-20"),
    ):
        assert old in whole
        Path("x.npy").write_bytes(whole.replace(old, new, 1))
        refused(bkr(image="x.npy"), "x.npy", "damaged", "save it")


def test_npy_cut_short(bkr: Any) -> None:
    Path("x.npy").write_bytes(Path("img.npy").read_bytes()[:1000])
    refused(bkr(image="x.npy"), "x.npy", "damaged")


def test_all_zero_rows_are_a_counted_warning(bkr: Any) -> None:
    vectors = np.load("v/good.en.npy")
    vectors[:5] = 0
    np.save("v/good.en.npy", vectors)
    outcome = bkr("--quiet", "--pairs", "en-de,de-en")  # both ways: all texts are used
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (0, "", 1)
    (warning,) = outcome.warnings
    for words in ("'good'", "5 of 240 texts", "all-zero", "'scene-000000' (en)", "and 2 more", "ties"):
        assert words in warning
    entry = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    assert any("all-zero" in line for line in entry["warnings"])


def test_zero_vectors_score_exactly_chance(bkr: Any) -> None:
    for_all_languages("zero", np.zeros((120, 3)))
    assert bkr("--quiet", text="v/zero.{lang}.npy").code == 0
    for entry in json.loads(Path("out/results.json").read_text(encoding="utf-8"))["results"]:
        decimals = 1e-9 if entry["measure"] == "SIM" else 1e-12  # similarities are rounded
        assert entry["value"] == pytest.approx(entry["chance"], abs=decimals)
        assert entry["n_tied"] == entry["n_source"]


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_vectors_of_images_leave_nothing_to_normalise(bkr: Any, value: float) -> None:
    np.save("flat.npy", np.full((120, 3), value))
    outcome = bkr(image="flat.npy")
    assert outcome.code == 0
    entries = json.loads(Path("out/results.json").read_text(encoding="utf-8"))["results"]
    assert all(entry["normalized"] is None for entry in entries)
    assert all(entry["value"] == pytest.approx(entry["chance"]) for entry in entries)
    assert "cannot tell texts apart" in outcome.out.replace("\n", " ").replace("  ", " ")
