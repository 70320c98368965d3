"""Backretrieval's case study on small built-in scenes, against the evaluation and naive means."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")

from xlingual.data.manifest import Manifest
from xlingual.demo_data.scenes import write_scenes
from xlingual.encoders import parse
from xlingual.errors import InputError
from xlingual.papers.backretrieval import REQUEST, control_of, presets, run_study
from xlingual.papers.study import Context
from xlingual.requests import made
from xlingual.results import Results
from xlingual.training.recipes.triplet_options import TripletOptions

SMALL = {
    "validation": 0.3,
    "epochs": 2,
    "batch": 16,
    "neighbours": 2,
    "trainings": 2,
    "threads": 1,
    "device": "cpu",
}


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder / "r", n=140, languages=["en", "es"], train=60 / 140)
    write_scenes(folder / "parallel", n=60, languages=["en", "es"], train=1.0, seed=1)
    return folder


def request(scenes, out, **more):
    fit = f"fit={scenes / 'parallel' / 'manifest.parquet'}%23train"
    given = {
        "manifest": scenes / "r",
        "text_encoders": [f"small=lsa:?pairs=20&{fit}", f"lsa:?{fit}"],
        "image_encoder": "pixels",
        "measure": "R@5",
        "out": out,
    }
    return made(REQUEST, {**given, **SMALL, **more})


@pytest.fixture(scope="module")
def done(scenes, tmp_path_factory):
    out = tmp_path_factory.mktemp("study")
    return out, run_study(request(scenes, out), Context())


def test_values_are_those_of_the_evaluation(done):
    out, study = done
    base = study.tables[0].reference
    other = {"small": "lsa", "lsa": "small"}[base]
    assert study.models == [other, base, f"{base}-title-body", "triplet", "triplet-xl"]
    results = Results.read(out / "backretrieval")
    overall = {row.encoder: row for row in results.summary if row.source is None and row.measure == "R@5"}
    assert overall[base].value == max(overall[name].value for name in ("small", "lsa"))
    for name in study.models:
        score = study.score("Table 2", "R@5", name)
        labels = [label for label in overall if label in (name, f"{name}-0", f"{name}-1")]
        assert score.per_run == pytest.approx([overall[label].value for label in labels])
        pairs = [row.scores[name].value for row in study.of_table("Figure 3")]
        assert len(pairs) == 2 and score.value == pytest.approx(np.mean(pairs))
        if len(labels) == 1:
            assert score.ci == overall[name].ci
    assert study.rows[0].chance == pytest.approx(overall[base].chance)


def test_what_training_changes_adds_up(done):
    _, study = done
    base = study.tables[0].reference
    headline = {(one.model, one.other): one.value for one in study.differences if one.headline}
    control = f"{base}-title-body"
    assert set(headline) == {
        ("triplet", base), ("triplet", control), (control, base), ("triplet-xl", "triplet"),
    }  # fmt: skip
    assert headline["triplet", base] == pytest.approx(headline["triplet", control] + headline[control, base])
    every = [one for one in study.differences if one.family == "Every pair of models"]
    assert len(every) == 10 and all(one.p_adjusted >= one.p for one in every)


def test_recipes_of_the_two_models_and_the_conventions(done):
    out, study = done
    plain, xl = (
        json.loads((out / "models" / f"{name}-1.json").read_text()) for name in ("triplet", "triplet-xl")
    )
    assert plain["beta"] == 0 and xl["beta"] == 0.01 and xl["neighbours"] == 2 and plain["seed"] == 1
    assert {name for name in plain if plain[name] != xl[name]} == {"beta"}
    assert [one.epochs for one in study.trainings] == [2] * 4
    assert presets({}) == {} and presets({"conventions": "paper"})["keep_epoch"] == "last"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"base": "lza"}, "no text encoder is named 'lza'.*small, lsa"),
        ({"measure": "MedR"}, "--measure must be from 0 to 1"),
        ({"train_split": "test"}, "both trained and evaluated on"),
        ({"train_split": "trian"}, "train"),
    ],
)
def test_what_cannot_be_done_is_refused_before_any_work(scenes, tmp_path, more, words):
    with pytest.raises(InputError, match=words):
        run_study(request(scenes, tmp_path, **more), Context())
    assert not list(tmp_path.iterdir())


def test_without_columns_of_title_and_body_there_is_no_control(done, scenes):
    rows = [{"id": tag, "lang": tag, "text": "a. b"} for tag in ("en", "de")]
    manifest = Manifest.of(rows)
    assert control_of(TripletOptions(), "x", parse("random"), manifest)[0] == {}
    named, notes = control_of(TripletOptions(split="halves"), "x", parse("random"), manifest)
    assert list(named) == ["x-title-body"] and not notes
    with pytest.raises(InputError, match="split was None and is halves"):
        run_study(request(scenes, done[0], split_text="halves"), Context())
