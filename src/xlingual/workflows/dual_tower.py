"""What a training of a dual encoder starts from: a tower on a base, and all texts prepared for it."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual import encoders
from xlingual.data.pools.parallel import ParallelQuestions
from xlingual.embed import batch_identity, embed_sides, load_fit_texts
from xlingual.encoders import Encoder, EncoderLike, Spec, parse
from xlingual.encoders.trained_dual_encoder import CANDIDATE, QUERY
from xlingual.errors import DataWarning, InputError
from xlingual.files import make_folder, writing
from xlingual.models.dual_encoder_config import DualEncoderConfig
from xlingual.models.vocabulary import Vocabulary
from xlingual.store import Store
from xlingual.training.recipes.dual_options import DualOptions
from xlingual.workflows.trained import Run

if TYPE_CHECKING:
    from xlingual.encoders.tokens import TextTokens
    from xlingual.models.dual_encoder import DualEncoder
    from xlingual.training.recipes.dual_encoder import Inputs

WORDS = "words"
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


@dataclass(frozen=True)
class Tower:
    """What is trained, before the training: its configuration, what it reads, and what else makes it."""

    options: DualOptions
    config: DualEncoderConfig
    inputs: Inputs
    name: str  # of the base
    identity: str
    vocabulary: Vocabulary | None = None
    weights: Any = None  # of features, float [features]
    checkpoint: Checkpoint | None = None
    below: Encoder | None = None

    def model(self) -> DualEncoder:
        """Return the untrained model."""
        from xlingual.models.dual_encoder import DualEncoder

        network = None if self.checkpoint is None else self.checkpoint.network
        model = DualEncoder(self.config, self.options.seed, network)
        if self.weights is not None:
            model.set_weights(self.weights)
        return model


@dataclass(frozen=True)
class TowerBuilder:
    """Makes towers for `data`, of which `train` is trained on; vectors are mapped from files of the run."""

    data: ParallelQuestions
    train: ParallelQuestions
    options: DualOptions
    run: Run
    store: Store | None

    def on(self, base: EncoderLike, frozen: bool) -> Tower:
        """Return the tower on a base; the texts of all data are prepared for it here."""
        if isinstance(base, str) and base == WORDS:
            return self._on_words()
        checkpoint = None if frozen else checkpoint_of(base, self.options)
        return self._on_vectors(base) if checkpoint is None else self._on_network(checkpoint)

    def _on_words(self) -> Tower:
        from xlingual.training.recipes.dual_encoder import (
            inverse_document_frequency,
            word_features,
            word_inputs,
        )

        self.run.tell("counting words")
        options, context = self.options, bool(self.options.context)
        features = word_features(self.train, options)
        config = DualEncoderConfig(
            tower=WORDS,
            dim=options.dim,
            features=len(features),
            ngrams=None if options.ngrams is None else (options.ngrams[0], options.ngrams[1]),
            buckets=features.buckets,
            hidden=options.hidden or 0,
            separate=options.separate,
            context=context,
            dropout=0.5 if options.dropout is None else options.dropout,
            scale=options.scale,
        )
        return Tower(
            options,
            config,
            word_inputs(self.data, features, context),
            name=WORDS,
            identity=WORDS,
            vocabulary=features.vocabulary,
            weights=inverse_document_frequency(self.train, features, context),
        )

    def _on_network(self, checkpoint: Checkpoint) -> Tower:
        from xlingual.training.recipes.dual_encoder import token_inputs

        self.run.tell("reading the network")
        options = self.options
        context = options.context is not False and any(self.data.answers.context)
        inputs = token_inputs(self.data, checkpoint.tokens, context)
        for what, role in (("questions", QUERY), ("answers", CANDIDATE)):
            if count := inputs.truncated[role]:
                warnings.warn(
                    f"{checkpoint.who}: {count:,} of {len(inputs.pieces[role]):,} {what} are longer than the "
                    f"{checkpoint.tokens.max_length} tokens that are read, and are cut",
                    DataWarning,
                    stacklevel=3,
                )
        config = DualEncoderConfig(
            tower="transformer",
            dim=checkpoint.dim,
            separate=options.separate,
            context=context,
            scale=options.scale,
            max_length=checkpoint.tokens.max_length,
        )
        return Tower(
            options, config, inputs, name=checkpoint.who, identity=checkpoint.identity, checkpoint=checkpoint
        )

    def _on_vectors(self, base: EncoderLike) -> Tower:
        from xlingual.training.recipes.dual_encoder import VectorInputs

        options = self.options
        name, encoder = self._encoder(base)
        sides = self.data.questions, self.data.answers
        found = embed_sides(*sides, name, encoder, store=self.store, progress=self.run.progress)
        folder, mapped = make_folder(self.run.work), {}
        for role, array in ((QUERY, found.questions), (CANDIDATE, found.candidates)):
            with writing(folder / f"{role}.npy"):
                np.save(folder / f"{role}.npy", array.astype(np.float32, copy=False))
            mapped[role] = np.load(folder / f"{role}.npy", mmap_mode="r")
        config = DualEncoderConfig(
            tower="vectors",
            dim=found.questions.shape[1],
            hidden=256 if options.hidden is None else options.hidden,
            dropout=options.dropout or 0.0,
            scale=options.scale,
        )
        identity = batch_identity(encoder, *sides, store=self.store)
        return Tower(options, config, VectorInputs(mapped), name=name, identity=identity, below=encoder)

    def _encoder(self, base: EncoderLike) -> tuple[str, Encoder]:
        """Return the name and the encoder that a base stands for; raise InputError where it will not do."""
        if self.options.context or self.options.separate:
            raise InputError(
                "context and separate are of towers that read texts: over a frozen encoder leave them out "
                "(hf: reads contexts itself with ?pair=context)"
            )
        if self.options.hidden == 0:
            raise InputError("hidden is 0: over a frozen encoder nothing would be trained: tell 1 or more")
        tags, load = list(self.data.languages), load_fit_texts
        found = encoders.text_encoders(base, languages=tags, fit_texts=load, seed=self.options.seed)
        if len(found) > 1:
            raise InputError(f"--base matches {len(found)} encoders: name one")
        ((name, encoder),) = found.items()
        if encoder.depends_on_batch:
            raise InputError(
                f"--base {name}: it counts words in the texts that it is given, so that its vectors would be "
                "others elsewhere: fit it, with fit=FILE#SPLIT"
            )
        return name, encoder


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
    from xlingual.encoders.checkpoints import check_weights, model_folder
    from xlingual.encoders.model_kind import check_tokenizer
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
