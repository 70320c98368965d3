"""Repair and pivot find a planted rotation or offset on held-out data, and nothing in noise."""

import json

import numpy as np
import pytest
from tests.behaviour.planted import evaluate, images, manifest, numbers, vectors
from tests.program import answer, command

N, DIM = 150, 10


def planted(folder, *, offset=0.0, turned=False, shared=1.0, seed=0):
    """Write texts whose languages share their meaning but for an offset, a rotation and some noise."""
    rng = np.random.default_rng(seed)
    meaning = rng.normal(size=(N, DIM))
    de, en = shared * meaning + (0.25 if shared else 1.0) * rng.normal(size=(2, N, DIM))
    turn = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0] if turned else np.eye(DIM)
    return meaning, vectors(folder, "texts", {"de": de + offset, "en": en @ turn - offset})


def repaired(folder, **how):
    """Return what repairing planted texts has found."""
    data, (_, spec) = manifest(folder, N), planted(folder, **how)
    return answer("repair", data, text_encoder=spec, threads=1, no_store=True, out=folder / "out")


def before_and_after(folder, model, spec):
    """Return R@1 of an encoder and of a model on top of it, on other texts."""
    others = manifest(folder / "others", N, text=lambda i: f"other text {i}")
    fixed = f"fixed=model:{model}?base=trusted::{spec.partition('=')[2]}"
    values = numbers(evaluate("xlr", others, [spec, fixed], measure="R@1"), "R@1")
    return values["texts", "de", "en"], values["fixed", "de", "en"]


def test_a_planted_rotation_is_found_by_translations(tmp_path):
    found = repaired(tmp_path, turned=True)
    whole = found["whole"]
    assert found["outcome"] == "better"
    assert whole["after"] > 0.85 > 0.7 > whole["before"] and whole["difference"] > 0.3
    assert whole["ci"]["low"] > 0 and found["p"] < 0.05
    before, after = before_and_after(tmp_path, tmp_path / "out" / "model", planted(tmp_path, turned=True)[1])
    assert after > before + 0.3


def test_a_planted_offset_is_found(tmp_path):
    found = repaired(tmp_path, offset=1.5)
    assert found["outcome"] == "better" and found["whole"]["after"] > 0.9
    bias = [one for one in found["tried"] if one["spec"].startswith("centre:")]
    assert bias and bias[0]["value"] > found["whole"]["before"]


@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_is_found_in_noise(tmp_path, seed):
    found = repaired(tmp_path, shared=0.0, turned=True, seed=seed)
    assert found["outcome"] != "better"


def test_parts_for_fitting_choosing_and_testing_share_no_item(tmp_path):
    found = repaired(tmp_path, turned=True)
    sizes = [found[part]["clusters"] for part in ("fit", "choose", "test")]
    assert sum(sizes) == N and min(sizes) > 0.15 * N


def test_a_planted_rotation_is_found_by_images_alone(tmp_path):
    """No item has texts in both languages: images of like things are the pivot."""
    rows = [json.loads(line) for line in manifest(tmp_path, N).read_text().splitlines()]
    meaning, spec = planted(tmp_path, turned=True)
    shown = meaning + 0.1 * np.random.default_rng(9).normal(size=meaning.shape)
    alone = [row for row in rows if (int(row["item"][5:]) % 2 == 0) == (row["lang"] == "de")]
    (tmp_path / "alone.jsonl").write_text("".join(json.dumps(row) + "\n" for row in alone))
    halves = {"de": slice(0, None, 2), "en": slice(1, None, 2)}
    parts = {tag: np.load(tmp_path / f"texts.{tag}.npy")[half] for tag, half in halves.items()}
    half = vectors(tmp_path, "half", parts)
    np.save(tmp_path / "alone.npy", shown.astype(np.float32))
    code, out, err = command(
        *("train", "pivot", tmp_path / "alone.jsonl", "--text-encoder", half, "--out", tmp_path / "model"),
        *("--image-encoder", f"vectors:{tmp_path}/alone.npy", "--threads", 1, "--no-store", "--json"),
        *("--map", "procrustes", "--languages", "de,en"),
    )
    assert code == 0, err
    before, after = before_and_after(tmp_path, tmp_path / "model", spec)
    assert after > before + 0.15
    assert json.loads(out)["pairs"][0]["same"] == 0


@pytest.mark.parametrize("transform", ["centre:", "whiten:", "truncate:5", "quantize:int8"])
def test_transforms_stand_on_top_of_an_encoder(tmp_path, transform):
    data = manifest(tmp_path, N, split=lambda i: "fit" if i < 75 else "test")
    _, spec = planted(tmp_path, offset=1.5)
    fitted = "" if transform == "truncate:5" else f"?fit={data}#fit"
    changed = f"changed={transform}{fitted}::{spec.partition('=')[2]}"
    values = numbers(evaluate("xlr", data, [spec, changed], measure="R@1", split="test"), "R@1")
    gain = values["changed", "de", "en"] - values["texts", "de", "en"]
    assert gain > 0.3 if transform in ("centre:", "whiten:") else abs(gain) < 0.3


def test_pivot_pairs_are_texts_of_the_same_image(tmp_path):
    """Two items at a time show nearly the same."""
    rng = np.random.default_rng(0)
    shown = images(
        tmp_path, np.repeat(rng.normal(size=(20, 12)), 2, axis=0) + 0.01 * rng.normal(size=(40, 12))
    )
    code, _, err = command(
        *("data", "pivot-pairs", manifest(tmp_path, 40), "--image-encoder", shown, "--no-store"),
        *("--out", tmp_path / "pairs.jsonl", "--threads", 1, "--quiet"),
    )
    assert code == 0, err
    pairs = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert len(pairs) >= 40
    for pair in pairs:
        first, second = (int(text.split()[-1]) for text in (pair["anchor"], pair["positive"]))
        assert first // 2 == second // 2
