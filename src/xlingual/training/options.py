"""How a model is fitted, whatever the recipe: the settings of the fit loop, and the learning rate over it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from msgspec import structs

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.requests.record import Record, leaves, option
from xlingual.requests.values import AboveZero, AtLeastZero, Natural, Positive

R = TypeVar("R", bound=Record)
Epochs: TypeAlias = Annotated[Positive, option("Number of epochs at most.", metavar="N")]
Rate: TypeAlias = Annotated[
    AboveZero, option("Learning rate of the optimiser.", names=("--rate", "--lr"), metavar="X")
]
Seed: TypeAlias = Annotated[Natural, option("Seed of weights, batches and dropout.", metavar="N")]
KeepEpoch: TypeAlias = Annotated[
    Literal["best", "last"],
    option("Which epoch is the model: the best on the validation, or the last that was run."),
]

_SCHEDULES = "constant, linear, cosine, or step:E:F (every E epochs times F)"
# may differ when a training is continued
_NOT_COMPARED = ("epochs", "patience", "keep_epoch", "device", "threads")


def number_or_none(text: str) -> int | None:
    """Return a number of at least 1; None for "none"."""
    if text == "none":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"{text!r} is neither a number of at least 1 nor 'none'")
    return int(text)


class FitOptions(Record, frozen=True, kw_only=True):
    """Settings of the fit loop; wrong ones raise InputError.

    A training is equal bit for bit with the same number of threads on the same machine: other numbers of
    threads may round otherwise.
    """

    epochs: Epochs = 30
    rate: Rate = 1e-3
    patience: Annotated[
        Positive | None,
        option(
            "Stop after this many epochs in a row without a better validation; none: never stop early.",
            metavar="N|none",
            reads=number_or_none,
        ),
    ] = 5
    keep_epoch: KeepEpoch = "best"
    clip: Annotated[
        AboveZero | None,
        option("Largest norm of the gradient (gradient clipping).", metavar="X", otherwise="no limit"),
    ] = None
    weight_decay: Annotated[
        AtLeastZero,
        option(
            "Weight decay: adam adds it to the gradient, adamw subtracts it from the weights.", metavar="X"
        ),
    ] = 0.0
    optimizer: Annotated[Literal["adam", "adamw"], option("The optimiser of the weights.")] = "adam"
    schedule: Annotated[
        str,
        option(f"How the learning rate changes: {_SCHEDULES}.", metavar="NAME"),
    ] = "constant"
    warmup: Annotated[
        AtLeastZero,
        option("Number of warm-up epochs, in which the learning rate rises to its value.", metavar="X"),
    ] = 0.0
    seed: Seed = 0
    device: Annotated[
        str, option("Device of the training: auto, cpu, cuda, cuda:1, mps.", metavar="NAME", run=True)
    ] = "auto"
    precision: Annotated[
        Literal["float32", "bfloat16"],
        option("Type of number in which products are computed; weights stay float32."),
    ] = "float32"
    threads: Annotated[
        Positive | None,
        option("Number of threads of torch.", metavar="N", otherwise="torch's own choice", run=True),
    ] = None

    def __post_init__(self) -> None:
        """Check values that depend on each other."""
        super().__post_init__()
        self.step_schedule()
        if self.warmup and self.warmup >= self.epochs:
            raise InputError(
                f"warmup is {self.warmup:g} epochs of {self.epochs}: it must be shorter than the training"
            )

    def recorded(self) -> dict[str, Any]:
        """Return the settings as `config.json` has them beside those of the recipe, which has a seed too."""
        return {"fit_seed" if name == "seed" else name: value for name, value in self.settings().items()}

    def compared(self) -> dict[str, Any]:
        """Return the settings that must be equal where a training is continued: all that change its steps.

        The number of epochs is one of them where the rate depends on it.
        """
        compared = {name: value for name, value in self.recorded().items() if name not in _NOT_COMPARED}
        return compared | ({"epochs": self.epochs} if self.schedule in ("cosine", "linear") else {})

    def step_schedule(self) -> tuple[int, float]:
        """Return E and F of step:E:F, and of other schedules 1 and 1; raise InputError for an unknown one."""
        kind, *numbers = self.schedule.split(":")
        try:
            if kind in ("constant", "linear", "cosine") and not numbers:
                return 1, 1.0
            every, factor = int(numbers[0]), float(numbers[1])
            if kind != "step" or len(numbers) != 2 or every < 1 or not 0 < factor <= 1:
                raise ValueError
        except (ValueError, IndexError):
            raise InputError(
                f"schedule {self.schedule!r}: write {_SCHEDULES}, such as step:15:0.1; F is above 0 and at "
                "most 1"
            ) from None
        return every, factor

    def rate_at(self, epoch: int, step: int, steps: int) -> float:
        """Return the learning rate of step `step` (from 0 on) of `steps` in `epoch` (from 1 on).

        `linear` and `cosine` fall to 0 at the end of the last epoch; `warmup` is in epochs: the n-th of N
        warm-up steps has n/N of the rate, and the fall begins where it ends.
        """
        every, factor = self.step_schedule()
        rate = self.rate
        if self.warmup > 0:
            rate *= min(1.0, (epoch - 1 + (step + 1) / steps) / self.warmup)
        begun = epoch - 1 + step / steps - self.warmup  # epochs of the fall that are over
        share = min(1.0, max(0.0, begun) / max(self.epochs - self.warmup, 1e-12))
        if self.schedule == "linear":
            return rate * (1 - share)
        if self.schedule == "cosine":
            return rate * (1 + math.cos(math.pi * share)) / 2
        return rate * factor ** ((epoch - 1) // every)


def of_the_model(options: Record, config: type) -> dict[str, Any]:
    """Return those settings that the configuration of the model (a dataclass) has too."""
    names = {field.name for field in fields(config)}
    return {name: value for name, value in structs.asdict(options).items() if name in names}


def defaults_in_help(kind: type[Record], presets: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the default of each setting that presets change, for the help: "0.001; vse, vsepp 0.0002"."""
    found = {}
    for name, leaf in leaves(kind).items():
        of_value: dict[Any, list[str]] = {}
        for recipe, preset in presets.items():
            if preset.get(name, leaf.default) != leaf.default and not leaf.marks.in_files:
                of_value.setdefault(preset[name], []).append(recipe)
        if of_value:
            others = (f"{', '.join(recipes)} {_word(value)}" for value, recipes in of_value.items())
            found[name] = f"{leaf.marks.otherwise or _word(leaf.default)}; {', '.join(others)}"
    return found


def _word(value: float | str) -> str:
    return f"{value:f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def preset(
    kind: type[R], presets: Mapping[str, Mapping[str, Any]], recipe: str, changes: Mapping[str, Any]
) -> R:
    """Return the settings of a named recipe with some of them changed."""
    if recipe not in presets:
        near = did_you_mean(recipe, presets)
        raise InputError(f"recipe {recipe!r} is unknown.{near} Choose one of {listed(presets)}")
    for name in changes:
        if name not in kind.__struct_fields__:
            near = did_you_mean(name, kind.__struct_fields__)
            raise InputError(f"unknown option {name!r} of {recipe}.{near}")
    return kind(**{**presets[recipe], **changes})
