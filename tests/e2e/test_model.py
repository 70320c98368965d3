"""`xlingual train export`: a model that was trained here, for other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SMALL = ("--word-dim", "4", "--state-dim", "4", "--joint-dim", "4", "--epochs", "1", "--device", "cpu")


@pytest.fixture
def trained(xlingual: Any) -> Any:
    """Return the command line after a small MLMME was trained into `m`."""
    pytest.importorskip("torch")
    images = ("--image-encoder", "vectors:img.npy", "--rows", "0:60")
    outcome = xlingual("train", "mlmme", "s", *images, *SMALL, "--out", "m", "--quiet")
    assert outcome.code == 0, outcome.err
    return xlingual


def test_training_leaves_a_card(trained: Any) -> None:
    text = Path("m/README.md").read_text(encoding="utf-8")
    config = json.loads(Path("m/config.json").read_text(encoding="utf-8"))
    for word in ("MLMME", "en, de, es", config["data"]["digest"], "model:DIR::SPEC"):
        assert word in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none", "--to", "safetensors", "--out", "x"), "none: no such folder of a model"),
        (("s", "--to", "safetensors", "--out", "x"), "no config.json in it, so no model"),
        (("s", "--to", "pickle", "--out", "x"), "'pickle' is not one of"),
        (("s", "--to", "safetensors"), "Missing option '--out'"),
    ],
)
def test_what_is_no_model_is_refused(xlingual: Any, arguments: tuple[str, ...], said: str) -> None:
    outcome = xlingual("train", "export", *arguments)
    assert outcome.code == 2 and said in outcome.err and len(outcome.err.splitlines()) == 1


def test_an_mlmme_goes_to_sentence_transformers(trained: Any) -> None:
    refused = trained("train", "export", "m", "--to", "safetensors", "--out", "x")
    assert refused.code == 2 and "of the kind mlmme" in refused.err and not Path("x").exists()
    library = pytest.importorskip("sentence_transformers")
    where = ("--to", "sentence-transformers", "--out", "out")
    other = trained("train", "export", "m", *where, "--language", "fr")
    assert other.code == 2 and "only in en, de, es" in other.err and not Path("out").exists()
    done = trained("train", "export", "m", *where, "--language", "de")
    assert done.code == 0 and done.err == "wrote out\n" and "(4 dimensions)" in done.out
    model = library.SentenceTransformer("out", device="cpu", trust_remote_code=True)
    assert (model.encode("Ein Stern") == model.encode("Ein Stern", language="de")).all()


def test_a_repair_is_exported_and_written_for_an_index(xlingual: Any) -> None:
    import numpy as np

    from xlingual.encoders import text_encoders
    from xlingual.models.folder import write_model

    spec, tags = "random:?dim=4", ["en", "de", "es"]
    identity = next(iter(text_encoders(spec, languages=tags).values())).identity
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=size).astype(np.float32) for name, size in _SIZES.items()}
    content = {
        "kind": "transform",
        "model": {"languages": tags, "transforms": "whiten:", "similarity": "csls?k=5"},
        "base": {"name": "random", "identity": identity, "dim": 4, "languages": tags},
    }
    write_model("m", content, arrays)
    made = xlingual("train", "export", "m", "--to", "safetensors", "--out", "maps")
    assert (made.code, made.err) == (0, "wrote maps\n") and "(3 dimensions)" in made.out
    assert Path("maps/maps.safetensors").stat().st_mode & 0o044 == 0o044
    given = ("embed", "s", "--text-encoder", f"m=model:m::{spec}", "--offsets", "--out", "v", "--no-store")
    xlingual(*given)
    plain, index = (np.load(f"v/{name}.de.npy") for name in ("m", "index/m"))
    assert index.shape == (len(plain), 4) and np.ptp(index[:, 3]) > 0
    xlingual(*given, "--half")


_SIZES = {"offset": (3, 3), "matrix": (3, 4, 3), "bank": (9, 3)}
