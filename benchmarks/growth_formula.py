"""Formulas of growth: a constant, a part for each row and, where all pairs are ranked, one for each pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

LINEAR, QUADRATIC = 1, 2
LARGE = 300.0  # columns of sizes up to so many thousand rows are scaled by it, for the solver alone


@dataclass(frozen=True)
class Formula:
    """The sum of `parts[k]`·N^k; no part is negative."""

    parts: tuple[float, ...]

    def __call__(self, n: float) -> float:
        """Return the value at N = n."""
        return sum(part * n**power for power, part in enumerate(self.parts))


def fitted(measured: Mapping[int, float], degree: int) -> Formula:
    """Return the formula of a degree with the least squares of relative errors."""
    n, values = np.array(list(measured), dtype=float), np.array(list(measured.values()))
    scale = (LARGE * 1000.0) ** np.arange(degree + 1)
    columns = n[:, None] ** np.arange(degree + 1) / scale
    parts, _ = nnls(columns / values[:, None], np.ones(len(values)))
    return Formula(tuple((parts / scale).tolist()))


def error(measured: Mapping[int, float], degree: int) -> float | None:
    """Return by which share the formula of the smaller sizes misses the largest; None with fewer than two."""
    *smaller, largest = sorted(measured)
    if len(smaller) < 2:
        return None
    return fitted({n: measured[n] for n in smaller}, degree)(largest) / measured[largest] - 1
