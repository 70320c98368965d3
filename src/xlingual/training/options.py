"""How a model is fitted, whatever the recipe: the options of the fit loop."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.training.schedule import Schedule

OPTIMIZERS = ("adam", "adamw")
PRECISIONS = ("float32", "bfloat16", "float16")
_NOT_COMPARED = ("epochs", "patience", "device", "threads")  # may differ when a training is continued


@dataclass(frozen=True)
class FitOptions:
    """Options of the fit loop; wrong ones raise InputError.

    - `rate`: learning rate; `schedule` and `warmup` (in epochs) change it, see `schedule`
    - `patience`: stop after so many epochs in a row without a better validation; None never stops early
    - `clip`: largest norm of the gradient of all weights together; None leaves it as it is
    - `optimizer`: `adam` (weight decay is added to the gradient) or `adamw` (taken off the weights)
    - `precision`: `float32`, or the type of number that products are computed in (weights stay float32)
    - `device`: auto (cuda, else mps, else cpu), cpu, cuda, cuda:1, mps
    - `threads`: of torch on a CPU; None leaves torch's own choice. Other numbers of threads may round
      otherwise: a training is equal bit for bit with the same number on the same machine.
    """

    epochs: int = 30
    rate: float = 1e-3
    patience: int | None = 5
    clip: float | None = None
    weight_decay: float = 0.0
    optimizer: str = "adam"
    schedule: str = "constant"
    warmup: float = 0.0
    seed: int = 0
    device: str = "auto"
    precision: str = "float32"
    threads: int | None = None

    def __post_init__(self) -> None:
        Schedule.parse(self.schedule)
        _one_of("optimizer", self.optimizer, OPTIMIZERS)
        _one_of("precision", self.precision, PRECISIONS)
        for name, least in (("epochs", 1), ("patience", 1), ("threads", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} must be {least} or more: found {value}")
        for name, value in (("rate", self.rate), ("clip", self.clip)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"{name} must be a number above 0: found {value}")
        for name, value in (("weight_decay", self.weight_decay), ("warmup", self.warmup)):
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} must be 0 or more: found {value}")
        if self.warmup and self.warmup >= self.epochs:
            raise InputError(
                f"warmup is {self.warmup:g} epochs of {self.epochs}: it must be shorter than the training"
            )

    def compared(self) -> dict[str, Any]:
        """Return the options that must be equal where a training is continued: all that change its steps.

        How many epochs there will be is one of them where the rate depends on it.
        """
        kept = {name: value for name, value in asdict(self).items() if name not in _NOT_COMPARED}
        return {**kept, "epochs": self.epochs} if Schedule.parse(self.schedule).needs_end else kept

    def rate_at(self, epoch: int, step: int, steps: int) -> float:
        """Return the learning rate of step `step` (from 0 on) of `steps` in `epoch` (from 1 on)."""
        schedule = Schedule.parse(self.schedule)
        return self.rate * schedule.at(epoch, step, steps, epochs=self.epochs, warmup=self.warmup)


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(
            f"{name} {value!r} is unknown.{did_you_mean(value, known)} Choose one of {listed(known)}"
        )
