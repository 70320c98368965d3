"""Backretrieval with a similarity of the user's own instead of vectors of images."""

import io
import sys

import numpy as np
import pytest
from PIL import Image

from xlingual.data.manifest import Manifest
from xlingual.encoders import image_model
from xlingual.encoders.objects import is_similarity
from xlingual.errors import InputError
from xlingual.evaluation.backretrieval import backretrieval

N = 30


def png(seed):
    out = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 256, (2, 2, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


@pytest.fixture(scope="module")
def manifest():
    rows = [
        {"id": f"r{i}", "text_en": f"e{i % 7}", "text_de": f"d{i}", "image": png(i % 25), "item": f"i{i}"}
        for i in range(N)
    ]
    return Manifest.of(rows)


def vectors(images):
    return np.stack([np.asarray(image, dtype=np.float32).ravel() - 128 for image in images.images])


def cosine(first, second):
    a, b = (vectors(batch).astype(np.float64) for batch in (first, second))
    a, b = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (a, b))
    return a @ b.T


class Eyes:
    identity = "eyes"

    def encode(self, images):
        return vectors(images)


TEXTS = {"a": "random:?seed=1", "b": "random:?seed=2"}


def run(manifest, eye, **options):
    return backretrieval(
        manifest, text_encoders=TEXTS, image_encoder=eye, measures=["R@3", "RR", "MedR"], seeds=3, **options
    )


@pytest.mark.parametrize("size", [None, 9])
@pytest.mark.cases(1)
def test_a_cosine_gives_the_numbers_of_the_vectors(manifest, size):
    by_vectors, by_function = (run(manifest, eye, sample=size) for eye in (Eyes(), cosine))
    for one, other in zip(by_vectors.entries, by_function.entries, strict=True):
        assert (one.value, one.ci, one.oracle, one.ceiling, one.n_tied) == (
            (other.value, other.ci, other.oracle, other.ceiling, other.n_tied)
        )
        assert one.chance == pytest.approx(other.chance, abs=1e-9)  # of SIM: by mean vectors or by pairs
    for column in ("query", "retrieved", "above", "tied", "value"):
        assert by_vectors.per_query[column].equals(by_function.per_query[column])
    assert "images:python:" in by_function.entries[0].signature
    assert by_function.entries[0].image_encoder == "cosine"


def test_only_the_order_counts(manifest):
    plain = run(manifest, cosine)

    def stretched(first, second):
        return -1e6 * np.arccos(np.clip(cosine(first, second), -1, 1))

    other = run(manifest, stretched, threads=2)
    ranked = [(entry.measure, entry.value) for entry in plain.entries if entry.measure != "SIM"]
    assert ranked == [(entry.measure, entry.value) for entry in other.entries if entry.measure != "SIM"]


def test_a_function_that_is_not_symmetric_gets_the_retrieved_picture_first(manifest):
    sides = set()

    class Watching:
        name = "watching"

        def similarity(self, first, second):
            sides.add((frozenset(first.language), frozenset(second.language)))
            return cosine(first, second)

    run_options = {"text_encoders": TEXTS, "image_encoder": Watching(), "pairs": "en-de", "measures": ["R@3"]}
    long = Manifest.of(
        [
            {"id": f"{i}", "lang": "en" if i < 15 else "de", "text": f"t{i}", "image": png(i), "item": f"{i}"}
            for i in range(N)
        ]
    )
    results = backretrieval(long, **run_options)
    assert sides == {(frozenset({"de"}), frozenset({"en"}))}
    assert results.entries[0].image_encoder == "watching"


def test_each_pair_is_compared_once(manifest):
    compared = []

    def counting(first, second):
        compared.extend((a, b) for a in first.source for b in second.source)
        return cosine(first, second)

    backretrieval(
        manifest, text_encoders=TEXTS, image_encoder=counting, pairs="en-de", seeds=4, measures=["R@3", "RR"]
    )
    assert len(compared) == len(set(compared)) <= 25 * 25


def test_a_broken_image_is_named(manifest):
    texts = {"text_en": "a", "text_de": "b"}
    rows = [{"id": f"r{i}", "image": b"x" if i == 3 else png(i)} | texts for i in range(9)]
    with pytest.raises(InputError, match="row 'r3': the image cannot be decoded"):
        run(Manifest.of(rows), cosine)


@pytest.fixture
def _files_forgotten():
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("xlingual_user_"):
            del sys.modules[name]


@pytest.mark.usefixtures("_files_forgotten")
def test_a_spec_names_a_function_of_a_file(manifest, tmp_path):
    source = "import numpy as np\n\ndef g(first, second):\n    return np.ones((len(first), len(second)))\n"
    (tmp_path / "mine.py").write_text(source)
    spec = f"python:{tmp_path / 'mine.py'}:g"
    constant = run(manifest, f"ones={spec}?revision=2")
    for entry in constant.entries:
        assert entry.value == pytest.approx(entry.chance) and entry.image_encoder == "ones"
    _, first = image_model(f"{spec}?revision=2")
    (tmp_path / "mine.py").write_text(source + "# another\n")
    assert image_model(f"{spec}?revision=2")[1].identity != first.identity


def test_what_is_a_similarity():
    assert is_similarity(cosine) and is_similarity(lambda a, b, scale=1: 0)
    assert not is_similarity(lambda batch: 0) and not is_similarity(lambda batch, size=1: 0)
    assert not is_similarity(Eyes()) and not is_similarity(Eyes) and not is_similarity("pixels")
    name, found = image_model({"mine": cosine})
    assert name == "mine" and found.identity.startswith("python:") and found.identity.endswith(".cosine")
