"""`xlingual train triplet` and `triplet-xl`, and the model as an encoder of an evaluation."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual.demo_data.scenes import write_scenes

pytest.importorskip("torch")

BASE = "lsa:?fit=parallel/manifest.parquet#train"
TRAIN = ("--split", "train", "--text-encoder", BASE, "--no-store", "--threads", "1", "--epochs", "2")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with scenes in two languages, and others to fit an encoder on."""
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder / "r", n=100, train=0.6, languages=("en", "es"))
    write_scenes(folder / "parallel", n=60, train=1.0, languages=("en", "es"), seed=1)
    return folder


@pytest.fixture
def here(work: Path, made: Path) -> Path:
    """Return the current folder, with the scenes in `r` and in `parallel`."""
    for name in ("r", "parallel"):
        (work / name).symlink_to(made / name)
    return work


@pytest.mark.parametrize("recipe", ["triplet", "triplet-xl"])
@pytest.mark.cases(1)
def test_a_model_is_trained_and_evaluated(xlingual: Any, here: Path, recipe: str) -> None:
    done = xlingual("train", recipe, "r", *TRAIN, "--out", "m", "--lr", "0.005", "--out-dim", "20")
    assert done.code == 0, done.err
    assert "Trained on en " in done.out and f"--text-encoder 'model:m::{BASE}'" in done.out
    config = json.loads((here / "m" / "config.json").read_text())
    assert (config["kind"], config["training"]["recipe"]) == ("triplet", recipe)
    assert (config["training"]["rate"], config["training"]["patience"]) == (0.005, None)
    assert config["training"]["beta"] == (0.01 if recipe == "triplet-xl" else 0)
    pair = ("--text-encoder", f"mine=model:m::{BASE}", "--text-encoder", BASE)
    split = ("--split", "test", "--image-encoder", "pixels", "--no-store", "--threads", "1", "--json")
    evaluated = xlingual("evaluate", "bkr", "r", *pair, *split)
    assert evaluated.code == 0, evaluated.err
    assert {entry["encoder"] for entry in json.loads(evaluated.out)["results"]} == {"mine", "lsa"}
    again = xlingual("train", recipe, "r", *TRAIN, "--out", "m")
    assert again.code == 2 and "already has a model" in again.err
    other = xlingual("evaluate", "bkr", "r", "--text-encoder", "model:m::random", *split)
    assert other.code == 2 and "was trained on another encoder" in other.err


def test_the_papers_conventions(xlingual: Any, here: Path) -> None:
    done = xlingual("train", "triplet-xl", "r", *TRAIN, "--out", "m", "--recipe", "paper", "--json")
    assert done.code == 0, done.err
    config = json.loads(done.out)
    assert config["model"]["scaling"] == "raw" and config["training"]["keep_epoch"] == "last"
    assert config["training"]["neighbours_in"] == "body-title"
    assert config["training"]["rate"] == 0.01 and config["training"]["beta"] == 0.01
    assert "Epoch 2 of 2 is the model" in (here / "m" / "README.md").read_text()
    own = xlingual(
        "train", "triplet-xl", "r", *TRAIN, "--out", "o", "--recipe", "paper", "--scaling", "unit",
        "--neighbours-in", "concatenated", "--neighbours-from", "index", "--json",
    )  # fmt: skip
    assert own.code == 0, own.err
    assert json.loads(own.out)["model"]["scaling"] == "unit"
    assert "| neighbours_in | concatenated |" in (here / "o" / "README.md").read_text()


def test_options_from_a_file_and_a_split_text(xlingual: Any, here: Path) -> None:
    (here / "o.toml").write_text('split-text = "halves"\nmargin = 0.3\nneighbours = 2\nepochs = 9\n')
    done = xlingual("train", "triplet-xl", "r", *TRAIN, "--config", "o.toml", "--out", "m", "--json")
    assert done.code == 0, done.err
    config = json.loads(done.out)
    assert config["model"]["split"] == "halves" and config["training"]["epochs"] == 2
    assert (config["training"]["margin"], config["training"]["neighbours"]) == (0.3, 2)


@pytest.mark.parametrize(
    ("recipe", "more", "said"),
    [
        ("triplet", ("--title", "name"), "no column 'name'"),
        ("triplet-xl", ("--neighbours", "200"), "too few for 200 neighbours"),
        ("triplet-xl", ("--beta", "0"), "take the other recipe"),
        ("triplet", ("--split-text", "halves", "--title", "name"), "leave title and body out"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(
    xlingual: Any, here: Path, recipe: str, more: tuple[str, ...], said: str
) -> None:
    split = TRAIN[2:] if "--rows" in more else TRAIN
    done = xlingual("train", recipe, "r", *split, "--out", "m", *more)
    assert done.code == 2 and said in done.err and "Traceback" not in done.err


@pytest.mark.parametrize(
    ("encoders", "said"),
    [
        (("chargram",), "other vectors among other texts"),
        (("lsa", "chargram"), "--text-encoder is given 2 times: a model stands on one"),
    ],
)
def test_the_encoder_below(xlingual: Any, here: Path, encoders: tuple[str, ...], said: str) -> None:
    told = [word for spec in encoders for word in ("--text-encoder", spec)]
    done = xlingual("train", "triplet", "r", "--split", "train", *told, "--out", "m")
    assert done.code == 2 and said in done.err and len(done.err.splitlines()) == 1


def test_vectors_of_a_file_show_how_they_are_replaced(xlingual: Any, here: Path) -> None:
    rows = [
        {"id": i, "lang": ("en", "de")[i % 2], "text": "x", "title": f"title {i}", "body": f"body {i}"}
        for i in range(80)
    ]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    np.save("v.npy", np.random.default_rng(0).normal(size=(80, 4)).astype(np.float32))
    base = "vectors:v.npy"
    done = xlingual("train", "triplet", "t.jsonl", *TRAIN[4:], "--text-encoder", base, "--out", "m")
    assert "--text-encoder 'model:m?base=trusted::vectors:OTHER'  (for other texts)" in done.out
