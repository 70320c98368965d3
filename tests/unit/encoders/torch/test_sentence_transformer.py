"""`st:` for texts: against the library used directly, on small random models."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
library = pytest.importorskip("sentence_transformers")

from xlingual.encoders import Encoder, kind_of, text_encoders  # noqa: E402
from xlingual.encoders.prompts import Prompts  # noqa: E402
from xlingual.encoders.sentence_transformer import SentenceTransformerEncoder, model_prompts  # noqa: E402
from xlingual.errors import DataWarning, InputError  # noqa: E402
from xlingual.records import Texts  # noqa: E402

TEXTS = [
    "a red chair",
    "ein roter Stuhl steht am Tisch",
    "",
    "lamp",
    "a very long text " * 6,
    "a red chair",
    "日本 椅子",
    "!",
]


def texts(words=TEXTS, **more):
    return Texts(list(words), ["en"] * len(words), [str(i) for i in range(len(words))], **more)


def encoder(folder, options="") -> SentenceTransformerEncoder:
    return text_encoders({"st": f"st:{folder}{options}"}, languages=["en", "de"])["st"]


@pytest.fixture(scope="module")
def direct(checkpoints):
    """Give the library's own model of a kind."""
    return lambda kind: library.SentenceTransformer(str(checkpoints(kind)), device="cpu")


@pytest.mark.parametrize("kind", ["sentence_bert", "sentence_plain"])
def test_vectors_are_those_of_the_library(checkpoints, direct, kind):
    model, st = direct(kind), encoder(checkpoints(kind), "?batch=3")
    by_role = {None: model.encode, "query": model.encode_query, "candidate": model.encode_document}
    for role, encode in by_role.items():
        found = st.encode(texts(role=role))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, encode(TEXTS), atol=1e-5)


def test_the_models_own_prompts_are_used_by_role(checkpoints, direct):
    folder, model = checkpoints("sentence_bert"), direct("sentence_bert")
    plain = {
        text: model.encode(text, prompt="") for text in ("query: lamp", "passage: lamp", "lamp", "say lamp")
    }
    assert encoder(folder).content == ("text", "role")
    for options, role, read in (
        ("", "query", "query: lamp"),
        ("", "candidate", "passage: lamp"),
        ("", None, "lamp"),
        ("?prompts=none", "query", "lamp"),
        ("?prompts=none", "candidate", "lamp"),
        ("?prompt=say ", None, "say lamp"),
        ("?prompt=say ", "query", "say lamp"),
        ("?candidate_prompt=say ", "candidate", "say lamp"),
        ("?candidate_prompt=say ", "query", "query: lamp"),
        ("?prompts=none&query_prompt=say ", "candidate", "lamp"),
    ):
        found = encoder(folder, options).encode(texts(["lamp"], role=role))[0]
        np.testing.assert_allclose(found, plain[read], atol=1e-6, err_msg=f"{options} {role}")
    assert encoder(folder, "?prompts=none").content == encoder(folder, "?prompt=say ").content == ("text",)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, Prompts()),
        ({"prompts": {"query": "q: ", "passage": "p: "}}, Prompts("", "q: ", "p: ")),
        ({"prompts": {"query": "q: ", "document": "", "passage": "p: "}}, Prompts("", "q: ", "p: ")),
        ({"prompts": {"document": "d: ", "passage": "p: "}}, Prompts("", "", "d: ")),
        ({"prompts": {"x": "x: "}, "default_prompt_name": "x"}, Prompts("x: ", "", "")),
        ({"prompts": None, "default_prompt_name": None}, Prompts()),
    ],
)
def test_prompts_of_a_models_settings(tmp_path, settings, expected):
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(settings))
    assert model_prompts(tmp_path) == expected


def test_fewer_dimensions(checkpoints, direct):
    folder = checkpoints("sentence_bert")
    found = encoder(folder, "?dim=7").encode(texts())
    np.testing.assert_allclose(found, direct("sentence_bert").encode(TEXTS)[:, :7], atol=1e-6)
    assert encoder(folder, "?dim=7").encode(texts([])).shape == (0, 7)
    assert encoder(folder).encode(texts([])).shape == (0, 20)
    with pytest.raises(InputError, match=r"dim=21, but the model's vectors have 20 dimensions$"):
        encoder(folder, "?dim=21").encode(texts())


@pytest.mark.parametrize("kind", ["sentence_bert", "sentence_plain"])
@pytest.mark.parametrize("options", ["", "max_length=12"])
@pytest.mark.cases(2)
def test_other_texts_in_the_batch_change_no_vector(checkpoints, kind, options):
    st = encoder(checkpoints(kind), f"?{options}")
    together = st.encode(texts())
    alone = np.concatenate([st.encode(texts([text])) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    order = np.random.default_rng(0).permutation(len(TEXTS))
    by_two = encoder(checkpoints(kind), f"?batch=2&{options}".rstrip("&")).encode(texts().take(order))
    np.testing.assert_allclose(by_two, together[order], atol=1e-5)
    np.testing.assert_array_equal(together[0], together[5])


def test_texts_that_are_cut_are_noted_with_their_prompt(checkpoints):
    words = ["a" * count for count in range(15, 30)]  # a token for each letter; the model reads 24
    st = encoder(checkpoints("sentence_bert"))
    np.testing.assert_array_equal(st.encode_noting(texts(words)).truncated, np.arange(15, 30) > 22)
    cut = st.encode_noting(texts(words, role="query")).truncated  # "query", ":"
    np.testing.assert_array_equal(cut, np.arange(15, 30) > 20)
    longer = encoder(checkpoints("sentence_bert"), "?max_length=40").encode_noting(texts(words))
    assert not longer.truncated.any()
    with pytest.raises(InputError, match="max_length=41 is more than the 40 tokens"):
        encoder(checkpoints("sentence_bert"), "?max_length=41").encode(texts())


def test_the_identity_names_what_changes_vectors(copied):
    folder = copied("sentence_bert")
    base = encoder(folder)
    assert isinstance(base, Encoder)
    same = ["?batch=3", "?device=cpu", "?dtype=float32", "?prompts=model", "?query_prompt=query: "]
    assert {encoder(folder, option).identity for option in same} == {base.identity}
    assert encoder(copied("sentence_bert", "elsewhere")).identity == base.identity
    other = [
        *("?dim=7", "?max_length=9", "?dtype=float16", "?prompts=none"),
        *("?prompt=a", "?query_prompt=a", "?candidate_prompt=a"),
    ]
    identities = {base.identity, *(encoder(folder, option).identity for option in other)}
    assert len(identities) == 1 + len(other)
    for name in ("1_Pooling/config.json", "2_Dense/model.safetensors", "model.safetensors", "modules.json"):
        before, raw = encoder(folder).identity, (folder / name).read_bytes()
        (folder / name).write_bytes(raw + b" ")
        assert encoder(folder).identity != before


def test_a_pickle_in_any_module_is_refused(copied):
    folder = copied("sentence_bert")
    (folder / "2_Dense" / "model.safetensors").rename(folder / "2_Dense" / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"2_Dense/pytorch_model\.bin is a pickle, which could run code"):
        encoder(folder)


def test_static_embeddings_read_texts_of_any_length(checkpoints, tmp_path):
    from tokenizers import Tokenizer

    modules = pytest.importorskip("sentence_transformers.models")
    tokenizer = Tokenizer.from_file(str(checkpoints("bert") / "tokenizer.json"))
    torch.manual_seed(0)
    static = modules.StaticEmbedding(tokenizer, embedding_dim=12)
    model = library.SentenceTransformer(modules=[static], device="cpu")
    model.save_pretrained(str(tmp_path / "static"))
    encoded = encoder(tmp_path / "static").encode_noting(texts())
    np.testing.assert_allclose(encoded.vectors, model.encode(TEXTS), atol=1e-6)
    assert not encoded.truncated.any()
    with pytest.raises(InputError, match="reads texts of any length"):
        encoder(tmp_path / "static", "?max_length=9").encode(texts())


def test_a_batch_that_does_not_fit_is_halved(checkpoints, monkeypatch):
    st = encoder(checkpoints("sentence_plain"), "?batch=8")
    expected, encode = st.encode(texts()), st.model.encode

    def small_memory(words, **more):
        if len(words) > 1:
            raise RuntimeError("MPS backend out of memory (MPS allocated: 17 GB)")
        return encode(words, **more)

    monkeypatch.setattr(st.model, "encode", small_memory)
    with pytest.warns(DataWarning, match=r"a batch of [2-8] did not fit into memory, one of 1 did: "):
        found = st.encode(texts())
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_router_of_static_embeddings(tmp_path, checkpoints):
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    from tokenizers import Tokenizer

    words = Tokenizer.from_file(str(checkpoints("bert") / "tokenizer.json"))
    torch.manual_seed(6)
    routes = [modules.StaticEmbedding(words, embedding_dim=8) for _ in range(2)]
    routed = modules.Router.for_query_document([routes[0]], [routes[1]])
    model = library.SentenceTransformer(modules=[routed], device="cpu")
    model.save(str(tmp_path / "routed"))
    st = encoder(tmp_path / "routed")
    before = st.identity
    for role, encode in {"query": model.encode_query, "candidate": model.encode_document}.items():
        np.testing.assert_allclose(
            st.encode(texts(["lamp", "red"], role=role)), encode(["lamp", "red"]), atol=1e-6
        )
    weight = next((tmp_path / "routed").glob("document_0_*/*.safetensors"))
    raw = weight.read_bytes()
    weight.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    assert encoder(tmp_path / "routed").identity != before


def test_a_model_of_texts_and_images_is_known_as_such(copied):
    folder = copied("sentence_plain")
    assert kind_of(encoder(folder)) == {"kind": "general"}
    (folder / "0_CLIPModel").mkdir()
    (folder / "0_CLIPModel" / "config.json").write_text('{"model_type": "clip"}', encoding="utf-8")
    assert kind_of(encoder(folder)) == {"kind": "general", "trained_on_images": True}
