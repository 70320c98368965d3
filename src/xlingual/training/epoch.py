"""One epoch of training: a step of the optimiser for every batch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from xlingual.encoders.runtime import is_out_of_memory
from xlingual.errors import InputError, listed
from xlingual.training.options import FitOptions
from xlingual.training.precision import MixedPrecision
from xlingual.training.recipe import Loss, Recipe

_MOST_OVERFLOWS = 20  # steps in a row that float16 may leave out, each with half the scale


class DivergenceError(InputError):
    """A loss or gradient is no number."""


@dataclass(frozen=True)
class EpochMeans:
    """The results of an epoch's steps: means per positive."""

    steps: int
    loss: float
    parts: dict[str, float]
    rate: float  # of the last step


def trained(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters that are trained, by name, each once."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def make_optimizer(model: nn.Module, options: FitOptions) -> torch.optim.Optimizer:
    """Return the optimiser that the options name, over the trained parameters of a model."""
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[options.optimizer]
    weights = list(trained(model).values())
    fused = all(weight.device.type in {"cpu", "cuda"} for weight in weights)  # one pass over the memory
    return kind(weights, lr=options.rate, weight_decay=options.weight_decay, fused=fused or None)


class Stepper:
    """Takes the steps of a recipe's epochs."""

    def __init__(
        self,
        recipe: Recipe,
        options: FitOptions,
        optimizer: torch.optim.Optimizer,
        precision: MixedPrecision,
    ) -> None:
        self._recipe, self._options = recipe, options
        self._optimizer, self._precision = optimizer, precision
        self._weights = list(trained(recipe.model).values())
        self._overflows = 0

    def epoch(self, epoch: int, report: Callable[[int, float, float], None]) -> EpochMeans:
        """Train for an epoch (from 1 on); `report` gets the steps done in it, the mean loss, and the rate.

        Raises DivergenceError at a loss or gradient that is no number, before the weights are touched.
        """
        steps = self._recipe.steps(epoch)
        if steps < 1:
            raise InputError(f"epoch {epoch} has no batch: there is nothing to train on")
        self._recipe.model.train()
        total, count, parts, rate, done = 0.0, 0, Counter[str](), 0.0, 0
        for done, batch in enumerate(self._recipe.batches(epoch), start=1):
            rate = self._options.rate_at(epoch, done - 1, steps)
            for group in self._optimizer.param_groups:
                group["lr"] = rate
            where = f"epoch {epoch}, batch {done} of {steps}"
            try:
                value, loss = self._step(batch, where)
            except (RuntimeError, MemoryError) as error:
                if is_out_of_memory(error):
                    raise InputError(
                        f"memory runs out at {where}: choose a smaller batch; a dual encoder can read it in "
                        "mini-batches (--mini-batch 64)"
                    ) from error
                raise
            total, count = total + value, count + loss.count
            parts.update({name: float(part) for name, part in loss.parts.items()})
            report(done, total / max(1, count), rate)
        if done != steps:
            raise ValueError(f"the recipe announced {steps} batches in epoch {epoch} and gave {done}")
        means = {name: part / max(1, count) for name, part in parts.items()}
        return EpochMeans(done, total / max(1, count), means, rate)

    def _step(self, batch: Any, where: str) -> tuple[float, Loss]:  # noqa: ANN401
        self._optimizer.zero_grad(set_to_none=True)
        with self._precision.context():
            loss = self._recipe.loss(batch)
        value = float(loss.value.detach())
        if not math.isfinite(value):
            raise self._broken("loss", value, where, batch)
        if not loss.value.requires_grad:  # a batch without anything to align
            return value, loss
        scaler = self._precision.scaler
        scaler.scale(loss.value).backward()
        scaler.unscale_(self._optimizer)
        norm = self._clipped_norm()
        self._overflows = 0 if math.isfinite(norm) else self._overflows + 1
        if self._overflows > (_MOST_OVERFLOWS if scaler.is_enabled() else 0):
            raise self._broken("norm of the gradient", norm, where, batch)
        scaler.step(self._optimizer)
        scaler.update()
        return value, loss

    def _clipped_norm(self) -> float:
        """Return the norm of all gradients together, and shorten them where it is above the limit."""
        clip = self._options.clip
        if clip is not None:
            return float(torch.nn.utils.clip_grad_norm_(self._weights, clip))
        norms: list[Tensor] = [
            torch.linalg.vector_norm(weight.grad) for weight in self._weights if weight.grad is not None
        ]
        return float(torch.linalg.vector_norm(torch.stack(norms))) if norms else 0.0

    def _broken(self, what: str, value: float, where: str, batch: Any) -> DivergenceError:  # noqa: ANN401
        rows = listed(self._recipe.rows(batch), 3)
        return DivergenceError(
            f"training stops: the {what} is {value} at {where} (with {rows or 'no rows'}): try a smaller rate"
            f" than {self._options.rate:g}, clip=1 or a warmup, and look for vectors that are no numbers"
        )
