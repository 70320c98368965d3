"""What every encoder of texts must do, whatever it is."""

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.encoders import SCHEMES, Encoder, text_encoders
from xlingual.records import Numbering, Texts

ENGLISH = [
    "a red chair",
    "a blue table",
    "",
    "a lamp",
    "red red lamp",
    "a red chair",
    "+ – !",
    "a glass of water",
]
GERMAN = [
    "ein roter Stuhl",
    "ein blauer Tisch",
    "Lampe",
    "",
    "rote Lampe",
    "a red chair",
    "…",
    "ein Glas Wasser",
]
N = len(ENGLISH)


class Mine:
    identity = "lengths"

    def encode(self, batch):
        return np.array([[len(text), text.count("e")] for text in batch.text], dtype=np.float32).reshape(
            -1, 2
        )


def collection():
    index = np.tile(np.arange(N), 2)
    return Texts(
        text=[*ENGLISH, *GERMAN],
        language=["en"] * N + ["de"] * N,
        ids=[f"{language}{i}" for language in ("en", "de") for i in range(N)],
        items=[str(i) for i in index],
        numberings=(Numbering("items", index, {"en": N, "de": N, None: N}),),
    )


SPECS = {
    "vectors": "vectors:{folder}/v.{{lang}}.npy",
    "random": "random:?dim=8",
    "chargram": "chargram:?dim=64",
    "chargram-fit": "chargram:?dim=64&n=2-3&fit=m.csv#train",
    "wordgram": "wordgram:?dim=64",
    "wordgram-overlap": "wordgram:?dim=64&weight=overlap",
    "lsa": "lsa:?fit=m.csv#train",
    "lsa-few": "lsa:?pairs=4&dim=2&fit=m.csv#train",
    "python": Mine(),
    "python-function": "python:{folder}/mine.py:encode",
    "api": "api:tiny?dim=6&base_url={service}",
    "wordvec": "wordvec:{folder}/words.{{lang}}.vec",
    "wordvec-mean": "wordvec:{folder}/words.{{lang}}.vec?weight=mean",
    "wordvec-fit": "wordvec:{folder}/words.{{lang}}.vec?fit=m.csv#train",
    "translate": "translate:{folder}/de.tsv::wordvec:{folder}/words.en.vec?weight=mean",
    "concat": "concat:?split=halves::wordvec:{folder}/words.{{lang}}.vec?weight=mean",
}
SPECS |= {  # on top of vectors that are all different, fitted on the same texts
    name: f"{name}:{argument}?fit=m.csv#train::chargram:?dim=64&n=2-3&fit=m.csv#train"
    for name, argument in {
        "centre": "",
        "standardize": "",
        "whiten": "",
        "all-but-the-top": "1",
        "lir": "1",
        "lsar": "auto",
        "pca": "2",
        "procrustes": "",
        "ridge": "",
        "cca": "2",
    }.items()
}
SPECS["delta"] = "delta:?to=en&fit=m.csv#train::chargram:?dim=64&n=2-3&fit=m.csv#train"
SPECS |= {
    "truncate": "truncate:3::random:?dim=8",
    "quantize": "quantize:binary::random:?dim=8",
    "quantize-f16": "quantize:f16::random:?dim=8",
    "quantize-int8": "quantize:int8?fit=m.csv#train::chargram:?dim=64&n=2-3&fit=m.csv#train",
}
FUNCTION = "def encode(texts):\n    return [[len(text), text.count('e')] for text in texts]\n"
SERVICE = {}  # where the embeddings service of these tests is, while they run
# networks round differently in other batches; tests/unit/encoders has the same tests for them, to 1e-5
NETWORKS = {"use", "e5", "st", "hf", "onnx", "model"}
SPARSE = {"bm25"}  # its dimensions are the words of the batch: tests of its own
# frequencies of the collection: what a text is encoded with matters
WHOLE_COLLECTION = {"chargram", "wordgram", "wordvec"}


@pytest.fixture(scope="module", autouse=True)
def service():
    server = Path(__file__).parents[1] / "unit/encoders/embedding_server.py"
    with run_path(str(server))["serving"]() as running, pytest.MonkeyPatch.context() as patch:
        patch.delenv("OPENAI_API_KEY", raising=False)
        SERVICE["url"] = running.url
        yield


@pytest.fixture(params=list(SPECS))
def named(request, tmp_path_factory):
    return request.param, make(request.param, tmp_path_factory.getbasetemp())


def make(name, folder):
    for language in ("en", "de"):
        path = folder / f"v.{language}.npy"
        if not path.exists():
            vectors = np.random.default_rng(len(language)).normal(size=(N, 5))
            vectors[5] = vectors[0]
            np.save(path, vectors.astype(np.float16))
    write_words(folder)
    spec = SPECS[name]
    (folder / "mine.py").write_text(FUNCTION, encoding="utf-8")
    spec = spec.format(folder=folder, service=SERVICE["url"]) if isinstance(spec, str) else spec
    found = text_encoders({name: spec}, languages=["en", "de"], fit_texts=lambda reference: collection())
    return found[name]


def write_words(folder):
    """Write word vectors of all the words of each language, and a dictionary."""
    words = [sorted({*" ".join(texts).split()}) for texts in (ENGLISH, [*GERMAN, *ENGLISH])]
    for language, known in zip(("en", "de"), words, strict=True):
        lines = [f"{word} {len(word)} {ord(word[0]) % 7} 1\n" for word in known]
        (folder / f"words.{language}.vec").write_text("".join(lines), encoding="utf-8")
    pairs = [f"{word}\t{words[0][i % len(words[0])]}\n" for i, word in enumerate(words[1])]
    (folder / "de.tsv").write_text("".join(pairs), encoding="utf-8")


def test_every_scheme_for_texts_is_tested():
    schemes = {name for name, scheme in SCHEMES.items() if "texts" in scheme.takes}
    assert schemes - NETWORKS - SPARSE <= {*SPECS, *(name.split("-")[0] for name in SPECS)}


def test_it_is_an_encoder_with_a_stable_identity(named, tmp_path_factory):
    name, encoder = named
    assert isinstance(encoder, Encoder)
    before = encoder.identity
    encoder.encode(collection())
    assert encoder.identity == before == make(name, tmp_path_factory.getbasetemp()).identity
    assert before
    assert before.isprintable()
    assert "|" not in before


def test_vectors_are_float32_one_per_row_and_finite(named):
    _, encoder = named
    vectors = encoder.encode(collection())
    assert vectors.dtype == np.float32
    assert vectors.ndim == 2
    assert len(vectors) == 2 * N
    assert np.isfinite(vectors).all()


def test_a_second_encoder_of_the_spec_gives_the_same_vectors(named, tmp_path_factory):
    name, encoder = named
    again = make(name, tmp_path_factory.getbasetemp())
    np.testing.assert_array_equal(encoder.encode(collection()), again.encode(collection()))


def test_an_empty_batch_has_vectors_of_the_same_size(named):
    _, encoder = named
    empty = encoder.encode(collection().take(np.array([], dtype=np.int64)))
    assert empty.shape == (0, encoder.encode(collection()).shape[1])
    assert empty.dtype == np.float32


def test_duplicates_have_equal_vectors(named):
    _, encoder = named
    vectors = encoder.encode(collection())
    np.testing.assert_array_equal(vectors[0], vectors[5])


@settings(max_examples=10, deadline=None)
@given(order=st.permutations(range(2 * N)))
def test_the_order_of_a_batch_does_not_matter(order, tmp_path_factory):
    rows = np.array(order)
    for name in SPECS:
        encoder = make(name, tmp_path_factory.getbasetemp())
        expected = encoder.encode(collection())[rows]
        np.testing.assert_array_equal(encoder.encode(collection().take(rows)), expected)


def test_a_row_is_the_same_alone_and_in_a_batch(named):
    name, encoder = named
    assert getattr(encoder, "depends_on_batch", False) == (name in WHOLE_COLLECTION)
    if name in WHOLE_COLLECTION:
        return
    together = encoder.encode(collection())
    for row in range(2 * N):
        np.testing.assert_array_equal(encoder.encode(collection().take(np.array([row])))[0], together[row])


def test_rows_that_were_fitted_on_are_known(named):
    name, encoder = named
    fitted = getattr(encoder, "fitted_on", frozenset())
    assert fitted <= collection().row_digests()
    assert bool(fitted) == ("fit=" in str(SPECS[name]))
