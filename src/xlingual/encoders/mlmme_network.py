"""A trained MLMME, read from its folder when it is first needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.encoders.torch_runtime import running
from xlingual.encoders.trained_network import TrainedNetwork
from xlingual.errors import InputError
from xlingual.models.mlmme_config import MlmmeConfig
from xlingual.models.vocabulary import FIRST, Vocabulary

if TYPE_CHECKING:
    from xlingual.records import Vectors


class MlmmeNetwork(TrainedNetwork):
    """A trained network, loaded when it is first needed."""

    @cached_property
    def config(self) -> MlmmeConfig:
        """The dimensions and options of the network."""
        found: MlmmeConfig = self.configuration(MlmmeConfig.from_dict)
        return found

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
        module, device = self._module, self.device
        import torch

        lengths = [len(text) for text in numbers]
        padded = np.zeros((len(numbers), max(lengths, default=0)), dtype=np.int64)
        for row, text in enumerate(numbers):
            padded[row, : len(text)] = text
        with running(self.who), torch.inference_mode():
            there = [torch.tensor(part, device=device) for part in (padded, lengths)]
            vectors: Vectors = module.texts(language, *there).cpu().numpy()
        return vectors

    def pictures(self, vectors: Vectors) -> Vectors:
        """Return the vectors [n, joint] of pictures given as image vectors."""
        module, device = self._module, self.device
        import torch

        with running(self.who), torch.inference_mode():
            found: Vectors = module.pictures(torch.tensor(vectors, device=device)).cpu().numpy()
        return found

    @cached_property
    def _module(self) -> Any:  # noqa: ANN401  (an Mlmme)
        def make() -> Any:  # noqa: ANN401
            from xlingual.models.mlmme import Mlmme

            return Mlmme(self.config, seed=None)

        return self.loaded(make)
