"""The folder of a trained or fitted model: reading, writing and its digest. torch is imported on use.

config.json         kind, dimensions, base encoder, training, data, environment
vocabulary.LANG.txt the words of a language, where the kind has any
model.safetensors   the weights
log.jsonl           one line for each epoch of training
README.md           a card: what it was trained on, and with which scores
network/            settings and tokenizer of a network of transformers, where the kind has one
checkpoint/         state for `--resume`; not part of the model
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.errors import InputError, MissingExtraError, listed
from xlingual.files import atomic_file, make_folder
from xlingual.models.texts import Vocabulary
from xlingual.results.files import to_json, write_json
from xlingual.results.provenance import note_file, sha256_of

if TYPE_CHECKING:
    import numpy as np
    import torch

SCHEMA = "xlingual/model/1"
TRANSFORM = "transform"  # fitted, not trained: it needs no torch
BANK = "bank"  # the array of a transform that holds training questions
FITTED_ON = "fitted_on"  # and the one that holds digests of the texts it was fitted and chosen on
KINDS = ("mlmme", "triplet", "dual-encoder", TRANSFORM)
CONFIG, WEIGHTS, LOG, CARD, NETWORK, CHECKPOINT = (
    "config.json",
    "model.safetensors",
    "log.jsonl",
    "README.md",
    "network",
    "checkpoint",
)


@dataclass(frozen=True)
class ModelFolder:
    """A trained model on disk. `config` is what `config.json` says."""

    path: Path
    config: Mapping[str, Any] = field(repr=False)

    @classmethod
    def read(cls, path: str | Path) -> ModelFolder:
        """Read a model's `config.json`; raise InputError where it is no model ready for use."""
        folder = Path(path)
        _check_there(folder)
        try:
            config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        except (ValueError, OSError, RecursionError) as error:
            raise InputError(
                f"{folder / CONFIG} cannot be read as JSON ({error}): copy the model anew"
            ) from None
        _check_config(folder, config)
        if not (folder / WEIGHTS).is_file():
            raise InputError(f"{folder}: {WEIGHTS} is missing: copy the whole folder of the model")
        return cls(folder, config)

    @property
    def kind(self) -> str:
        """What kind of model it is: one of `KINDS`."""
        return str(self.config["kind"])

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits: SHA-256 over all that changes a vector, as it was when first asked for.

        That is the kind, its dimensions and options, the base encoder, the vocabularies, the weights and the
        settings of a network; not where the folder lies, how the model was trained, nor its log and card.
        """
        parts = {name: self.config.get(name) for name in ("schema", "kind", "model", "base")}
        whole = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
        for file in [*sorted(self.path.glob(vocabulary_file("*"))), self.path / WEIGHTS]:
            whole.update(f"\n{file.name}\0{file_digest(file)}".encode())
        for file in sorted(path for path in (self.path / NETWORK).rglob("*") if path.is_file()):
            whole.update(f"\n{file.relative_to(self.path).as_posix()}\0{file_digest(file)}".encode())
        return whole.hexdigest()

    def vocabulary(self, language: str) -> Vocabulary:
        """Return the words of a language; raise InputError where its file is missing or damaged."""
        return Vocabulary.read(self.path / vocabulary_file(language))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of a transform by name; raise InputError where the file is damaged."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            return load_file(self.path / WEIGHTS)
        except (SafetensorError, OSError) as error:
            raise self._damaged(error) from None

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the tensors by name, on the CPU; raise InputError where the file is damaged."""
        from safetensors import SafetensorError

        try:
            from safetensors.torch import load_file
        except ImportError:
            raise MissingExtraError(f"a model of the kind {self.kind}", "torch") from None
        try:
            found: dict[str, torch.Tensor] = load_file(self.path / WEIGHTS)
        except (SafetensorError, OSError) as error:
            raise self._damaged(error) from None
        return found

    def _damaged(self, error: Exception) -> InputError:
        return InputError(
            f"{self.path / WEIGHTS} is damaged ({error}): copy the model anew, or make it again"
        )


def write_model(
    path: str | Path,
    config: Mapping[str, Any],
    weights: Mapping[str, torch.Tensor | np.ndarray],
    vocabularies: Mapping[str, Vocabulary] | None = None,
    card: str | None = None,
    network: Callable[[Path], None] | None = None,
) -> ModelFolder:
    """Write a model and return it; `config` needs "kind" and "model", and gets the "schema".

    `network` writes the settings and the tokenizer of a network of transformers into the folder it is given.
    Each file is written atomically, `config.json` last: without it a folder is no model, so one that was not
    written to the end is never taken for one. A model that lies there already is replaced.
    """
    from safetensors import SafetensorError

    content = {"schema": SCHEMA, "base": None, **config}
    if content["kind"] not in KINDS or not isinstance(content.get("model"), Mapping):
        raise ValueError(f"a model has a kind among {', '.join(KINDS)} and its dimensions under 'model'")
    to_json(content)  # refuses NaN and infinity before any file is touched
    folder = make_folder(path)
    (folder / CONFIG).unlink(missing_ok=True)
    kept = {vocabulary_file(language): words for language, words in (vocabularies or {}).items()}
    for file in folder.glob(vocabulary_file("*")):
        if file.name not in kept:
            file.unlink()
    for name, vocabulary in kept.items():
        vocabulary.write(folder / name)
    with atomic_file(folder / WEIGHTS) as temporary:
        try:
            _save(weights, temporary, content["kind"])
        except SafetensorError as error:
            raise OSError(str(error)) from error
    shutil.rmtree(folder / NETWORK, ignore_errors=True)
    if network is not None:
        network(make_folder(folder / NETWORK))
    if card is not None:
        with atomic_file(folder / CARD) as temporary:
            temporary.write_text(card, encoding="utf-8")
    write_json(folder / CONFIG, content)
    return ModelFolder.read(folder)


def _save(weights: Mapping[str, Any], path: Path, kind: str) -> None:
    if kind == TRANSFORM:
        from safetensors.numpy import save_file as save_arrays

        save_arrays(dict(weights), path)
    else:
        from safetensors.torch import save_file

        save_file({name: each.detach().cpu().contiguous() for name, each in weights.items()}, path)


def vocabulary_file(language: str) -> str:
    """Return the name of a language's vocabulary in the folder."""
    return f"vocabulary.{language}.txt"


def _check_there(folder: Path) -> None:
    """Raise InputError where there is no folder, or no finished model in it."""
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such folder of a model: give what xlingual train wrote to --out, or the "
            "folder model of a repair"
        )
    if (folder / CONFIG).is_file():
        return
    if (folder / CHECKPOINT).exists() or (folder / LOG).exists():
        raise InputError(
            f"{folder}: its training is not finished ({CONFIG} is missing): the same command with --resume "
            "continues it"
        )
    if (folder / "model" / CONFIG).is_file():  # as a repair leaves it
        raise InputError(f"{folder}: its model is the folder {folder / 'model'}: give that one")
    raise InputError(f"{folder}: no {CONFIG} in it, so no model: give the folder that xlingual train wrote")


def _check_config(folder: Path, config: object) -> None:
    """Raise InputError where `config.json` is not one of a model that this version knows."""
    where = folder / CONFIG
    if not isinstance(config, dict) or "schema" not in config:
        raise InputError(
            f"{where} has no key 'schema', so it is of another program: give a folder that xlingual "
            "train wrote"
        )
    if config["schema"] != SCHEMA:
        raise InputError(
            f"{where}: schema {config['schema']!r}, expected {SCHEMA!r}: of another version of xlingual: "
            "use that one, or train again"
        )
    if config.get("kind") not in KINDS:
        raise InputError(
            f"{where}: unknown kind {config.get('kind')!r}, known: {listed(KINDS)}: it may be of a later "
            "version of xlingual"
        )
    base = config.get("base")
    if not isinstance(config.get("model"), dict) or not (base is None or _is_base(base)):
        raise InputError(f"{where} is incomplete ('model' or 'base'): copy the model anew, or train it again")


def _is_base(base: object) -> bool:
    return (
        isinstance(base, dict) and isinstance(base.get("identity"), str) and isinstance(base.get("dim"), int)
    )


_RECENT = 2_000_000_000  # ns; clocks of file systems are coarse, so a file this young may change unnoticed
_known: dict[tuple[str, int, int, int, int], str] = {}


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes; read again whenever the file may have changed since."""
    stat = path.stat()
    key = (str(path.resolve()), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    found = _known.get(key)
    if found is None:
        begun = time.time_ns()
        found = sha256_of(path)
        if max(stat.st_mtime_ns, stat.st_ctime_ns) + _RECENT <= begun:
            _known[key] = found
    note_file("model", path, found)
    return found
