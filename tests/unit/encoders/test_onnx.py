"""Graphs that are put together by hand, so that every number of an answer is known; no torch."""

import json

import numpy as np
import pytest

from xlingual.encoders import image_encoder, text_encoders
from xlingual.errors import DataWarning, InputError
from xlingual.records import Images, Texts

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


def texts_graph(path, shape=("n", "t"), outputs=("last_hidden_state",), kind="INT64", **more):
    """A graph whose hidden state is a row of TABLE; `pooler_output` is the largest of its places."""
    inputs = {name: (kind, list(shape)) for name in ("input_ids", "attention_mask")}
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
        ("?pool=pooler", lambda rows: rows.max(axis=0)),
        ("", lambda rows: rows.max(axis=0)),
    ],
)
def test_pooling(folder, pool, pick):
    found = encoder(folder, pool).encode(batch("red chair"))
    np.testing.assert_allclose(found, [pick(rows_of("[CLS]", "red", "chair", "[SEP]"))], rtol=1e-6)
    assert found.dtype == np.float32


def test_padding_and_order_change_nothing(folder):
    texts = ["red", "red chair lamp", "", "lamp", "red", "lamp chair"]
    for pool in ("?pool=mean", "?pool=last"):
        together = encoder(folder, f"{pool}&batch=2").encode(batch(*texts))
        for row, text in enumerate(texts):
            np.testing.assert_allclose(encoder(folder, pool).encode(batch(text))[0], together[row], rtol=1e-6)


def test_the_choice_without_pool(folder):
    words = ("[CLS]", "red", "[SEP]")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    modules = [{"type": f"sentence_transformers.models.{name}"} for name in ("Transformer", "Pooling")]
    (folder / "modules.json").write_text(json.dumps(modules))
    np.testing.assert_array_equal(encoder(folder, "").encode(batch("red"))[0], rows_of(*words)[0])
    (folder / "modules.json").write_text(
        json.dumps([*modules, {"type": "sentence_transformers.models.Dense"}])
    )
    with pytest.raises(InputError, match=r"goes on \(Dense\) in a way that is not in the graph"):
        encoder(folder, "").encode(batch("red"))
    texts_graph(folder / "model.onnx", outputs=("last_hidden_state", "pooler_output", "sentence_embedding"))
    np.testing.assert_array_equal(encoder(folder, "").encode(batch("red"))[0], rows_of(*words).min(axis=0))
    texts_graph(folder / "model.onnx")
    (folder / "modules.json").unlink()
    (folder / "1_Pooling" / "config.json").unlink()
    np.testing.assert_allclose(encoder(folder, "").encode(batch("red"))[0], rows_of(*words).mean(axis=0))


def test_long_texts_are_cut_and_reported(folder):
    long = "red chair lamp red chair lamp red"
    found = encoder(folder).encode_noting(batch(long, "red chair lamp red"))
    assert found.truncated.tolist() == [True, False]
    np.testing.assert_array_equal(found.vectors[0], found.vectors[1])
    shorter = encoder(folder, "?pool=mean&max_length=3").encode_noting(batch(long))
    np.testing.assert_allclose(shorter.vectors[0], rows_of("[CLS]", "red", "[SEP]").mean(axis=0), rtol=1e-6)


def test_prompts(folder):
    asked = encoder(folder, "?pool=mean&query_prompt=query ")
    assert asked.content == ("text", "role")
    found = asked.encode(batch("red", role="query"))
    expected = rows_of("[CLS]", "query", "red", "[SEP]").mean(axis=0)
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    with pytest.warns(DataWarning, match="query_prompt is not used"):
        np.testing.assert_array_equal(asked.encode(batch("red")), encoder(folder).encode(batch("red")))


def test_an_empty_batch(folder):
    assert encoder(folder).encode(batch()).shape == (0, 2)


@pytest.mark.parametrize("kind", ["INT64", "INT32"])
def test_graphs_made_for_one_size(folder, kind):
    texts_graph(folder / "model.onnx", shape=(4, 5), kind=kind)
    found = encoder(folder).encode_noting(batch("red", "chair lamp", "red chair lamp red", "lamp", "chair"))
    np.testing.assert_allclose(found.vectors[0], rows_of("[CLS]", "red", "[SEP]").mean(axis=0), rtol=1e-6)
    assert found.truncated.tolist() == [False, False, True, False, False]
    with pytest.raises(InputError, match="max_length=6 is more than the 5 tokens"):
        encoder(folder, "?max_length=6").encode(batch("red"))


def test_identity_follows_the_files_that_are_used(folder):
    before = encoder(folder).identity
    assert encoder(folder, "?pool=mean&batch=4").identity == before
    assert (
        len({before, encoder(folder, "").identity, encoder(folder, "?pool=mean&max_length=5").identity}) == 3
    )
    (folder / "readme.md").write_text("not used")
    texts_graph(folder / "other.onnx")
    assert encoder(folder).identity == before
    assert encoder(folder, "?pool=mean&file=other.onnx").identity != before
    settings = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**settings, "note": 1}))
    assert encoder(folder).identity != before


def test_weights_beside_the_graph_count(folder):
    stored = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    texts_graph(folder / "model.onnx", **stored)
    before = encoder(folder).identity
    found = encoder(folder).encode(batch("red"))
    data = folder / "weights.bin"
    data.write_bytes((TABLE + 1).tobytes() + data.read_bytes()[TABLE.nbytes :])
    assert encoder(folder).identity != before
    np.testing.assert_allclose(encoder(folder).encode(batch("red")), found + 1)
    data.unlink()
    with pytest.raises(InputError, match=r"keeps its weights in weights\.bin, which is not beside it"):
        encoder(folder).encode(batch("red"))


def test_which_graph_is_used(folder):
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    encoder(folder).encode(batch("red"))
    (folder / "onnx" / "model.onnx").rename(folder / "onnx" / "model_int8.onnx")
    encoder(folder).encode(batch("red"))
    texts_graph(folder / "b.onnx")
    with pytest.raises(
        InputError, match=r"has the graphs: b\.onnx, onnx/model_int8\.onnx; name one with file="
    ):
        encoder(folder)
    assert encoder(folder, "?file=b.onnx").encode(batch("red")).shape == (1, 2)
    with pytest.raises(InputError, match=r"file=c\.onnx is not in the folder"):
        encoder(folder, "?file=c.onnx")


def test_what_cannot_be_used(folder, tmp_path_factory):
    with pytest.raises(InputError, match="no such folder"):
        encoder(folder / "none")
    with pytest.raises(InputError, match="has the graphs: none; export the model"):
        encoder(tmp_path_factory.mktemp("empty"))
    texts_graph(folder / "model.onnx")
    with pytest.raises(InputError, match="pool=pooler needs an output with one vector for each text"):
        encoder(folder, "?pool=pooler").encode(batch("red"))
    with pytest.raises(InputError, match="max_length=2 leaves no room"):
        encoder(folder, "?max_length=2").encode(batch("red"))
    save_graph(
        folder / "model.onnx",
        [["Identity", ["pixel_values"], ["logits"]]],
        {"pixel_values": ("FLOAT", ["n", 3, 2, 2])},
        {"logits": ("FLOAT", ["n", 3, 2, 2])},
    )
    with pytest.raises(InputError, match="needs the input pixel_values, which texts do not give"):
        encoder(folder).encode(batch("red"))
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(InputError, match=r"model\.onnx cannot be loaded"):
        encoder(folder).encode(batch("red"))
    (folder / "model.onnx").write_bytes(b"")
    with pytest.raises(InputError, match=r"model\.onnx is empty"):
        encoder(folder).encode(batch("red"))


def test_exports_of_what_is_no_dense_encoder(folder):
    save_graph(
        folder / "words.onnx",
        [["Gather", ["table", "input_ids"], ["logits"]]],
        {"input_ids": ("INT64", ["n", "t"])},
        {"logits": ("FLOAT", ["n", "t", 2])},
        {"table": TABLE},
    )
    for options in ("?file=words.onnx", "?file=words.onnx&pool=mean"):  # numbers of words, not of texts
        with pytest.raises(InputError, match="a vector for each token; the graph has logits"):
            encoder(folder, options).encode(batch("red"))
    (folder / "config_sentence_transformers.json").write_text('{"model_type": "MultiVectorEncoder"}')
    with pytest.raises(InputError, match=r"^onnx:.*: is a multi-vector encoder"):
        encoder(folder)
    (folder / "config_sentence_transformers.json").unlink()
    (folder / "config.json").write_text('{"architectures": ["BertForSequenceClassification"]}')
    assert encoder(folder).encode(batch("red")).shape == (1, 2)  # the graph gives hidden states: a body


def test_broken_tokenizers(folder):
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer\.json cannot be read"):
        encoder(folder).encode(batch("red"))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"no tokenizer\.json in the folder"):
        encoder(folder).encode(batch("red"))


def test_neither_torch_nor_transformers_is_needed(folder):
    import subprocess
    import sys

    program = (
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "from xlingual.encoders import text_encoders\n"
        "from xlingual.records import Texts\n"
        "(encoder,) = text_encoders([sys.argv[1]], languages=['en']).values()\n"
        "print(encoder.identity, encoder.encode(Texts(['red'], ['en'], ['0'])).shape)"
    )
    spec = f"onnx:{folder}?pool=mean"
    done = subprocess.run([sys.executable, "-c", program, spec], capture_output=True, text=True, check=True)
    assert done.stdout == f"{encoder(folder).identity} (1, 2)\n"


# images

SCALED = {
    "do_resize": True,
    "size": {"height": 4, "width": 6},
    "resample": 3,
    "do_rescale": True,
    "rescale_factor": 0.5,
    "do_normalize": True,
    "image_mean": [1.0, 2.0, 3.0],
    "image_std": [2.0, 4.0, 8.0],
}


def png(width, height, seed=0):
    import io

    from PIL import Image

    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, "PNG")
    return written.getvalue()


def images(*sources):
    return Images(list(sources), ["en"] * len(sources), [f"row{i}" for i in range(len(sources))])


@pytest.fixture
def seeing(tmp_path):
    """Return a function that makes an encoder of images from settings; its output is the mean colour."""

    def make(settings=SCALED, options="", outputs=("pooler_output",), name="pixel_values"):
        every = {
            "last_hidden_state": (["Identity", [name], ["last_hidden_state"]], ["n", 3, "h", "w"]),
            "pooler_output": (["GlobalAveragePool", [name], ["pooler_output"]], ["n", 3, 1, 1]),
            "logits": (["ReduceMax", [name], ["logits"], {"axes": [2, 3], "keepdims": 0}], ["n", 3]),
        }
        save_graph(
            tmp_path / "model.onnx",
            [every[output][0] for output in outputs],
            {name: ("FLOAT", ["n", 3, "h", "w"])},
            {output: ("FLOAT", every[output][1]) for output in outputs},
        )
        (tmp_path / "preprocessor_config.json").write_text(json.dumps(settings))
        return image_encoder(f"onnx:{tmp_path}{options}")[1]

    return make


def prepared(settings, source):
    from io import BytesIO

    from PIL import Image

    size = settings["size"]
    scaled = Image.open(BytesIO(source)).resize((size["width"], size["height"]), Image.Resampling.BICUBIC)
    mean, std = np.array(settings["image_mean"]), np.array(settings["image_std"])
    return ((np.asarray(scaled) * settings["rescale_factor"] - mean) / std).mean(axis=(0, 1))


@pytest.mark.parametrize("outputs", [("pooler_output",), ("last_hidden_state",)])
def test_images_are_prepared_as_the_settings_say(seeing, outputs):
    sources = [png(9, 5), png(4, 4, 1), png(30, 20, 2), png(9, 5)]
    found = seeing(outputs=outputs).encode(images(*sources))
    np.testing.assert_allclose(found, [prepared(SCALED, source) for source in sources], rtol=1e-5)
    alone = seeing(options="?batch=1", outputs=outputs).encode(images(*sources))
    np.testing.assert_allclose(alone, found, rtol=1e-6)


@pytest.mark.parametrize(
    ("size", "more", "shape"),
    [
        ({"shortest_edge": 8}, {}, (8, 16)),
        ({"shortest_edge": 8}, {"do_center_crop": True, "crop_size": {"height": 6, "width": 10}}, (6, 10)),
        ({"shortest_edge": 8}, {"do_center_crop": True, "crop_size": 20}, (20, 20)),
        ({"shortest_edge": 7}, {"crop_pct": 0.875}, (7, 7)),
        ({"shortest_edge": 400}, {"crop_pct": 0.875}, (400, 400)),
        (8, {"feature_extractor_type": "ViTFeatureExtractor"}, (8, 8)),
        (8, {"feature_extractor_type": "CLIPFeatureExtractor"}, (8, 16)),
        (8, {"do_resize": False}, (10, 20)),
    ],
)
def test_sizes(seeing, size, more, shape):
    from PIL import Image

    encoder = seeing({**SCALED, "size": size, **more})
    assert encoder.processor.pixels(Image.new("RGB", (20, 10), "white")).shape == (3, *shape)


def test_images_of_several_sizes_go_through(seeing):
    encoder = seeing({**SCALED, "size": {"shortest_edge": 4}})
    sources = [png(9, 5), png(4, 4, 1), png(9, 5, 3)]
    found = encoder.encode(images(*sources))
    for row, source in enumerate(sources):
        np.testing.assert_allclose(encoder.encode(images(source))[0], found[row], rtol=1e-6)
    assert encoder.content == ("bytes",)
    assert encoder.encode(images()).shape == (0, 3)


def test_an_inner_layer_of_images(seeing, tmp_path):
    """A value that is no output of the graph: [n, d] as it is, a map by its mean."""
    nodes = [
        ["Relu", ["pixel_values"], ["map"]],
        ["GlobalMaxPool", ["map"], ["top"]],
        ["Flatten", ["top"], ["flat"]],
        ["Neg", ["flat"], ["logits"]],
    ]
    seeing()
    save_graph(
        tmp_path / "model.onnx",
        nodes,
        {"pixel_values": ("FLOAT", ["n", 3, "h", "w"])},
        {"logits": ("FLOAT", ["n", 3])},
    )
    sight = images(png(9, 5), png(4, 4, 1))
    found = {
        name: image_encoder(f"onnx:{tmp_path}?output={name}")[1].encode(sight)
        for name in ("map", "flat", "logits")
    }
    assert found["map"].shape == found["flat"].shape == (2, 3)
    assert (found["map"] < found["flat"]).any() and np.array_equal(found["logits"], -found["flat"])
    with pytest.raises(
        InputError, match=r"output=flatt: model.onnx has no such value\. Did you mean 'flat'\?"
    ):
        image_encoder(f"onnx:{tmp_path}?output=flatt")[1].encode(sight)
    with pytest.raises(InputError, match=r"The last of its 4 values are map \(Relu\), .*, logits \(Neg\)"):
        image_encoder(f"onnx:{tmp_path}?output=fc7")[1].encode(sight)
    with pytest.raises(InputError, match="no output for pool=pooler"):
        image_encoder(f"onnx:{tmp_path}?output=map&pool=pooler")[1].encode(sight)
    (tmp_path / "model.onnx").write_bytes(b"\x07\xff\xff")
    with pytest.raises(InputError, match="cannot be read as ONNX"):
        image_encoder(f"onnx:{tmp_path}?output=flat")[1].encode(sight)


@pytest.mark.parametrize("beside", [False, True])
def test_an_inner_layer_of_texts(folder, beside):
    """Also where the weights lie in a file beside the graph."""
    weights = (
        {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0} if beside else {}
    )
    shape, inputs = ["n", "t"], ("input_ids", "attention_mask")
    save_graph(
        folder / "model.onnx",
        [
            ["Gather", ["table", "input_ids"], ["words"]],
            ["ReduceMax", ["words"], ["most"], {"axes": [1], "keepdims": 0}],
            ["Neg", ["most"], ["sentence_embedding"]],
        ],
        dict.fromkeys(inputs, ("INT64", shape)),
        {"sentence_embedding": ("FLOAT", ["n", 2])},
        {"table": TABLE},
        **weights,
    )
    rows, text = rows_of("[CLS]", "red", "chair", "[SEP]"), batch("red chair")
    for options, expected in (
        ("?output=words&pool=cls", rows[0]),
        ("?output=words", rows.mean(axis=0)),
        ("?output=most", rows.max(axis=0)),
        ("?output=sentence_embedding", -rows.max(axis=0)),
    ):
        np.testing.assert_allclose(encoder(folder, options).encode(text), [expected], rtol=1e-6)
    assert "output=most" in encoder(folder, "?output=most").identity
    assert "output" not in encoder(folder, "").identity


def test_the_values_of_a_graph_are_those_that_the_library_reads(folder):
    from xlingual.encoders.onnx_values import values

    graph = onnx.load(folder / "model.onnx").graph
    operators, outputs = values((folder / "model.onnx").read_bytes())
    assert operators == {name: node.op_type for node in graph.node for name in node.output}
    assert outputs == [slot.name for slot in graph.output]


def test_identity_of_images(seeing):
    before = seeing().identity
    assert seeing(options="?batch=3").identity == before
    assert seeing({**SCALED, "resample": 2}).identity != before
    assert seeing(outputs=("last_hidden_state",)).identity != before


def test_images_that_cannot_be_encoded(seeing, tmp_path):
    with pytest.raises(InputError, match=r"row 'row1'.*not an image"):
        seeing().encode(images(png(4, 4), b"none"))
    with pytest.raises(InputError, match="no output for pool=pooler or mean, only logits"):
        seeing(outputs=("logits",)).encode(images(png(4, 4)))
    with pytest.raises(InputError, match="pool=cls: the output is a map"):
        seeing(options="?pool=cls", outputs=("last_hidden_state",)).encode(images(png(4, 4)))
    with pytest.raises(InputError, match="pool=last is for texts"):
        seeing(options="?pool=last")
    with pytest.raises(InputError, match="prompt is an option for texts"):
        seeing(options="?prompt=a")
    with pytest.raises(InputError, match="asks for do_pad, which onnx: cannot do"):
        seeing({**SCALED, "do_pad": True})
    with pytest.raises(InputError, match="are invalid"):
        seeing({**SCALED, "size": {"longest_edge": 4}})
    with pytest.raises(InputError, match="needs the input input_ids, which images do not give"):
        seeing(name="input_ids").encode(images(png(4, 4)))
    (tmp_path / "preprocessor_config.json").unlink()
    with pytest.raises(InputError, match=r"no preprocessor_config\.json"):
        image_encoder(f"onnx:{tmp_path}")


@pytest.mark.parametrize("name", ["tokenizer.json", "config.json", "model.onnx"])
def test_files_that_change_between_identity_and_loading(folder, name):
    made = encoder(folder)
    assert made.identity
    raw = (folder / name).read_bytes() if (folder / name).is_file() else b"{}"
    (folder / name).write_bytes(raw + (b"\x32\x00" if name == "model.onnx" else b" "))
    with pytest.raises(InputError, match=r"a file of the model changed while it was read: start again$"):
        made.encode(batch("red"))


def test_settings_of_images_that_change_before_they_are_used(seeing, tmp_path):
    made, settings = seeing(), tmp_path / "preprocessor_config.json"
    settings.write_text(json.dumps({**SCALED, "resample": 2}))
    fresh = image_encoder(f"onnx:{tmp_path}")[1]
    assert made.identity == fresh.identity  # settings count as they are when the identity is made
    np.testing.assert_array_equal(made.encode(images(png(9, 7))), fresh.encode(images(png(9, 7))))
    made = image_encoder(f"onnx:{tmp_path}")[1]
    assert made.identity
    settings.write_text(json.dumps(SCALED))
    with pytest.raises(InputError, match="changed while it was read"):
        made.encode(images(png(4, 4)))
