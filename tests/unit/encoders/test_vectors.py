import hashlib
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from xlingual.data.manifest import Manifest
from xlingual.encoders import image_model, text_encoders
from xlingual.encoders.vectorfile import VectorOptions
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import DataWarning, InputError
from xlingual.records import Images, Numbering, Texts

LANGUAGES = ("en", "de")


def batch(index, languages, *numberings, role=None):
    n = len(index)
    built = tuple(Numbering(unit, np.asarray(rows), sizes) for unit, rows, sizes in numberings)
    return Texts(["x"] * n, languages, [str(i) for i in range(n)], role=role, numberings=built)


def items(index, languages, size=4, **more):
    numbering = ("items", index, {None: size, "en": size, "de": size})
    return batch(index, languages, numbering, **more)


def save(path, rows=4, dim=3, dtype=np.float32):
    array = np.random.default_rng(rows).normal(size=(rows, dim)).astype(dtype)
    np.save(path, array)
    return array.astype(np.float32)


def refused(make):
    with pytest.raises(InputError) as caught:
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def encode(path, texts=None):
    return VectorsEncoder(str(path), LANGUAGES).encode(
        items([0, 1], ["en", "de"]) if texts is None else texts
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint16, np.int64, bool])
def test_numbers_of_every_kind_become_float32(tmp_path, dtype):
    array = save(tmp_path / "v.npy", dtype=dtype)
    vectors = encode(tmp_path / "v.npy", items([3, 0, 3], ["en", "de", "en"]))
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, array[[3, 0, 3]])


def test_each_language_has_its_file(tmp_path):
    english, german = save(tmp_path / "v.en.npy"), save(tmp_path / "v.de.npy", dtype=np.float16)
    vectors = encode(tmp_path / "v.{lang}.npy", items([2, 1, 0], ["de", "en", "de"]))
    np.testing.assert_array_equal(vectors, [german[2], english[1], german[0]])


def test_the_number_of_lines_chooses_the_numbering(tmp_path):
    english, german = save(tmp_path / "v.en.npy", rows=4), save(tmp_path / "v.de.npy", rows=2)
    texts = batch(
        [0, 1],
        ["en", "de"],
        ("items", [3, 1], {"en": 4, "de": 4, None: 4}),
        ("texts of the language", [0, 1], {"en": 3, "de": 2}),
    )
    np.testing.assert_array_equal(encode(tmp_path / "v.{lang}.npy", texts), [english[3], german[1]])


def test_the_first_numbering_that_fits_is_used(tmp_path):
    array = save(tmp_path / "v.npy")
    texts = batch([0], ["en"], ("items", [2], {None: 4}), ("rows", [1], {None: 4}))
    with pytest.warns(
        DataWarning, match="as many as there are items and rows, which are in different orders"
    ):
        found = encode(tmp_path / "v.npy", texts)
    np.testing.assert_array_equal(found, array[[2]])


def test_a_file_of_one_language_is_in_the_order_of_its_texts(tmp_path):
    """As many texts as items, in another order: a file made from the texts of a language follows them."""
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": i}
        for tag, order in (("en", [0, 1, 2]), ("de", [2, 0, 1]))
        for i in order
    ]
    manifest = Manifest.of(rows)
    for tag, order in (("en", [0, 1, 2]), ("de", [2, 0, 1])):
        np.save(tmp_path / f"v.{tag}.npy", np.eye(3, dtype=np.float32)[order])
    encoder = VectorsEncoder(str(tmp_path / "v.{lang}.npy"), ["en", "de"])
    with pytest.warns(DataWarning, match="its lines are taken as texts of the language de"):
        vectors = encoder.encode(manifest.texts(np.arange(6)))
    np.testing.assert_array_equal(vectors.argmax(axis=1), manifest.item)


def test_no_rows_give_no_vectors(tmp_path):
    save(tmp_path / "v.npy")
    assert encode(tmp_path / "v.npy", items([], [])).shape == (0, 3)


def test_images_have_vectors_too(tmp_path):
    array = save(tmp_path / "v.npy")
    images = Images(
        [None, None], ["en", "de"], ["a", "b"], (Numbering("items", np.array([1, 3]), {None: 4}),)
    )
    np.testing.assert_array_equal(encode(tmp_path / "v.npy", images), array[[1, 3]])


def test_roles_have_files(tmp_path):
    query, candidate = (
        save(tmp_path / "v.questions.npy"),
        save(tmp_path / "v.candidates.npy", dtype=np.float16),
    )
    path = tmp_path / "v.{role}.npy"
    np.testing.assert_array_equal(encode(path, items([1], ["en"], role="query")), query[[1]])
    np.testing.assert_array_equal(encode(path, items([1], ["en"], role="candidate")), candidate[[1]])
    assert VectorsEncoder(str(path), LANGUAGES).identity.startswith("vectors:")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
def test_numbers_that_are_not_finite_are_refused_where_used(tmp_path, bad):
    array = np.ones((4, 3))
    array[2, 1] = bad
    np.save(tmp_path / "v.npy", array)
    refused(lambda: encode(tmp_path / "v.npy", items([0, 2, 2], ["en"] * 3)))
    assert encode(tmp_path / "v.npy", items([0, 3], ["en"] * 2)).shape == (2, 3)


def test_hostile_and_damaged_files_are_refused(tmp_path):
    path = tmp_path / "v.npy"
    np.save(path, np.array([[{}]], dtype=object))
    assert "no plain array of numbers" in refused(lambda: encode(path))
    path.write_bytes(pickle.dumps([1]))
    assert "no plain array of numbers" in refused(lambda: encode(path))
    path.write_bytes(b"")
    assert "no plain array of numbers" in refused(lambda: encode(path))
    path.write_bytes(b"PK\x03\x04 an archive")
    assert "no plain array of numbers" in refused(lambda: encode(path))
    save(path)
    whole = path.read_bytes()
    for cut in (7, 40, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert "no plain array of numbers, or damaged" in refused(lambda: encode(path))


def test_a_file_without_lines_fits_no_data(tmp_path):
    np.save(tmp_path / "v.npy", np.ones((0, 3)))
    assert "has 0 lines" in refused(lambda: encode(tmp_path / "v.npy"))


def test_identity_is_the_hash_of_the_bytes(tmp_path):
    save(tmp_path / "v.en.npy")
    save(tmp_path / "v.de.npy", dtype=np.float16)
    single = VectorsEncoder(str(tmp_path / "v.en.npy"), LANGUAGES)
    digest = hashlib.sha256((tmp_path / "v.en.npy").read_bytes()).hexdigest()
    assert single.identity == f"vectors:{digest[:16]}"
    both = VectorsEncoder(str(tmp_path / "v.{lang}.npy"), ["en", "de"]).identity
    assert both == VectorsEncoder(str(tmp_path / "v.{lang}.npy"), ["de", "en"]).identity
    (tmp_path / "v.de.npy").write_bytes((tmp_path / "v.en.npy").read_bytes())
    assert both != VectorsEncoder(str(tmp_path / "v.{lang}.npy"), ["en", "de"]).identity


ASKED_IN = {"query": ["en", "fr"], "candidate": ["en", "de"]}


def roles_encoder(folder, role_languages=ASKED_IN):
    return VectorsEncoder(
        str(folder / "v.{role}.{lang}.npy"), ["en", "de", "fr"], VectorOptions(), role_languages
    )


def save_by_role(folder):
    return {
        (role, language): save(folder / f"v.{role}.{language}.npy", rows=4 + i)
        for i, (role, language) in enumerate(
            [("questions", "en"), ("questions", "fr"), ("candidates", "en"), ("candidates", "de")]
        )
    }


def test_files_are_asked_for_by_the_languages_of_their_role(tmp_path):
    saved = save_by_role(tmp_path)
    encoder = roles_encoder(tmp_path)
    asked = batch([4, 0], ["fr", "en"], ("items", [4, 0], {"en": 4, "fr": 5}), role="query")
    expected = [saved["questions", "fr"][4], saved["questions", "en"][0]]
    np.testing.assert_array_equal(encoder.encode(asked), expected)
    offered = batch([6, 5], ["de", "en"], ("items", [6, 5], {"en": 6, "de": 7}), role="candidate")
    expected = [saved["candidates", "de"][6], saved["candidates", "en"][5]]
    np.testing.assert_array_equal(encoder.encode(offered), expected)
    identity = encoder.identity
    save(tmp_path / "v.questions.de.npy")  # a file that nobody asks for counts for nothing
    assert roles_encoder(tmp_path).identity == identity
    save(tmp_path / "v.questions.fr.npy", rows=9)
    assert roles_encoder(tmp_path).identity != identity


def test_safetensors(tmp_path):
    numpy_files = pytest.importorskip("safetensors.numpy")
    array = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float16)
    path = tmp_path / "v.safetensors"
    numpy_files.save_file({"a": array, "scale": np.ones(2)}, path)
    np.testing.assert_array_equal(encode(path, items([3, 1], ["en", "de"])), array[[3, 1]].astype(np.float32))
    numpy_files.save_file({"a": array, "b": 2 * array}, path)
    keyed = VectorsEncoder(str(path), LANGUAGES, VectorOptions(key="b"))
    np.testing.assert_array_equal(keyed.encode(items([2], ["en"])), 2 * array[[2]].astype(np.float32))
    assert keyed.identity != VectorsEncoder(str(path), LANGUAGES, VectorOptions(key="a")).identity
    VectorsEncoder(str(path), LANGUAGES, VectorOptions(key="c"))
    path.write_bytes(path.read_bytes()[:50])


BITS = np.random.default_rng(0).random((4, 24)) > 0.5
UBINARY = np.packbits(BITS, axis=-1)  # as sentence-transformers packs, high bits first
BINARY = (UBINARY.astype(np.int16) - 128).astype(np.int8)


def test_int8_is_taken_as_numbers_of_a_scale(tmp_path):
    np.save(tmp_path / "v.npy", BINARY)
    np.testing.assert_array_equal(encode(tmp_path / "v.npy", items([1], ["en"])), BINARY[[1]])


@settings(max_examples=25)
@given(
    arrays(np.float32, (5, 2), elements=st.floats(-9, 9, width=32)),
    st.lists(st.integers(0, 4)),
    st.booleans(),
)
def test_rows_are_the_lines_they_are_numbered(tmp_path_factory, array, index, fortran):
    path = tmp_path_factory.mktemp("v") / "v.npy"
    np.save(path, np.asfortranarray(array) if fortran else array)
    texts = items(index, ["en"] * len(index), size=5)
    np.testing.assert_array_equal(encode(path, texts), array[np.array(index, dtype=int)])


@pytest.mark.parametrize("name", ["hf.en", "api-de", "hf_en"])
@pytest.mark.parametrize("star", [False, True])
def test_the_file_of_one_language_does_not_serve_all(tmp_path, name, star):
    save(tmp_path / f"{name}.npy")
    spec = f"vectors:{tmp_path}/{'*' if star else name}.npy"
    says = refused(lambda: text_encoders(spec, languages=LANGUAGES))
    assert f"write {tmp_path}/{name[:-2]}{{lang}}.npy" in says
    assert len(text_encoders(spec, languages=[name[-2:]])) == 1
    assert len(text_encoders(spec, languages=["fr", "es"])) == 1
    assert image_model(spec, languages=LANGUAGES)
