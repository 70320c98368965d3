"""Near-duplicates stand in one part: a map that learnt one variant of a product is not tested on another."""

import json

import numpy as np
import pytest
from tests.behaviour.planted import write_lines
from tests.program import answer, command

from xlingual import Manifest, repair_encoder

SYLLABLES = ("ka", "lo", "mi", "ren", "stu", "ver", "tal", "gau", "pos")
WORDS = [first + second + third for first in SYLLABLES for second in SYLLABLES for third in SYLLABLES]
COLOURS = ("red", "blue", "green", "black")


def catalogue(folder, seed, *, items=120, dim=16, noise=0.05):
    """Write items in families of two to four with near-equal texts; vectors are noise by family and language.

    Nothing relates the two languages but the family, so no map can help on other families.
    """
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(items), rng.integers(2, 5, items))[:items]
    variant = [COLOURS[np.sum(family[:i] == own)] for i, own in enumerate(family)]
    rows = []
    for language in ("de", "en"):
        lines = [" ".join(rng.choice(WORDS, 12)) for _ in range(items)]
        rows += [
            {"id": f"{language}{i}", "lang": language, "text": f"{lines[own]} {variant[i]}", "item": f"i{i}"}
            for i, own in enumerate(family.tolist())
        ]
    centres = rng.standard_normal((2, items, dim))
    vectors = centres[:, family] + noise * rng.standard_normal((2, items, dim))
    path = write_lines(folder / "data.jsonl", rows)
    np.save(folder / "texts.npy", vectors.reshape(-1, dim).astype(np.float32))
    return path, family


@pytest.mark.parametrize("seed", range(4))
def test_a_repair_proves_no_gain_from_leakage(tmp_path, seed):
    path, family = catalogue(tmp_path, seed)
    repaired = repair_encoder(Manifest.read(path), f"vectors:{tmp_path}/texts.npy", seed=seed, store=None)
    assert repaired.found.outcome != "better"
    assert repaired.found.near_duplicates == np.sum(np.bincount(family)[family] > 1)


def test_a_repair_keeps_items_with_one_image_in_one_part(tmp_path):
    path, family = catalogue(tmp_path, 0)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rng = np.random.default_rng(0)
    for row in rows:
        own = int(family[int(row["item"][1:])])
        row |= {"image": f"{own}.png", "text": " ".join(rng.choice(WORDS, 12))}
    data = Manifest.read(write_lines(path, rows))
    repaired = repair_encoder(data, f"vectors:{tmp_path}/texts.npy", store=None)
    assert repaired.found.outcome != "better"
    assert repaired.found.near_duplicates == np.sum(np.bincount(family)[family] > 1)


def test_held_out_rows_of_a_training_share_no_family(tmp_path):
    from xlingual.data.samples import hold_out

    path, family = catalogue(tmp_path, 0)
    for seed in range(5):
        rest, held_out = hold_out(Manifest.read(path), 0.3, seed)
        families = [{int(family[int(name[2:])]) for name in part.ids} for part in (rest, held_out)]
        assert families[0] and families[1] and not families[0] & families[1]


def test_queries_of_a_sample_name_their_family_as_cluster(tmp_path):
    path, family = catalogue(tmp_path, 0)
    out = tmp_path / "sample"
    assert command("data", "sample", path, "--pairs", "de-en", "--matching", "--out", out)[0] == 0
    queries = [json.loads(line) for line in (out / "de-en" / "queries.jsonl").read_text().splitlines()]
    clusters = {}
    for query in queries:
        clusters.setdefault(query["cluster"], set()).add(int(family[int(query["id"].split(":")[1][2:])]))
    assert all(len(families) == 1 for families in clusters.values())
    assert len(clusters) == len(set(family.tolist()))


def test_held_out_items_of_a_pivot_share_no_family_and_no_near_equal_image(tmp_path):
    rng = np.random.default_rng(0)
    path, family = catalogue(tmp_path, 1)
    centres = rng.standard_normal((family.max() + 1, 16))
    images = centres[family] + 0.01 * rng.standard_normal((len(family), 16))
    np.save(tmp_path / "images.npy", np.tile(images, (2, 1)).astype(np.float32))
    pivoted = answer(
        "train",
        "pivot",
        path,
        text_encoder=f"vectors:{tmp_path}/texts.npy",
        image_encoder=f"vectors:{tmp_path}/images.npy",
        pairs_from="near",
        out=tmp_path / "pivot",
    )
    assert pivoted["outcome"] != "better"
    assert pivoted["near_duplicates"] == np.sum(np.bincount(family)[family] > 1)
