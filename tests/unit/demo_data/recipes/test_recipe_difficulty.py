"""How hard recipes are: Backretrieval must see a good encoder, and leave room for a better one."""

from urllib.parse import quote

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.demo_data.recipes import write_recipes
from xlingual.evaluation.backretrieval import backretrieval


@pytest.mark.slow
def test_backretrieval_tells_encoders_apart_and_leaves_room(tmp_path):
    path = write_recipes(tmp_path, items=1000, languages=["en", "es", "ru"], parallel=500)
    fit = f"fit={quote(str(path), safe='/')}%23fit"
    encoders = ["random:?dim=64", "chargram", f"few=lsa:?pairs=50&{fit}", f"lsa:?{fit}"]
    found = backretrieval(
        Manifest.read(path, split="test"), text_encoders=encoders, image_encoder="pixels", examples=False
    )
    entries = [entry for entry in found.entries if entry.measure == "R@10"]
    value = {
        name: np.mean([entry.value for entry in entries if entry.encoder == name])
        for name in ("random", "chargram", "few", "lsa")
    }
    chance, oracle = (np.mean([getattr(entry, name) for entry in entries]) for name in ("chance", "oracle"))
    assert abs(value["random"] - chance) < 0.005 and value["chargram"] < 3 * chance
    assert value["few"] > 5 * chance
    assert value["few"] + 0.01 < value["lsa"] < 0.4 * oracle
