"""Texts through a trained dual encoder: questions and answers in one space."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.checkpoints import check_sizes
from xlingual.encoders.runtime import Memory, in_batches, in_parts, loading, require
from xlingual.encoders.scheme import Context
from xlingual.encoders.tokens import TextTokens, position_limit
from xlingual.encoders.trained import OnBase, TrainedNetwork, check_base
from xlingual.errors import InputError
from xlingual.models.batches import bags, padded
from xlingual.models.dual_encoder_config import DualEncoderConfig
from xlingual.models.features import SHARED, TextFeatures
from xlingual.models.folder import NETWORK, WEIGHTS, ModelFolder
from xlingual.models.vocabulary import FIRST
from xlingual.records import Encoded, Texts

QUERY, CANDIDATE = "query", "candidate"


class DualNetwork(TrainedNetwork[DualEncoderConfig]):
    """A trained dual encoder, and what its tower reads."""

    read = DualEncoderConfig.from_dict

    @cached_property
    def features(self) -> TextFeatures:
        """What numbers the features of texts, for the tower `words`."""
        vocabulary = self.folder.vocabulary(SHARED)
        found = TextFeatures(vocabulary, self.config.ngrams, self.config.buckets)
        if len(found) != self.config.features:
            raise InputError(
                f"{self.who}: its vocabulary has {len(vocabulary) - FIRST:,} words, its config.json says "
                f"{self.config.features - self.config.buckets - FIRST:,}: copy the model anew"
            )
        self.check_unchanged()
        return found

    @cached_property
    def tokens(self) -> TextTokens:
        """What makes tokens of texts, for the tower `transformer`."""
        require(self.who, "st", "torch", "transformers")
        from transformers import AutoTokenizer

        with loading(self.who):
            tokenizer = AutoTokenizer.from_pretrained(
                self._settings(), local_files_only=True, trust_remote_code=False
            )
        tokenizer.padding_side = "right"
        return TextTokens(tokenizer, self.config.max_length, self.who)

    def encode(self, role: str, *inputs: np.ndarray) -> Vectors:
        """Return the vectors [b, dim] of texts given as what the tower reads: features, tokens or vectors."""
        return self.run(lambda module, *there: module.encode(role, *there), *inputs)

    def new_module(self) -> Any:  # noqa: ANN401  (a DualEncoder)
        """Return the network without weights."""
        from xlingual.models.dual_encoder import DualEncoder

        return DualEncoder(self.config, None, self._empty_network())

    def _settings(self) -> Path:
        """Return the folder of the network's settings and its tokenizer."""
        path = self.folder.path / NETWORK
        if not (path / "config.json").is_file():
            raise InputError(f"{self.who}: {NETWORK} is missing: copy the whole folder of the model")
        return path

    def _empty_network(self) -> Any:  # noqa: ANN401
        """Return the network of transformers without its weights, None for other towers."""
        if self.config.tower != "transformer":
            return None
        require(self.who, "st", "torch", "transformers")
        from transformers import AutoConfig, AutoModel

        check_sizes(self.who, self._settings() / "config.json", [self.folder.path / WEIGHTS])
        with loading(self.who):
            settings = AutoConfig.from_pretrained(
                self._settings(), local_files_only=True, trust_remote_code=False
            )
            network = AutoModel.from_config(settings, trust_remote_code=False)
        limit = position_limit(network, settings)
        if self.config.max_length and limit is not None and self.config.max_length > limit:
            raise InputError(f"{self.who}: reads {limit} tokens at most: copy the model anew")
        return network


class DualTexts(Encoder):
    """Texts of any language as unit vectors float32 [n, dim].

    Texts with the role "candidate" are answers, which may be read with their context, or by weights of their
    own; all others are questions. A text is zero where the model knows nothing of it.
    """

    origin = "fitted"

    def __init__(self, network: DualNetwork, batch: int = 128) -> None:
        self.network, self.batch = network, batch
        self.space = network.space
        self._memory = Memory()
        self._blind = self._texts = 0

    @property
    def identity(self) -> str:
        """The kind and the model's digest."""
        return self.network.identity

    @cached_property
    def content(self) -> tuple[str, ...]:
        """All of a row that its vector depends on."""
        config = self.network.config
        parts = {
            "text": True,
            "language": config.tower == "words",
            "role": config.separate or config.context,
            "context": config.context,
        }
        return tuple(name for name, counts in parts.items() if counts)

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether questions and answers have towers of their own."""
        return bool(self.network.config.separate)

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return float32 [n, dim], and which texts were cut."""
        return in_parts(self._words if self.network.config.tower == "words" else self._tokens, batch)

    def notes(self) -> list[str]:
        """Return how many texts have nothing that the model knows, since last asked."""
        blind, texts, self._blind, self._texts = self._blind, self._texts, 0, 0
        note = f"{self.network.who}: {blind:,} of {texts:,} texts have nothing that it reads, and are zero"
        return [note] if blind else []

    def _words(self, batch: Texts) -> Encoded:
        texts = with_context(batch) if self.network.config.context else batch.text
        numbers = list(map(self.network.features.of, texts, batch.language))
        self._texts += len(numbers)
        self._blind += sum(not text for text in numbers)
        return Encoded(
            self._encoded(batch, list(map(len, numbers)), lambda rows: bags([numbers[row] for row in rows]))
        )

    def _tokens(self, batch: Texts) -> Encoded:
        paired = self.network.config.context and batch.role == CANDIDATE and len(batch.context) > 0
        pieces = self.network.tokens.pieces(list(batch.text), list(batch.context) if paired else ())
        padding = self.network.tokens.tokenizer.pad_token_id or 0
        vectors = self._encoded(
            batch, pieces.lengths, lambda rows: padded([pieces.features[row] for row in rows], padding)
        )
        return Encoded(vectors, pieces.truncated)

    def _encoded(
        self, batch: Texts, lengths: Sequence[int] | Ints, inputs: Callable[[Ints], tuple[Ints, ...]]
    ) -> Vectors:
        """Return the vectors of a batch; `inputs` gives what the network takes for some of its rows."""
        role = CANDIDATE if batch.role == CANDIDATE else QUERY
        return in_batches(
            lengths,
            self.batch,
            lambda rows: self.network.encode(role, *inputs(rows)),
            who=self.network.who,
            dim=self.network.config.dim,
            memory=self._memory,
        )


class DualVectors(OnBase):
    """Texts as unit vectors float32 [n, dim], from those of the encoder that was trained on."""

    origin = "fitted"
    network: DualNetwork

    def apply(self, *vectors: Vectors) -> Vectors:
        """Return float32 [n, dim] for the vectors float32 [n, dim] of the encoder below."""
        (given,) = vectors
        self.check_dim(given, self.network.config.dim)
        return self.network.encode(QUERY, np.ascontiguousarray(given, dtype=np.float32))


def with_context(batch: Texts) -> list[str]:
    """Return each text, and behind an answer what surrounds it."""
    if batch.role != CANDIDATE or not len(batch.context):
        return list(batch.text)
    return [f"{text} {around}".rstrip() for text, around in zip(batch.text, batch.context, strict=True)]


def build(folder: ModelFolder, options: Mapping[str, Any], context: Context) -> DualTexts | DualVectors:
    """Return the encoder; raise InputError where it is asked for images, or its base is another one."""
    network = DualNetwork(folder, options["device"])
    if context.kind != "texts":
        raise InputError(f"{network.who} encodes texts: name an encoder of images, see: xlingual encoders")
    if network.config.tower == "vectors":
        return DualVectors(network, check_base(folder, context.base, options["base"] == "trusted"))
    if context.base is not None:
        raise InputError(f"{network.who} reads texts itself: leave out '::' and what follows")
    return DualTexts(network, options["batch"])
