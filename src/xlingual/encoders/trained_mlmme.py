"""Texts and images through a trained MLMME: one joint space for all its languages and for images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.runtime import Memory, in_batches, rows_by_language
from xlingual.encoders.scheme import IMAGES, Context
from xlingual.encoders.segment import UnknownWords
from xlingual.encoders.trained import OnBase, TrainedNetwork, check_base
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.models.batches import padded_numbers
from xlingual.models.folder import ModelFolder
from xlingual.models.mlmme_config import MlmmeConfig
from xlingual.models.vocabulary import FIRST, UNKNOWN, Vocabulary
from xlingual.models.words import pretokenized_tokens, tokens
from xlingual.records import Texts


class MlmmeNetwork(TrainedNetwork[MlmmeConfig]):
    """A trained network, read from its folder when it is first needed."""

    read = MlmmeConfig.from_dict

    @cached_property
    def vocabularies(self) -> Mapping[str, Vocabulary]:
        """The words of each language."""
        found = {tag: self.folder.vocabulary(tag) for tag in self.config.languages}
        for tag, words in found.items():
            if len(words) != self.config.vocabulary_sizes[tag]:
                raise InputError(
                    f"{self.who}: the vocabulary of {tag} has {len(words) - FIRST:,} words, its config.json "
                    f"says {self.config.vocabulary_sizes[tag] - FIRST:,}: copy the model anew"
                )
        self.check_unchanged()
        return found

    def texts(self, language: str, numbers: Sequence[Sequence[int]]) -> Vectors:
        """Return the vectors [b, joint] of texts given as numbers of words."""
        return self.run(lambda module, *there: module.texts(language, *there), *padded_numbers(numbers))

    def split(self, text: str, language: str) -> list[str]:
        """Return the words of a text."""
        return pretokenized_tokens(text) if self.config.pretokenized else tokens(text, language)

    def numbers(self, words: Sequence[str], language: str) -> list[int]:
        """Return the numbers of those words that are read."""
        return self.vocabularies[language].numbers(words[: self.config.max_length])

    def new_module(self) -> Any:  # noqa: ANN401  (an Mlmme)
        """Return the network without weights."""
        from xlingual.models.mlmme import Mlmme

        return Mlmme(self.config, seed=None)


class MlmmeTexts(Encoder):
    """Texts of the model's languages as unit vectors float32 [n, joint]; zero where a text has no words.

    Words are found as in training (`models.words`). All that a model does not know are one and the same word.
    """

    origin = "fitted"
    content = ("text", "language")
    languages: tuple[str, ...] = ()

    def __init__(self, network: MlmmeNetwork, batch: int = 128) -> None:
        self.network, self.batch = network, batch
        self.languages, self.space = network.config.languages, network.space
        self.trained_on_images = network.config.picture_dim is not None  # and not on sentences alone
        self._memory, self._unknown = Memory(), UnknownWords()
        self._blind: Counter[str] = Counter()  # language → texts without a known word
        self._texts, self._cut = 0, 0  # texts, and those that were too long

    @property
    def identity(self) -> str:
        """The kind and the model's digest."""
        return self.network.identity

    def check_languages(self, tags: Iterable[str], /) -> None:
        """Raise InputError where the model has not been trained on one of the languages."""
        if unknown := [tag for tag in dict.fromkeys(tags) if tag not in self.languages]:
            raise InputError(
                f"{self.network.who} cannot encode texts in {listed(unknown)}: it was trained on "
                f"{listed(self.languages, 20)}.{did_you_mean(unknown[0], self.languages)} Choose among its "
                "languages, or train it on more"
            )

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, joint]; words and texts that it does not know are counted for `notes`."""
        self.check_languages(batch.language)
        _ = self.network.module  # its weights are held against its sizes before memory is asked for
        vectors = np.zeros((len(batch), self.network.config.joint_dim), dtype=np.float32)
        for tag, rows in rows_by_language(batch):
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
        notes = self._unknown.notes(f"{who}: words that it does not know, which are all one to it")
        if blind.total():
            each = listed((f"{tag} {count:,}" for tag, count in sorted(blind.items()) if count), 20)
            notes.append(
                f"{who}: {blind.total():,} of {texts:,} texts have no word that it knows ({each}): they "
                "differ by their numbers of words only"
            )
        if cut:
            notes.append(
                f"{who}: {cut:,} of {texts:,} texts are longer than the {self.network.config.max_length} "
                "words that it was trained to read, and are cut"
            )
        return notes

    def _numbers(self, text: str, tag: str) -> list[int]:
        words, most = self.network.split(text, tag), self.network.config.max_length
        self._cut += most is not None and len(words) > most
        return self.network.numbers(words, tag)

    def _count(self, tag: str, numbers: Sequence[Sequence[int]]) -> None:
        unknown = sum(number == UNKNOWN for text in numbers for number in text)
        self._unknown.add(tag, unknown, sum(map(len, numbers)))
        self._blind[tag] += sum(set(text) <= {UNKNOWN} for text in numbers)
        self._texts += len(numbers)

    def _encoded(self, tag: str, numbers: Sequence[Sequence[int]]) -> Vectors:
        """Return the vectors of texts given as numbers of words, those of like length in one batch."""
        return in_batches(
            list(map(len, numbers)),
            self.batch,
            lambda rows: self.network.texts(tag, [numbers[row] for row in rows.tolist()]),
            who=self.network.who,
            dim=self.network.config.joint_dim,
            memory=self._memory,
        )


class MlmmeImages(OnBase):
    """Images as unit vectors float32 [n, joint], from those of the image encoder that was trained on."""

    network: MlmmeNetwork

    def apply(self, *vectors: Vectors) -> Vectors:
        """Return float32 [n, joint] for the image vectors float32 [n, d]; zero vectors stay zero."""
        (given,) = vectors
        self.check_dim(given, self.network.config.picture_dim, "image vectors")
        # each once: a matrix product may round equal rows differently, and images are told apart by vectors
        as_bytes = np.ascontiguousarray(given).view(np.dtype((np.void, given.shape[1] * given.itemsize)))
        _, first, row = np.unique(as_bytes.ravel(), return_index=True, return_inverse=True)
        found = self.network.run(lambda module, there: module.images(there), given[first])
        return np.asarray(found[row.ravel()])


def build(folder: ModelFolder, options: Mapping[str, Any], context: Context) -> MlmmeTexts | MlmmeImages:
    """Return the encoder of texts or of images; raise InputError where the model has none, or no base."""
    network = MlmmeNetwork(folder, options["device"])
    if context.kind != IMAGES:
        if context.base is not None:
            raise InputError(
                f"{network.who} reads texts itself: leave out '::' and what follows; only for images it "
                "stands on another encoder"
            )
        return MlmmeTexts(network, options["batch"])
    if network.config.picture_dim is None:
        raise InputError(
            f"{network.who} was trained without images and encodes texts only: train one with --image-encoder"
        )
    return MlmmeImages(network, check_base(folder, context.base, options["base"] == "trusted"))
