"""The one fit loop: epochs, validation, early stopping, the log; the same for every recipe."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import torch
from torch import nn

from xlingual.embed.encoding import SENTENCE, Progress
from xlingual.encoders.runtime import is_out_of_memory
from xlingual.errors import InputError, listed
from xlingual.files import atomic_file, make_folder, writing
from xlingual.models.folder import LOG
from xlingual.training.checkpoints import Checkpoints, TrainingState, check_settings, refuse, trained
from xlingual.training.options import FitOptions
from xlingual.training.precision import running, training_device
from xlingual.training.recipe import Loss, OnLog, Recipe, Validate, ValidationScores

__all__ = ["FitOptions", "Fitted", "Loss", "Recipe", "Validate", "ValidationScores", "fit"]
_PAUSE = 0.1  # seconds between two reports of steps


class DivergenceError(InputError):
    """A loss, gradient, weight or score is no number."""


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
    training goes on after the checkpoint as if it had not been interrupted: on a CPU bit for bit. `settings`
    (plain JSON) is all of the recipe and its data that must be equal then; of the options only `epochs`
    (unless the rate depends on it), `patience`, `keep_epoch`, `device` and `threads` may differ. A folder
    that has a model or a checkpoint already is refused without `resume`; `replace` starts anew in it.

    Raises InputError where these conditions are not met, and where a loss, a gradient or a validation is no
    number: the last checkpoint stays then, as it does at a KeyboardInterrupt.
    """
    compared = json.loads(json.dumps({**settings, **options.compared()}, allow_nan=False))
    device = training_device(options)
    refuse(make_folder(folder), resume=resume, replace=replace)
    checkpoints, state = Checkpoints(folder), TrainingState()
    if resume:
        state, before = checkpoints.read()
        check_settings(folder, before, compared, state, options.epochs)
    model = recipe.model.to(device)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[options.optimizer]
    fused = device.type in {"cpu", "cuda"} or None  # one pass over the memory
    optimizer = kind(
        list(trained(model).values()), lr=options.rate, weight_decay=options.weight_decay, fused=fused
    )
    line = ProgressLine(progress, recipe, options)
    if resume:
        checkpoints.load(model, optimizer, state)
        line.report(f"continuing after epoch {state.epoch}", 0, SENTENCE)
    else:
        checkpoints.remove()  # nothing can be refused any more
    log = folder / LOG
    lines = [entry for entry in read_log(log) if entry["epoch"] <= state.epoch]  # later ones come again
    if lines or log.exists():
        with atomic_file(log) as temporary:
            temporary.write_text("".join(_json(entry) for entry in lines), encoding="utf-8")
    while state.stopped(options) is None:
        begun, epoch = perf_counter(), state.epoch + 1
        try:
            with running(options, epoch, device):
                means = _epoch(recipe, options, optimizer, epoch, line.of(state))
                scores = None
                if validate is not None:
                    line.step(state, means["steps"], "validation")
                    scores = _validated(model, validate, epoch)
        except DivergenceError as error:
            stays = (
                f"{checkpoints.folder} has the training as it was after epoch {state.epoch}: resume with "
                f"epochs={state.epoch} makes a model of the best epoch so far"
                if state.epoch
                else "no epoch was over yet"
            )
            raise InputError(f"{error} ({stays})") from None
        seconds = perf_counter() - begun
        state = state.after(scores.value if scores else None, seconds)
        validation = {"score": scores.value, "parts": _plain(scores.parts)} if scores else None
        best = state.best_epoch == epoch
        entry = {
            "epoch": epoch,
            **means,
            "validation": validation,
            "best": best,
            "seconds": round(seconds, 3),
        }
        with writing(log), log.open("a", encoding="utf-8") as file:
            file.write(_json(entry))
            file.flush()
            os.fsync(file)
        checkpoints.write(model, optimizer, state, compared)
        if on_log is not None:
            on_log(entry)
        score = f" · score {scores.value:.5g}" if scores else ""
        score += ", the best so far" if scores and best else ""
        sentence = f"epoch {epoch}/{options.epochs} · loss {means['loss']:.4g}{score} · {seconds:.3g} s"
        line.report(sentence, 0, SENTENCE)
    epoch = state.epoch if options.keep_epoch == "last" else state.best_epoch
    if epoch != state.epoch:
        checkpoints.load_best(model)
    model.eval()
    stopped, seconds = state.stopped(options) or "epochs", round(state.seconds, 3)
    return Fitted(model, state.best_epoch, epoch, state.best_score, state.epoch, stopped, seconds)


class ProgressLine:
    """Reports steps done out of those of all epochs, so that the time left is that of the whole training."""

    def __init__(self, report: Progress | None, recipe: Recipe, options: FitOptions) -> None:
        self.report, self._epochs = report or (lambda what, done, total: None), options.epochs
        steps = map(recipe.steps, range(1, options.epochs + 1))
        self._ends = list(accumulate(steps, initial=0))  # steps that are done after each epoch
        self._next = 0.0

    def of(self, state: TrainingState) -> Callable[[int, float, float], None]:
        """Return what reports the steps of the epoch after a state: their number, mean loss, and rate."""

        def step(done: int, loss: float, rate: float) -> None:
            if (now := monotonic()) >= self._next:
                self._next = now + _PAUSE
                self.step(state, done, f"loss {loss:.3g} · rate {rate:.3g}")

        return step

    def step(self, state: TrainingState, done: int, text: str) -> None:
        """Report progress in the epoch after `state`: `done` of its steps are over."""
        best = f" · best {state.best_score:.4g}" if state.best_score is not None else ""
        what = f"training · epoch {state.epoch + 1}/{self._epochs} · {text}{best}"
        self.report(what, self._ends[state.epoch] + done, self._ends[-1])


def _epoch(
    recipe: Recipe,
    options: FitOptions,
    optimizer: torch.optim.Optimizer,
    epoch: int,
    report: Callable[[int, float, float], None],
) -> dict[str, Any]:
    """Train for an epoch (from 1 on) and return the results of its steps: means per positive.

    Raises DivergenceError at a loss or gradient that is no number, before the weights are touched.
    """
    steps = recipe.steps(epoch)
    if steps < 1:
        raise InputError(f"epoch {epoch} has no batch: there is nothing to train on")
    recipe.model.train()
    total, count, parts, rate, done = 0.0, 0, Counter[str](), 0.0, 0
    for done, batch in enumerate(recipe.batches(epoch), start=1):
        rate = options.rate_at(epoch, done - 1, steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        where = f"epoch {epoch}, batch {done} of {steps}"
        try:
            loss = _step(recipe, options, optimizer, batch, where)
        except (RuntimeError, MemoryError) as error:
            if is_out_of_memory(error):
                raise InputError(
                    f"memory runs out at {where}: choose a smaller batch; a dual encoder can read it in "
                    "mini-batches (--mini-batch 64)"
                ) from error
            raise
        total, count = total + float(loss.value.detach()), count + loss.count
        parts.update({name: float(part) for name, part in loss.parts.items()})
        report(done, total / max(1, count), rate)
    if done != steps:
        raise ValueError(f"the recipe announced {steps} batches in epoch {epoch} and gave {done}")
    for name, weight in recipe.model.named_parameters():
        if not torch.isfinite(weight).all():
            raise DivergenceError(
                f"training stops: epoch {epoch} left weights that are no numbers ({name}): try a smaller rate"
            )
    means = {name: part / max(1, count) for name, part in parts.items()}
    return {"steps": done, "loss": total / max(1, count), "parts": _plain(means), "rate": rate}


def _step(
    recipe: Recipe, options: FitOptions, optimizer: torch.optim.Optimizer, batch: Any, where: str  # noqa: ANN401
) -> Loss:  # fmt: skip
    """Take a step and return its loss; without a gradient (a batch with nothing to align) there is none."""
    optimizer.zero_grad(set_to_none=True)
    weights = list(trained(recipe.model).values())
    half = options.precision == "bfloat16"
    with torch.autocast(weights[0].device.type, dtype=torch.bfloat16, enabled=half):
        loss = recipe.loss(batch)
    broken, value = "loss", float(loss.value.detach())
    if math.isfinite(value):
        if not loss.value.requires_grad:
            return loss
        loss.value.backward()
        limit = math.inf if options.clip is None else options.clip
        broken, value = "norm of the gradient", float(torch.nn.utils.clip_grad_norm_(weights, limit))
        if math.isfinite(value):
            optimizer.step()
            return loss
    rows = listed(recipe.rows(batch), 3)
    raise DivergenceError(
        f"training stops: the {broken} is {value} at {where} (with {rows or 'no rows'}): try a smaller rate"
        f" than {options.rate:g}, clip=1 or a warmup, and look for vectors that are no numbers"
    )


def _validated(model: nn.Module, validate: Validate, epoch: int) -> ValidationScores:
    model.eval()
    with torch.no_grad():
        scores = validate(model, epoch)
    if not math.isfinite(scores.value):
        raise DivergenceError(
            f"training stops: the validation of epoch {epoch} gave {scores.value}: are the validation data "
            "large enough, and all vectors numbers?"
        )
    return scores


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, [] where there is none; a last line that was cut by a crash is left out."""
    lines = []
    for line in path.read_bytes().splitlines() if path.is_file() else []:
        try:
            lines.append(json.loads(line))
        except ValueError:
            break
    return lines


def _json(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(parts: Mapping[str, float]) -> dict[str, float | None]:
    """Return numbers; one that is none is null in the log."""
    return {name: float(value) if math.isfinite(value) else None for name, value in parts.items()}
