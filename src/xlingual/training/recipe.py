"""What a recipe hands to the fit loop, and what a validation hands back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class Loss:
    """The loss of one batch.

    `value` is a scalar tensor, summed or averaged as the recipe wants it: training follows its gradient. The
    log and the progress line show the sum of the values of an epoch divided by the sum of the counts: the
    mean per positive where the recipe sums over `count` positives; a recipe that averages gives count 1.
    `parts` are further numbers of the same kind, logged the same way.
    """

    value: Tensor
    count: int
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ValidationScores:
    """What a validation found: `value` (larger is better) chooses the epoch, `parts` are for the log."""

    value: float
    parts: Mapping[str, float] = field(default_factory=dict)
    mean_of: int = 1  # how many of the parts `value` is the mean of


class Recipe(Protocol):
    """A model, its batches and its loss: all that differs from one training to another.

    The loop moves `model` to the device before it asks for batches; `loss` puts what a batch holds on the
    device of the model. Batches are a pure function of the recipe's seed and the epoch (from 1 on), so that
    a training that was interrupted goes on as if it had not been. Dropout draws from torch's own generator,
    which the loop seeds for each epoch.
    """

    model: nn.Module

    def steps(self, epoch: int) -> int:
        """Return how many batches an epoch has."""

    def batches(self, epoch: int) -> Iterator[Any]:
        """Yield the batches of an epoch."""

    def loss(self, batch: Any, /) -> Loss:  # noqa: ANN401  (a batch is what the recipe makes)
        """Return the loss of a batch."""

    def rows(self, batch: Any, /) -> Sequence[str]:  # noqa: ANN401
        """Return the ids of the rows in a batch, for messages."""


OnLog: TypeAlias = Callable[[Mapping[str, Any]], None]  # is called with the line of each epoch
Validate: TypeAlias = "Callable[[nn.Module, int], ValidationScores]"
