import json
import os
import shutil

import pytest

from xlingual.encoders.checkpoints import check_weights
from xlingual.encoders.weights import Watch, checkpoint_digest, model_files, module_folders
from xlingual.errors import InputError
from xlingual.models import files

COUNTED = (
    *("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "merges.txt"),
    *("sentencepiece.bpe.model", "special_tokens_map.json", "preprocessor_config.json"),
    *("model.safetensors", "model-00001-of-00002.safetensors", "model.onnx", "model.onnx_data"),
    *("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"),
    *("generation_config.json", "target_vocab.json", "bpe.codes", "tekken.json", "adapter_config.json"),
    *("qwen.tiktoken", "vocab.pkl", "source.spm", "dict.src"),
    *("1_Pooling/config.json", "2_Dense/model.safetensors", "2_Dense/deep/config.json"),
)
NOT_COUNTED = (
    *(
        "README.md",
        "pytorch_model.bin",
        "training_args.bin",
        "optimizer.pt",
        "trainer_state.json",
        ".gitattributes",
    ),
    *(
        "LICENSE",
        "License.txt",
        "teaser.png",
        "tf_model.h5",
        "flax_model.msgpack",
        "model.ckpt",
        "scheduler.pt",
    ),
    *("2_Dense/.cache/config.json", "2_Dense/plot.PNG"),
    *("2_Dense/pytorch_model.bin", "2_Dense/README.md", "runs/config.json"),
)


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "model"
    for name in (*COUNTED, *NOT_COUNTED):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"of {name}")
    modules = [{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}, {"path": "3_Normalize"}]
    (root / "modules.json").write_text(json.dumps(modules))
    return root


def test_the_files_of_a_model_count(folder):
    names = [path.relative_to(folder).as_posix() for path in model_files(folder)]
    assert sorted(names) == sorted(COUNTED)
    plain = {path.relative_to(folder).as_posix() for path in model_files(folder, modules=False)}
    assert set(COUNTED) - plain == {
        *("modules.json", "sentence_bert_config.json", "1_Pooling/config.json"),
        *("2_Dense/model.safetensors", "2_Dense/deep/config.json"),
    }


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.cases(9)
def test_a_changed_byte_is_another_digest(folder, name):
    before = checkpoint_digest(folder)
    path = folder / name
    raw = bytearray(path.read_bytes())
    raw[-1 if name != "modules.json" else raw.index(b"1_")] ^= 1
    path.write_bytes(bytes(raw))
    assert checkpoint_digest(folder) != before


@pytest.mark.parametrize("name", NOT_COUNTED)
def test_other_files_do_not_count(folder, name):
    before = checkpoint_digest(folder)
    (folder / name).write_text("changed")
    assert checkpoint_digest(folder) == before


def test_names_count_and_the_place_does_not(folder, tmp_path):
    before = checkpoint_digest(folder)
    assert len(before) == 64 and int(before, 16)
    assert checkpoint_digest(str(shutil.copytree(folder, tmp_path / "copy"))) == before
    (folder / "vocab.txt").rename(folder / "vocab.json")
    assert checkpoint_digest(folder) != before


def test_a_link_counts_as_what_it_points_to(folder, tmp_path):
    before = checkpoint_digest(folder)
    blob = tmp_path / "blob"
    (folder / "model.safetensors").rename(blob)
    (folder / "model.safetensors").symlink_to(blob)
    assert checkpoint_digest(folder) == before
    blob.write_text("of model.safetensorz")
    assert checkpoint_digest(folder) != before


def test_an_old_file_is_read_once_and_a_changed_one_again(folder, monkeypatch):
    path = folder / "model.safetensors"
    monkeypatch.setattr(files, "_RECENT", -(10**12))  # every file counts as old
    monkeypatch.setattr(files, "_known", {})
    first = files.file_digest(path)
    reads = []
    monkeypatch.setattr(files, "sha256_of", lambda *_: reads.append(1) or pytest.fail("read again"))
    assert files.file_digest(path) == first and not reads
    monkeypatch.undo()
    stat = path.stat()
    other = folder / "other"
    other.write_text("of model.safetensorz")  # as long as before
    os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # and as old
    other.replace(path)
    assert files.file_digest(path) != first


def test_a_young_file_is_never_remembered(folder, monkeypatch):
    monkeypatch.setattr(files, "_known", {})
    checkpoint_digest(folder)
    assert files._known == {}


def test_what_is_no_model(tmp_path):
    with pytest.raises(InputError, match=r"gone: no such folder of a model$"):
        checkpoint_digest(tmp_path / "gone")
    (tmp_path / "README.md").write_text("")
    with pytest.raises(InputError, match="no file of a model in this folder"):
        checkpoint_digest(tmp_path)
    (tmp_path / "modules.json").write_text("3")
    with pytest.raises(InputError, match="not a list of modules"):
        checkpoint_digest(tmp_path)


def router(folder, name, routes):
    folder.mkdir(parents=True, exist_ok=True)
    types = dict.fromkeys(routes, "of.some.Module")
    (folder / name).write_text(json.dumps({"types": types, "structure": {"query": list(types)}}))
    for part in routes:
        (folder / part).mkdir()


@pytest.mark.parametrize("name", ["router_config.json", "config.json"])
def test_the_routes_of_a_router_count(tmp_path, name):
    (tmp_path / "modules.json").write_text(json.dumps([{"path": ""}, {"path": "1_Normalize"}]))
    router(tmp_path, name, ["query_0_Static", "document_0_Router"])
    router(tmp_path / "document_0_Router", "router_config.json", ["deep_0_Transformer"])
    names = ["query_0_Static", "document_0_Router", "document_0_Router/deep_0_Transformer"]
    assert {path.relative_to(tmp_path).as_posix() for path in module_folders(tmp_path)} == {
        "1_Normalize",
        *names,
    }
    with pytest.raises(InputError, match="no weights in this folder"):
        check_weights("st:x", tmp_path, modules=True)
    weight = tmp_path / names[-1] / "model.safetensors"
    weight.write_bytes(b"a")
    check_weights("st:x", tmp_path, modules=True)
    before = checkpoint_digest(tmp_path)
    weight.write_bytes(b"b")
    assert checkpoint_digest(tmp_path) != before
    (tmp_path / "query_0_Static" / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(InputError, match=r"query_0_Static/pytorch_model\.bin is a pickle"):
        check_weights("st:x", tmp_path, modules=True)


def test_folders_outside_and_circles_are_not_followed(tmp_path):
    router(tmp_path, "router_config.json", ["a"])
    (tmp_path / "modules.json").write_text(json.dumps([{"path": "."}, {"path": "../b"}, {"path": "/c"}]))
    (tmp_path / "a" / "modules.json").write_text(json.dumps([{"path": "."}]))
    assert module_folders(tmp_path) == [tmp_path / "a"]
    (tmp_path / "router_config.json").write_text("[]")
    with pytest.raises(InputError, match="not the routes of a Router"):
        module_folders(tmp_path)


def test_a_watch_keeps_the_first_digest():
    watch, now = Watch(), ["one"]
    assert watch.digest("a", lambda: now[0]) == "one"
    watch.check("a", lambda: now[0], "a file")
    now[0] = "two"
    assert watch.digest("a", lambda: now[0]) == "one"
    with pytest.raises(InputError, match=r"^a file changed while it was read: start again$"):
        watch.check("a", lambda: now[0], "a file")
