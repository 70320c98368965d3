"""The folder of a model: what is read, what is refused, and what its digest is of."""

import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual.models.folder import ModelFolder, write_model  # noqa: E402
from xlingual.models.texts import Vocabulary  # noqa: E402

CONFIG = {"kind": "mlmme", "model": {"joint_dim": 2}, "base": {"name": "pixels", "identity": "p", "dim": 3}}
WORDS = {"en": Vocabulary(("a", "dog")), "de": Vocabulary(("ein",))}


def weights(first=0.0):
    return {"w": torch.arange(6.0).reshape(2, 3).T + first, "b": torch.zeros(2)}


@pytest.fixture
def folder(tmp_path):
    return write_model(tmp_path / "m", CONFIG, weights(), WORDS, card="# m\n")


def test_what_is_written_is_read(folder):
    again = ModelFolder.read(str(folder.path))
    assert again.config == {"schema": "xlingual/model/1", **CONFIG}
    assert again.kind == "mlmme"
    assert {name: tensor.tolist() for name, tensor in again.weights().items()} == {
        name: tensor.tolist() for name, tensor in weights().items()
    }
    assert again.vocabulary("en") == WORDS["en"]


def test_the_digest_is_of_what_changes_vectors(folder, tmp_path):
    before = folder.digest
    trained = {**CONFIG, "training": {"seed": 1}, "data": {"items": 7}, "environment": {"torch": "2"}}
    assert write_model(tmp_path / "trained", trained, weights(), WORDS, card="other").digest == before
    (folder.path / "log.jsonl").write_text("{}\n")
    (folder.path / "checkpoint").mkdir()
    assert ModelFolder.read(shutil.move(folder.path, tmp_path / "elsewhere")).digest == before
    others = [
        ({**CONFIG, "model": {"joint_dim": 3}}, weights(), WORDS),
        ({**CONFIG, "base": None}, weights(), WORDS),
        (CONFIG, weights(first=1.0), WORDS),
        (CONFIG, weights(), {"en": Vocabulary(("dog", "a")), "de": WORDS["de"]}),
        (CONFIG, weights(), {"en": WORDS["en"], "fr": WORDS["de"]}),
    ]
    found = [write_model(tmp_path / str(i), *other).digest for i, other in enumerate(others)]
    assert len({before, *found}) == len(others) + 1


@pytest.mark.parametrize(
    "wrong", [{"kind": "other", "model": {}}, {"kind": "mlmme"}, {**CONFIG, "x": np.nan}]
)
def test_nothing_is_written_of_a_configuration_that_is_wrong(folder, wrong):
    with pytest.raises(ValueError):
        write_model(folder.path, wrong, weights())
    assert ModelFolder.read(folder.path).vocabulary("de") == WORDS["de"]
