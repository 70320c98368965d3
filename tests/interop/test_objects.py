"""Models of other libraries, taken as they are wherever an encoder is."""

import copy
import shutil

import numpy as np
import pytest
from PIL import Image

from xlingual import Manifest, backretrieval, crosslingual_retrieval, encoder, image_sentence
from xlingual.encoders import text_encoders
from xlingual.errors import DataWarning
from xlingual.records import Texts

TEXTS = ["a red chair", "ein roter Stuhl", "a blue table", "ein blauer Tisch", "a red chair"]
BATCH = Texts(TEXTS, ["en", "de", "en", "de", "en"], [str(i) for i in range(5)])
WORDS = ["red", "blue", "green", "old", "new", "tall", "flat", "round"]


def as_role(role):
    return Texts(BATCH.text, BATCH.language, BATCH.ids, role=role)


def taken(entry, languages=("en", "de")):
    return text_encoders({"mine": entry}, languages=languages)["mine"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A small shop: 16 items in two languages, each with an image."""
    folder = tmp_path_factory.mktemp("shop")
    rows = ["id,lang,text,image,item"]
    for i in range(16):
        Image.new("RGB", (8, 8), (15 * i, 255 - 15 * i, 40)).save(folder / f"{i}.png")
        for tag, noun in (("en", "chair"), ("de", "Stuhl")):
            rows.append(f"{i}{tag},{tag},{WORDS[i % 8]} {noun} {i // 8},{i}.png,{i}")
    (folder / "shop.csv").write_text("\n".join(rows), encoding="utf-8")
    return Manifest.read(folder / "shop.csv")


@pytest.fixture(scope="module")
def st_model(checkpoints):
    library = pytest.importorskip("sentence_transformers")
    return library.SentenceTransformer(str(checkpoints("sentence_bert")), device="cpu")


def test_a_sentence_transformer_gives_what_the_library_gives_by_role(st_model):
    made = taken(st_model)
    for role, encode in ((None, st_model.encode), ("query", st_model.encode_query)):
        np.testing.assert_allclose(made.encode(as_role(role)), encode(TEXTS), atol=1e-6)
    documents = st_model.encode_document(TEXTS)
    np.testing.assert_allclose(made.encode(as_role("candidate")), documents, atol=1e-6)
    assert made.by_role and not np.allclose(documents, st_model.encode_query(TEXTS), atol=1e-4)


@pytest.mark.parametrize("library", ["sentence_transformers", "folder"])
def test_a_model_made_for_the_dot_product_is_warned_of(checkpoints, library, shop, tmp_path):
    transformers = pytest.importorskip("sentence_transformers")
    plain = transformers.SentenceTransformer(str(checkpoints("sentence_plain")), device="cpu")
    model = entry = copy.deepcopy(plain)  # it does not normalise
    before = taken(model).identity
    assert taken(model).compares_by == "cosine" and taken(model).identity == before
    model.similarity_fn_name = "dot"
    if library == "folder":
        model.save(str(tmp_path / "dot"))
        entry = f"st:{tmp_path / 'dot'}?device=cpu"
    with pytest.warns(DataWarning, match="^text encoder 'm': .*compared by 'dot'"):
        found = crosslingual_retrieval(shop, {"m": entry}, measures="R@3", store=None)
    assert any("compared by 'dot'" in text for text in found.warnings)
    usual = crosslingual_retrieval(shop, {"m": plain}, measures="R@3", store=None)
    assert [one.value for one in found.entries] == [one.value for one in usual.entries]
    assert not usual.warnings


def test_a_model_that_normalises_ranks_by_the_dot_product_as_by_the_cosine(st_model, shop):
    model = copy.deepcopy(st_model)
    model.similarity_fn_name = "dot"
    assert not crosslingual_retrieval(shop, {"m": model}, measures="R@3", store=None).warnings


def test_a_sentence_transformer_scores_as_its_folder_does(st_model, checkpoints, shop, tmp_path):
    specs = {"object": st_model, "folder": f"st:{checkpoints('sentence_bert')}?device=cpu"}
    found = crosslingual_retrieval(shop, text_encoders=specs, measures="R@3", store=tmp_path)
    values = {(e.encoder, e.source): e.value for e in found.entries}
    assert all(values["object", tag] == values["folder", tag] for tag in ("en", "de"))
    again = backretrieval(shop, text_encoders=st_model, image_encoder="pixels", measures="R@3")
    assert {e.encoder for e in again.entries} == {"SentenceTransformer"}


def test_prompts_are_written(st_model):
    written = taken(encoder(st_model, query_prompt="find: "))
    expected = st_model.encode(TEXTS, prompt="find: ")
    np.testing.assert_allclose(written.encode(as_role("query")), expected, atol=1e-6)


def test_long_texts_are_noted(st_model):
    long = Texts(["chair " * 900, "chair"], ["en", "en"], ["0", "1"])
    assert taken(st_model).encode_noting(long).truncated.tolist() == [True, False]


def test_a_model_in_training_stays_in_training(st_model):
    st_model.train()
    taken(st_model).encode(BATCH)
    assert st_model.training
    st_model.eval()


@pytest.fixture(scope="module")
def clip_model(checkpoints, tmp_path_factory):
    library = pytest.importorskip("sentence_transformers")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    processors = pytest.importorskip("transformers")
    folder = shutil.copytree(checkpoints("clip"), tmp_path_factory.mktemp("models") / "clip")
    sizes = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}
    tokenizer = processors.AutoTokenizer.from_pretrained(folder)
    tokenizer.model_max_length = 40
    processors.CLIPProcessor(processors.CLIPImageProcessorPil(**sizes), tokenizer).save_pretrained(folder)
    model = library.SentenceTransformer(modules=[modules.Transformer(str(folder))], device="cpu")
    assert model.supports("image")
    return model


def test_a_clip_model_encodes_texts_and_images(clip_model, shop):
    model = clip_model
    found = image_sentence(shop, text_encoders=model, image_encoders=model, measures="Success@3")
    assert {e.encoder for e in found.entries} == {"SentenceTransformer"}
    backretrieval(shop, text_encoders="chargram", image_encoder=model, measures="R@3")


@pytest.mark.parametrize("kind", ["sparse_encoder", "multi_vector_encoder"])
def test_sparse_and_multi_vector_models_are_never_read_as_dense(checkpoints, kind):
    library = pytest.importorskip("sentence_transformers")
    name = {"sparse_encoder": "SparseEncoder", "multi_vector_encoder": "MultiVectorEncoder"}[kind]
    model = getattr(library, name)(str(checkpoints(kind)), device="cpu")
    assert "SentenceTransformerObject" not in type(taken(model)).__name__
