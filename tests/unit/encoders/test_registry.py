import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.errors import InputError
from xlingual.records import Numbering, Texts

DATA = Path(os.environ.get("XLINGUAL_DATA", Path(__file__).parents[3] / "../shared/data"))


class Plain:
    def __init__(self, name=None):
        self.name = name

    def encode(self, batch):
        return np.ones((len(batch), 2), dtype=np.float32)


def save(path, rows=4, dim=3):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, np.arange(rows * dim, dtype=np.float32).reshape(rows, dim))


def names(*specs, **context):
    return list(text_encoders(specs, **{"languages": ["en", "de"], **context}))


def test_names_and_their_order():
    assert names("random", "b=random:?dim=3", "a=chargram") == ["random", "b", "a"]
    assert names(Plain("ours"), Plain()) == ["ours", "Plain"]
    assert list(text_encoders("random", languages=["en"])) == ["random"]
    assert list(text_encoders({"a": "random", "b": Plain()}, languages=["en"])) == ["a", "b"]
    assert names({"a": "random"}, [Plain()], "b=random") == ["a", "Plain", "b"]  # lists and mappings of these
    for specs in (["a=random", "a=chargram"], []):
        with pytest.raises(InputError):
            names(*specs)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("model.npy", "model"),
        ("{lang}_model.npy", "model"),
        ("model/{lang}.npy", "model"),
        ("v1.2.{lang}.npy", "v1.2"),
    ],
)
def test_vectors_are_named_by_their_file(tmp_path, path, name):
    save(tmp_path / path.format(lang="en"))
    for spec in (str(tmp_path / path), tmp_path / path):
        assert list(text_encoders([spec], languages=["en"])) == [name]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("vectors:.", "a file of vectors ends in"),
        ("our/model", "st:NAME"),
        ("st:~nobody-of-this-name/x", "no such folder"),
    ],
)
def test_names_that_are_none(spec, words):
    with pytest.raises(InputError, match=words):
        text_encoders({"x": spec}, languages=["de"])["x"].encode(Texts(["a"], ["de"], ["0"]))


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
    assert names(f"{tmp_path}/*.{{lang}}.npy") == ["a", "b", "c.v2"]
    assert names(f"x=vectors:{tmp_path}/*.{{lang}}.*") == ["x-a-npy", "x-b-npy", "x-c.v2-npy"]
    save(tmp_path / "d.de.npy")
    with pytest.raises(InputError, match=r"d\.en\.npy"):
        names(f"{tmp_path}/*.{{lang}}.npy")
    for name in ("m[1]", "m2"):
        save(tmp_path / name / "vectors.npy")
    assert names(f"{tmp_path}/m*/v*.npy") == ["2-ectors", "[1]-ectors"]
    with pytest.raises(InputError, match="no file matches"):
        names(f"{tmp_path}/none*.npy")


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
