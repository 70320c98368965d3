"""What a training of a dual encoder starts from: a tower on a base, and all texts prepared for it.

Needs torch: `train_dual_encoder` loads it when a training begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xlingual import encoders
from xlingual.embed.sides import batch_identity, embed_sides, load_fit_texts
from xlingual.encoders import Encoder, EncoderLike, Spec
from xlingual.encoders.checkpoints import check_reader, check_weights, checkpoint_digest, model_folder
from xlingual.encoders.runtime import loading, refuse_random, require
from xlingual.encoders.tokens import TextTokens, check_vocabulary, chosen_limit, position_limit
from xlingual.encoders.trained import CANDIDATE, QUERY
from xlingual.errors import InputError, warn
from xlingual.files import make_folder, writing
from xlingual.models.configs import DualEncoderConfig
from xlingual.models.dual_encoder import DualEncoder
from xlingual.models.texts import Vocabulary
from xlingual.store import Store
from xlingual.training.parallel import ParallelQuestions
from xlingual.training.recipes.dual_encoder import (
    Inputs,
    VectorInputs,
    inverse_document_frequency,
    token_inputs,
    word_features,
    word_inputs,
)
from xlingual.training.recipes.dual_options import WORDS, DualOptions
from xlingual.workflows.trained import TrainingRun

_KNOWN = ("revision",)  # options of `hf:` that a training takes


@dataclass(frozen=True)
class UntrainedTower:
    """The model before its training, with its inputs and its base."""

    model: DualEncoder
    inputs: Inputs
    name: str  # of the base
    identity: str
    vocabulary: Vocabulary | None = None
    below: Encoder | None = None
    save: Callable[[Path], None] | None = None  # writes the settings of a network and its tokenizer


@dataclass(frozen=True)
class TowerBuilder:
    """Makes towers that are trained on `train`, a part of `data`; the texts of all `data` are prepared.

    Vectors are mapped from files of the run.
    """

    data: ParallelQuestions
    train: ParallelQuestions
    options: DualOptions
    run: TrainingRun
    store: Store | None

    def on_words(self) -> UntrainedTower:
        """Return a tower that is trained from scratch."""
        self.run.report("counting words")
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
        model = DualEncoder(config, options.seed)
        model.set_weights(inverse_document_frequency(self.train, features, context).tolist())
        return UntrainedTower(
            model, word_inputs(self.data, features, context), WORDS, WORDS, features.vocabulary
        )

    def on_network(self, base: EncoderLike, spec: Spec) -> UntrainedTower:
        """Return a tower on a network of transformers, `hf:…` (`spec` is what `base` says), trained further.

        Raises InputError where it is no network of texts with a first token, or an option cannot be used
        in a training.
        """
        given = dict(spec.options)
        if other := [name for name in given if name not in _KNOWN]:
            raise InputError(
                f"--base {base}: the network is trained further, so its spec cannot have {other[0]}: give "
                "--max-length, --context or --device, or add --frozen to leave the network as it is"
            )
        who, options = f"hf:{spec.argument}", self.options
        require(who, "st", "torch", "transformers")
        folder = model_folder(who, spec.argument, given.get("revision"), "st")
        check_weights(who, folder)
        check_reader(who, folder)
        identity = f"hf:{checkpoint_digest(folder)[:16]}"
        tokenizer, network = _load(folder, who)
        limit = position_limit(network, network.config)
        most = chosen_limit(who, tokenizer, options.max_length, limit)
        tokens = TextTokens(tokenizer, most, who)
        self.run.report("reading the network")
        context = options.context is not False and any(self.data.answers.context)
        inputs = token_inputs(self.data, tokens, context)
        for what, role in (("questions", QUERY), ("answers", CANDIDATE)):
            if count := inputs.truncated[role]:
                warn(
                    f"{who}: {count:,} of {len(inputs.pieces[role]):,} {what} are longer than the "
                    f"{tokens.max_length} tokens that are read, and are cut"
                )
        config = DualEncoderConfig(
            tower="transformer",
            dim=int(network.config.hidden_size),
            separate=options.separate,
            context=context,
            scale=options.scale,
            max_length=tokens.max_length,
        )

        def save(folder: Path) -> None:
            network.config.save_pretrained(folder)
            tokenizer.save_pretrained(folder)

        return UntrainedTower(DualEncoder(config, options.seed, network), inputs, who, identity, save=save)

    def on_vectors(self, base: EncoderLike) -> UntrainedTower:
        """Return a tower on an encoder that stays as it is."""
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
        identity = batch_identity(encoder, *sides)
        model = DualEncoder(config, options.seed)
        return UntrainedTower(model, VectorInputs(mapped), name, identity, below=encoder)

    def _encoder(self, base: EncoderLike) -> tuple[str, Encoder]:
        """Return the name and the encoder that a base names; raise InputError where it cannot be used."""
        if self.options.context or self.options.separate:
            raise InputError(
                "context and separate are for towers that read texts: over a frozen encoder leave them out"
            )
        if self.options.hidden == 0:
            raise InputError("hidden is 0: over a frozen encoder nothing would be trained: give 1 or more")
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


def _load(folder: Path, who: str) -> tuple[Any, Any]:
    """Load the tokenizer and the network of a folder: never a pickle, no code, nothing from a hub."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    local = {"local_files_only": True, "trust_remote_code": False}
    with loading(who) as messages:
        tokenizer = AutoTokenizer.from_pretrained(folder, **local)
        network = AutoModel.from_pretrained(folder, use_safetensors=True, dtype=torch.float32, **local)
    config = network.config
    unread = ("pooler.", "decoder.") if config.is_encoder_decoder else ("pooler.",)
    refuse_random(who, messages, config.model_type, *unread)
    if tokenizer.cls_token is None:
        raise InputError(
            f"{who}: has no first token that stands for the whole text: take a network like BERT"
        )
    network = network.get_encoder() if config.is_encoder_decoder else network
    check_vocabulary(who, tokenizer, network)
    tokenizer.padding_side = "right"
    return tokenizer, network.eval()
