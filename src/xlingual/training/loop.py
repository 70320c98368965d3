"""The one fit loop: epochs, validation, early stopping; the same for every recipe."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from xlingual.errors import InputError
from xlingual.training.epoch import Stepper
from xlingual.training.optimizer import make_optimizer
from xlingual.training.options import FitOptions
from xlingual.training.precision import MixedPrecision, seeded, torch_threads, training_device
from xlingual.training.recipe import Loss, Recipe, Scores, Validate
from xlingual.training.standing import Standing

if TYPE_CHECKING:
    from torch import nn

__all__ = ["FitOptions", "Fitted", "Loss", "Recipe", "Scores", "Validate", "fit"]

Report: TypeAlias = Callable[[str, int, int], None]  # progress: what, done, of all


@dataclass(frozen=True)
class Fitted:
    """A training that is over; `model` has the weights of its best epoch."""

    model: nn.Module
    best_epoch: int
    best_score: float | None  # None where nothing was validated: the last epoch counts as the best
    epochs: int  # that were run
    stopped: str  # "epochs": all were run; "patience": no better score for too long
    seconds: float


def fit(
    recipe: Recipe,
    options: FitOptions,
    folder: Path,
    *,
    settings: Mapping[str, Any],
    validate: Validate | None = None,
    sinks: Sequence[Any] = (),
    resume: bool = False,
    replace: bool = False,
    progress: Report | None = None,
) -> Fitted:
    """Train a recipe's model and return it with the weights of its best epoch."""
    device = training_device(options.device)
    precision = MixedPrecision(options.precision, device)
    model = recipe.model.to(device)
    stepper = Stepper(recipe, options, make_optimizer(model, options), precision)
    standing, best = Standing(), {}
    with torch_threads(options.threads):
        while standing.stopped(options) is None:
            start, epoch = perf_counter(), standing.epoch + 1
            with seeded(options.seed, f"epoch {epoch}", device):
                stepper.epoch(epoch, lambda done, loss: None)
                scores = validated(validate, model, epoch)
            standing = standing.after(scores.value if scores else None, perf_counter() - start)
            if standing.best_epoch == epoch:
                best = {name: value.detach().clone() for name, value in model.state_dict().items()}
    model.load_state_dict(best)
    model.eval()
    return Fitted(
        model,
        standing.best_epoch,
        standing.best_score,
        standing.epoch,
        str(standing.stopped(options)),
        standing.seconds,
    )


def validated(validate: Validate | None, model: nn.Module, epoch: int) -> Scores | None:
    """Return what a validation says of the model as it is after an epoch; None without one."""
    if validate is None:
        return None
    model.eval()
    with torch.no_grad():
        scores = validate(model, epoch)
    if not math.isfinite(scores.value):
        raise InputError(
            f"training stops: the validation of epoch {epoch} gave {scores.value}: are the validation data "
            "large enough, and all vectors numbers?"
        )
    return scores
