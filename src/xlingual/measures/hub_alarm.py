"""What hubness looks like by chance, and from where on it is an alarm.

By chance each query has k of the m candidates among its first k, all equally likely: N_k is binomial with n
draws of probability k/m. That is what random directions give (docs/results/hubs.md), also where every query
has a match of its own, which only makes N_k more even.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.measures.binomial import chances, quantile

# Both bounds are chosen in docs/results/hubs.md: no hubs, no alarm; and
# an alarm where a repair pays.
BOUND = 6.0  # standard errors above the skewness by chance
LEAST = 0.15  # of the wrong first places that the largest hubs must make
LARGEST = 0.01  # of the candidates that count as the largest


@dataclass(frozen=True)
class ByChance:
    """The k-occurrences of m candidates to which n queries are indifferent: binomial."""

    n: int
    m: int
    k: int

    @property
    def p(self) -> float:
        """The chance of a candidate to be among the first k of a query."""
        return min(self.k, self.m) / self.m

    @property
    def skewness(self) -> float:
        """The skewness of the occurrences; 0 where they do not vary."""
        variance = self.n * self.p * (1 - self.p)
        return (1 - 2 * self.p) / sqrt(variance) if variance > 0 else 0.0

    @property
    def skewness_bound(self) -> float:
        """The skewness that hubs must exceed for an alarm.

        It is `BOUND` standard errors above that by chance: those of the skewness of m draws of a Poisson
        variable of the same variance, sqrt((6 + 4.5u + u²/4)/m) with u = 1/variance (delta method).
        """
        variance = self.n * self.p * (1 - self.p)
        u = 1 / variance if variance > 0 else 0.0
        return self.skewness + BOUND * sqrt((6 + 4.5 * u + u**2 / 4) / self.m)

    @property
    def never(self) -> float:
        """The share of the candidates that nobody finds."""
        return float((1 - self.p) ** self.n)

    @property
    def n_largest(self) -> int:
        """How many candidates are the largest hubs: one in a hundred, one at least."""
        return ceil(LARGEST * self.m)

    @property
    def held_by_largest(self) -> float:
        """The share of all places that the largest ones hold."""
        share = 1 - (np.arange(self.n_largest) + 0.5) / self.m
        return float(min(quantile(share, self.n, self.p).sum() / (self.n * self.p * self.m), 1.0))

    def among(self, least: Ints) -> Floats:
        """Return how many candidates are found from least[i] to below least[i + 1] times, float64 [bins]."""
        if self.p >= 1:
            return self.m * np.diff((least > self.n).astype(np.float64), append=1.0)
        chance = chances(self.n, self.p)
        begin = np.minimum(least, len(chance))
        found: Floats = self.m * np.add.reduceat(np.append(chance, 0.0), begin)
        return found


def bins_of(occurrences: Floats) -> tuple[Ints, Ints]:
    """Return where the bins 0, 1, 2–3, 4–7 … begin, and how many candidates are in each.

    Occurrences under ties are no whole numbers: they are rounded, a half up.
    """
    whole = np.floor(np.round(occurrences, 9) + 0.5).astype(np.int64)
    most = int(whole.max(initial=0))
    least = np.array([0, *(2**i for i in range(most.bit_length()))], dtype=np.int64)
    return least, np.bincount(np.searchsorted(least, whole, side="right") - 1, minlength=len(least))


def is_alarm(skewness: float, bound: float, errors: float | None, least: float = LEAST) -> bool:
    """Return whether hubs are an alarm: beyond the bound, and with a share of the wrong first places."""
    return skewness > bound and errors is not None and errors >= least
