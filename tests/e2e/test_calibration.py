"""`xlingual calibrate` and `evaluate backretrieval --calibration`, end to end on small built-in data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from xlingual.cli import console
from xlingual.results import Results
from xlingual.results.calibration import Calibration
from xlingual.results.schemas import schema_of
from xlingual.signature import Signature

HERE = Path(__file__)
makers = SimpleNamespace(
    **run_path(str(HERE.parents[1] / "unit" / "evaluation" / "calibration" / "makers.py"))
)
refused = SimpleNamespace(**run_path(str(HERE.with_name("refusals.py")))).refused
BOTH = "v/*.{lang}.npy"


def read_json(path: str) -> dict[str, Any]:
    return json.loads(Path(path).read_text(encoding="utf-8"))


@pytest.fixture
def validated(bkr: Callable[..., Any]) -> Callable[..., None]:
    """Return what writes a validation in `val` under the conditions of an evaluation of the prepared data."""
    assert bkr("--pairs", "en-de", "--quiet").code == 0
    entry = Results.read("out").entries[0]
    conditions = dict(Signature.parse(entry.signature).conditions)
    assert conditions["measure"] == entry.measure == "R@10"

    def write(n: int = 12, **changed: Any) -> None:
        sizes = {"n_source": entry.n_source, "n_target": entry.n_target, "chance": entry.chance}
        given = sizes | {"n_seeds": 1, "conditions": conditions} | changed
        pair = makers.pair_validation(makers.noisy_points(n), **given)
        makers.validation_of(pair).write("val")

    return write


def test_calibrate_says_what_it_is_worth_and_writes_a_file(xlingual: Any, validated: Any) -> None:
    validated()
    outcome = xlingual("calibrate", "val", "--out", "c.json")
    assert outcome.code == 0 and outcome.err.splitlines() == ["wrote c.json"]
    verdict, table = outcome.out.split("Mean absolute error of the estimated XLR")
    assert " ".join(verdict.split()).startswith("Within one data set XLR R@10 is estimated from BkR")
    for words in ("12 families", "isotonic fit", "guaranteed: 80 %", "of 12 families"):
        assert words in " ".join(verdict.split())
    assert "straight line" in table and "en → de: N = 60, R@10" in table
    assert len(Calibration.read("c.json").points) == 12
    assert xlingual("calibrate", "val", "--out", "d.json", "--quiet").out == ""
    as_json = xlingual("calibrate", "val", "--out", "e.json", "--json").out
    first, again = read_json("c.json"), read_json("e.json")
    assert json.loads(as_json) == again and first.pop("run") and again.pop("run") and first == again


def test_a_calibration_is_printed_in_other_forms_and_has_a_page(xlingual: Any, validated: Any) -> None:
    validated()
    as_csv = xlingual("calibrate", "val", "--out", "c.json", "--format", "csv").out.splitlines()
    assert as_csv[0].startswith("left out,fit,groups,error,error_low,error_high")
    assert sum(line.startswith("family,") for line in as_csv) == 3
    as_json = xlingual("calibrate", "val", "--out", "d.json", "--format", "json").out
    assert json.loads(as_json) == read_json("d.json")
    assert xlingual("report", "c.json", "--out", "page.html").code == 0
    assert "Mean absolute error" in Path("page.html").read_text(encoding="utf-8")


def test_an_evaluation_without_values_says_that_nothing_is_estimated(
    xlingual: Any, bkr: Any, validated: Any
) -> None:
    validated()
    assert xlingual("calibrate", "val", "--out", "c.json", "--quiet").code == 0
    empty = Results([], [], None)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("xlingual.evaluation.calibration.estimate.with_estimates", lambda *_: empty)
        patched.setattr("xlingual.cli.evaluate.write_and_show", lambda *_: None)
        patched.setattr("xlingual.cli.evaluate.say_written", lambda *_, **__: None)
        outcome = bkr("--pairs", "en-de", "--calibration", "c.json")
    assert outcome.err.splitlines() == ["No XLR can be estimated: no value of Backretrieval."]


def test_evaluate_prints_and_keeps_the_estimate(xlingual: Any, bkr: Any, validated: Any) -> None:
    validated()
    assert xlingual("calibrate", "val", "--out", "c.json", "--quiet").code == 0
    outcome = bkr("--pairs", "en-de", "--calibration", "c.json", text=BOTH)
    assert outcome.code == 0
    said = " ".join(outcome.out.split())
    assert "Estimated XLR R@10: good " in said and "at least 80 % of the cases" in said
    assert "extrapolation" not in said
    rows = [row for row in read_json("out/results.json")["summary"] if row["estimated_xlr"]]
    assert {(row["encoder"], row["source"], row["measure"]) for row in rows} == {
        (encoder, source, "R@10") for encoder in ("good", "bad") for source in ("en", None)
    }
    for row in rows:
        found = row["estimated_xlr"]
        assert 0 <= found["ci"]["low"] <= found["value"] <= found["ci"]["high"] <= 1
        assert found["ci"]["level"] == 0.9 and found["ci"]["method"].startswith("within this data: jack")
    kept = [row.estimated_xlr for row in Results.read("out").summary if row.estimated_xlr]
    assert len(kept) == 4 and all(one.ci is not None and one.ci.level == 0.9 for one in kept)
    jsonschema.validate(read_json("out/results.json"), schema_of("results"))


def test_the_report_shows_the_estimate(xlingual: Any, bkr: Any, validated: Any) -> None:
    validated()
    assert xlingual("calibrate", "val", "--out", "c.json", "--quiet").code == 0
    assert bkr("--pairs", "en-de", "--quiet", "--report").code == 0
    assert "Estimated XLR" not in Path("out/report.html").read_text(encoding="utf-8")
    assert bkr("--pairs", "en-de", "--calibration", "c.json", "--quiet", "--report").code == 0
    page = Path("out/report.html").read_text(encoding="utf-8")
    row = next(row for row in Results.read("out").summary if row.estimated_xlr)
    assert "<h3>Estimated XLR</h3>" in page and f"{row.estimated_xlr.value:.3f}" in page
    assert "within this data" in page.lower()


@pytest.mark.parametrize("width", [80, 120])
def test_tables_cut_no_word(
    xlingual: Any, validated: Any, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(console, "output", lambda: Console(width=width, highlight=False))
    validated()
    outcome = xlingual("calibrate", "val", "--out", "c.json")
    assert "…" not in outcome.out and max(map(len, outcome.out.splitlines())) <= width
    assert outcome.out.count("straight line") >= 2 and "1 seed," in " ".join(outcome.out.split())


def test_other_conditions_are_extrapolated(xlingual: Any, bkr: Any, validated: Any) -> None:
    validated(n_source=365)
    assert xlingual("calibrate", "val", "--out", "c.json", "--quiet").code == 0
    outcome = bkr("--pairs", "en-de,de-en", "--calibration", "c.json")
    said = " ".join(outcome.out.split())
    assert "extrapolation to other conditions, no interval: N is 60, in the calibration 365" in said
    assert "of the cases" not in said
    found = [row["estimated_xlr"] for row in read_json("out/results.json")["summary"] if row["estimated_xlr"]]
    assert len(found) == 3 and all(one["ci"] is None and 0 <= one["value"] <= 1 for one in found)
    assert "extrapolation" in found[-1]["note"]


def test_other_data_get_no_interval_from_families_of_encoders(
    xlingual: Any, bkr: Any, validated: Any
) -> None:
    validated(n=30)
    content = read_json("val/validation.json")
    content["pairs"][0]["conditions"]["data"] = "0123456789ab"
    Path("val/validation.json").write_text(json.dumps(content), encoding="utf-8")
    assert xlingual("calibrate", "val", "--out", "c.json", "--quiet").code == 0
    said = " ".join(bkr("--pairs", "en-de", "--calibration", "c.json").out.split())
    assert (
        "extrapolation to other data, no interval: jackknife+ at level 0.9 needs at least 9 data sets" in said
    )
    found = [row["estimated_xlr"] for row in read_json("out/results.json")["summary"] if row["estimated_xlr"]]
    assert found and all(one["ci"] is None for one in found)


def test_without_a_calibration_there_is_no_estimate(bkr: Any) -> None:
    assert "Estimated" not in bkr("--pairs", "en-de").out
    assert all(row["estimated_xlr"] is None for row in read_json("out/results.json")["summary"])


def test_bad_input_is_one_line(xlingual: Any, bkr: Any, validated: Any, work: Path) -> None:
    validated(n=2)
    for path in Path("out").iterdir():
        path.unlink()
    refused(xlingual("calibrate", "val", "--out", "c.json"), "at least 3 encoders", "found 2")
    refused(xlingual("calibrate", "nowhere", "--out", "c.json"), "nowhere is missing", "xlingual validate")
    refused(xlingual("calibrate", "s", "--out", "c.json"), "validation.json is missing")
    validated()
    for path in Path("out").iterdir():
        path.unlink()
    refused(xlingual("calibrate", "val", "--out", "v"), "--out v is a folder")
    refused(xlingual("calibrate", "val", "--out", "c.json", "--level", "1"), "between .5 and 1")
    assert xlingual("calibrate", "val", "--out", "c.json", "--quiet").code == 0
    refused(bkr("--calibration", "c.json", "--measure", "R@5"), "about R@10", "--measure R@10")
    refused(bkr("--calibration", "none.json"), "none.json is missing", "xlingual calibrate")
    content = read_json("c.json")
    Path("d.json").write_text(json.dumps({k: v for k, v in content.items() if k != "form"}), encoding="utf-8")
    refused(bkr("--calibration", "d.json"), "d.json", "'form' is missing")
    del content["cells"][0]["n_source"]
    Path("c.json").write_text(json.dumps(content), encoding="utf-8")
    refused(bkr("--calibration", "c.json"), "c.json", "'cells[0].n_source' is missing")
