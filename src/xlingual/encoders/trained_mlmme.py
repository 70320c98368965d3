"""Texts and pictures through a trained MLMME: one joint space for all its languages and for pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.encoders.batching import Memory, in_batches
from xlingual.encoders.mlmme_network import MlmmeNetwork
from xlingual.encoders.schemes import PICTURES, Context
from xlingual.encoders.trained import check_base
from xlingual.encoders.unknown_words import UnknownWords
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.models.folder import ModelFolder
from xlingual.models.vocabulary import UNKNOWN
from xlingual.models.words import pretokenized_tokens, tokens
from xlingual.records import Encoder, Pictures, Texts

if TYPE_CHECKING:
    from xlingual.records import Vectors


class MlmmeTexts:
    """Texts of the model's languages as unit vectors float32 [n, joint]; zero where a text has no words.

    Words are found as in training (`models.words`). All that a model does not know are one and the same word.
    """

    content = ("text", "language")

    def __init__(self, network: MlmmeNetwork, batch: int = 128) -> None:
        self.network, self.batch = network, batch
        self.languages = network.config.languages
        self.space = network.space
        self._memory, self._unknown = Memory(), UnknownWords()
        self._blind: Counter[str] = Counter()  # language → texts of which no word is known
        self._texts, self._cut = 0, 0  # texts, and those that were too long

    @property
    def trained_on_images(self) -> bool:
        """Whether the model has learnt from images, and not from sentences alone."""
        return self.network.config.picture_dim is not None

    @property
    def identity(self) -> str:
        """The kind and the model's digest."""
        return self.network.identity

    def check_languages(self, tags: Iterable[str]) -> None:
        """Raise InputError where the model has not been trained on one of the languages."""
        unknown = [tag for tag in dict.fromkeys(tags) if tag not in self.languages]
        if unknown:
            raise InputError(
                f"{self.network.who} cannot encode texts in {listed(unknown)}: it was trained on "
                f"{listed(self.languages, 20)}.{did_you_mean(unknown[0], self.languages)} Choose among its "
                "languages, or train it on more"
            )

    def encode(self, batch: Texts) -> Vectors:
        """Return float32 [n, joint]; words and texts that it does not know are counted for `notes`."""
        self.check_languages(batch.language)
        vectors = np.zeros((len(batch), self.network.config.joint_dim), dtype=np.float32)
        language = np.asarray(batch.language, dtype=object)
        for tag in dict.fromkeys(batch.language):
            rows = np.flatnonzero(language == tag)
            numbers = [self._numbers(batch.text[row], tag) for row in rows.tolist()]
            self._count(tag, numbers)
            vectors[rows] = self._encoded(tag, numbers)
        return vectors

    def notes(self) -> list[str]:
        """Return the share of unknown words, and how many texts have no known one or are cut.

        All of it since last asked.
        """
        who, blind, texts, cut = self.network.who, self._blind, self._texts, self._cut
        self._blind, self._texts, self._cut = Counter(), 0, 0
        told = self._unknown.told(f"{who}: words that it does not know, which are all one to it")
        if blind:
            each = listed((f"{tag} {count:,}" for tag, count in sorted(blind.items())), 20)
            told.append(
                f"{who}: {blind.total():,} of {texts:,} texts have no word that it knows ({each}): they "
                "differ by their numbers of words only"
            )
        if cut:
            told.append(
                f"{who}: {cut:,} of {texts:,} texts are longer than the {self.network.config.max_length} "
                "words that it was trained to read, and are cut"
            )
        return told

    def _numbers(self, text: str, tag: str) -> list[int]:
        config = self.network.config
        split = pretokenized_tokens(text) if config.pretokenized else tokens(text, tag)
        self._cut += config.max_length is not None and len(split) > config.max_length
        return self.network.vocabularies[tag].numbers(split[: config.max_length])

    def _count(self, tag: str, numbers: Sequence[Sequence[int]]) -> None:
        unknown = [sum(number == UNKNOWN for number in text) for text in numbers]
        self._unknown.add(tag, sum(unknown), sum(map(len, numbers)))
        blind = sum(len(text) == missing for text, missing in zip(numbers, unknown, strict=True))
        if blind:
            self._blind[tag] += blind
        self._texts += len(numbers)

    def _encoded(self, tag: str, numbers: Sequence[Sequence[int]]) -> Vectors:
        """Return the vectors of texts given as numbers of words, those of like length in one batch."""
        return in_batches(
            [len(text) for text in numbers],
            self.batch,
            lambda rows: self.network.texts(tag, [numbers[row] for row in rows.tolist()]),
            who=self.network.who,
            dim=self.network.config.joint_dim,
            memory=self._memory,
        )


class MlmmePictures:
    """Pictures as unit vectors float32 [n, joint], from those of the image encoder that was trained on."""

    content: tuple[str, ...] = ()  # cheap to make from the base's vectors, and those are kept

    def __init__(self, network: MlmmeNetwork, base: Encoder) -> None:
        self.network, self.base = network, base
        self.space = network.space

    @property
    def identity(self) -> str:
        """The kind and the model's digest, and the encoder below."""
        return f"{self.network.identity}::{self.base.identity}"

    @property
    def opens_pictures(self) -> bool:
        """Whether the encoder below opens picture files."""
        return bool(getattr(self.base, "opens_pictures", True))

    def encode(self, batch: Pictures) -> Vectors:
        """Return float32 [n, joint]."""
        return self.apply(*(self.base.encode(part) for part in self.inputs(batch)))

    def inputs(self, batch: Pictures) -> tuple[Pictures]:
        """Return what the encoder below encodes: the pictures themselves."""
        return (batch,)

    def apply(self, *vectors: Vectors) -> Vectors:
        """Return float32 [n, joint] for the image vectors float32 [n, d]; zero vectors stay zero."""
        (given,) = vectors
        wanted = self.network.config.picture_dim
        if given.shape[1] != wanted:
            raise InputError(
                f"{self.network.who} takes image vectors of {wanted} dimensions, and the encoder below it "
                f"gives {given.shape[1]}: name the one that it was trained on"
            )
        return self.network.pictures(given)


def build(folder: ModelFolder, options: Mapping[str, Any], context: Context) -> MlmmeTexts | MlmmePictures:
    """Return the encoder of texts or of pictures; raise InputError where the model has none, or no base."""
    network = MlmmeNetwork(folder, options["device"])
    if context.kind != PICTURES:
        if context.base is not None:
            raise InputError(
                f"{network.who} reads texts itself: leave out '::' and what follows; only for pictures it "
                "stands on another encoder"
            )
        return MlmmeTexts(network, options["batch"])
    if network.config.picture_dim is None:
        raise InputError(
            f"{network.who} was trained without pictures and encodes texts only: train one with "
            "--image-encoder"
        )
    return MlmmePictures(network, check_base(folder, context.base, options["base"] == "trusted"))
