"""How a model is fitted, whatever the recipe: the settings of the fit loop."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import structs

from xlingual.errors import InputError
from xlingual.requests.record import Record, option
from xlingual.requests.values import AboveZero, AtLeastZero, Natural, Positive
from xlingual.training.schedule import Schedule

Epochs: TypeAlias = Annotated[Positive, option("Number of epochs at most.", metavar="N")]
Rate: TypeAlias = Annotated[
    AboveZero, option("Learning rate of the optimiser.", names=("--rate", "--lr"), metavar="X")
]
Seed: TypeAlias = Annotated[Natural, option("Seed of weights, batches and dropout.", metavar="N")]

_NOT_COMPARED = ("epochs", "patience", "device", "threads")  # may differ when a training is continued


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
            "Stop after so many epochs in a row without a better validation; none never stops early.",
            metavar="N|none",
            reads=number_or_none,
        ),
    ] = 5
    clip: Annotated[
        AboveZero | None,
        option("Largest norm of the gradient of all weights together.", metavar="X", otherwise="no limit"),
    ] = None
    weight_decay: Annotated[
        AtLeastZero,
        option("Weight decay: adam adds it to the gradient, adamw takes it off the weights.", metavar="X"),
    ] = 0.0
    optimizer: Annotated[Literal["adam", "adamw"], option("The optimiser that changes the weights.")] = "adam"
    schedule: Annotated[
        str,
        option(
            "How the learning rate changes: constant, linear, cosine, or step:E:F (every E epochs times F).",
            metavar="NAME",
        ),
    ] = "constant"
    warmup: Annotated[
        AtLeastZero,
        option("Number of epochs in which the learning rate rises to its value.", metavar="X"),
    ] = 0.0
    seed: Seed = 0
    device: Annotated[
        str, option("Device of the training: auto, cpu, cuda, cuda:1, mps.", metavar="NAME", run=True)
    ] = "auto"
    precision: Annotated[
        Literal["float32", "bfloat16", "float16"],
        option("Type of number in which products are computed; weights stay float32."),
    ] = "float32"
    threads: Annotated[
        Positive | None,
        option("Number of threads of torch.", metavar="N", otherwise="torch's own choice", run=True),
    ] = None

    def __post_init__(self) -> None:
        """Check what no single value shows."""
        super().__post_init__()
        Schedule.parse(self.schedule)
        if self.warmup and self.warmup >= self.epochs:
            raise InputError(
                f"warmup is {self.warmup:g} epochs of {self.epochs}: it must be shorter than the training"
            )

    def compared(self) -> dict[str, Any]:
        """Return the settings that must be equal where a training is continued: all that change its steps.

        How many epochs there will be is one of them where the rate depends on it.
        """
        settings = structs.asdict(self)
        kept = {name: value for name, value in settings.items() if name not in _NOT_COMPARED}
        return {**kept, "epochs": self.epochs} if Schedule.parse(self.schedule).needs_end else kept

    def rate_at(self, epoch: int, step: int, steps: int) -> float:
        """Return the learning rate of step `step` (from 0 on) of `steps` in `epoch` (from 1 on)."""
        schedule = Schedule.parse(self.schedule)
        return self.rate * schedule.at(epoch, step, steps, epochs=self.epochs, warmup=self.warmup)
