"""The three trainings beat chance on scenes, and go on bit for bit where they stopped."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests import program
from tests.behaviour.planted import TAGS, evaluate, numbers, write_lines
from tests.program import command

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    """Generated scenes: images with texts in two languages, half of them to train on."""
    folder = tmp_path_factory.mktemp("scenes")
    code, _, err = command("data", "scenes", "--n", 240, "--languages", "en,de", "--out", folder, "--quiet")
    assert code == 0, err
    return folder


def trained_in_one_go_and_in_two(recipe, data, folder, options, epochs):
    """Train twice, once with a stop in the middle; return the folder after comparing the models."""
    more = (*options, "--patience", "none")
    whole = program.train(recipe, data, folder / "whole", *more, "--epochs", epochs)
    program.train(recipe, data, folder / "parts", *more, "--epochs", epochs // 2)
    parts = program.train(recipe, data, folder / "parts", *more, "--epochs", epochs, "--resume")
    assert whole.rows == parts.rows
    assert weights(folder / "whole") == weights(folder / "parts")
    return folder / "whole"


def weights(folder):
    return (Path(folder) / "model.safetensors").read_bytes()


def test_mlmme_beats_chance_and_goes_on_where_it_stopped(tmp_path):
    """Each text says in three words of its language what the image's vector shows."""
    shapes = np.array(list(product(range(5), repeat=3)))
    order = np.random.default_rng(0).permutation(len(shapes))
    rows = [
        {"id": str(i), "split": "train" if order[i] < 90 else "test"}
        | {f"text_{tag}": " ".join(f"{tag}{p}{v}" for p, v in enumerate(shape)) for tag in TAGS}
        for i, shape in enumerate(shapes)
    ]
    data = write_lines(tmp_path / "data.jsonl", rows)
    np.save(tmp_path / "images.npy", np.eye(5)[shapes].reshape(len(shapes), 15).astype(np.float32))
    shown = f"vectors:{tmp_path}/images.npy"
    sizes = ("--word-dim", 16, "--state-dim", 24, "--joint-dim", 16, "--rate", 0.02, "--batch", 16)
    options = ("--split", "train", "--image-encoder", shown, "--validation", 0.2, *sizes)
    model = trained_in_one_go_and_in_two("mlmme", data, tmp_path, options, 16)
    given = {"split": "test", "measure": "R@5"}
    specs, eyes = [f"model:{model}"], f"model:{model}::{shown}"
    found = evaluate("image-sentence", data, specs, image_encoder=eyes, **given)["results"]
    found += evaluate("xlr", data, specs, **given)["results"]
    assert len(found) == 6 and min(row["value"] for row in found) > 2.5 * 5 / 35


@pytest.mark.parametrize("beta", [0, 0.01])
def test_triplets_go_on_where_they_stopped(scenes, tmp_path, beta):
    base = f"lsa:?dim=30&fit={scenes}#train"
    options = ("--split", "train", "--text-encoder", base, "--out-dim", 20, "--rate", 0.005, "--beta", beta)
    model = trained_in_one_go_and_in_two("triplet", scenes, tmp_path, options, 4)
    specs = [f"trained=model:{model}::{base}", "random"]
    values = numbers(evaluate("xlr", scenes, specs, split="test", measure="R@10"), "R@10")
    for way in (("en", "de"), ("de", "en")):
        assert values["trained", *way] > values["random", *way] + 0.1


def test_a_dual_encoder_beats_chance_and_goes_on_where_it_stopped(tmp_path):
    """Questions and answers share words of their own in each language."""
    data = tmp_path / "faq"
    data.mkdir()
    for name, start, key in (("questions", "what", "key"), ("candidates", "it is", "keys")):
        rows = [
            {
                "id": str(i),
                "lang": tag,
                "text": f"{start} {tag}{i % 20} {tag}x{i // 20}?",
                key: str(i) if key == "key" else [str(i)],
            }
            for i in range(120)
            for tag in ("en", "de")
        ]
        write_lines(data / f"{name}.jsonl", rows)
    options = ("--dim", 32, "--buckets", 2048, "--validation", 0.25, "--rate", 0.01)
    model = trained_in_one_go_and_in_two("dual-encoder", data, tmp_path, options, 6)
    scores = json.loads((model / "config.json").read_text())["training"]["scores"]
    assert scores["pool"] > 0.3  # mAP of 30 questions among 60 answers; chance is below .1


def test_another_seed_is_another_model(scenes, tmp_path):
    options = ("--split", "train", "--text-encoder", f"lsa:?dim=10&fit={scenes}#train", "--out-dim", 8)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        program.train("triplet", scenes, tmp_path / name, *options, "--epochs", 1, "--seed", seed)
    assert weights(tmp_path / "a") == weights(tmp_path / "b") != weights(tmp_path / "c")
