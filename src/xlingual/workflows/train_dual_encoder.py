"""Training a dual encoder on parallel questions and answers, validated by mAP in a multilingual pool."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual import encoders
from xlingual.data.pools.parallel import ParallelQuestions, read_parallel
from xlingual.embed import batch_identity, embed_sides, load_fit_texts
from xlingual.encoders import EncoderLike
from xlingual.encoders.torch_runtime import require
from xlingual.encoders.trained_dual_encoder import CANDIDATE, QUERY
from xlingual.errors import DataWarning, InputError
from xlingual.models.dual_encoder_config import DualEncoderConfig
from xlingual.models.features import SHARED
from xlingual.models.folder import ModelFolder, write_model
from xlingual.results import make_folder
from xlingual.store import StoreLike, open_store
from xlingual.training.options import FitOptions
from xlingual.training.recipes.dual_options import FIT_PRESETS, DualOptions
from xlingual.workflows.dual_tower import Checkpoint, checkpoint_of, spec_of
from xlingual.workflows.dual_validation import HeldOut, validated
from xlingual.workflows.environment import environment

if TYPE_CHECKING:
    from xlingual.embed.encoding import Report
    from xlingual.models.dual_encoder import DualEncoder
    from xlingual.models.vocabulary import Vocabulary
    from xlingual.records import Encoder
    from xlingual.store import Store
    from xlingual.training.loop import Fitted
    from xlingual.training.recipe import Scores
    from xlingual.training.recipes.dual_inputs import Inputs
    from xlingual.training.sinks import Sink

WORDS = "words"
_WORK = "work"  # vectors of the encoder below, inside the folder of the model while it is trained


@dataclass(frozen=True)
class TrainedDual:
    """A model that was trained: its folder, how the training went, and what the validation of it said."""

    folder: ModelFolder
    best_epoch: int
    epochs: int
    stopped: str
    seconds: float
    scores: Mapping[str, float]  # mAP of the best epoch, in the pool and in the question's language
    questions: int  # trained on
    held_out: int


def train_dual_encoder(
    data: ParallelQuestions | str | Path,
    out: str | Path,
    options: DualOptions | None = None,
    *,
    base: EncoderLike = WORDS,
    frozen: bool = False,
    fit: FitOptions | None = None,
    validation: float | None = 0.1,
    resume: bool = False,
    replace: bool = False,
    sinks: Sequence[Sink] = (),
    store: StoreLike = "default",
    progress: Report | None = None,
) -> TrainedDual:
    """Train a dual encoder on questions and answers and write it to the folder `out`.

    Args:
        data: parallel questions and answers, or the path of a multilingual pool or of a table of them.
        out: the folder of the model; `model:DIR` is then an encoder (with a frozen base: `model:DIR::SPEC`).
        options: the regime, the loss and the towers.
        base: what the towers stand on: "words", a network of transformers (`hf:NAME_OR_PATH`, which is
            trained further), or any other encoder of texts, which stays as it is.
        frozen: let `hf:` stay as it is, too.
        fit: epochs, rate, patience, device …; the default depends on the tower.
        validation: share of the paragraphs (clusters) that is held out; the epoch with the best mAP on it is
            kept. None: all are trained on, and the last epoch counts.
        resume: continue an interrupted training, bit for bit on a CPU.
        replace: train anew where a model or a training lies in `out`.
        sinks: where the log goes besides `log.jsonl`.
        store: where vectors of a frozen base are kept and found again.
        progress: is told (what, done, of all).

    Raises:
        InputError: data or options are not what they must be, or a loss that is no number.

    """
    require("a training", "torch", "torch")
    options = options or DualOptions()
    if not isinstance(data, ParallelQuestions):
        data = read_parallel(data)
    if validation is not None and not 0 < validation < 1:
        raise InputError(f"validation {validation}: give a share between 0 and 1, such as 0.1, or none")
    train, held = (data, None) if validation is None else data.divided(validation, options.seed)
    folder = make_folder(out)
    job = _Job(data, train, None if held is None else HeldOut(held), folder, open_store(store), progress)
    try:
        tower = job.tower(options, base, frozen)
        return job.run(
            tower,
            fit or fit_options(base, frozen=frozen, seed=options.seed),
            resume=resume,
            replace=replace,
            sinks=sinks,
        )
    finally:
        shutil.rmtree(folder / _WORK, ignore_errors=True)


def fit_options(base: EncoderLike, *, frozen: bool = False, **changes: Any) -> FitOptions:  # noqa: ANN401
    """Return the options of the fit loop that a base has by default, with some of them changed."""
    kind = "vectors"
    if base == WORDS:
        kind = WORDS
    elif not frozen and isinstance(base, str) and spec_of(base).scheme == "hf":
        kind = "transformer"
    return FitOptions(**{**FIT_PRESETS[kind], **changes})


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


@dataclass
class _Job:
    """One training: its data, and where it is written."""

    data: ParallelQuestions
    train: ParallelQuestions
    held: HeldOut | None
    folder: Path
    store: Store | None
    progress: Report | None

    def tower(self, options: DualOptions, base: EncoderLike, frozen: bool) -> Tower:
        """Return the tower on a base; the texts of all data are prepared for it here."""
        if base == WORDS:
            return self._on_words(options)
        checkpoint = None if frozen else checkpoint_of(base, options)
        return (
            self._on_vectors(options, base) if checkpoint is None else self._on_network(options, checkpoint)
        )

    def _on_words(self, options: DualOptions) -> Tower:
        from xlingual.training.recipes.dual_inputs import (
            inverse_document_frequency,
            word_features,
            word_inputs,
        )

        self._tell("counting words")
        context = bool(options.context)
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

    def _on_network(self, options: DualOptions, checkpoint: Checkpoint) -> Tower:
        from xlingual.training.recipes.dual_inputs import token_inputs

        self._tell("reading the network")
        context = options.context is not False and any(self.data.answers.context)
        inputs = token_inputs(self.data, checkpoint.tokens, context)
        for what, role in (("questions", QUERY), ("answers", CANDIDATE)):
            if count := inputs.truncated[role]:
                _warn(
                    f"{checkpoint.who}: {count:,} of {len(inputs.pieces[role]):,} {what} are longer than the "
                    f"{checkpoint.tokens.max_length} tokens that are read, and are cut"
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

    def _on_vectors(self, options: DualOptions, base: EncoderLike) -> Tower:
        from xlingual.training.recipes.dual_inputs import VectorInputs

        if options.context or options.separate:
            raise InputError(
                "context and separate are of towers that read texts: over a frozen encoder leave them out "
                "(hf: reads contexts itself with ?pair=context)"
            )
        found = encoders.text_encoders(
            base, languages=list(self.data.languages), fit_texts=load_fit_texts, seed=options.seed
        )
        if len(found) > 1:
            raise InputError(f"--base matches {len(found)} encoders: name one")
        ((name, encoder),) = found.items()
        if getattr(encoder, "depends_on_batch", False):
            raise InputError(
                f"--base {name}: it counts words in the texts that it is given, so that its vectors would be "
                "others elsewhere: fit it, with fit=FILE#SPLIT"
            )
        vectors = embed_sides(
            self.data.questions, self.data.answers, name, encoder, store=self.store, progress=self.progress
        )
        work = make_folder(self.folder / _WORK)
        mapped = {}
        for role, array in ((QUERY, vectors.questions), (CANDIDATE, vectors.candidates)):
            np.save(work / f"{role}.npy", array.astype(np.float32, copy=False))
            mapped[role] = np.load(work / f"{role}.npy", mmap_mode="r")
        config = DualEncoderConfig(
            tower="vectors",
            dim=vectors.questions.shape[1],
            hidden=256 if options.hidden is None else options.hidden,
            dropout=options.dropout or 0.0,
            scale=options.scale,
        )
        identity = batch_identity(encoder, self.data.questions, self.data.answers, store=self.store)
        return Tower(options, config, VectorInputs(mapped), name=name, identity=identity, below=encoder)

    def run(
        self, tower: Tower, fit: FitOptions, *, resume: bool, replace: bool, sinks: Sequence[Sink]
    ) -> TrainedDual:
        """Train, and write the model."""
        from xlingual.training.loop import fit as fit_model
        from xlingual.training.recipes.dual_encoder import DualRecipe

        recipe = DualRecipe(_model(tower), self.train, tower.inputs, tower.options)
        held = self.held
        fitted = fit_model(
            recipe,
            fit,
            self.folder,
            settings={
                "name": "dual-encoder",
                **tower.options.settings(),
                "model": tower.config.to_dict(),
                "base": tower.identity,
                "data": self.train.digest(),
                "validation": None if held is None else held.data.digest(),
            },
            validate=None if held is None else lambda model, epoch: validated(model, tower.inputs, held),
            sinks=sinks,
            resume=resume,
            replace=replace,
            progress=self.progress,
        )
        scores = None if held is None else validated(fitted.model, tower.inputs, held)
        written = write_model(
            self.folder,
            self._config(tower, fit, fitted, scores),
            fitted.model.state_dict(),
            None if tower.vocabulary is None else {SHARED: tower.vocabulary},
            network=None if tower.checkpoint is None else tower.checkpoint.save,
        )
        return TrainedDual(
            written,
            fitted.best_epoch,
            fitted.epochs,
            fitted.stopped,
            fitted.seconds,
            {} if scores is None else dict(scores.parts),
            len(self.train),
            0 if held is None else len(held.data),
        )

    def _config(self, tower: Tower, fit: FitOptions, fitted: Fitted, scores: Scores | None) -> dict[str, Any]:
        """Return what `config.json` says of the model."""
        model: DualEncoder = fitted.model
        base = None
        if tower.below is not None:
            base = {"name": tower.name, "identity": tower.below.identity, "dim": tower.config.dim}
        data, held = self.train, self.held
        return {
            "kind": "dual-encoder",
            "model": model.config.to_dict(),
            "base": base,
            "training": {
                "recipe": "dual-encoder",
                "from": tower.name,
                **tower.options.settings(),
                **{f"fit_{name}" if name == "seed" else name: value for name, value in asdict(fit).items()},
                "final_scale": float(model.scale.detach()),
                "epochs_run": fitted.epochs,
                "best_epoch": fitted.best_epoch,
                "stopped": fitted.stopped,
                "seconds": fitted.seconds,
                "scores": None if scores is None else dict(scores.parts),
            },
            "data": {
                "source": Path(data.source).name,
                "digest": data.digest(),
                "validation_digest": None if held is None else held.data.digest(),
                "languages": list(data.languages),
                "questions": len(data),
                "validation_questions": 0 if held is None else len(held.data),
                "answers": len(np.unique(data.answered)),
            },
            "environment": environment(str(model.log_scale.device)),
        }

    def _tell(self, what: str) -> None:
        if self.progress is not None:
            self.progress(what, 0, 1)


def _model(tower: Tower) -> DualEncoder:
    from xlingual.models.dual_encoder import DualEncoder

    network = None if tower.checkpoint is None else tower.checkpoint.network
    model = DualEncoder(tower.config, tower.options.seed, network)
    if tower.weights is not None:
        model.set_weights(tower.weights)
    return model


def _warn(sentence: str) -> None:
    warnings.warn(sentence, DataWarning, stacklevel=3)
