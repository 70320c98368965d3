"""A trained MLMME, read from its folder when it is first needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.encoders.torch_runtime import choose_device, require, running
from xlingual.errors import InputError
from xlingual.models.folder import ModelFolder
from xlingual.models.mlmme_config import MlmmeConfig
from xlingual.models.vocabulary import FIRST, Vocabulary

if TYPE_CHECKING:
    import torch

    from xlingual.records import Vectors


class MlmmeNetwork:
    """A trained network, loaded when it is first needed."""

    def __init__(self, folder: ModelFolder, device: str | None = None) -> None:
        self._folder, self._device = folder, device
        self.who = f"model:{folder.path}"
        self.space = folder.digest  # vectors of texts and pictures are comparable where it is equal
        self.identity = f"model:{folder.kind}:{folder.digest[:16]}"

    @cached_property
    def config(self) -> MlmmeConfig:
        """The dimensions and options of the network."""
        try:
            return MlmmeConfig.from_dict(self._folder.config["model"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{self.who}: its config.json does not describe such a model ({error}): copy the model anew"
            ) from None

    @cached_property
    def vocabularies(self) -> Mapping[str, Vocabulary]:
        """The words of each language."""
        found = {tag: self._folder.vocabulary(tag) for tag in self.config.languages}
        for tag, words in found.items():
            if len(words) != self.config.vocabulary_sizes[tag]:
                raise InputError(
                    f"{self.who}: the vocabulary of {tag} has {len(words) - FIRST:,} words, its config.json "
                    f"says {self.config.vocabulary_sizes[tag] - FIRST:,}: copy the model anew"
                )
        self._check_unchanged()
        return found

    def texts(self, language: str, numbers: Sequence[Sequence[int]]) -> Vectors:
        """Return the vectors [b, joint] of texts given as numbers of words."""
        module, device = self._module, self._running_on
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
        module, device = self._module, self._running_on
        import torch

        with running(self.who), torch.inference_mode():
            found: Vectors = module.pictures(torch.tensor(vectors, device=device)).cpu().numpy()
        return found

    @cached_property
    def _running_on(self) -> torch.device:
        return choose_device(self._device, self.who)

    @cached_property
    def _module(self) -> Any:  # noqa: ANN401  (an Mlmme)
        require(self.who, "torch", "torch")
        from xlingual.models.mlmme import Mlmme

        module = Mlmme(self.config, seed=None)
        weights = self._folder.weights()
        self._check_unchanged()
        try:
            module.load_state_dict(weights)
        except RuntimeError as error:
            said = " ".join(str(error).split())[:200]
            raise InputError(
                f"{self.who}: its weights do not fit its config.json ({said}): copy it anew"
            ) from None
        return module.to(self._running_on).eval()

    def _check_unchanged(self) -> None:
        if ModelFolder.read(self._folder.path).digest != self.space:
            raise InputError(f"{self.who} changed while it was read: start again")
