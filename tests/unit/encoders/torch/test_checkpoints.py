"""Where a model comes from: a folder, or a hub that may not be there."""

import pytest

hub = pytest.importorskip("huggingface_hub")

from xlingual.encoders.checkpoints import model_folder  # noqa: E402
from xlingual.errors import InputError  # noqa: E402


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """Let there be no network, and an empty cache."""
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_folder_is_itself(tmp_path):
    assert model_folder("hf:x", str(tmp_path), None, "hf") == tmp_path


@pytest.mark.parametrize("name", ["./gone", "/gone/model", "~/gone-model", "a/b/c"])
def test_a_path_is_never_looked_for_on_a_hub(name):
    with pytest.raises(InputError, match=r"^hf:x: expected the folder of a model, found nothing$"):
        model_folder("hf:x", name, None, "hf")


def test_a_model_in_the_cache_is_found_offline(offline):
    commit = "0" * 40
    repo = offline / "models--org--model"
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text(commit)
    (repo / "snapshots" / commit).mkdir(parents=True)
    (repo / "snapshots" / commit / "config.json").write_text("{}")
    found = model_folder("hf:org/model", "org/model", None, "hf")
    assert found == repo / "snapshots" / commit
    with pytest.raises(InputError, match="not in the cache"):
        model_folder("hf:org/model", "org/model", "other", "hf")


def test_the_advice_without_a_network_fits_the_scheme(monkeypatch):
    def refuse(*_, **__):
        raise OSError

    monkeypatch.setattr(hub, "snapshot_download", refuse)
    for scheme, written in (("translate:hf-", "translate:hf-FOLDER::…"), ("st:", "st:FOLDER")):
        with pytest.raises(InputError, match=f"then write {written}$"):
            model_folder(f"{scheme}owner/name", "owner/name", None, "hf")
