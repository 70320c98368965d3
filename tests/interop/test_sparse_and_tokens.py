"""SparseEncoder and MultiVectorEncoder of sentence-transformers, scored as the library scores them."""

from importlib import metadata

import numpy as np
import pytest
from tests.checkpoints import TEXTS

library = pytest.importorskip("sentence_transformers")
pytest.importorskip("sentence_transformers.multi_vector_encoder")

import xlingual  # noqa: E402
from xlingual.encoders import text_encoders  # noqa: E402
from xlingual.encoders.loaded import adapter_of  # noqa: E402
from xlingual.errors import InputError  # noqa: E402
from xlingual.forms import SparseVectors, TokenVectors  # noqa: E402
from xlingual.records import Texts  # noqa: E402
from xlingual.signature import Signature  # noqa: E402


@pytest.fixture(autouse=True)
def _version(monkeypatch):
    """Let results name a version where the sources are on the path without being installed."""
    try:
        metadata.version("xlingual")
    except metadata.PackageNotFoundError:
        named = {"xlingual": "0"}
        found = lambda name: named.get(name) or metadata.version(name)  # noqa: E731
        monkeypatch.setattr("xlingual.requests.provenance.version", found)


KINDS = {"sparse_encoder": "SparseEncoder", "multi_vector_encoder": "MultiVectorEncoder"}


@pytest.fixture(scope="module", params=KINDS)
def model(request, checkpoints):
    made = getattr(library, KINDS[request.param])(str(checkpoints(request.param)), device="cpu")
    made.folder = checkpoints(request.param)
    return made


def texts(role=None, text=TEXTS):
    return Texts(list(text), ["en"] * len(text), [str(i) for i in range(len(text))], role=role)


@pytest.mark.parametrize("role", ["query", "candidate", None])
def test_vectors_are_those_of_the_library(model, role):
    encode = {"query": model.encode_query, "candidate": model.encode_document, None: model.encode}[role]
    spec = next(iter(text_encoders([f"st:{model.folder}"], languages=["en"]).values()))
    for encoder in (adapter_of(model), spec):
        found = encoder.encode_noting(texts(role))
        assert found.truncated.tolist() == [i == 8 for i in range(len(TEXTS))]
        if isinstance(found.vectors, SparseVectors):
            assert found.vectors.compared_by == "dot"
            np.testing.assert_allclose(
                found.vectors.matrix.toarray(), encode(TEXTS).to_dense().numpy(), atol=1e-5
            )
        else:
            assert isinstance(found.vectors, TokenVectors) and found.vectors.compared_by == "maxsim"
            for i, wanted in enumerate(encode(TEXTS, convert_to_numpy=True)):
                np.testing.assert_allclose(found.vectors[[i]].vectors, wanted, atol=1e-5)


WORDS = ["red", "chair", "lamp", "table", "the", "very", "long", "text", "query", "passage", "glass", "blue"]


def sentences(seed, n=40):
    """Return sentences of which every fifth occurs twice: ties."""
    rng = np.random.default_rng(seed)
    made = [" ".join(rng.choice(WORDS, rng.integers(1, 7))) for _ in range(n)]
    return [made[i - i % 5] if i % 5 == 1 else text for i, text in enumerate(made)]


def hit_rate(scores, k):
    """Return the expected hit rate of row i's own column, ties to 5 digits in random order."""
    own = np.diag(scores)[:, None]
    above, tied = (scores > own + 1e-5).sum(axis=1), (np.abs(scores - own) <= 1e-5).sum(axis=1)
    return np.clip((k - above) / tied, 0, 1).mean()


@pytest.mark.parametrize("name", [None, "cosine", "meanmaxsim"])
def test_retrieval_scores_as_the_library_does(model, name, tmp_path):
    """R@10 of object and folder equals that of `model.similarity` of queries and documents."""
    kind = type(model).__name__
    if (name == "cosine" and kind != "SparseEncoder") or (name == "meanmaxsim" and kind == "SparseEncoder"):
        pytest.skip("the other kind's")
    before, model.similarity_fn_name = model.similarity_fn_name, name
    try:
        en, de = sentences(1), sentences(2)
        scores = model.similarity(model.encode_query(en), model.encode_document(de)).numpy()
        manifest = xlingual.Manifest.of(
            [{"id": f"r{i}", "text_en": a, "text_de": b} for i, (a, b) in enumerate(zip(en, de, strict=True))]
        )
        given = {"object": model} if name else {"object": model, "folder": f"st:{model.folder}"}
        found = xlingual.crosslingual_retrieval(
            manifest, text_encoders=given, pairs="en-de", measures="R@1,R@10", store=tmp_path
        )
        for entry in found.entries:
            k = int(entry.measure.partition("@")[2])
            assert entry.value == pytest.approx(hit_rate(scores.astype(float), k), abs=1e-12)
            said = Signature.parse(entry.signature).system.get("similarity")
            assert said == (None if name == "cosine" else model.similarity_fn_name)
        if name is None:  # once more, from the store
            again = xlingual.crosslingual_retrieval(
                manifest, text_encoders=given, pairs="en-de", measures="R@1,R@10", store=tmp_path
            )
            assert [e.value for e in again.entries] == [e.value for e in found.entries]
    finally:
        model.similarity_fn_name = before


def test_evaluators_of_a_training_score_them_as_they_are(model, tmp_path):
    from xlingual.integrations.sentence_transformers import CrosslingualRetrievalEvaluator

    en, de = sentences(1), sentences(2)
    rows = [{"id": f"r{i}", "text_en": a, "text_de": b} for i, (a, b) in enumerate(zip(en, de, strict=True))]
    evaluator = CrosslingualRetrievalEvaluator(xlingual.Manifest.of(rows), pairs="en-de")
    scores = model.similarity(model.encode_query(en), model.encode_document(de)).numpy().astype(float)
    assert evaluator(model, str(tmp_path))["xlr_r@10"] == pytest.approx(hit_rate(scores, 10), abs=1e-12)


def test_queries_and_documents_have_their_own_prompts(model):
    """Sources are queries, targets documents: the model's prompts for these count, as in the library."""
    before, model.prompts = model.prompts, {"query": "query: red ", "document": "passage long "}
    try:
        en, de = sentences(1), sentences(2)
        scores = model.similarity(model.encode_query(en), model.encode_document(de)).numpy()
        manifest = xlingual.Manifest.of(
            [{"id": f"r{i}", "text_en": a, "text_de": b} for i, (a, b) in enumerate(zip(en, de, strict=True))]
        )
        found = xlingual.crosslingual_retrieval(
            manifest, text_encoders=model, pairs="en-de", measures="R@10", store=None
        )
        assert found.entries[0].value == pytest.approx(hit_rate(scores.astype(float), 10), abs=1e-12)
        assert "roles:source=query" in found.entries[0].signature
    finally:
        model.prompts = before


def test_prompts_of_a_spec_take_the_place_of_the_models(model):
    text = TEXTS[:3]
    encoders = text_encoders(
        {
            "own": f"st:{model.folder}",
            "other": f"st:{model.folder}?query_prompt=the",
            "none": f"st:{model.folder}?prompt=",
        },
        languages=["en"],
    )
    found = {name: encoder.encode(texts("query", text)) for name, encoder in encoders.items()}
    wanted = adapter_of(model).encode(texts("query", ["the" + one for one in text]))
    assert len({encoder.identity for encoder in encoders.values()}) == 2  # its own prompts are empty
    assert np.allclose(numbers(found["other"]), numbers(wanted), atol=1e-5)
    assert np.array_equal(numbers(found["own"]), numbers(found["none"]))


def numbers(vectors):
    return vectors.matrix.data if isinstance(vectors, SparseVectors) else vectors.vectors


def test_identities_tell_weights_and_settings_apart(model):
    before = adapter_of(model).identity
    assert before == adapter_of(model).identity
    model.prompts = {**model.prompts, "query": "query: "}
    assert adapter_of(model).identity != before
    model.prompts["query"] = ""
    assert adapter_of(model).identity == before


def test_a_distance_is_refused(checkpoints):
    model = library.SparseEncoder(
        str(checkpoints("sparse_encoder")), device="cpu", similarity_fn_name="euclidean"
    )
    with pytest.raises(InputError, match=r"compares by euclidean.*'dot' or 'cosine'"):
        adapter_of(model).encode(texts())
