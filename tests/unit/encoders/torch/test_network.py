"""`st:` and `hf:` for texts: small random networks, against sentence-transformers used directly."""

import json
import sys
import types
from contextlib import suppress

import numpy as np
import pytest
from tests.checkpoints import TEXTS

torch = pytest.importorskip("torch")
library = pytest.importorskip("sentence_transformers")

from xlingual.encoders import kind_of, text_encoders  # noqa: E402
from xlingual.errors import InputError  # noqa: E402
from xlingual.records import Texts  # noqa: E402


def texts(words=TEXTS, **more):
    return Texts(list(words), ["en"] * len(words), [str(i) for i in range(len(words))], **more)


def encoder(spec):
    return text_encoders({"a": spec}, languages=["en", "de"])["a"]


def refused(spec, words=("a red chair",)):
    with pytest.raises(InputError) as caught:
        encoder(spec).encode(texts(words))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("kind", ["sentence_bert", "sentence_plain", "distilbert"])
def test_vectors_of_st_are_those_of_the_library_by_role(checkpoints, kind):
    model, st = (
        library.SentenceTransformer(str(checkpoints(kind)), device="cpu"),
        encoder(f"st:{checkpoints(kind)}"),
    )
    methods = {None: model.encode, "query": model.encode_query, "candidate": model.encode_document}
    for role, encode in methods.items():
        vectors = st.encode(texts(role=role))
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, encode(TEXTS, batch_size=3), atol=2e-6)


def direct(folder, words):
    """Give the output of the bare network for one text at a time, and its own tokens."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    for text in words:
        inputs = tokenizer(text, return_tensors="pt", truncation=True, max_length=40)
        with torch.no_grad():
            yield model(**inputs)


@pytest.mark.parametrize("kind", ["bert", "xlmr", "distilbert", "qwen"])
def test_pools_of_hf_are_those_of_the_network(checkpoints, kind):
    words = [text for text in TEXTS if text][: 3 if kind == "qwen" else None]
    outputs = list(direct(checkpoints(kind), words))
    hidden = [output.last_hidden_state[0].numpy() for output in outputs]
    expected = {
        "mean": [states.mean(axis=0) for states in hidden],
        "cls": [states[0] for states in hidden],
        "last": [states[-1] for states in hidden],
    }
    if kind == "qwen":
        del expected["cls"]
    for pool, vectors in expected.items():
        found = encoder(f"hf:{checkpoints(kind)}?pool={pool}&batch=3").encode(texts(words))
        np.testing.assert_allclose(found, vectors, atol=5e-6, err_msg=pool)


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_a_network_for_texts_and_images_gives_its_projection(checkpoints, kind):
    from transformers import AutoModel, AutoTokenizer

    folder = checkpoints(kind)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    reading = {"clip": {"max_length": 40}, "siglip": {"max_length": 24, "padding": "max_length"}}[kind]
    hf = encoder(f"hf:{folder}")
    assert kind_of(hf) == {"kind": "general", "trained_on_images": True}
    for text, vector in zip(TEXTS, hf.encode(texts()), strict=True):
        inputs = tokenizer(text, return_tensors="pt", truncation=True, **reading)
        names = ("input_ids",) if kind == "siglip" else ("input_ids", "attention_mask")
        with torch.no_grad():
            expected = model.get_text_features(**{name: inputs[name] for name in names})
        np.testing.assert_allclose(vector, getattr(expected, "pooler_output", expected)[0].numpy(), atol=1e-5)


@pytest.mark.parametrize("spec", ["hf:bert", "hf:xlmr", "hf:qwen", "hf:t5", "hf:siglip", "st:sentence_bert"])
@pytest.mark.parametrize("options", ["", "max_length=12"])
@pytest.mark.cases(3)
def test_other_texts_in_the_batch_change_no_vector(checkpoints, spec, options):
    scheme, kind = spec.split(":")
    made = encoder(f"{scheme}:{checkpoints(kind)}?{options}".rstrip("?"))
    together = made.encode(texts())
    alone = np.concatenate([made.encode(texts([text])) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_array_equal(together[0], together[5])
    assert made.encode(texts([])).shape == (0, together.shape[1])
    assert bool(together[2].any()) == (kind != "qwen")  # a text without tokens has no direction


def test_prompts_by_role(checkpoints):
    folder = checkpoints("sentence_bert")
    plain = encoder(f"st:{folder}?prompt=")
    words = {
        text: plain.encode(texts([text]))[0] for text in ("query: lamp", "passage: lamp", "lamp", "say lamp")
    }
    for options, role, read in (
        ("", "query", "query: lamp"),
        ("", "candidate", "passage: lamp"),
        ("", None, "lamp"),
        ("?prompt=", "query", "lamp"),
        ("?prompt=say ", "query", "say lamp"),
        ("?candidate_prompt=say ", "candidate", "say lamp"),
        ("?candidate_prompt=say ", "query", "query: lamp"),
        ("?prompt=&query_prompt=say ", "candidate", "lamp"),
    ):
        vector = encoder(f"st:{folder}{options}").encode(texts(["lamp"], role=role))[0]
        np.testing.assert_allclose(vector, words[read], atol=1e-6, err_msg=f"{options} {role}")
    assert encoder(f"st:{folder}").content == ("text", "role")
    assert plain.content == encoder(f"st:{folder}?prompt=say ").content == ("text",)


def test_dimensions_lengths_and_precision(checkpoints):
    for spec in (f"st:{checkpoints('sentence_bert')}", f"hf:{checkpoints('bert')}"):
        whole = encoder(spec).encode(texts())
        np.testing.assert_allclose(encoder(f"{spec}?dim=7").encode(texts()), whole[:, :7], atol=1e-6)
        assert "dim=99" in refused(f"{spec}?dim=99")
        assert "max_length=41" in refused(f"{spec}?max_length=41")
        assert "max_length=2" in refused(f"{spec}?max_length=2")
        half = encoder(f"{spec}?dtype=bfloat16").encode(texts())
        assert half.dtype == np.float32
        assert 1e-6 < np.abs(half - whole).max() < 0.1
    assert "41" in refused(
        f"hf:{checkpoints('xlmr')}?max_length=41"
    )  # its positions begin behind the padding


@pytest.mark.parametrize(
    "spec", ["st:sentence_bert", "st:sparse_encoder", "st:multi_vector_encoder", "hf:bert"]
)
def test_texts_that_are_cut_are_noted_with_their_prompt(checkpoints, spec):
    scheme, kind = spec.split(":")
    words = ["a" * count for count in range(1, 30)]  # a token for each letter
    made = encoder(f"{scheme}:{checkpoints(kind)}?max_length=20&query_prompt=query: ")
    for role, specials in (("candidate", 4 if kind == "sentence_bert" else 2), ("query", 4)):
        cut = made.encode_noting(texts(words, role=role)).truncated
        np.testing.assert_array_equal(cut, np.arange(1, 30) > 20 - specials)


def test_the_identity_names_what_changes_vectors(copied):
    st, hf = copied("sentence_bert"), copied("bert", "other")
    for folder, scheme, more in ((st, "st", ["?prompt="]), (hf, "hf", ["?pool=cls"])):
        same = ["", "?batch=3", "?device=cpu", "?dtype=float32"]
        base = {encoder(f"{scheme}:{folder}{options}").identity for options in same}
        other = ["?dim=7", "?max_length=9", "?dtype=float16", "?prompt=a", "?query_prompt=a", *more]
        identities = {encoder(f"{scheme}:{folder}{options}").identity for options in other} | base
        assert len(base) == 1
        assert len(identities) == 1 + len(other)
        assert all(name.isprintable() and "|" not in name for name in identities)
    for name in ("1_Pooling/config.json", "2_Dense/model.safetensors", "model.safetensors", "modules.json"):
        before, raw = encoder(f"st:{st}").identity, (st / name).read_bytes()
        (st / name).write_bytes(raw + b" ")
        assert encoder(f"st:{st}").identity != before
    made = encoder(f"hf:{hf}")
    assert made.identity
    settings = json.loads((hf / "config.json").read_text())
    (hf / "config.json").write_text(json.dumps(settings | {"hidden_act": "relu"}))
    with pytest.raises(InputError, match="changed while it was read"):
        made.encode(texts())


def test_nothing_of_torch_is_loaded_before_the_first_vector(checkpoints, monkeypatch):
    for name in ("torch", "transformers", "sentence_transformers"):  # there, but of no use
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    assert encoder(f"hf:{checkpoints('bert')}").identity.startswith("hf:")


@pytest.mark.parametrize("scheme", ["st", "hf"])
@pytest.mark.parametrize("kind", ["sparse_encoder", "multi_vector_encoder", "cross_encoder"])
def test_what_gives_no_dense_vector_is_refused_or_served_as_it_is(copied, scheme, kind):
    folder = copied(kind)
    if scheme == "st" and kind != "cross_encoder":
        (folder / "config_sentence_transformers.json").unlink()  # its modules tell
        assert encoder(f"st:{folder}").content == ("text", "role")
        assert "dim=3" in refused(f"st:{folder}?dim=3")
    else:
        assert "take a dense one" in refused(f"{scheme}:{folder}")
        for name in ("modules.json", "config_sentence_transformers.json"):
            (folder / name).unlink()
        if kind == "cross_encoder":
            assert "BertForSequenceClassification" in refused(f"{scheme}:{folder}")


def test_no_code_and_no_pickle_of_a_model_is_run(copied, tmp_path):
    folder, ran = copied("bert"), tmp_path / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')\nclass C: pass\n")
    settings = json.loads((folder / "config.json").read_text())
    auto = {"AutoConfig": "own.C", "AutoModel": "own.C"}
    (folder / "config.json").write_text(json.dumps(settings | {"model_type": "own", "auto_map": auto}))
    for scheme in ("st", "hf"):
        assert "python:MODULE" in refused(f"{scheme}:{folder}")
    assert not ran.exists()
    dense = copied("sentence_bert", "dense")
    (dense / "2_Dense" / "model.safetensors").rename(dense / "2_Dense" / "pytorch_model.bin")
    assert "2_Dense/pytorch_model.bin is a pickle" in refused(f"st:{dense}")


HOSTILE = [
    b"",
    b"{",
    b"[" * 100_000,
    b"3",
    b"[]",
    b'{"a": ' * 60_000,
    b'{"types": 3, "structure": []}',
    b"\xff\xfe",
]
VALUES = [10**12, -1, 0, 1e300, None, [], {}, "x", True, [[]] * 3, {"a": {"b": []}}, "\ud800"]


@pytest.mark.parametrize("seed", range(9))
def test_hostile_folders_are_one_line_or_a_model(copied, seed):
    """A file is replaced, or a setting is; what comes out is vectors, or one line."""
    rng = np.random.default_rng(seed)
    kind, scheme = [("sentence_bert", "st"), ("bert", "hf"), ("multi_vector_encoder", "st")][seed % 3]
    folder = copied(kind)
    files = sorted(path for path in folder.rglob("*.json") if path.is_file())
    for _ in range(6):
        path = files[rng.integers(len(files))]
        before = path.read_bytes()
        content = json.loads(before)
        if rng.random() < 0.3 or not isinstance(content, dict) or not content:
            path.write_bytes(HOSTILE[rng.integers(len(HOSTILE))])
        else:
            name = sorted(content)[rng.integers(len(content))]
            content[name] = VALUES[rng.integers(len(VALUES))]
            path.write_text(json.dumps(content))
        with suppress(InputError):
            encoder(f"{scheme}:{folder}").encode(texts(["a red chair"]))
        path.write_bytes(before)


@pytest.mark.parametrize("name", ["num_hidden_layers", "vocab_size", "max_position_embeddings"])
def test_sizes_that_no_network_has_are_refused_before_memory_is_asked_for(copied, name):
    folder = copied("bert")
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {name: 10**12}))
    assert name in refused(f"hf:{folder}")
    assert name in refused(f"st:{folder}")
