"""`hf:`: networks of transformers as encoders of texts; of pictures: `huggingface_pictures`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.encoders.batching import Memory, in_batches, in_parts
from xlingual.encoders.checkpoints import check_weights, model_folder, read_json
from xlingual.encoders.kind import trained_on_images
from xlingual.encoders.model_kind import check_dense, check_tokenizer
from xlingual.encoders.prompts import Prompts
from xlingual.encoders.schemes import PICTURES, Context
from xlingual.encoders.tokens import TextTokens
from xlingual.encoders.torch_runtime import device_part, require
from xlingual.encoders.transformer_text import TextNetwork
from xlingual.encoders.weights import checkpoint_digest, model_files
from xlingual.errors import InputError, listed
from xlingual.records import Encoded, Encoder, Ints, Texts, Vectors


class HuggingFaceEncoder:
    """A network for texts, its hidden states pooled; loaded when first used.

    `options` are those of the scheme. Equal texts are encoded once; what a vector depends on besides the
    text (the role where prompts differ, the language where the network is told it, the context where pairs
    are read) is in `content`.
    """

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        self.folder, self.options, self.who = folder, options, who
        self._memory = Memory()
        self.prompts = Prompts.of(options)
        self.settings = read_json(folder / "config.json")
        if not self.settings:
            raise InputError(
                f"{who}: no config.json of transformers in this folder; a model of sentence-transformers is "
                "written st:NAME_OR_PATH"
            )
        two_towers = "text_config" in self.settings and "vision_config" in self.settings
        check_dense(who, folder)
        self.pool = options["pool"] or ("features" if two_towers else "mean")
        if two_towers and options["pool"]:
            raise InputError(f"{who}: a network for texts and pictures has its own pooling: leave pool out")
        if options["pair"] and options["long"] == "windows":
            raise InputError(f"{who}: pairs cannot be divided into windows: leave pair or long=windows out")
        self.trained_on_images = trained_on_images(self.settings)
        check_weights(who, folder)
        check_tokenizer(who, folder)

    @cached_property
    def languages(self) -> Mapping[str, int]:
        """Language → its number in a network that is told the language (XLM); else empty."""
        told = self.settings.get("model_type") == "xlm" and self.settings.get("use_lang_emb", True)
        numbers = self.settings.get("lang2id", {}) if told and self.settings.get("n_langs", 1) > 1 else {}
        return {str(tag): int(number) for tag, number in numbers.items()}

    @cached_property
    def content(self) -> tuple[str, ...]:
        """All of a row that its vector depends on."""
        parts = {
            "text": True,
            "language": bool(self.languages),
            "role": self.prompts.by_role or bool(self.options["pair"]),
            "context": bool(self.options["pair"]),
        }
        return tuple(name for name, counts in parts.items() if counts)

    @cached_property
    def identity(self) -> str:
        """A hash of the model's files and the options that change vectors."""
        names = ("layer", "dtype", "max_length", "long", "pair")
        told = "".join(f"&{name}={self.options[name]}" for name in names if self.options[name] is not None)
        told += device_part(self.options["device"], self.options["dtype"], self.who, "hf")
        return f"hf:{self._digest()[:16]}?pool={self.pool}{told}{self.prompts}"

    @cached_property
    def network(self) -> TextNetwork:
        """The network, read from the files that the identity is of."""
        identity = self.identity
        network = TextNetwork(self.folder, self.options, self.pool, self.who)
        if f"hf:{self._digest()[:16]}?" not in identity:
            raise InputError(f"{self.who}: files of the model changed while it was read: start again")
        return network

    @cached_property
    def tokens(self) -> TextTokens:
        """The tokenizer with the limit of the network."""
        limit = self.network.max_length(self.options["max_length"])
        return TextTokens(self.network.tokenizer, limit, self.options["long"], self.who)

    def encode(self, batch: Texts) -> Vectors:
        """Return float32 [n, d]."""
        return self.encode_noting(batch).vectors

    def encode_noting(self, batch: Texts) -> Encoded:
        """Return float32 [n, d], and which texts were cut."""
        return in_parts(self._encoded, batch)

    def _encoded(self, batch: Texts) -> Encoded:
        prompt = self.prompts.before(batch.role)
        paired = bool(self.options["pair"]) and batch.role == "candidate" and len(batch.context) > 0
        rows = list(
            zip(
                [prompt + text for text in batch.text],
                batch.context if paired else [""] * len(batch),
                self._language_numbers(batch.language),
                strict=True,
            )
        )
        distinct = list(dict.fromkeys(rows))
        number = {row: i for i, row in enumerate(distinct)}
        index = np.array([number[row] for row in rows], dtype=np.int64)
        pieces = self.tokens.pieces(
            [text for text, _, _ in distinct],
            [context for _, context, _ in distinct] if paired else (),
            [prompt] * len(distinct),
        )

        def run(which: Ints) -> Vectors:
            told = [distinct[int(pieces.owner[i])][2] for i in which] if self.languages else []
            return self.network.run([pieces.features[int(i)] for i in which], told)

        dim = self.network.dim
        vectors = in_batches(
            pieces.lengths, self.options["batch"], run, who=self.who, dim=dim, memory=self._memory
        )
        return Encoded(pieces.averaged(vectors)[index], pieces.truncated[index])

    def _language_numbers(self, tags: Sequence[str]) -> list[int]:
        """Return each row's language as the network numbers it, 0 where it is not told."""
        if not self.languages:
            return [0] * len(tags)
        found = {tag: self.languages.get(tag, self.languages.get(_base(tag))) for tag in dict.fromkeys(tags)}
        unknown = sorted(tag for tag, number in found.items() if number is None)
        if unknown:
            raise InputError(
                f"{self.who}: the model is told the language of a text and does not know {listed(unknown)}; "
                f"it knows {listed(sorted(self.languages), 20)}"
            )
        return [found[tag] or 0 for tag in tags]

    def _digest(self) -> str:
        return checkpoint_digest(self.folder, model_files(self.folder, modules=False))


def _base(tag: str) -> str:
    """Return the language of a tag without script and country: zh of zh-Hant."""
    return tag.replace("_", "-").partition("-")[0].lower()


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Return the encoder for a spec; the model is found, and fetched where need be, but not loaded."""
    who = f"hf:{argument}"
    require(who, "hf", "torch", "transformers")
    if context.kind == PICTURES:
        pictures: Encoder = import_module(f"{__name__}_pictures").build(argument, options, context)
        return pictures
    folder = model_folder(who, argument, options["revision"], "hf")
    return HuggingFaceEncoder(folder, options, who)
