"""An axis for ratios: twice as many lies as far from 1 as half as many."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
POWERS = (0.01, 0.1, 1.0, 10.0, 100.0)
MOST = 7  # ticks


@dataclass(frozen=True)
class LogAxis:
    """From `low` to `high` on the logarithmic scale; 1 is always on it."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Return the place of a ratio in percent of the width, held within the axis."""
        held = min(max(value, self.low), self.high)
        return round(100 * math.log(held / self.low) / math.log(self.high / self.low), 2)

    def holds(self, value: float) -> bool:
        """Tell whether a ratio lies on the axis."""
        return self.low <= value <= self.high

    def labels(self) -> list[tuple[float, str]]:
        """Return (place in percent, text) of every tick."""
        return [(self.at(tick), f"{tick:g}") for tick in self.ticks]


def log_axis_for(values: Iterable[float]) -> LogAxis:
    """Return an axis with round ends that holds the ratios, as far as from 1/100 to 100.

    >>> log_axis_for([1.3, 3.4]).ticks, log_axis_for([0.04, 7.0]).low
    ((0.5, 1.0, 2.0, 5.0), 0.02)
    """
    known = [value for value in values if value > 0]
    least, most = min([*known, 0.9]), max([*known, 1.8])
    low = max((tick for tick in TICKS if tick <= least), default=TICKS[0])
    high = min((tick for tick in TICKS if tick >= most), default=TICKS[-1])
    ticks = tuple(tick for tick in TICKS if low <= tick <= high)
    if len(ticks) > MOST:
        ticks = tuple(tick for tick in ticks if tick in POWERS)
    return LogAxis(low, high, ticks)
