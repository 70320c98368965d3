"""A trained dual encoder, read from its folder when it is first needed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.encoders.tokens import Features, TextTokens
from xlingual.encoders.torch_runtime import loading, require, running
from xlingual.encoders.trained_network import TrainedNetwork
from xlingual.encoders.transformer_text import position_limit
from xlingual.errors import InputError
from xlingual.models.batches import bags, padded
from xlingual.models.dual_encoder_config import DualEncoderConfig
from xlingual.models.features import SHARED, TextFeatures
from xlingual.models.folder import NETWORK
from xlingual.models.vocabulary import FIRST

if TYPE_CHECKING:
    from xlingual.records import Vectors


class DualNetwork(TrainedNetwork):
    """A trained dual encoder, and what its tower reads."""

    @cached_property
    def config(self) -> DualEncoderConfig:
        """The dimensions and options of the network."""
        found: DualEncoderConfig = self.configuration(DualEncoderConfig.from_dict)
        return found

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
        require(self.who, "hf", "torch", "transformers")
        from transformers import AutoTokenizer

        with loading(self.who):
            tokenizer = AutoTokenizer.from_pretrained(
                self._settings(), local_files_only=True, trust_remote_code=False
            )
        tokenizer.padding_side = "right"
        return TextTokens(tokenizer, self.config.max_length, "truncate", self.who)

    def of_features(self, role: str, numbers: Sequence[Sequence[int]]) -> Vectors:
        """Return the vectors [b, dim] of texts given as features."""
        return self._run(role, bags(numbers))

    def of_tokens(self, role: str, pieces: Sequence[Features]) -> Vectors:
        """Return the vectors [b, dim] of texts given as tokens."""
        return self._run(role, padded(pieces, self.tokens.tokenizer.pad_token_id or 0))

    def of_vectors(self, role: str, vectors: Vectors) -> Vectors:
        """Return the vectors [b, dim] of texts given as those of the encoder below."""
        return self._run(role, (vectors,))

    def _run(self, role: str, inputs: Sequence[Any]) -> Vectors:
        module, device = self._module, self.device
        import torch

        with running(self.who), torch.inference_mode():
            there = [torch.tensor(part, device=device) for part in inputs]
            vectors: Vectors = module.encode(role, *there).float().cpu().numpy()
        return vectors

    @cached_property
    def _module(self) -> Any:  # noqa: ANN401  (a DualEncoder)
        def make() -> Any:  # noqa: ANN401
            from xlingual.models.dual_encoder import DualEncoder

            return DualEncoder(self.config, None, self._empty_network())

        return self.loaded(make)

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
        require(self.who, "hf", "torch", "transformers")
        from transformers import AutoConfig, AutoModel

        with loading(self.who):
            settings = AutoConfig.from_pretrained(
                self._settings(), local_files_only=True, trust_remote_code=False
            )
            network = AutoModel.from_config(settings, trust_remote_code=False)
        limit = position_limit(network, settings)
        if self.config.max_length and limit is not None and self.config.max_length > limit:
            raise InputError(f"{self.who}: reads {limit} tokens at most: copy the model anew")
        return network
