"""`xlingual casestudy` end to end on small built-in scenes: trained here, trained before, and bad input."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from xlingual.demo_data.scenes import write_scenes
from xlingual.results import Results
from xlingual.results.case_study import CaseStudy

FIT = "fit=parallel/manifest.parquet%23train"
GIVEN = ("--image-encoder", "pixels", "--measure", "R@5", "--threads", "1")
ENCODERS = ("--text-encoder", f"small=lsa:?pairs=20&{FIT}", "--text-encoder", f"lsa:?{FIT}")
MODELS = ("--triplet", f"lsa:?pairs=30&{FIT}", "--triplet-xl", f"lsa:?pairs=40&{FIT}")


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder / "r", n=140, languages=["en", "es", "ru"], train=60 / 140)
    write_scenes(folder / "parallel", n=60, languages=["en", "es", "ru"], train=1.0, seed=1)
    return folder


@pytest.fixture
def study(scenes: Path, xlingual: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return the command, run in a folder that has the scenes as `r`, and others as `parallel`."""
    for name in ("r", "parallel"):
        (tmp_path / name).symlink_to(scenes / name)
    monkeypatch.chdir(tmp_path)
    return lambda *more: xlingual("casestudy", "r", *GIVEN, instead=more)


def test_models_that_were_trained_before(study: Any, xlingual: Any) -> None:
    outcome = study(*ENCODERS, *MODELS, "--base", "small", "--out", "out", "--report")
    assert outcome.code == 0, outcome.err
    found = CaseStudy.read("out")
    assert [model.name for model in found.models][-2:] == ["triplet", "triplet-xl"]
    control = found.model("control")
    assert control is not None and control.name == "small-title-body"
    assert found.best is not None and len(found.best.others) == 4
    assert all(len(other.pairs) == 6 for other in found.best.others)
    assert found.base == "small" and found.base_given and found.n_trainings == 1
    assert [training.seed for training in found.trainings] == [None, None]
    results = Results.read("out/backretrieval")
    models = {"small", "lsa", "small-title-body", "triplet", "triplet-xl"}
    assert {entry.encoder for entry in results.entries} == models
    for name in ("case_study.json", "report.html", "backretrieval/report.html"):
        assert f"wrote out/{name}" in outcome.err and Path("out", name).is_file()
    again = xlingual("report", "out", "--out", "again.html")
    assert again.code == 0
    assert Path("again.html").read_bytes() == Path("out/report.html").read_bytes()
    worst = [f"{pair.source} → {pair.target}" for pair in found.worst.shown]
    annotated = ("--annotate", worst[1].replace(" → ", "-"), "--format", "csv")
    without = study(
        *ENCODERS, *MODELS, "--base", "small", "--out", "plain", "--no-control", "--report", *annotated
    )
    assert without.code == 0 and CaseStudy.read("plain").model("control") is None
    for shown in (without, xlingual("report", "plain", *annotated)):
        rows = csv.DictReader(io.StringIO(shown.out))
        followed = {row["pair"]: row["in the figure"] for row in rows if row["in the figure"]}
        assert [pair for pair, there in followed.items() if there == "yes"] == [worst[1]]
        assert set(followed) >= set(worst)
    xlingual("report", "out", "out/backretrieval", "--out", "both.html")


@pytest.mark.slow  # trained here once: test_fewer_languages_are_evaluated_than_trained_on
def test_models_that_are_trained_here_several_times(study: Any) -> None:
    pytest.importorskip("torch")
    small = ("--epochs", "2", "--batch", "16", "--neighbours", "2", "--trainings", "2", "--json")
    small = (*small, "--pairs", "en-es,es-en")
    outcome = study(*ENCODERS, *small, "--out", "out")
    assert outcome.code == 0, outcome.err
    content = json.loads(outcome.out)
    assert content["schema"] == "xlingual/case_study/1" and content["n_trainings"] == 2
    assert not content["base_given"] and content["base"] in ("small", "lsa")
    assert [(t["encoder"], t["seed"], t["epochs"]) for t in content["trainings"]] == [
        ("triplet-0", 0, 2), ("triplet-1", 1, 2), ("triplet-xl-0", 0, 2), ("triplet-xl-1", 1, 2),
    ]  # fmt: skip
    config = json.loads(Path("out/models/triplet-xl-1/config.json").read_text(encoding="utf-8"))
    assert config["training"]["beta"] == 0.01 and config["training"]["neighbours"] == 2
    assert content["worst"]["other_trainings"] and content["worst"]["retrained"] is not None

    study(*ENCODERS, *small, "--out", "out")
    resumed = study(*ENCODERS, *small, "--out", "out", "--resume", "--base", content["base"])
    assert resumed.code == 0, resumed.err
    assert json.loads(resumed.out)["models"] == content["models"]
    folders = [f"out/models/{recipe}-{i}" for recipe in ("triplet", "triplet-xl") for i in (0, 1)]
    given = [word for folder in folders for word in (f"--{Path(folder).name[:-2]}", folder)]
    taken = study(*ENCODERS, *given, "--out", "again", "--base", content["base"], *small[-3:])
    assert taken.code == 0, taken.err
    assert json.loads(taken.out)["models"] == content["models"]
