"""Training a dual encoder on parallel questions and answers, validated by mAP in a multilingual pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.data.pools.parallel import ParallelQuestions
from xlingual.data.pools.parallel_reading import read_parallel
from xlingual.encoders import EncoderLike
from xlingual.encoders.torch_runtime import require
from xlingual.errors import InputError
from xlingual.files import make_folder
from xlingual.models.card import write_card
from xlingual.models.features import SHARED
from xlingual.models.folder import ModelFolder, write_model
from xlingual.store import StoreLike, open_store
from xlingual.training.options import FitOptions
from xlingual.training.recipes.dual_options import FIT_PRESETS, DualOptions
from xlingual.workflows.dual_checkpoint import spec_of
from xlingual.workflows.dual_tower import WORDS, Tower, TowerBuilder
from xlingual.workflows.dual_validation import HeldOut, validated
from xlingual.workflows.trained import WORK, check_run, clean, environment

if TYPE_CHECKING:
    from xlingual.embed.encoding import Progress
    from xlingual.models.dual_encoder import DualEncoder
    from xlingual.training.loop import Fitted
    from xlingual.training.recipe import Scores
    from xlingual.training.sinks import Sink


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
    progress: Progress | None = None,
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
    if frozen and base == WORDS:
        raise InputError("frozen is of a base that is there already: words are trained from scratch")
    if not isinstance(data, ParallelQuestions):
        data = read_parallel(data)
    if validation is not None and not 0 < validation < 1:
        raise InputError(f"validation {validation}: give a share between 0 and 1, such as 0.1, or none")
    train, held = (data, None) if validation is None else data.divided(validation, options.seed)
    fit = fit or fit_options(base, frozen=frozen, seed=options.seed)
    check_run(Path(out), fit, resume=resume, replace=replace)
    folder = make_folder(out)
    builder = TowerBuilder(data, train, options, folder / WORK, open_store(store), progress)
    job = _Job(train, None if held is None else HeldOut(held), folder, progress)
    try:
        return job.run(
            builder.on(base, frozen),
            fit,
            resume=resume,
            replace=replace,
            sinks=sinks,
        )
    finally:
        clean(folder)


def fit_options(base: EncoderLike, *, frozen: bool = False, **changes: Any) -> FitOptions:  # noqa: ANN401
    """Return the options of the fit loop that a base has by default, with some of them changed."""
    return FitOptions(**{**fit_presets(base, changes, frozen=frozen), **changes})


def fit_presets(base: EncoderLike, changes: Mapping[str, Any], *, frozen: bool = False) -> dict[str, Any]:
    """Return what a base sets of the options of the fit loop, where `changes` are made to them."""
    kind = "vectors"
    if isinstance(base, str) and base == WORDS:
        kind = WORDS
    elif not frozen and isinstance(base, str) and spec_of(base).scheme == "hf":
        kind = "transformer"
    preset = dict(FIT_PRESETS[kind])
    if "warmup" in preset:  # of a short training
        preset["warmup"] = min(preset["warmup"], changes.get("epochs", preset["epochs"]) / 2)
    return preset


@dataclass
class _Job:
    """One training: its data, and where it is written."""

    train: ParallelQuestions
    held: HeldOut | None
    folder: Path
    progress: Progress | None

    def run(
        self, tower: Tower, fit: FitOptions, *, resume: bool, replace: bool, sinks: Sequence[Sink]
    ) -> TrainedDual:
        """Train, and write the model."""
        from xlingual.training.loop import fit as fit_model
        from xlingual.training.recipes.dual_encoder import DualRecipe

        recipe = DualRecipe(tower.model(), self.train, tower.inputs, tower.options)
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
            write_card(written),
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
            base = {
                "name": tower.name,
                "identity": tower.below.identity,
                "dim": tower.config.dim,
                "languages": list(self.train.languages),
            }
        data, held = self.train, self.held
        return {
            "kind": "dual-encoder",
            "model": model.config.to_dict(),
            "base": base,
            "training": {
                "recipe": "dual-encoder",
                "from": tower.name,
                **tower.options.settings(),
                **{"fit_seed" if name == "seed" else name: value for name, value in fit.settings().items()},
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
