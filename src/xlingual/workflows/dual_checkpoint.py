"""A network of transformers that a dual encoder is to be trained from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.encoders import EncoderLike, Spec, parse
from xlingual.errors import InputError

if TYPE_CHECKING:
    from xlingual.encoders.tokens import TextTokens
    from xlingual.training.recipes.dual_options import DualOptions

_KNOWN = ("revision",)  # options of `hf:` that a training takes


@dataclass(frozen=True)
class Checkpoint:
    """A network of transformers with its weights, and its tokenizer."""

    who: str
    identity: str
    network: Any  # a module
    tokens: TextTokens
    dim: int

    def save(self, folder: Path) -> None:
        """Write the settings of the network and the tokenizer, without any weights."""
        self.network.config.save_pretrained(folder)
        self.tokens.tokenizer.save_pretrained(folder)


def checkpoint_of(base: EncoderLike, options: DualOptions) -> Checkpoint | None:
    """Return the checkpoint that a spec `hf:…` names, None for any other base.

    Raises InputError where it is no network of texts with a first token, or an option is not of a training.
    """
    if not isinstance(base, str | os.PathLike):
        return None
    spec = spec_of(os.fspath(base))
    if spec.scheme != "hf":
        return None
    other = [name for name, _ in spec.options if name not in _KNOWN]
    if other:
        raise InputError(
            f"--base {base}: the network is trained further, so {other[0]} is not of its spec: tell "
            "--max-length, --context or --device, or add --frozen to leave the network as it is"
        )
    return _read(spec.argument, dict(spec.options).get("revision"), options)


def spec_of(base: str) -> Spec:
    """Return the spec that is written so."""
    from xlingual.encoders.plugins import Known

    return parse(base, Known())


def _read(argument: str, revision: str | None, options: DualOptions) -> Checkpoint:
    from xlingual.encoders.checkpoints import check_tokenizer, check_weights, model_folder
    from xlingual.encoders.tokens import TextTokens
    from xlingual.encoders.torch_runtime import require
    from xlingual.encoders.transformer_text import TextNetwork
    from xlingual.encoders.weights import checkpoint_digest, model_files

    who = f"hf:{argument}"
    require(who, "hf", "torch", "transformers")
    folder = model_folder(who, argument, revision, "hf")
    check_weights(who, folder)
    check_tokenizer(who, folder)
    identity = f"hf:{checkpoint_digest(folder, model_files(folder, modules=False))[:16]}"
    read = TextNetwork(folder, {"layer": -1, "device": "cpu", "dtype": "float32"}, "cls", who)
    tokens = TextTokens(read.tokenizer, read.max_length(options.max_length), "truncate", who)
    return Checkpoint(who, identity, read.model, tokens, read.dim)
