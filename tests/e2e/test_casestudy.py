"""`xlingual casestudy` end to end on small built-in scenes: trained here, trained before, and bad input."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

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
    assert "mean over 6 language pairs" in outcome.out and "small (base)" in outcome.out
    found = CaseStudy.read("out")
    assert [model.name for model in found.models][-2:] == ["triplet", "triplet-xl"]
    control = found.model("control")
    assert control is not None and control.name == "small-title-body"
    assert [(d.model, d.other) for d in found.differences[:3]] == [
        ("triplet", "small"), ("triplet", "small-title-body"), ("small-title-body", "small"),
    ]  # fmt: skip
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
    refused = xlingual("report", "out", "out/backretrieval", "--out", "both.html")
    assert refused.code == 2 and "holds a case study, which has its own report" in refused.err


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

    refused = study(*ENCODERS, *small, "--out", "out")
    assert refused.code == 2 and "triplet-0 already has a model or a training" in refused.err
    resumed = study(*ENCODERS, *small, "--out", "out", "--resume", "--base", content["base"])
    assert resumed.code == 0, resumed.err
    assert json.loads(resumed.out)["models"] == content["models"]
    folders = [f"out/models/{recipe}-{i}" for recipe in ("triplet", "triplet-xl") for i in (0, 1)]
    given = [word for folder in folders for word in (f"--{Path(folder).name[:-2]}", folder)]
    taken = study(*ENCODERS, *given, "--out", "again", "--base", content["base"], *small[-3:])
    assert taken.code == 0, taken.err
    assert json.loads(taken.out)["models"] == content["models"]


@pytest.mark.slow
def test_fewer_languages_are_evaluated_than_trained_on(study: Any, full: bool) -> None:
    pytest.importorskip("torch")
    small = ("--epochs", "1", "--batch", "16", "--neighbours", "2", "--json")
    outcome = study(*ENCODERS[2:], *small, "--pairs", "en-es,es-en", "--out", "out")
    assert outcome.code == 0, outcome.err
    content = json.loads(outcome.out)
    assert content["n_pairs"] == 2
    assert any("lsa is fitted on other languages where it is evaluated" in w for w in content["warnings"])
    if full:
        whole = study(*ENCODERS[2:], *small, "--out", "whole")
        assert not any("other languages" in warning for warning in json.loads(whole.out)["warnings"])


def test_data_that_are_not_there(xlingual: Any, work: Path) -> None:
    missing = xlingual("casestudy", "lareq", *GIVEN, "--text-encoder", "random", "--out", "t")
    assert missing.code == 2 and "lareq: no such file or folder" in missing.err
    assert "Did you mean 'lareqa'?" in missing.err
    encoder = xlingual("casestudy", "m.csv", "--text-encoder", "random", "--out", "t")
    assert encoder.code == 2 and "--image-encoder" in encoder.err


@pytest.fixture(scope="module")
def photographed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of scenes, others to fit on, and `small.npy`, other vectors of their images."""
    folder = tmp_path_factory.mktemp("photographed")
    path = write_scenes(folder / "r", n=200, languages=["en", "es"], train=0.6, size=24)
    write_scenes(folder / "parallel", n=40, languages=["en", "es"], train=1.0, size=16, seed=1)
    vectors = []
    for name in pq.read_table(path)["image"].to_pylist():
        with Image.open(path.parent / name) as image:
            vectors.append(np.asarray(image.convert("RGB").resize((4, 4))).reshape(-1))
    np.save(folder / "small.npy", np.asarray(vectors, dtype=np.float32))
    return folder


def test_an_image_pivot_needs_images_and_another_image_encoder(study: Any) -> None:
    own = study(*ENCODERS, *MODELS, "--out", "out", "--pivot-image-encoder", "pixels")
    assert own.code == 2 and "--pivot-image-encoder is the image encoder that the study evaluates" in own.err
    Path("row.npy").write_bytes(b"")
    missing = study(*ENCODERS, *MODELS, "--out", "out", "--pivot-image-encoder", "vectors:row.npy")
    assert missing.code == 2 and "row.npy" in missing.err
    taken = (*ENCODERS, "--text-encoder", f"image-pivot=lsa:?{FIT}", *MODELS, "--out", "out")
    np.save("own.npy", np.eye(140, 8, dtype=np.float32))
    named = study(*taken, "--pivot-image-encoder", "vectors:own.npy")
    assert named.code == 2 and "a text encoder is named 'image-pivot'" in named.err


@pytest.mark.slow
def test_an_image_pivot_beside_models_that_were_trained_before(
    photographed: Path, xlingual: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("r", "parallel", "small.npy"):
        (tmp_path / name).symlink_to(photographed / name)
    monkeypatch.chdir(tmp_path)
    asked = ("casestudy", "r", *GIVEN, *ENCODERS, *MODELS, "--base", "small", "--no-control")
    pivot = ("--pivot-image-encoder", "vectors:small.npy")
    plain = xlingual(*asked, "--out", "plain")
    assert plain.code == 0, plain.err
    outcome = xlingual(*asked, *pivot, "--out", "out", "--report")
    assert outcome.code == 0, outcome.err
    assert "Image pivot" in outcome.out and "nothing was tested" not in outcome.err
    before, found = CaseStudy.read("plain"), CaseStudy.read("out")
    assert before.pivot is None and found.pivot is not None and found.pivot.image_encoder == "small"
    assert found.pivot.items == 120
    model = found.model("image-pivot")
    assert model is not None and found.difference("image-pivot", "all pairs", "base") is not None
    assert {one.name: one.value for one in before.models} == {
        one.name: one.value for one in found.models if one is not model
    }
    spec = found.trainings[0].spec
    assert spec.startswith("model:out/models/image-pivot::")
    again = xlingual("evaluate", "backretrieval", "r", "--split", "test", *GIVEN, "--text-encoder", spec)
    assert again.code == 0 and f"{model.value:.3f}"[1:] in again.out
    refused = xlingual(*asked, *pivot, "--out", "out")
    assert refused.code == 2 and "image-pivot already has a model" in refused.err
    replaced = xlingual(*asked, *pivot, "--out", "out", "--force")
    assert replaced.code == 0 and CaseStudy.read("out").models == found.models


def test_the_help_names_the_words_in_place_of_a_manifest(xlingual: Any) -> None:
    shown = xlingual("casestudy", "--help").out
    words = shown.partition("In place of MANIFEST:\n")[2].partition("\nOptions:")[0].splitlines()
    assert [line.split()[0] for line in words if line.startswith("  ") and line[2] != " "] == [
        "mlmme", "lareqa"
    ]  # fmt: skip
    for word in ("mlmme", "lareqa"):
        assert f"Usage: xlingual casestudy {word} " in xlingual("casestudy", word, "--help").out


def test_an_item_of_both_splits_is_refused(xlingual: Any, tmp_path: Path) -> None:
    rows = [
        {
            "id": f"{i}{lang}",
            "item": i % 3,
            "lang": lang,
            "text": f"text {i} {lang}",
            "image": f"{i}.png",
            "split": "train" if i % 2 else "test",
        }
        for i in range(8)
        for lang in ("en", "de")
    ]
    manifest = tmp_path / "m.jsonl"
    manifest.write_text("\n".join(map(json.dumps, rows)))
    outcome = xlingual("casestudy", manifest, *GIVEN, "--text-encoder", "lsa", "--out", tmp_path / "out")
    assert outcome.code == 2 and "3 items are both trained and evaluated on, with other texts" in outcome.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--out is missing"),
        (("--out", "out", "--base", "smal"), "no text encoder is named 'smal'. Did you mean 'small'?"),
        (("--out", "out", *MODELS, "--triplet", "random"), "2 models of triplet and 1 of triplet-xl"),
        (("--out", "out", *MODELS, "--trainings", "3"), "1 trained model of a recipe and 3 trainings"),
        (("--out", "out", "--train-split", "test"), "texts are both trained and evaluated on"),
        (("--out", "out", "--train-split", "nowhere"), "nowhere"),
        (("--out", "out", "--measure", "MedR"), "needs a measure from 0 to 1"),
        (("--out", "out", "--text-encoder", "triplet=random"), "a text encoder is named 'triplet'"),
        (("--out", "out", "--text-encoder", "lsa-title-body=random"), "as the control of lsa will be"),
        (("--out", "out", "--trainings", "0"), "at least one is needed"),
        (("--out", "out", "--measure", "R@40", "--base", "lsa"), "40"),
        (("--out", "out", "--pairs", "en-xx", *MODELS), "unknown language 'xx'"),
        (("--out", "out", "--title", "heading"), "heading"),
    ],
)
def test_bad_input_is_one_line(study: Any, options: tuple[str, ...], words: str) -> None:
    outcome = study(*ENCODERS, *options)
    assert outcome.code == 2 and outcome.out == ""
    errors = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and words in errors[0]
    assert "Traceback" not in outcome.err
    assert not Path("out/case_study.json").exists()


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a pool of built-in scenes, two descriptions in each of two languages, divided."""
    from xlingual.data.manifest import Manifest
    from xlingual.data.pools.mix import mix_pool
    from xlingual.demo_data.scenes import write_scenes

    folder = tmp_path_factory.mktemp("scenes")
    manifest = write_scenes(folder, n=60, languages=["en", "de"], size=16, texts=2)
    return mix_pool(Manifest.read(manifest)).write(folder / "pool")


SMALL = (
    "--trainings",
    "1",
    "--epochs",
    "1",
    "--dim",
    "8",
    "--buckets",
    "64",
    "--threads",
    "1",
    "--device",
    "cpu",
)


def test_regimes_of_dual_encoders(pool: Path, xlingual: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    out = tmp_path / "out"
    asked = ("casestudy", "lareqa", pool, "--out", out, "--regimes", "x-y,x-x", *SMALL)
    done = xlingual(*asked, "--report")
    assert done.code == 0, done.err
    assert "In the pool of all languages" in done.out and "Each regime was trained once" in " ".join(
        done.out.split()
    )
    assert "x-y-0 (1 of 3): epoch 1/1" in done.err and f"wrote {out}/regime_study.json" in done.err
    again = xlingual(*asked, "--format", "csv")
    assert again.code == 0 and "epoch 1/1" not in again.err  # nothing is trained twice
    assert again.out.splitlines()[0].startswith("section,table,regime,mAP,")
    kept = json.loads((out / "regime_study.json").read_text())
    assert kept["request"]["regimes"] == ["x-y", "x-x"] and kept["request"]["epochs"] == 1
    page = xlingual("report", out, "--out", tmp_path / "again.html")
    assert page.code == 0 and (tmp_path / "again.html").read_bytes() != b""
    other = xlingual(*asked, instead=("--epochs", "2"))
    assert other.code == 2 and "was trained with other settings (epochs was 1 and is 2)" in other.err
    assert xlingual(*asked, instead=("--epochs", "2", "--force")).code == 0


def test_regimes_from_a_file(pool: Path, xlingual: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    lines = (
        'command = "casestudy lareqa"',
        f'pool = "{pool}"',
        f'out = "{tmp_path}/out"',
        'regimes = ["x-y"]',
    )
    rest = "trainings = 1\nepochs = 1\ndim = 8\nbuckets = 64\nthreads = 1\n"
    (tmp_path / "study.toml").write_text("\n".join(lines) + "\n" + rest, encoding="utf-8")
    done = xlingual("run", tmp_path / "study.toml")
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "regime_study.json").is_file()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((), "--out is missing"),
        (("--out", "o", "--regimes", "x-z"), "x-z"),
        (("--out", "o", "--split", "dev"), "dev"),
        (("--out", "o", "--train-data", "nowhere"), "nowhere: no such file or folder"),
    ],
)
def test_what_a_study_of_regimes_refuses(
    pool: Path,
    xlingual: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = xlingual("casestudy", "lareqa", pool, *given, *SMALL)
    assert done.code == 2 and words in done.err and "Traceback" not in done.err


def test_regimes_on_built_in_data(xlingual: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from xlingual.workflows import regime_study

    small = partial(regime_study.built_in_pool, n=40, languages=("en", "de"))
    monkeypatch.setattr(regime_study, "built_in_pool", small)
    done = xlingual("casestudy", "lareqa", "--out", tmp_path, "--regimes", "x-y", "--steps", "1", *SMALL)
    assert done.code == 0 and "x-y-0 (1 of 2): epoch 1/1" in done.err, done.err
    kept = json.loads((tmp_path / "regime_study.json").read_text())
    assert (kept["n_trained"], kept["n_questions"], kept["languages"]) == (20, 40, ["en", "de"])
    assert "pool" not in kept["request"]
    refused = xlingual("casestudy", "lareqa", "--out", tmp_path, "--train-data", tmp_path, *SMALL)
    assert refused.code == 2 and "POOL is missing" in refused.err
