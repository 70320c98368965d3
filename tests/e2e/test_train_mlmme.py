"""`xlingual train mlmme`: what it writes, that it goes on bit for bit, and bad input in one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest

import xlingual as package

pytest.importorskip("torch")

refused = run_path(str(Path(__file__).parent / "refusals.py"))["refused"]
SMALL = (
    *("--word-dim", "8", "--state-dim", "8", "--joint-dim", "8", "--batch", "32", "--threads", "1"),
    *("--device", "cpu", "--validation", "0.2"),
)
IMAGES = ("--image-encoder", "img.npy")
TWO = ("train", "mlmme", "s", "--languages", "en,de", *IMAGES, *SMALL)
KILLED = """
import json, os, signal, sys
from xlingual.cli.main import run
from xlingual.training import checkpoints
save = checkpoints._save
def killing(path, tensors, metadata=None):
    if metadata and json.loads(metadata["state"])["standing"]["epoch"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    save(path, tensors, metadata)
checkpoints._save = killing
run(sys.argv[1:])
"""


def log(folder: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in Path(folder, "log.jsonl").read_text().splitlines()]
    return [{**line, "seconds": 0} for line in lines]


def same_model(one: str, other: str) -> bool:
    parts = ("model.safetensors", "vocabulary.en.txt", "vocabulary.de.txt")
    return all(Path(one, part).read_bytes() == Path(other, part).read_bytes() for part in parts)


def test_the_recipe_of_the_paper(xlingual: Any) -> None:
    paper = ("--recipe", "paper", "--contrastive", "2", "--epochs", "1", "--json")
    config = json.loads(xlingual(*TWO, *paper, "--out", "own").out)
    assert config["model"]["text_map"] == "per-language"
    names = ("recipe", "pairs", "redraw", "text_map", "contrastive", "margin", "optimizer")
    assert [config["training"][name] for name in names] == [
        "paper", "ordered-sum", "instance", "per-language", 2, 0.2, "adam"
    ]  # fmt: skip
    other = ("--text-map", "shared", "--pairs", "sum", "--redraw", "batch")
    config = json.loads(xlingual(*TWO, *paper, *other, "--out", "shared").out)
    assert config["model"]["text_map"] == "shared"
    names = ("text_map", "redraw", "pairs")
    assert [config["training"][name] for name in names] == ["shared", "batch", "sum"]
    Path("own/README.md").read_text()
    encoders = ("--text-encoder", "model:own", "--image-encoder", "model:own::img.npy")
    judged = xlingual("evaluate", "image-sentence", "s", "--languages", "en,de", *encoders, "--json")
    assert judged.code == 0 and json.loads(judged.out)["results"]


def test_without_images(xlingual: Any) -> None:
    done = xlingual("train", "mlmme", "s", "--beta", "0", *SMALL, "--epochs", "1", "--out", "m", "--json")
    config = json.loads(done.out)
    assert done.code == 0 and config["base"] is None and config["model"]["picture_dim"] is None
    assert set(config["training"]["scores"]) == {"en-de", "en-es", "de-es"}
    assert config == json.loads(Path("m/config.json").read_text())


@pytest.mark.slow  # of crashes at every step: tests/unit/training/fit/test_checkpoints.py
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_a_training_that_was_killed_goes_on_bit_for_bit(xlingual: Any) -> None:
    several = (*TWO, "--epochs", "4", "--patience", "none", "--quiet")
    command = [sys.executable, "-c", KILLED, *several, "--out", "killed"]
    found = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    killed = subprocess.run(command, env=found, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(log("killed")) == 3  # the third has its line, and no checkpoint
    encoders = ("--text-encoder", "model:killed", "--image-encoder", "model:killed::img.npy")
    refused(xlingual("evaluate", "image-sentence", "s", *encoders), "its training is not finished")
    refused(xlingual(*several, "--out", "killed"), "a training that was interrupted")
    assert xlingual(*several, "--out", "killed", "--resume").code == 0
    assert xlingual(*several, "--out", "whole").code == 0
    assert same_model("whole", "killed") and log("whole") == log("killed")
    assert not Path("killed/.xlingual-corpus").exists()


def test_the_command_line_wins_over_the_file(xlingual: Any) -> None:
    Path("c.toml").write_text(
        'languages = ["en", "de"]\nword-dim = 8\nstate_dim = 8\njoint_dim = 8\nepochs = 2\nbeta = 1\n'
        'patience = "none"\nseed = 3\n'
    )
    command = ("train", "mlmme", "s", *IMAGES, "--config", "c.toml", "--validation", "0.2", "--json")
    found = json.loads(xlingual(*command, "--out", "a").out)["training"]
    assert [found[name] for name in ("languages", "epochs", "beta", "patience", "fit_seed")] == [
        ["en", "de"], 2, 1.0, None, 3
    ]  # fmt: skip
    told = ("--epochs", "1", "--beta", "0.25", "--patience", "4", "--languages", "en,es", "--seed", "1")
    found = json.loads(xlingual(*command, *told, "--out", "b").out)["training"]
    assert [found[name] for name in ("languages", "epochs", "beta", "patience", "seed", "fit_seed")] == [
        ["en", "es"], 1, 0.25, 4, 1, 1
    ]  # fmt: skip
    Path("c.toml").write_text("epoch = 3\n")
    refused(xlingual(*command, "--out", "c"), "c.toml", "Did you mean 'epochs'?")


def test_recipes_of_one_language(xlingual: Any) -> None:
    command = ("train", "mlmme", "s", *IMAGES, *SMALL, "--epochs", "1", "--json")
    found = json.loads(xlingual(*command, "--languages", "en", "--recipe", "vsepp", "--out", "m").out)
    training = found["training"]
    assert [training[name] for name in ("recipe", "beta", "contrast", "threshold", "rate", "clip")] == [
        "vsepp", 1.0, "hardest", 4, 2e-4, 2.0
    ]  # fmt: skip
    refused(xlingual(*command, "--recipe", "vse", "--out", "n"), "vse is a model of one language")
    only = json.loads(xlingual(*command, "--languages", "en", "--out", "o").out)
    assert only["training"]["beta"] == 1.0 and only["training"]["recipe"] == "mlmme"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--languages", "en,fr"), "no texts in 'fr'"),
        (("--languages", "en,en"), "'en' is given twice"),
        (("--languages", ""), "none is given"),
        (("--beta", "0"), "with beta 0 no image counts"),
        (("--beta", "nan"), "--beta must be a number of at least 0 and at most 1"),
        (("--threshold", "100000"), "no word of 'en' occurs 100000 times or more"),
        (("--rate", "1e30"), "the loss is nan at epoch 1, batch 2 of 3"),
        (("--patience", "0"), "neither a number of at least 1 nor 'none'"),
        (("--validation", "nowhere"), "no split 'nowhere'"),
        (("--validation", "2"), "a share is between 0 and 1"),
        (("--validation", "train"), "texts are both trained and validated on"),
        (("--rows", "0:60", "--validation", "s#60:61"), "the validation has one item"),
        (("--resume",), "has no checkpoint to continue from"),
        (("--image-encoder", "bad.npy"), "bad.npy has 7 lines"),
        (("--image-encoder", "nan.npy"), "hold NaN"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_model(xlingual: Any, more: tuple[str, ...], said: str) -> None:
    vectors = np.load("img.npy")
    np.save("bad.npy", vectors[:7])
    np.save("nan.npy", np.where(np.arange(len(vectors))[:, None] == 3, np.nan, vectors))
    refused(xlingual(*TWO, "--epochs", "2", "--out", "m", instead=more), said)
    assert not Path("m/config.json").exists()


def test_what_lies_in_the_folder_stays(xlingual: Any) -> None:
    for name in ("work", "checkpoint"):
        Path("m", name).mkdir(parents=True)
        Path("m", name, "own.txt").write_text("mine")
    for more in ((), ("--force",)):
        assert xlingual(*TWO, "--epochs", "1", "--out", "m", "--quiet", *more).code == 0
    assert [Path("m", name, "own.txt").read_text() for name in ("work", "checkpoint")] == ["mine"] * 2
    refused(xlingual(*TWO, "--epochs", "1", "--out", "m"), "already has a model")
