"""Texts through a trained dual encoder: questions and answers in one space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.encoders.batching import Memory, in_batches, in_parts
from xlingual.encoders.dual_network import DualNetwork
from xlingual.encoders.schemes import Context
from xlingual.encoders.trained import check_base
from xlingual.errors import InputError
from xlingual.models.folder import ModelFolder
from xlingual.records import Encoded, Encoder, Texts

if TYPE_CHECKING:
    from xlingual.records import Vectors

QUERY, CANDIDATE = "query", "candidate"


class DualTexts:
    """Texts of any language as unit vectors float32 [n, dim].

    Texts with the role "candidate" are answers, which may be read with their context, or by weights of their
    own; all others are questions. A text is zero where the model knows nothing of it.
    """

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

    def encode(self, batch: Texts) -> Vectors:
        """Return float32 [n, dim]."""
        return self.encode_noting(batch).vectors

    def encode_noting(self, batch: Texts) -> Encoded:
        """Return float32 [n, dim], and which texts were cut."""
        return in_parts(self._words if self.network.config.tower == "words" else self._tokens, batch)

    def notes(self) -> list[str]:
        """Return how many texts have nothing that the model knows, since last asked."""
        blind, texts = self._blind, self._texts
        self._blind = self._texts = 0
        if not blind:
            return []
        return [f"{self.network.who}: {blind:,} of {texts:,} texts have nothing that it reads, and are zero"]

    def _words(self, batch: Texts) -> Encoded:
        texts = with_context(batch) if self.network.config.context else batch.text
        features = self.network.features
        numbers = [features.of(text, tag) for text, tag in zip(texts, batch.language, strict=True)]
        self._texts += len(numbers)
        self._blind += sum(not text for text in numbers)
        return Encoded(
            self._encoded(
                [len(text) for text in numbers],
                lambda rows: self.network.of_features(role_of(batch), [numbers[row] for row in rows]),
            )
        )

    def _tokens(self, batch: Texts) -> Encoded:
        paired = self.network.config.context and batch.role == CANDIDATE and len(batch.context) > 0
        pieces = self.network.tokens.pieces(list(batch.text), list(batch.context) if paired else ())
        vectors = self._encoded(
            pieces.lengths.tolist(),
            lambda rows: self.network.of_tokens(role_of(batch), [pieces.features[row] for row in rows]),
        )
        return Encoded(vectors, pieces.truncated)

    def _encoded(self, lengths: Sequence[int], run: Any) -> Vectors:  # noqa: ANN401
        return in_batches(
            lengths,
            self.batch,
            lambda rows: run(rows.tolist()),
            who=self.network.who,
            dim=self.network.config.dim,
            memory=self._memory,
        )


class DualVectors:
    """Texts as unit vectors float32 [n, dim], from those of the encoder that was trained on."""

    fitted_transform = True

    def __init__(self, network: DualNetwork, base: Encoder) -> None:
        self.network, self.base = network, base
        self.space = network.space

    @property
    def identity(self) -> str:
        """The kind and the model's digest, and the encoder below."""
        return f"{self.network.identity}::{self.base.identity}"

    def encode(self, batch: Texts) -> Vectors:
        """Return float32 [n, dim]."""
        return self.apply(*(self.base.encode(part) for part in self.inputs(batch)))

    def inputs(self, batch: Texts) -> tuple[Texts]:
        """Return what the encoder below encodes: the texts themselves."""
        return (batch,)

    def apply(self, *vectors: Vectors) -> Vectors:
        """Return float32 [n, dim] for the vectors float32 [n, dim] of the encoder below."""
        (given,) = vectors
        wanted = self.network.config.dim
        if given.shape[1] != wanted:
            raise InputError(
                f"{self.network.who} takes vectors of {wanted} dimensions, and the encoder below it gives "
                f"{given.shape[1]}: name the one that it was trained on"
            )
        return self.network.of_vectors(QUERY, np.ascontiguousarray(given, dtype=np.float32))


def with_context(batch: Texts) -> list[str]:
    """Return each text, and behind an answer what surrounds it."""
    if batch.role != CANDIDATE or not len(batch.context):
        return list(batch.text)
    return [f"{text} {around}".rstrip() for text, around in zip(batch.text, batch.context, strict=True)]


def role_of(batch: Texts) -> str:
    """Return "candidate" for answers, else "query"."""
    return CANDIDATE if batch.role == CANDIDATE else QUERY


def build(folder: ModelFolder, options: Mapping[str, Any], context: Context) -> DualTexts | DualVectors:
    """Return the encoder; raise InputError where it is asked for pictures, or its base is another one."""
    network = DualNetwork(folder, options["device"])
    if context.kind != "texts":
        raise InputError(f"{network.who} encodes texts: name an encoder of pictures, see: xlingual encoders")
    if network.config.tower == "vectors":
        return DualVectors(network, check_base(folder, context.base, options["base"] == "trusted"))
    if context.base is not None:
        raise InputError(f"{network.who} reads texts itself: leave out '::' and what follows")
    return DualTexts(network, options["batch"])
