"""From the name of a model to the folder that holds it, and what must not be in there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from xlingual.encoders.weights import module_folders
from xlingual.errors import InputError, MissingExtraError

# what is fetched from a hub: never a pickle, never code
_WANTED = (
    "*.json",
    "*.txt",
    "*.model",
    "*.spm",
    "*.bpe",
    "*.codes",
    "*.tiktoken",
    "*.jinja",
    "*.safetensors",
)
_UNWANTED = ("onnx/*", "*/onnx/*", "openvino/*", "*/openvino/*")


def model_folder(who: str, name: str, revision: str | None, extra: str) -> Path:
    """Return the folder of a model: `name` itself where it is a folder, else what a hub has by that name.

    A model that was fetched before is taken from the cache of `huggingface_hub`, also without a network.
    `who` begins the messages, `extra` is the optional package that brings the client. Raises InputError
    where there is no such folder, name or revision, and where the hub cannot be reached.
    """
    if not name.strip():
        raise InputError(f"{who}: the name or the folder of a model is missing")
    path = user_path(who, name)
    if path.is_dir():
        if revision is not None:
            raise InputError(f"{who}: revision={revision} is of a model on a hub, but this is a folder")
        return path
    if path.exists() or name.startswith((".", "~", os.sep)) or name.count("/") > 1 or "\\" in name:
        raise InputError(
            f"{who}: expected the folder of a model, found {'a file' if path.exists() else 'nothing'}"
        )
    return _from_hub(who, name, revision, extra)


def user_path(who: str, name: str) -> Path:
    """Return the path that a name stands for, `~` being the user's folder."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise InputError(f"{who}: there is no such user's folder: write its whole path") from None


def _from_hub(who: str, name: str, revision: str | None, extra: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError
    except ImportError:
        raise MissingExtraError(who, extra) from None
    try:
        files = {"allow_patterns": list(_WANTED), "ignore_patterns": list(_UNWANTED)}
        return Path(snapshot_download(name, revision=revision, **files))
    except GatedRepoError:
        raise InputError(
            f"{who}: its authors ask you to accept a licence: do so on the model's page, then `hf auth login`"
        ) from None
    except RevisionNotFoundError:
        raise InputError(f"{who}: the hub has the model, but no revision {revision!r}") from None
    except RepositoryNotFoundError:
        raise InputError(
            f"{who}: neither a folder here nor a model on the hub: check the spelling, or `hf auth login` "
            "where it is private"
        ) from None
    except Exception as error:  # no network, switched offline, a bad name, a server that fails
        scheme = who.partition(":")[0]
        instead = "translate:hf-FOLDER::…" if scheme == "translate" else f"{scheme}:FOLDER"
        raise InputError(
            f"{who}: not in the cache, and the hub gave no answer ({type(error).__name__}): where there is a "
            f"network, run `hf download {name} --local-dir FOLDER`, then write {instead}"
        ) from None


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a file of settings holds, {} where there is no such file."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}): fetch the model again") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected an object of settings, found {type(found).__name__}")
    return found


def check_weights(who: str, folder: Path, *, modules: bool = False) -> None:
    """Raise InputError where weights are missing, or there only as a pickle, which could run code.

    With `modules` the folders of the modules of sentence-transformers are looked at too.
    """
    places = [folder, *(module_folders(folder) if modules else ())]
    without = [place for place in places if not any(place.glob("*.safetensors"))]
    for pickle in (path for place in without for path in sorted(place.glob("pytorch_model*.bin"))):
        raise InputError(
            f"{who}: {pickle.relative_to(folder)} is a pickle, which could run code, and is never "
            "read: fetch a revision with model.safetensors (often revision=refs/pr/1), or convert it "
            "where you trust it: AutoModel.from_pretrained(FOLDER).save_pretrained(NEW)"
        )
    if without == places:
        raise InputError(f"{who}: no weights in this folder: a .safetensors file is needed")
