"""`hf:`: networks of transformers as encoders of texts; of images: `huggingface_images`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import distinct_rows, in_batches
from xlingual.encoders.checkpoints import (
    check_tokenizer,
    check_weights,
    model_folder,
    read_json,
    trained_on_images,
    user_path,
)
from xlingual.encoders.decoding import refuse_text_options
from xlingual.encoders.networks import NetworkEncoder, TextNetworkEncoder
from xlingual.encoders.remote_code import OPTION, checked, pinned_commit, say
from xlingual.encoders.scheme import IMAGES, Context
from xlingual.encoders.tokens import TextTokens
from xlingual.encoders.torch_runtime import require
from xlingual.encoders.transformer_text import TextNetwork
from xlingual.errors import InputError
from xlingual.records import Encoded, Texts


class HuggingFaceEncoder(TextNetworkEncoder):
    """A network for texts, its hidden states pooled.

    Equal texts are encoded once.
    """

    has_modules = False

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        self.settings = read_json(folder / "config.json")
        if not self.settings:
            raise InputError(
                f"{who}: no config.json of transformers in this folder; a model of sentence-transformers is "
                "written st:NAME_OR_PATH"
            )
        two_towers = "text_config" in self.settings and "vision_config" in self.settings
        self.pool = options["pool"] or ("features" if two_towers else "mean")
        if two_towers and options["pool"]:
            raise InputError(f"{who}: a network for texts and images has its own pooling: leave pool out")
        self.trained_on_images = trained_on_images(self.settings)
        check_weights(who, folder)
        check_tokenizer(who, folder)

    @cached_property
    def identity(self) -> str:
        """A hash of the model's files and the options that change vectors."""
        options = self.stated("dtype", "max_length", "dim", OPTION)
        return f"hf:{self.digest}?pool={self.pool}&{options}{self.stated_device()}{self.prompts}"

    @cached_property
    def network(self) -> TextNetwork:
        """The network, read from the files that the identity is of."""
        runs_code = self.runs_code
        if runs_code:
            say(self.who, self.options)
        with self.unchanged():
            return TextNetwork(self.folder, self.options, self.pool, self.who, runs_code=runs_code)

    @cached_property
    def tokens(self) -> TextTokens:
        """The tokenizer with the limit of the network."""
        limit = self.network.max_length(self.options["max_length"])
        return TextTokens(self.network.tokenizer, limit, self.who)

    def _encoded(self, batch: Texts) -> Encoded:
        prompt = self.prompts.before(batch.role)
        distinct, index = distinct_rows([prompt + text for text in batch.text])
        pieces = self.tokens.pieces(distinct)

        def run(which: Ints) -> Vectors:
            return self.network.run([pieces.features[int(i)] for i in which])

        dim, size = self.network.dim, self.options["batch"]
        vectors = in_batches(pieces.lengths, size, run, who=self.who, dim=dim, memory=self.memory)
        return Encoded(self._first(vectors)[index], pieces.truncated[index])

    def _first(self, vectors: Vectors) -> Vectors:
        """Return the dimensions that are kept; cosines are of these alone."""
        dim = self.options.get("dim")
        if dim is not None and dim > vectors.shape[1]:
            raise InputError(
                f"{self.who}: dim={dim}, but the model's vectors have {vectors.shape[1]} dimensions"
            )
        return vectors[:, :dim]


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Return the encoder for a spec; the model is found, and fetched where need be, but not loaded."""
    who = f"hf:{argument}"
    require(who, "hf", "torch", "transformers")
    kind: type[NetworkEncoder] = HuggingFaceEncoder
    if context.kind == IMAGES:
        refuse_text_options(who, options)
        kind = import_module(f"{__name__}_images").HuggingFaceImages
        if options["dim"] is not None:
            raise InputError(f"{who}: dim is an option for texts: leave it out for images")
    code = None if user_path(who, argument).is_dir() else pinned_commit(who, options)
    folder = model_folder(who, argument, code or options["revision"], "hf", with_code=code is not None)
    return checked(kind(folder, options, who), code)
