"""Backretrieval worked out by hand: three sources, three targets, images on a circle."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.evaluation.backretrieval import backretrieval

shared = SimpleNamespace(**run_path(str(Path(__file__).parents[1] / "cases.py")))

# Images are angles in degrees; sources a b c, targets x y z.
ANGLES = {"a": 0, "b": 40, "c": 90, "x": 5, "y": 70, "z": 88}


def on_circle(degrees):
    return [np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]


def run(retrieved):
    """Run with texts such that each source retrieves the given targets (several: they tie)."""
    rows = [{"id": i, "lang": "en" if i in "abc" else "de", "text": i, "item": i} for i in ANGLES]
    manifest = Manifest.of(rows)
    place = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}
    vectors = place | {
        source: np.sum([place[t] for t in targets], 0) for source, targets in retrieved.items()
    }
    case = shared.Case(
        manifest,
        {"e": np.array([vectors[i] for i in manifest.ids], dtype=np.float32)},
        np.array([on_circle(ANGLES[i]) for i in manifest.ids], dtype=np.float32),
    )
    results = backretrieval(
        manifest,
        text_encoders=case.encoders(),
        image_encoder=case.image_encoder,
        pairs="en-de",
        measures=["R@1", "R@2", "RR", "MedR"],
    )
    return {entry.measure: entry for entry in results.entries}, results


def test_plain_ranks():
    found, results = run({"a": "x", "b": "z", "c": "x"})  # ranks 1, 2, 3
    assert found["R@1"].value == pytest.approx(1 / 3)
    assert found["R@2"].value == pytest.approx(2 / 3)
    assert found["RR"].value == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert found["MedR"].value == 2
    cosine = [np.cos(np.radians(angle)) for angle in (5, 48, 85)]
    assert found["SIM"].value == pytest.approx(np.mean(cosine), abs=1e-7)
    assert found["R@1"].n_tied == 0
    rows = [row for row in results.per_query.to_pylist() if row["measure"] == "R@1"]
    assert [(r["query"], r["retrieved"], r["above"], r["tied"], r["value"]) for r in rows] == [
        ("a", "x", 0, 1, 1.0),
        ("b", "z", 1, 1, 0.0),
        ("c", "x", 2, 1, 0.0),
    ]


def test_oracle_is_not_the_ceiling_and_an_encoder_may_beat_it():
    """The image nearest to b is y's (30°), which is nearer to c: the oracle misses b at R@1."""
    found, _ = run({"a": "x", "b": "x", "c": "z"})
    assert found["R@1"].oracle == pytest.approx(2 / 3)
    assert found["R@1"].ceiling == pytest.approx(2 / 3)
    assert found["R@1"].chance == pytest.approx(1 / 3)
    assert found["R@2"].oracle == found["R@2"].ceiling == 1
    assert found["RR"].oracle == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert found["MedR"].oracle == 1
    assert found["MedR"].ceiling is None
    nearest = [np.cos(np.radians(angle)) for angle in (5, 30, 2)]
    assert found["SIM"].oracle == found["SIM"].ceiling == pytest.approx(np.mean(nearest), abs=1e-7)


def test_texts_that_tie_for_nearest_are_averaged_over():
    found, results = run({"a": "xy", "b": "xyz", "c": "z"})
    assert found["R@1"].value == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert found["RR"].value == pytest.approx(((1 + 1 / 3) / 2 + 1 / 2 + 1) / 3)
    assert found["MedR"].value == 2  # mean ranks 2, 2, 1
    assert found["R@1"].n_tied == 2
    rows = [row for row in results.per_query.to_pylist() if row["measure"] == "R@1"]
    assert [row["retrieved"] for row in rows] == [None, None, "z"]
