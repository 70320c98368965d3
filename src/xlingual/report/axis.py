"""A common axis: where a number lies, in percent of the width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
RATIOS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
POWERS = (0.01, 0.1, 1.0, 10.0, 100.0)
MOST_RATIOS = 7  # ticks


@dataclass(frozen=True)
class Axis:
    """From `low` to `high`, with round numbers marked."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Return the place of the value in percent of the width, clipped to the axis."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)

    def holds(self, value: float) -> bool:
        """Tell whether the value lies on the axis, its ends included."""
        slack = 1e-9 * (self.high - self.low)
        return self.low - slack <= value <= self.high + slack

    def labels(self) -> list[tuple[float, str]]:
        """Return (place in percent, text) of every tick."""
        step = self.ticks[1] - self.ticks[0]
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        if round(step * 10**digits, 6) % 1:
            digits += 1
        return [(self.at(tick), f"{tick:.{digits}f}".replace("-", "−")) for tick in self.ticks]


class LogAxis(Axis):
    """An axis of ratios: twice as many lies as far from 1 as half as many. 1 is always on it."""

    def at(self, value: float) -> float:
        """Return the place of a ratio in percent of the width, clipped to the axis."""
        clipped = min(max(value, self.low), self.high)
        return round(100 * math.log(clipped / self.low) / math.log(self.high / self.low), 2)

    def labels(self) -> list[tuple[float, str]]:
        """Return (place in percent, text) of every tick."""
        return [(self.at(tick), f"{tick:g}") for tick in self.ticks]


@dataclass(frozen=True)
class NamedAxis(Axis):
    """An axis whose ticks have names; other places on it have none."""

    names: tuple[str, ...] = ()

    def labels(self) -> list[tuple[float, str]]:
        """Return (place in percent, name) of every tick."""
        return [(self.at(tick), name) for tick, name in zip(self.ticks, self.names, strict=True)]


def named_axis(names: Sequence[str], most_ticks: int) -> NamedAxis:
    """Return an axis with a place for each name, 0, 1 and so on; the first and the last tick are named.

    >>> named_axis(["a", "b", "c", "d", "e"], 3).labels()
    [(10.0, 'a'), (50.0, 'c'), (90.0, 'e')]
    """
    n = min(len(names), most_ticks)
    ticks = sorted({round(i * (len(names) - 1) / max(n - 1, 1)) for i in range(n)})
    return NamedAxis(-0.5, len(names) - 0.5, tuple(map(float, ticks)), tuple(names[tick] for tick in ticks))


def log_axis_for(values: Iterable[float]) -> LogAxis:
    """Return an axis with round ends that holds the ratios, at most from 1/100 to 100.

    >>> log_axis_for([1.3, 3.4]).ticks, log_axis_for([0.04, 7.0]).low
    ((0.5, 1.0, 2.0, 5.0), 0.02)
    """
    known = [value for value in values if value > 0]
    least, most = min([*known, 0.9]), max([*known, 1.8])
    low = max((tick for tick in RATIOS if tick <= least), default=RATIOS[0])
    high = min((tick for tick in RATIOS if tick >= most), default=RATIOS[-1])
    ticks = tuple(tick for tick in RATIOS if low <= tick <= high)
    if len(ticks) > MOST_RATIOS:
        ticks = tuple(tick for tick in ticks if tick in POWERS)
    return LogAxis(low, high, ticks)


def axis_for(values: Iterable[float | None], *, floor: float = -math.inf, most_ticks: int = 5) -> Axis:
    """Return an axis with round ends that holds all values from `floor` on.

    Zero is included where it is not far away.
    """
    known = [max(value, floor) for value in values if value is not None and math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if low > 0 and high - low > 0.3 * high:
        low = 0.0
    if high - low < 1e-9:
        low, high = max(low - 0.05, floor), high + 0.05
    step = _step((high - low) / most_ticks)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(i * step, 10) for i in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks)


def _step(least: float) -> float:
    """Return the smallest round number that is at least `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in STEPS if power * step >= least * (1 - 1e-9))
