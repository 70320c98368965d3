import copy
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xlingual.encoders import Encoder, image_encoder, text_encoders, text_specs
from xlingual.errors import InputError
from xlingual.records import Numbering, Texts

DATA = Path(os.environ.get("XLINGUAL_DATA", Path(__file__).parents[3] / "../shared/data"))


class Plain:
    def encode(self, batch):
        return np.ones((len(batch), 2), dtype=np.float32)


class Known(Plain):
    def __init__(self, identity, name=None):
        self.identity = identity
        self.name = name


def save(path, rows=4, dim=3):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, np.arange(rows * dim, dtype=np.float32).reshape(rows, dim))


def names(*specs, **context):
    return list(text_encoders(specs, **{"languages": ["en", "de"], **context}))


def refused(specs, **context):
    with pytest.raises(InputError) as caught:
        text_encoders(specs, **{"languages": ["en", "de"], **context})
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_order_and_names_are_kept():
    assert names("random", "b=random:?dim=3", "a=chargram") == ["random", "b", "a"]


@pytest.mark.parametrize("other", [(), ("st:b/model-new",), ("random",)])
def test_a_name_does_not_depend_on_what_stands_beside_it(other):
    found = text_specs(["st:a/model-live", *other], languages=["en"])
    assert next(iter(found)) == "model-live"
    with pytest.raises(InputError, match="two encoders are named 'model-live': give one of"):
        text_specs(["st:a/model-live", "hf:b/model-live"], languages=["en"])


def test_every_encoder_follows_the_protocol():
    found = text_encoders(["random", Plain(), Known("k")], languages=["en"])
    assert all(isinstance(encoder, Encoder) for encoder in found.values())


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("model.npy", "model"),
        ("model.{lang}.npy", "model"),
        ("{lang}_model.npy", "model"),
        ("model/{lang}.npy", "model"),
        ("v1.2.{lang}.npy", "v1.2"),
    ],
)
def test_vectors_are_named_by_their_file(tmp_path, path, name):
    save(tmp_path / path.format(lang="en"))
    assert list(text_encoders([str(tmp_path / path)], languages=["en"])) == [name]
    assert list(text_encoders([tmp_path / path], languages=["en"])) == [name]


@pytest.mark.parametrize("path", [".", "/", "..", "./"])
def test_a_folder_without_a_name_is_no_file_of_vectors(path):
    with pytest.raises(InputError, match="a file of vectors ends in"):
        text_encoders([f"vectors:{path}"], languages=["en", "de"])


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("translate:hf-::random", "expected the folder of a model"),
        ("st:~nobody-of-this-name/x", "no such user's folder"),
        ("onnx:~nobody-of-this-name/x", "no such user's folder"),
    ],
)
def test_other_names_that_are_none(spec, words):
    with pytest.raises(InputError, match=words):
        text_encoders({"x": spec}, languages=["de"])["x"].encode(Texts(["a"], ["de"], ["0"]))


def test_one_spec_needs_no_list():
    assert list(text_encoders("random", languages=["en"])) == ["random"]
    assert list(text_encoders(Plain(), languages=["en"])) == ["Plain"]


def test_a_mapping_names_specs_and_objects():
    mine = Known("mine")
    found = text_encoders({"a": "random:?dim=2", "b": mine}, languages=["en"])
    assert list(found) == ["a", "b"]
    assert found["b"].target is mine


def test_equal_names_are_refused():
    assert "named 'a'" in refused(["a=random", "a=chargram"])


def test_objects_are_named_by_attribute_or_class():
    assert names(Known("a", "ours"), Known("b"), Plain()) == ["ours", "Known", "Plain"]


def test_an_object_without_identity_is_known_by_its_class():
    (encoder,) = text_encoders([Plain()], languages=["en"]).values()
    assert encoder.identity.startswith("python:")
    assert encoder.identity.endswith("Plain")
    assert encoder.fitted_on == frozenset()
    assert not encoder.has_own_identity
    assert copy.deepcopy(encoder).identity == encoder.identity
    assert encoder.encode(Texts(["a"], ["en"], ["1"])).shape == (1, 2)


def test_two_objects_that_only_a_class_identifies_are_known_by_their_names():
    made = text_encoders({"a": Plain(), "b": Plain()}, languages=["en"])
    assert made["a"].identity != made["b"].identity
    assert made["a"].identity == text_encoders({"a": Plain()}, languages=["en"])["a"].identity


def test_seed_is_the_default_of_specs():
    first, second = text_encoders(["a=random", "b=random:?seed=4"], languages=["en"], seed=9).values()
    assert "seed=9" in first.identity
    assert "seed=4" in second.identity


def test_fit_texts_are_loaded_once_and_only_when_used():
    asked = []

    def fit_texts(reference):
        asked.append(reference)
        return Texts(["ein Haus", "a house"], ["de", "en"], ["1", "2"], items=["x", "x"])

    specs = ["lsa:?fit=m.csv#train", "b=lsa:?dim=1&fit=m.csv#train", "chargram:?fit=m.csv#train"]
    found = text_encoders(specs, languages=["en", "de"], fit_texts=fit_texts)
    assert asked == []
    for encoder in found.values():
        encoder.encode(Texts(["house"], ["en"], ["3"]))
    assert asked == ["m.csv#train"]


def test_a_star_gives_one_encoder_per_match_sorted_by_name(tmp_path):
    for name in ("b", "a", "c.v2"):
        for language in ("en", "de"):
            save(tmp_path / f"{name}.{language}.npy")
    (tmp_path / "notes.en.txt").write_text("x")
    found = text_encoders([f"{tmp_path}/*.{{lang}}.npy"], languages=["en", "de"])
    assert list(found) == ["a", "b", "c.v2"]
    assert names(f"x=vectors:{tmp_path}/*.{{lang}}.*") == ["x-a-npy", "x-b-npy", "x-c.v2-npy"]


def test_stars_stand_for_folders_too(tmp_path):
    save(tmp_path / "m[1]" / "vectors.npy")
    save(tmp_path / "m2" / "vectors.npy")
    assert names(f"{tmp_path}/*/v*.npy") == ["m2-ectors", "m[1]-ectors"]


def test_a_match_must_exist_for_every_language(tmp_path):
    save(tmp_path / "a.en.npy")
    save(tmp_path / "a.de.npy")
    save(tmp_path / "b.de.npy")
    says = refused([f"{tmp_path}/*.{{lang}}.npy"])
    assert "'b'" in says


def test_a_star_with_roles_needs_only_the_languages_of_each_role(tmp_path):
    for name in ("questions.en", "questions.fr", "candidates.en", "candidates.de"):
        save(tmp_path / f"m.{name}.npy")
    specs = [f"{tmp_path}/*.{{role}}.{{lang}}.npy"]
    by_role = {"query": ["en", "fr"], "candidate": ["en", "de"]}
    assert list(text_encoders(specs, languages=["en", "de", "fr"], role_languages=by_role)) == ["m"]
    (tmp_path / "m.questions.fr.npy").unlink()
    with pytest.raises(InputError, match=r"m\.questions\.fr\.npy is missing, which 'm' needs"):
        text_encoders(specs, languages=["en", "de", "fr"], role_languages=by_role)


def test_image_encoder_gives_a_name_and_an_encoder(tmp_path):
    save(tmp_path / "resnet.npy")
    assert image_encoder("pixels")[0] == "pixels"
    assert image_encoder(f"mine={tmp_path}/resnet.npy")[0] == "mine"
    assert image_encoder(tmp_path / "resnet.npy")[0] == "resnet"
    mine = Known("k", "ours")
    name, found = image_encoder(mine)
    assert (name, found.target) == ("ours", mine)


def test_unused_adapters_are_not_imported():
    code = (
        "import sys; from xlingual.encoders import text_encoders; text_encoders('random', languages=['en']);"
        "heavy = {'sklearn', 'scipy', 'PIL', 'pyarrow', 'torch'} & set(sys.modules);"
        "sys.exit(' '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "ikea").is_dir(), reason="the real data are not here (XLINGUAL_DATA)")
def test_the_models_of_the_ikea_data():
    found = text_encoders([str(DATA / "ikea/embeddings/*.{lang}.npy")], languages=["en", "de"])
    assert len(found) == 24
    assert list(found) == sorted(found)
    assert {"random", "ibm1_lsa_2860"} <= set(found)
    assert len({encoder.identity for encoder in found.values()}) == 24
    index = np.array([0, 729, 5, 5])
    numbering = Numbering("items", index, {"en": 730, "de": 730, None: 730})
    batch = Texts(["x"] * 4, ["en", "de", "de", "en"], list("abcd"), numberings=(numbering,))
    vectors = found["ibm1_lsa_2860"].encode(batch)
    stored = np.load(DATA / "ikea/embeddings/ibm1_lsa_2860.de.npy").astype(np.float32)
    np.testing.assert_array_equal(vectors[1:3], stored[[729, 5]])
