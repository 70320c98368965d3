"""`model:DIR` and `model:DIR::SPEC`: encoders that were trained here, whatever their kind."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from xlingual.encoders.own_similarity import OwnSimilarity
from xlingual.encoders.schemes import Context
from xlingual.errors import InputError
from xlingual.models.folder import ModelFolder
from xlingual.records import Encoder


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Return the encoder for a spec; raise InputError where the folder is no model, or its base another one.

    The module `trained_KIND` is imported here; its `build(folder, options, context)` makes the encoder.
    """
    folder = ModelFolder.read(argument)
    module = import_module(f"xlingual.encoders.trained_{folder.kind.replace('-', '_')}")
    encoder: Encoder = module.build(folder, options, context)
    return encoder


def check_base(folder: ModelFolder, base: Encoder | None, trusted: bool) -> Encoder:
    """Return the encoder below; raise InputError where it is absent or not the one that was trained on.

    `trusted`: any encoder will do. Dimensions are checked when there are vectors.
    """
    trained = folder.config["base"]
    if trained is None:
        raise InputError(f"model:{folder.path} was trained on texts alone: it stands on no other encoder")
    name = trained.get("name") or trained["identity"]
    if base is None:
        raise InputError(
            f"model:{folder.path} needs the encoder below it: write model:{folder.path}::SPEC; it was "
            f"trained on {name} ({trained['dim']} dimensions)"
        )
    if isinstance(base, OwnSimilarity):
        raise InputError(
            f"model:{folder.path}: the encoder below compares pictures and gives no vectors: the model was "
            f"trained on {name}"
        )
    if base.identity != trained["identity"] and not trusted:
        raise InputError(
            f"model:{folder.path} was trained on another encoder ({name}, {_short(trained['identity'])}) "
            f"than the one below it ({_short(base.identity)}): name that one; if both give vectors of one "
            f"model, write model:{folder.path}?base=trusted::SPEC"
        )
    return base


def _short(identity: str, most: int = 60) -> str:
    return identity if len(identity) <= most else f"{identity[: most - 1]}…"
