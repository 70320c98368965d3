"""A blind study: raters see no system, and the analysis recovers what they were made to prefer."""

import json

import numpy as np
import pytest
from tests import program
from tests.behaviour.planted import manifest, noisy

FEW = ("--replicates", "199")
QUERIES, RATERS = 15, ("1", "2", "3")


@pytest.fixture
def made(tmp_path):
    data = manifest(tmp_path, 80)
    systems = {
        name: noisy(tmp_path, name, 80, noise, seed=seed).partition("=")[2]
        for name, noise, seed in (("good", 0.5, 0), ("bad", 30.0, 1))
    }
    options = ("--source", "de", "--target", "en", "--queries", str(QUERIES), "--per-system", "3")
    folder = tmp_path / "study"
    return folder, program.study(folder, data, systems, *options, "--raters", str(len(RATERS)))


def analysed(made, score):
    """Return the analysis where everybody scores by a function of rater and systems, 1 best and 4 worst."""
    folder, shown = made
    ratings = [
        {"rater": rater, **{key: page[key] for key in ("query", "suggestion", "occasion")}}
        | {"score": score(rater, page["systems"])}
        for rater in RATERS
        for page in shown
    ]
    return program.study_analysis(folder, ratings, *FEW).record


def test_planted_preferences_are_recovered(made):
    found = analysed(made, lambda _, systems: 1 if "good" in systems else 4)
    (pair,) = found["pairs"]
    shares = {one["system"]: one["share"] for one in found["systems"]}
    assert (pair["outcome"], pair["wins"]) == ("better", QUERIES)
    assert shares["good"] == 1 and shares["bad"] < 0.4
    assert found["n_raters"] == len(RATERS)


def test_an_opposite_preference_has_the_opposite_outcome(made):
    found = analysed(made, lambda _, systems: 4 if "good" in systems else 1)
    (pair,) = found["pairs"]
    assert pair["outcome"] == "worse"


def test_raters_at_random_prefer_nobody(made):
    rng = np.random.default_rng(0)
    found = analysed(made, lambda *_: int(rng.integers(1, 5)))
    (pair,) = found["pairs"]
    assert pair["outcome"] not in ("better", "worse")


def test_what_raters_see_names_no_system(made):
    folder, shown = made
    assert {name for page in shown for name in page["systems"]} == {"good", "bad"}
    files = [path for path in folder.rglob("*") if path.is_file() and "secret" not in path.parts]
    assert files
    for path in files:
        assert b'"good"' not in path.read_bytes() and b'"bad"' not in path.read_bytes(), path
    orders = json.loads((folder / "study.json").read_text("utf-8"))["orders"]
    assert orders[0] != orders[1]
