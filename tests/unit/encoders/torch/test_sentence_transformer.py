"""`st:` for texts: against the library used directly, on small random models."""

import json
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
library = pytest.importorskip("sentence_transformers")

from xlingual.encoders import Encoder, kind_of, text_encoders  # noqa: E402
from xlingual.encoders.prompts import Prompts  # noqa: E402
from xlingual.encoders.sentence_transformer import SentenceTransformerEncoder, model_prompts  # noqa: E402
from xlingual.encoders.torch_runtime import randomly_initialized  # noqa: E402
from xlingual.errors import DataWarning, InputError, MissingExtraError  # noqa: E402
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
@pytest.mark.parametrize("options", ["", "long=windows&max_length=12"])
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


def test_windows_are_averaged_by_their_tokens(checkpoints, direct):
    model, long = direct("sentence_bert"), "red chair lamp " * 9 + "table"
    st = encoder(checkpoints("sentence_bert"), "?long=windows&max_length=12")
    encoded = st.encode_noting(texts([long, "lamp"], role="query"))
    assert not encoded.truncated.any()
    words = long.split()  # each a token; 12 less two special tokens and the prompt's two
    windows = [words[start : start + 8] for start in range(0, 28, 8)]
    vectors = model.encode([f"query: {' '.join(window)}" for window in windows], prompt="")
    expected = np.average(vectors, axis=0, weights=[len(window) for window in windows])
    np.testing.assert_allclose(encoded.vectors[0], expected, atol=1e-5)
    np.testing.assert_allclose(encoded.vectors[1], model.encode_query("lamp"), atol=1e-6)


def test_windows_leave_the_prompt_out_of_the_mean_where_the_model_does(copied, direct):
    folder = copied("sentence_bert")
    settings = json.loads((folder / "1_Pooling" / "config.json").read_text())
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(settings | {"include_prompt": False}))
    model = library.SentenceTransformer(str(folder), device="cpu")
    words = ["red", "chair", "lamp", "table", "red", "lamp", "the"]
    st = encoder(folder, "?long=windows&max_length=8")  # two special tokens, two of the prompt: four words
    vectors = [model.encode_query(" ".join(part)) for part in (words[:4], words[4:])]
    found = st.encode(texts([" ".join(words)], role="query"))[0]
    np.testing.assert_allclose(found, np.average(vectors, axis=0, weights=[4, 3]), atol=1e-5)
    assert np.abs(found - direct("sentence_bert").encode_query(" ".join(words))).max() > 1e-3


def test_the_identity_names_what_changes_vectors(copied):
    folder = copied("sentence_bert")
    base = encoder(folder)
    assert isinstance(base, Encoder)
    same = ["?batch=3", "?device=cpu", "?dtype=float32", "?prompts=model", "?query_prompt=query: "]
    assert {encoder(folder, option).identity for option in same} == {base.identity}
    assert encoder(copied("sentence_bert", "elsewhere")).identity == base.identity
    other = [
        *("?dim=7", "?max_length=9", "?long=windows", "?dtype=float16", "?prompts=none"),
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


def test_weights_that_would_be_random_are_refused(copied):
    from safetensors.numpy import load_file, save_file

    folder = copied("sentence_bert")
    weights = load_file(folder / "model.safetensors")
    weights = {name: table for name, table in weights.items() if "pooler." not in name}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert encoder(folder).encode(texts()).shape == (len(TEXTS), 20)  # which needs no pooler
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"1 weights are not in the checkpoint .*encoder\.layer\.1\.output"):
        encoder(folder).encode(texts())


def test_warnings_of_older_versions_are_understood():
    warning = (
        "Some weights of BertModel were not initialized from the model checkpoint at x and are newly "
        "initialized: ['encoder.layer.0.output.dense.weight', 'pooler.dense.bias']\nYou should train"
    )
    assert randomly_initialized([warning, "something ['a.b']"]) == ["encoder.layer.0.output.dense.weight"]


def test_a_model_that_the_library_cannot_load(copied):
    folder = copied("sentence_bert")
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["type"] = "sentence_transformers.models.Unheard"
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InputError, match="cannot be loaded") as caught:
        encoder(folder).encode(texts())
    assert "\n" not in str(caught.value)


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


def test_the_owner_of_the_librarys_models_need_not_be_written(monkeypatch, tmp_path):
    from xlingual.encoders import checkpoints

    asked = []

    def hub(who, name, *_):
        asked.append((who, name))
        raise InputError("not here")

    monkeypatch.setattr(checkpoints, "_from_hub", hub)
    for name in ("LaBSE", "intfloat/multilingual-e5-small"):
        with pytest.raises(InputError):
            encoder(name)
    assert asked == [
        ("st:LaBSE", "sentence-transformers/LaBSE"),
        ("st:intfloat/multilingual-e5-small", "intfloat/multilingual-e5-small"),
    ]


def test_a_missing_package_is_named(checkpoints, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'xlingual\[st\]'"):
        encoder(checkpoints("sentence_plain"))


def test_a_folder_without_a_tokenizer_is_refused(copied):
    folder = copied("sentence_plain")
    for path in [*folder.rglob("tokenizer*"), *folder.rglob("vocab*")]:
        path.unlink()
    with pytest.raises(InputError, match=r"has no tokenizer \(tokenizer.json"):
        encoder(folder)


def test_a_tokenizer_with_more_tokens_than_embeddings_is_refused(copied):
    import transformers

    folder = copied("sentence_plain")
    model = transformers.AutoModel.from_pretrained(folder)
    model.resize_token_embeddings(20)
    model.save_pretrained(folder)
    with pytest.raises(InputError, match="the network has embeddings of 20 only"):
        encoder(folder).encode(texts())


def test_what_the_model_raises_is_reported_in_one_line(checkpoints, monkeypatch):
    one = encoder(checkpoints("sentence_plain"))

    def fails(*_, **__):
        raise IndexError("index out of range")

    monkeypatch.setattr(one.model, "encode", fails)
    with pytest.raises(InputError, match=r"fails while it encodes \(IndexError: index out of range\)"):
        one.encode(texts())


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
    assert kind_of(encoder(folder)) == {}
    (folder / "0_CLIPModel").mkdir()
    (folder / "0_CLIPModel" / "config.json").write_text('{"model_type": "clip"}', encoding="utf-8")
    assert kind_of(encoder(folder)) == {"kind": "general", "trained_on_images": True}


def test_prompts_are_named(checkpoints):
    folder = checkpoints("sentence_bert")
    by_name = text_encoders({"a": f"st:{folder}?device=cpu&prompt_name=query"}, languages=["en"])["a"]
    written = text_encoders({"a": f"st:{folder}?device=cpu&prompt=query: "}, languages=["en"])["a"]
    assert by_name.identity == written.identity
    with pytest.raises(InputError, match="no prompt named 'none'"):
        text_encoders({"a": f"st:{folder}?query_prompt_name=none"}, languages=["en"])
    with pytest.raises(InputError, match="prompt and prompt_name: give one"):
        text_encoders({"a": f"st:{folder}?prompt=a&prompt_name=query"}, languages=["en"])
