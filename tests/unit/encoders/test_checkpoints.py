"""Folders of models: which files count, where they come from, and what must not be in them."""

import json
import shutil
from functools import partial

import pytest

from xlingual.encoders.checkpoints import (
    check_weights,
    checkpoint_digest,
    kind_of_folder,
    model_files,
    module_folders,
)
from xlingual.errors import InputError

COUNTED = """config.json tokenizer.json vocab.txt merges.txt sentencepiece.bpe.model preprocessor_config.json
    model.safetensors modules.json sentence_bert_config.json generation_config.json
    adapter_config.json 1_Pooling/config.json 2_Dense/model.safetensors 2_Dense/deep/config.json"""
NOT_COUNTED = """README.md pytorch_model.bin optimizer.pt model.onnx vocab.pkl .gitattributes LICENSE
    teaser.png tf_model.h5 2_Dense/.cache/config.json 2_Dense/pytorch_model.bin runs/config.json"""


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "model"
    for name in (*COUNTED.split(), *NOT_COUNTED.split()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"of": 1}' if name.endswith(".json") else f"of {name}")
    modules = [{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}, {"path": "3_Normalize"}]
    (root / "modules.json").write_text(json.dumps(modules))
    return root


def test_the_files_of_a_model_make_its_digest(folder, tmp_path):
    names = [path.relative_to(folder).as_posix() for path in model_files(folder)]
    assert sorted(names) == sorted(COUNTED.split())
    before = checkpoint_digest(folder)
    assert checkpoint_digest(shutil.copytree(folder, tmp_path / "copy")) == before
    for name in NOT_COUNTED.split():
        (folder / name).write_text("changed")
    assert checkpoint_digest(folder) == before
    for name in COUNTED.split():
        path, content = folder / name, (folder / name).read_bytes()
        path.write_bytes(content + b" ")
        assert checkpoint_digest(folder) != before
        path.write_bytes(content)
    (folder / "vocab.txt").rename(folder / "vocab.json")
    assert checkpoint_digest(folder) != before


def router(folder, name, routes):
    folder.mkdir(parents=True, exist_ok=True)
    types = dict.fromkeys(routes, "sentence_transformers.sparse_encoder.models.SpladePooling")
    (folder / name).write_text(json.dumps({"types": types, "structure": {"query": list(types)}}))
    for part in routes:
        (folder / part).mkdir()


def test_the_routes_of_a_router_count(tmp_path):
    outside = [{"path": "."}, {"path": "../b"}, {"path": "/c"}]
    (tmp_path / "modules.json").write_text(json.dumps([{"path": ""}, {"path": "1_Normalize"}, *outside]))
    router(tmp_path, "router_config.json", ["query_0_Static", "document_0_Router"])
    router(tmp_path / "document_0_Router", "router_config.json", ["deep_0_Transformer"])
    deep = tmp_path / "document_0_Router/deep_0_Transformer"
    (tmp_path / "document_0_Router" / "modules.json").write_text(json.dumps([{"path": "."}]))
    assert deep in module_folders(tmp_path)
    assert len(module_folders(tmp_path)) == 5
    for check in (partial(kind_of_folder, "hf:x"), partial(check_weights, "st:x")):
        with pytest.raises(InputError, match=r"SparseEncoder|no weights"):
            check(tmp_path)
    (deep / "model.safetensors").write_bytes(b"a")
    check_weights("st:x", tmp_path)
    (tmp_path / "query_0_Static" / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(InputError, match=r"query_0_Static/pytorch_model\.bin is a pickle"):
        check_weights("st:x", tmp_path)


OLD = "sentence_transformers.models."
POOLED = [{"path": str(i), "type": OLD + name} for i, name in enumerate(("Transformer", "Pooling"))]


@pytest.mark.parametrize(
    ("files", "dense"),
    [
        ({"config_sentence_transformers.json": {"prompts": {}}, "modules.json": POOLED}, True),
        ({"modules.json": POOLED, "config.json": {"architectures": ["BertForSequenceClassification"]}}, True),
        ({"config.json": {"architectures": ["BertForSequenceClassification"]}}, False),
        ({"config.json": {"architectures": ["NewModel", "NewForTokenClassification"]}}, True),
        ({"config.json": {"architectures": ["Qwen3ForCausalLM"]}}, True),
        ({"config.json": {"architectures": "BertModel"}}, True),
        ({"config.json": {"architectures": ["HF_ColBERT"]}}, False),
        ({"config_sentence_transformers.json": {"query_prefix": "[Q] "}}, False),
        ({"config_sentence_transformers.json": {"model_type": ["x"]}}, False),
    ],
)
def test_files_tell_which_models_give_dense_vectors(tmp_path, files, dense):
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    if dense:
        kind_of_folder("x", tmp_path)
    else:
        with pytest.raises(InputError, match="x: is a"):
            kind_of_folder("x", tmp_path)
