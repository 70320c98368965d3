"""The p-values of all pairs of encoders, each known exactly or between two bounds.

Corrections for several tests rise with every p. So a decision that the lower and the upper bounds share is
that of the exact values. Only where they differ are exact values computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Floats
from xlingual.comparison.outcome import Rules

Pair = tuple[str, str]  # two encoders, in the order of the queries' encoders
View = Callable[[Floats], NDArray[Any]]  # what is used of corrected p-values [pairs]


class PairTests:
    """Bounds `low` and `high` [pairs] of p-values, equal where p is known; `exact` computes one."""

    def __init__(
        self, pairs: Sequence[Pair], low: Floats, high: Floats, rules: Rules, exact: Callable[[Pair], float]
    ) -> None:
        self.pairs = tuple(pairs)
        self.low, self.high, self._rules, self._exact = low, high, rules, exact
        self._other: dict[Pair, Callable[[Pair], float]] = {}

    def replace(self, place: int, low: float, high: float, exact: Callable[[Pair], float]) -> None:
        """Give a pair another test."""
        self.low[place], self.high[place] = low, high
        self._other[self.pairs[place]] = exact

    def find(self, places: NDArray[Any]) -> None:
        """Compute the exact p-values of the pairs at some places."""
        for place in places.tolist():
            if self.low[place] < self.high[place]:
                pair = self.pairs[place]
                self.low[place] = self.high[place] = self._other.get(pair, self._exact)(pair)

    def adjusted(self, view: View) -> NDArray[Any]:
        """Return what `view` shows of the corrected p-values, computing exact ones until it is certain."""
        while True:
            low, high = self._rules.adjusted(self.low), self._rules.adjusted(self.high)
            shown = view(high)
            unsure = np.flatnonzero(view(low) != shown)
            if not len(unsure):
                return shown
            open_ones = self.low < self.high
            wanted = unsure[open_ones[unsure]]
            if not len(wanted):  # what others say decides: those that the correction can compare them with
                least, most = low[unsure].min() / len(self.pairs), high[unsure].max()
                near = open_ones & (self.high >= least) & (self.low <= most)
                wanted = np.flatnonzero(near if near.any() else open_ones)
            self.find(wanted)

    def without(self, baseline: str) -> Floats:
        """Return the p-values of the pairs that the baseline is not one of.

        Those that matter to the corrected p-values of the baseline's pairs are exact, others a bound.
        """
        own = np.array([baseline in pair for pair in self.pairs])
        self.adjusted(lambda p: np.where(own, p, 0.0))
        found: Floats = self.high[~own]
        return found
