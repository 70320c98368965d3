"""Graphs that are put together by hand, so that every number of an answer is known; no torch."""

import json

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.errors import InputError
from xlingual.records import Texts

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
tokenizers = pytest.importorskip("tokenizers")

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "red", "chair", "lamp", "query"]
TABLE = np.arange(2 * len(WORDS), dtype=np.float32).reshape(-1, 2) ** 2  # [words, 2]


def save_graph(path, nodes, inputs, outputs, weights=(), **more):
    """Write a graph; inputs and outputs are name → (type, shape)."""
    from onnx import TensorProto, checker, helper, numpy_helper

    def values(described):
        return [
            helper.make_tensor_value_info(name, getattr(TensorProto, kind), shape)
            for name, (kind, shape) in described.items()
        ]

    made = helper.make_graph(
        [helper.make_node(*node[:3], **(node[3] if len(node) > 3 else {})) for node in nodes],
        "g",
        values(inputs),
        values(outputs),
        [numpy_helper.from_array(array, name) for name, array in dict(weights).items()],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    checker.check_model(model)
    onnx.save(model, path, **more)


def save_tokenizer(folder):
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    made.enable_padding(pad_id=0)
    made.enable_truncation(5)  # what is in the file must not count
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))


def texts_graph(path, shape=("n", "t"), outputs=("last_hidden_state",), **more):
    """A graph whose hidden state is a row of TABLE; `pooler_output` is the largest of its places."""
    inputs = {name: ("INT64", list(shape)) for name in ("input_ids", "attention_mask")}
    every = {
        "last_hidden_state": (["Gather", ["table", "input_ids"], ["last_hidden_state"]], [*shape, 2]),
        "pooler_output": (
            ["ReduceMax", ["last_hidden_state"], ["pooler_output"], {"axes": [1], "keepdims": 0}],
            [shape[0], 2],
        ),
        "sentence_embedding": (
            ["ReduceMin", ["last_hidden_state"], ["sentence_embedding"], {"axes": [1], "keepdims": 0}],
            [shape[0], 2],
        ),
    }
    nodes = [
        every["last_hidden_state"][0],
        *(every[name][0] for name in outputs if name != "last_hidden_state"),
    ]
    save_graph(
        path,
        nodes,
        inputs,
        {name: ("FLOAT", every[name][1]) for name in outputs},
        {"table": TABLE},
        **more,
    )


@pytest.fixture
def folder(tmp_path):
    save_tokenizer(tmp_path)
    texts_graph(tmp_path / "model.onnx", outputs=("last_hidden_state", "pooler_output"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 6, "pad_token": "[PAD]"}))
    return tmp_path


def encoder(folder, options="?pool=mean"):
    return next(iter(text_encoders([f"onnx:{folder}{options}"], languages=["en"]).values()))


def batch(*rows, role=None):
    return Texts(list(rows), ["en"] * len(rows), [str(i) for i in range(len(rows))], role=role)


def rows_of(*words):
    return TABLE[[WORDS.index(word) for word in words]]


@pytest.mark.parametrize(
    ("pool", "pick"),
    [
        ("?pool=mean", lambda rows: rows.mean(axis=0)),
        ("?pool=cls", lambda rows: rows[0]),
        ("?pool=last", lambda rows: rows[-1]),
        ("", lambda rows: rows.max(axis=0)),
    ],
)
def test_pools_and_padding(folder, pool, pick):
    words = ["red chair", "red", "", "lamp chair red", "red chair"]
    vectors = encoder(folder, f"{pool}{'&' if pool else '?'}batch=2").encode(batch(*words))
    expected = [pick(rows_of("[CLS]", *text.split(), "[SEP]")) for text in words]
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)
    assert vectors.dtype == np.float32
    assert encoder(folder, pool).encode(batch()).shape == (0, 2)


def test_long_texts_are_cut_and_prompts_count(folder):
    encoded = encoder(folder).encode_noting(batch("red chair lamp red chair", "red chair lamp red"))
    assert encoded.truncated.tolist() == [True, False]
    np.testing.assert_array_equal(*encoded.vectors)
    short = encoder(folder, "?pool=mean&max_length=4&query_prompt=query ").encode(
        batch("red lamp", role="query")
    )
    np.testing.assert_allclose(short[0], rows_of("[CLS]", "query", "red", "[SEP]").mean(axis=0), rtol=1e-6)


def test_identity_follows_the_files_that_are_used(folder):
    stored = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    texts_graph(folder / "model.onnx", **stored)
    before, vectors = encoder(folder).identity, encoder(folder).encode(batch("red"))
    assert encoder(folder, "?pool=mean&batch=4").identity == before
    assert len({before, encoder(folder, "").identity, encoder(folder, "?max_length=5").identity}) == 3
    (folder / "readme.md").write_text("not used")
    texts_graph(folder / "other.onnx")
    assert encoder(folder).identity == before
    data, made = folder / "weights.bin", encoder(folder)
    assert made.identity == before
    data.write_bytes((TABLE + 1).tobytes() + data.read_bytes()[TABLE.nbytes :])
    assert encoder(folder).identity != before
    np.testing.assert_allclose(encoder(folder).encode(batch("red")), vectors + 1)
    with pytest.raises(InputError, match="changed while it was read"):
        made.encode(batch("red"))
    data.unlink()
    with pytest.raises(InputError, match="cannot be loaded"):
        encoder(folder).encode(batch("red"))


def test_what_cannot_be_used(folder, tmp_path_factory):
    def refused(name, place=folder, options="?pool=mean"):
        with pytest.raises(InputError, match=name) as caught:
            encoder(place, options).encode(batch("red"))
        assert "\n" not in str(caught.value)

    refused("no such folder", folder / "none")
    refused("export", tmp_path_factory.mktemp("empty"))
    pixels = {"pixel_values": ("FLOAT", ["n", "t"])}
    node = ["Identity", ["pixel_values"], ["logits"]]
    save_graph(folder / "model.onnx", [node], pixels, {"logits": ("FLOAT", ["n", "t"])})
    refused("pixel_values")
    (folder / "config_sentence_transformers.json").write_text('{"model_type": "MultiVectorEncoder"}')
    refused("MultiVectorEncoder")
    (folder / "config_sentence_transformers.json").unlink()
    for content in (b"no graph", b""):
        (folder / "model.onnx").write_bytes(content)
        refused(r"model\.onnx")
    texts_graph(folder / "model.onnx")
    (folder / "tokenizer.json").write_text("{}")
    refused("cannot be loaded")
    (folder / "tokenizer.json").unlink()
    refused(r"tokenizer\.json")
