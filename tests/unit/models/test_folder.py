"""The folder of a model: what is read, what is refused, and what its digest is of."""

import json
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual.errors import InputError  # noqa: E402
from xlingual.models import folder as module  # noqa: E402
from xlingual.models.folder import KINDS, ModelFolder, write_model  # noqa: E402
from xlingual.models.vocabulary import Vocabulary  # noqa: E402

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
    assert sorted(path.name for path in folder.path.iterdir()) == [
        *("README.md", "config.json", "model.safetensors", "vocabulary.de.txt", "vocabulary.en.txt")
    ]


def test_the_digest_of_a_model_never_changes(folder):
    """Vectors that are kept, and results, name it."""
    assert folder.digest == "cae9696ba0ad15c12568517996901a0070d883a3bac10144152d9617554be7ec"


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


def test_a_model_is_replaced_whole(folder):
    write_model(folder.path, CONFIG, weights(), {"fr": Vocabulary(("un",))})
    assert [path.name for path in folder.path.glob("vocabulary.*")] == ["vocabulary.fr.txt"]


def test_a_model_that_was_not_written_to_the_end_is_none(folder, monkeypatch):
    def fails(*_):
        raise OSError("no space left")

    monkeypatch.setattr(module, "write_json", fails)
    (folder.path / "log.jsonl").write_text("{}\n")
    with pytest.raises(OSError, match="no space"):
        write_model(folder.path, CONFIG, weights(first=1.0), WORDS)
    with pytest.raises(InputError, match="training is not finished"):
        ModelFolder.read(folder.path)


@pytest.mark.parametrize(
    "wrong", [{"kind": "other", "model": {}}, {"kind": "mlmme"}, {**CONFIG, "x": np.nan}]
)
def test_nothing_is_written_of_a_configuration_that_is_wrong(folder, wrong):
    with pytest.raises(ValueError):
        write_model(folder.path, wrong, weights())
    assert ModelFolder.read(folder.path).vocabulary("de") == WORDS["de"]


def edited(folder, **more):
    path = folder.path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: shutil.rmtree(f.path), "no such folder of a model"),
        (lambda f: (f.path / "config.json").unlink(), "no config.json in it, so no model"),
        (lambda f: (f.path / "config.json").write_text("{"), "cannot be read as JSON"),
        (lambda f: (f.path / "config.json").write_text("[]"), "no key 'schema'"),
        (lambda f: (f.path / "config.json").write_text('{"model_type": "bert"}'), "no key 'schema'"),
        (lambda f: edited(f, schema="xlingual/model/2"), "schema 'xlingual/model/2', expected"),
        (lambda f: edited(f, kind="gan"), "unknown kind 'gan', known: mlmme"),
        (lambda f: edited(f, model=3), "is incomplete"),
        (lambda f: edited(f, base={"name": "x"}), "is incomplete"),
        (lambda f: (f.path / "model.safetensors").unlink(), "model.safetensors is missing"),
    ],
)
def test_what_is_no_model_is_refused_in_one_line(folder, change, said):
    change(folder)
    with pytest.raises(InputError, match=said) as raised:
        ModelFolder.read(folder.path)
    assert "\n" not in str(raised.value)


def test_weights_that_are_cut_off_are_refused(folder):
    path = folder.path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(InputError, match=r"model\.safetensors is damaged"):
        ModelFolder.read(folder.path).weights()


def test_each_kind_has_an_adapter():
    from importlib import import_module

    for kind in KINDS:
        assert callable(import_module(f"xlingual.encoders.trained_{kind.replace('-', '_')}").build)
