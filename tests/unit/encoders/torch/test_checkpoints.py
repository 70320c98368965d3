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


def test_a_file_is_no_model(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(InputError, match=r"expected the folder of a model, found a file$"):
        model_folder("hf:x", str(tmp_path / "model.safetensors"), None, "hf")


@pytest.mark.parametrize("name", ["org/model", "model"])
def test_a_model_that_is_not_there_offline(offline, name):
    message = (
        rf"^st:{name}: not in the cache, .*`hf download {name} --local-dir FOLDER`, then write st:FOLDER$"
    )
    with pytest.raises(InputError, match=message) as caught:
        model_folder(f"st:{name}", name, None, "st")
    assert "\n" not in str(caught.value)


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


def answer(status):
    """Return the response that the client's errors carry."""
    httpx = pytest.importorskip("httpx")
    return httpx.Response(status, request=httpx.Request("GET", "https://hub"))


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        ("GatedRepoError", 403, "accept a licence"),
        ("RepositoryNotFoundError", 404, "neither a folder here nor a model on the hub"),
        ("RevisionNotFoundError", 404, "the hub has the model, but no revision 'v9'"),
        ("HfHubHTTPError", 500, r"the hub gave no answer \(HfHubHTTPError\)"),
    ],
)
def test_what_a_hub_answers_is_reported_in_one_line(monkeypatch, error, status, message):
    def refuse(*_, **__):
        raise getattr(hub.errors, error)("a long\nmessage", response=answer(status))

    monkeypatch.setattr(hub, "snapshot_download", refuse)
    with pytest.raises(InputError, match=rf"^hf:org/model: .*{message}") as caught:
        model_folder("hf:org/model", "org/model", "v9", "hf")
    assert "\n" not in str(caught.value)


def test_the_advice_without_a_network_fits_the_scheme(monkeypatch):
    def refuse(*_, **__):
        raise OSError

    monkeypatch.setattr(hub, "snapshot_download", refuse)
    for scheme, written in (("translate:hf-", "translate:hf-FOLDER::…"), ("st:", "st:FOLDER")):
        with pytest.raises(InputError, match=f"then write {written}$"):
            model_folder(f"{scheme}owner/name", "owner/name", None, "hf")
