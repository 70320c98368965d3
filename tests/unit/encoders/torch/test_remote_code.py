"""Code that a model brings: it runs only where a spec pins it, and then this is said."""

import json

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.encoders.remote_code import code_digest, pinned_commit, trusted
from xlingual.errors import DataWarning, InputError
from xlingual.records import Texts

TEXTS = Texts(["a red chair", "ein Stuhl"], ["en", "de"], ["1", "2"])
CODE = """
from pathlib import Path
from transformers import BertConfig, BertModel
Path({ran!r}).touch()


class OwnConfig(BertConfig):
    model_type = "own"


class OwnModel(BertModel):
    config_class = OwnConfig

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, **more):
        found = super().forward(input_ids, attention_mask, token_type_ids, **more)
        found.last_hidden_state = 1 + found.last_hidden_state
        return found
"""


@pytest.fixture
def own(copied, tmp_path, monkeypatch):
    """A folder of a model with code of its own, and the file that its code makes."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder, ran = copied("bert"), tmp_path / "ran"
    (folder / "own.py").write_text(CODE.format(ran=str(ran)), encoding="utf-8")
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    auto = {"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel"}
    settings |= {"model_type": "own", "architectures": ["OwnModel"], "auto_map": auto}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder, ran


def made(spec):
    return text_encoders({"own": spec}, languages=["en", "de"])["own"]


@pytest.mark.parametrize("scheme", ["hf", "st"])
def test_pinned_code_runs_and_is_said(own, scheme):
    folder, ran = own
    digest = code_digest(folder)
    encoder = made(f"{scheme}:{folder}?device=cpu&remote-code={digest}")
    assert not ran.exists()
    with pytest.warns(DataWarning, match=f"runs Python code that the model brings .remote-code={digest}"):
        found = encoder.encode(TEXTS)
    assert ran.exists() and f"remote-code={digest}" in encoder.identity
    plain = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del plain["auto_map"]
    (folder / "config.json").write_text(json.dumps(plain | {"model_type": "bert"}), encoding="utf-8")
    np.testing.assert_allclose(found, 1 + made(f"{scheme}:{folder}?device=cpu").encode(TEXTS), atol=1e-4)


@pytest.mark.parametrize("scheme", ["hf", "st"])
def test_no_other_code_runs(own, scheme):
    folder, ran = own
    digest = code_digest(folder)
    for pin in ("main", "f" * 40):
        with pytest.raises(InputError, match=f"the digest of the code in this folder is {digest}: read"):
            made(f"{scheme}:{folder}?remote-code={pin}")
    encoder = made(f"{scheme}:{folder}?device=cpu&remote-code={digest}")
    with (folder / "own.py").open("a", encoding="utf-8") as code:
        code.write("# changed\n")
    with pytest.raises(InputError, match="the digest of the code in this folder is"):
        encoder.encode(TEXTS)
    with pytest.raises(InputError, match="comes with Python code, which is not run"):
        made(f"{scheme}:{folder}?device=cpu").encode(TEXTS)
    assert not ran.exists()


def test_code_of_another_repository_and_absent_code_are_refused(own, checkpoints):
    folder, _ = own
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    settings["auto_map"] = {"AutoModel": "other/code--own.OwnModel"}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(InputError, match=r"its code is in another repository \(other/code, in config.json\)"):
        made(f"hf:{folder}?remote-code=x")
    with pytest.raises(InputError, match="brings no Python code"):
        made(f"hf:{checkpoints('xlmr')}?remote-code=x")


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["other/code--own.OwnTokenizer", None]}}),
        ("preprocessor_config.json", {"auto_map": {"AutoProcessor": "other/code--own.OwnProcessor"}}),
        ("1_Own/config.json", {"text": {"auto_map": {"AutoModel": "other/code--own.OwnModel"}}}),
        ("modules.json", [{"idx": 0, "name": "0", "path": "", "type": "other/code--own.OwnModule"}]),
        ("router_config.json", {"types": {"query_0": "other/code--own.OwnModule"}}),
    ],
)
def test_code_of_another_repository_is_found_in_every_file(own, file, settings):
    folder, _ = own
    options = {"remote-code": code_digest(folder)}
    (folder / "notes.json").write_text("no JSON", encoding="utf-8")
    harmless = {"content": "a--b", "template": "{{ a }}--b.c", "name": "hub/models--own--e5-v1.5/snapshots/0"}
    (folder / "tokenizer_config.json").write_text(json.dumps(harmless), encoding="utf-8")
    assert trusted("hf:own", folder, options, of_hub=False)
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(InputError, match=rf"in another repository \(other/code, in {file}\)"):
        trusted("hf:own", folder, options, of_hub=False)


def test_a_model_of_a_hub_is_pinned_by_a_whole_commit():
    commit = "0123456789" * 4
    assert pinned_commit("st:m", {"remote-code": commit, "revision": None}) == commit
    assert pinned_commit("st:m", {"remote-code": None, "revision": "main"}) is None
    with pytest.raises(InputError, match="give the whole commit"):
        pinned_commit("st:m", {"remote-code": "main", "revision": None})
    with pytest.raises(InputError, match="remote-code and revision differ"):
        pinned_commit("st:m", {"remote-code": commit, "revision": "main"})


def test_the_commit_and_the_code_are_fetched_together(own, monkeypatch):
    folder, ran = own
    asked = []

    def snapshot_download(name, *, revision, allow_patterns, ignore_patterns):
        asked.append((name, revision, "*.py" in allow_patterns))
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    commit = "0123456789" * 4
    encoder = made(f"hf:owner/model?device=cpu&remote-code={commit}")
    with pytest.warns(DataWarning, match="runs Python code"):
        encoder.encode(TEXTS)
    made("hf:owner/model")
    assert asked == [("owner/model", commit, True), ("owner/model", None, False)] and ran.exists()
