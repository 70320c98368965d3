"""SparseEncoder and MultiVectorEncoder of sentence-transformers, scored as the library scores them."""

import numpy as np
import pytest
from tests.checkpoints import TEXTS

library = pytest.importorskip("sentence_transformers")
pytest.importorskip("sentence_transformers.multi_vector_encoder")

from xlingual.encoders import text_encoders  # noqa: E402
from xlingual.encoders.sentence_transformer_kinds import adapter_of, kind_of_model  # noqa: E402
from xlingual.errors import InputError  # noqa: E402
from xlingual.forms import SparseVectors, TokenVectors  # noqa: E402
from xlingual.records import Texts  # noqa: E402

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


def test_identities_tell_weights_and_settings_apart(model):
    before = adapter_of(model).identity
    assert before == adapter_of(model).identity
    model.prompts = {**model.prompts, "query": "query: "}
    assert adapter_of(model).identity != before
    model.prompts["query"] = ""
    assert adapter_of(model).identity == before


def test_other_models_are_refused(checkpoints):
    dense = library.SentenceTransformer(str(checkpoints("sentence_bert")), device="cpu")
    assert kind_of_model(dense) is None
    with pytest.raises(InputError, match="expected a SparseEncoder"):
        adapter_of(dense)


def test_a_distance_is_refused(checkpoints):
    model = library.SparseEncoder(
        str(checkpoints("sparse_encoder")), device="cpu", similarity_fn_name="euclidean"
    )
    with pytest.raises(InputError, match=r"compares by euclidean.*'dot' or 'cosine'"):
        adapter_of(model).encode(texts())
