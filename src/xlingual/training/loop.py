"""The one fit loop: epochs, validation, early stopping; the same for every recipe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import torch
from torch import nn

from xlingual.embed.encoding import SENTENCE, Progress
from xlingual.errors import InputError
from xlingual.files import make_folder
from xlingual.training.checkpoints import Checkpoints, TrainingState
from xlingual.training.epoch import DivergenceError, EpochMeans, Stepper, make_optimizer
from xlingual.training.log import Log, OnLog
from xlingual.training.options import FitOptions
from xlingual.training.precision import MixedPrecision, seeded, torch_threads, training_device
from xlingual.training.recipe import Loss, Recipe, Validate, ValidationScores
from xlingual.training.resuming import compared_settings, start

__all__ = ["FitOptions", "Fitted", "Loss", "Recipe", "Validate", "ValidationScores", "fit"]
_PAUSE = 0.1  # seconds between two reports of steps


@dataclass(frozen=True)
class Fitted:
    """A training that is over; `model` has the weights of the epoch that is kept."""

    model: nn.Module
    best_epoch: int
    kept_epoch: int  # the best one, or with `keep_epoch` "last" the last
    best_score: float | None  # None where nothing was validated: the last epoch counts as the best
    epochs: int  # that were run
    stopped: str  # "epochs": all were run; "patience": no better score for too long; "untrained": none was
    seconds: float


def unfitted(model: nn.Module) -> Fitted:
    """Return a model as it is before its first step, as a training that is over."""
    return Fitted(model.eval(), 0, 0, None, 0, "untrained", 0.0)


def fit(
    recipe: Recipe,
    options: FitOptions,
    folder: Path,
    *,
    settings: Mapping[str, Any],
    validate: Validate | None = None,
    on_log: OnLog | None = None,
    resume: bool = False,
    replace: bool = False,
    progress: Progress | None = None,
) -> Fitted:
    """Train a recipe's model and return it with the weights of its best epoch, or of its last.

    After every epoch the model is validated (without `validate` the last epoch counts as the best), and
    `folder` gets a line in its log and a checkpoint; then `on_log` is called with the line. With `resume` the
    training goes on after the checkpoint
    as if it had not been interrupted: on a CPU bit for bit. `settings` (plain JSON) is all of the recipe and
    its data that must be equal then; of the options only `epochs` (unless the rate depends on it),
    `patience`, `keep_epoch`, `device` and `threads` may differ. A folder that has a model or a checkpoint
    already is refused without `resume`; `replace` starts anew in it.

    Raises InputError where these conditions are not met, and where a loss, a gradient or a validation is no
    number: the last checkpoint stays then, as it does at a KeyboardInterrupt.
    """
    compared = compared_settings(settings, options)
    device = training_device(options.device)
    precision = MixedPrecision(options.precision, device)
    checkpoint = start(make_folder(folder), compared, options, resume=resume, replace=replace)
    model = recipe.model.to(device)
    optimizer = make_optimizer(model, options)
    checkpoints, state = Checkpoints(folder), TrainingState()
    progress_line = ProgressLine(progress, recipe, options)
    if checkpoint is not None:
        state = checkpoint.standing
        checkpoints.load(checkpoint, model, optimizer)
        precision.scaler.load_state_dict(dict(checkpoint.scaler))
        progress_line.continued(state)
    stepper = Stepper(recipe, options, optimizer, precision)
    if checkpoint is None:
        checkpoints.remove()  # nothing can be refused any more
    log = Log(folder, after=state.epoch)
    while state.stopped(options) is None:
        begun, epoch = perf_counter(), state.epoch + 1
        with torch_threads(options.threads), seeded(options.seed, f"epoch {epoch}", device):
            means, scores = _epoch(stepper, model, validate, state, progress_line, checkpoints)
        seconds = perf_counter() - begun
        state = state.after(scores.value if scores else None, seconds)
        line = _log_line(epoch, means, scores, best=state.best_epoch == epoch, seconds=seconds)
        log.add(line)
        checkpoints.write(model, optimizer, state, compared, precision.scaler.state_dict())
        if on_log is not None:
            on_log(line)
        progress_line.epoch(state, means, scores, seconds)
    kept = state.epoch if options.keep_epoch == "last" else state.best_epoch
    checkpoints.load_epoch(model, kept)
    model.eval()
    stopped = state.stopped(options) or "epochs"
    seconds = round(state.seconds, 3)
    return Fitted(model, state.best_epoch, kept, state.best_score, state.epoch, stopped, seconds)


class ProgressLine:
    """Reports steps done out of those of all epochs, so that the time left is that of the whole training."""

    def __init__(self, report: Progress | None, recipe: Recipe, options: FitOptions) -> None:
        self._report, self._epochs = report or (lambda what, done, total: None), options.epochs
        steps = map(recipe.steps, range(1, options.epochs + 1))
        self._ends = list(accumulate(steps, initial=0))  # steps that are done after each epoch
        self._next = 0.0

    def continued(self, state: TrainingState) -> None:
        """Say that a training goes on."""
        self._report(f"continuing after epoch {state.epoch}", 0, SENTENCE)

    def step(self, state: TrainingState, done: int, loss: float, rate: float) -> None:
        """Report `done` steps of the epoch after `state`, their mean loss, and the rate of the last."""
        now = monotonic()
        if now >= self._next:
            self._next = now + _PAUSE
            self.show(state, done, f"loss {loss:.3g} · rate {rate:.3g}")

    def epoch(
        self, state: TrainingState, means: EpochMeans, scores: ValidationScores | None, seconds: float
    ) -> None:
        """Report the epoch that has just ended, the last one of `state`, in a sentence."""
        score = f" · score {scores.value:.5g}" if scores else ""
        best = ", the best so far" if scores and state.best_epoch == state.epoch else ""
        message = f"epoch {state.epoch}/{self._epochs} · loss {means.loss:.4g}{score}{best} · {seconds:.3g} s"
        self._report(message, 0, SENTENCE)

    def show(self, state: TrainingState, done: int, text: str) -> None:
        """Report progress in the epoch after `state`: `done` of its steps are over."""
        best = f" · best {state.best_score:.4g}" if state.best_score is not None else ""
        what = f"training · epoch {state.epoch + 1}/{self._epochs} · {text}{best}"
        self._report(what, self._ends[state.epoch] + done, self._ends[-1])


def _epoch(
    stepper: Stepper,
    model: nn.Module,
    validate: Validate | None,
    state: TrainingState,
    progress: ProgressLine,
    checkpoints: Checkpoints,
) -> tuple[EpochMeans, ValidationScores | None]:
    """Train the epoch after `state` and validate it.

    Raises InputError where a loss, weight or score is no number; it says what the checkpoint keeps.
    """
    epoch = state.epoch + 1
    try:
        means = stepper.epoch(epoch, lambda done, loss, rate: progress.step(state, done, loss, rate))
        for name, weight in model.named_parameters():
            if not torch.isfinite(weight).all():
                raise DivergenceError(
                    f"training stops: epoch {epoch} left weights that are no numbers ({name}): try a smaller "
                    "rate"
                )
        if validate is None:
            return means, None
        progress.show(state, means.steps, "validation")
        model.eval()
        with torch.no_grad():
            scores = validate(model, epoch)
        if not math.isfinite(scores.value):
            raise DivergenceError(
                f"training stops: the validation of epoch {epoch} gave {scores.value}: are the validation "
                "data large enough, and all vectors numbers?"
            )
        return means, scores
    except DivergenceError as error:
        kept = (
            f"{checkpoints.folder} has the training as it was after epoch {state.epoch}: resume with "
            f"epochs={state.epoch} makes a model of the best epoch so far"
            if state.epoch
            else "no epoch was over yet"
        )
        raise InputError(f"{error} ({kept})") from None


def _log_line(
    epoch: int, means: EpochMeans, scores: ValidationScores | None, *, best: bool, seconds: float
) -> dict[str, Any]:
    """Return the line of an epoch; a number that is none (of `parts` only) is null."""
    return {
        "epoch": epoch,
        "steps": means.steps,
        "loss": means.loss,
        "parts": _plain(means.parts),
        "rate": means.rate,
        "validation": {"score": scores.value, "parts": _plain(scores.parts)} if scores else None,
        "best": best,
        "seconds": round(seconds, 3),
    }


def _plain(parts: Mapping[str, float]) -> dict[str, float | None]:
    return {name: float(value) if math.isfinite(value) else None for name, value in parts.items()}
