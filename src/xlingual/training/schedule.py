"""The learning rate over a training: a pure function of the position in it.

A schedule is written in a word with its numbers:

- `constant`
- `step:EVERY:FACTOR`: multiplied by FACTOR after every EVERY epochs; `step:15:0.1` divides by 10 after 15
- `cosine` or `cosine:FLOOR`: half a cosine from 1 down to FLOOR (default 0) at the end of the last epoch
- `linear` or `linear:FLOOR`: a straight line from 1 down to FLOOR

A warm-up multiplies the first epochs (also a part of one) by a rate that grows in equal steps; `cosine` and
`linear` start where it ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xlingual.errors import InputError, did_you_mean

FORMS = {"constant": "constant", "step": "step:15:0.1", "cosine": "cosine:0", "linear": "linear:0"}
_EXPECTED = "constant, step:EVERY:FACTOR, cosine[:FLOOR] or linear[:FLOOR]"


@dataclass(frozen=True)
class Schedule:
    """A factor of the learning rate at every step of a training."""

    kind: str
    every: int = 1  # epochs between two steps
    factor: float = 1.0  # of a step; the floor of cosine and linear

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """Read a schedule; raise InputError where it is none.

        >>> Schedule.parse("step:15:0.1")
        Schedule(kind='step', every=15, factor=0.1)
        """
        kind, *numbers = text.split(":")
        if kind not in FORMS:
            raise InputError(
                f"schedule {text!r}: unknown.{did_you_mean(kind, FORMS)} {_EXPECTED.capitalize()}"
            )
        try:
            if kind == "step" and len(numbers) == 2:
                every, factor = int(numbers[0]), float(numbers[1])
            elif (kind == "constant" and not numbers) or (kind in {"cosine", "linear"} and len(numbers) < 2):
                every, factor = 1, float(numbers[0]) if numbers else float(kind == "constant")
            else:
                raise ValueError
        except ValueError:
            raise InputError(f"schedule {text!r}: write {_EXPECTED}, such as {FORMS[kind]}") from None
        if every < 1 or not 0 <= factor <= 1 or (kind == "step" and factor == 0):
            raise InputError(
                f"schedule {text!r}: epochs must be 1 or more, and a factor or floor between 0 and 1"
            )
        return cls(kind, every, factor)

    @property
    def needs_end(self) -> bool:
        """Whether the rate depends on how many epochs there will be, so that these cannot grow later."""
        return self.kind in {"cosine", "linear"}

    def at(self, epoch: int, step: int, steps: int, *, epochs: int, warmup: float = 0.0) -> float:
        """Return the factor of step `step` (from 0 on) of `steps` in `epoch` (from 1 on) of `epochs`.

        `warmup` is in epochs: the n-th of N warm-up steps has the factor n/N.
        """
        begun = epoch - 1 + step / steps  # epochs that are over when the step begins
        grown = min(1.0, (epoch - 1 + (step + 1) / steps) / warmup) if warmup > 0 else 1.0
        return grown * self._decay(epoch, begun, epochs, warmup)

    def _decay(self, epoch: int, begun: float, epochs: int, warmup: float) -> float:
        if self.kind == "constant":
            return 1.0
        if self.kind == "step":
            return self.factor ** ((epoch - 1) // self.every)
        share = min(1.0, max(0.0, begun - warmup) / max(epochs - warmup, 1e-12))
        fall = (1 + math.cos(math.pi * share)) / 2 if self.kind == "cosine" else 1 - share
        return self.factor + (1 - self.factor) * fall
