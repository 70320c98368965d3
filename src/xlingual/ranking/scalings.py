"""Scores of pairs scaled by how far away the neighbours are: local scaling and mutual proximity.

Both are functions of the cosine that rise with it, and differ by query and by candidate. What is known of
these is rounded to 9 decimals, keys are computed from whole numbers a pair at a time, and rounded again.

How far a screened score may be off follows from the largest slope over the cosines of a tile: for a screen
off by e, a score is off by slope · e at the most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.ranking.offsets import ROUNDING, Adjustment, Sides, numpy_functions
from xlingual.ranking.similarity import UNIT

ONE = round(1 / UNIT)
NEAREST_SCALE = ONE // 100  # a distance below .01 (a cosine above .99995) counts as .01
LEAST_DEVIATION = ONE // 1000  # a standard deviation below .001 counts as .001, unless it is 0


@dataclass(frozen=True)
class Scaled(Adjustment):
    """−‖x − y‖² / σ(y), of unit vectors: ‖x − y‖² = 2 − 2·cos(x, y)."""

    COLUMNS = ("scales",)

    scales: Ints  # [m] σ of each candidate, NEAREST_SCALE at least

    def _keys(self, keys: Any, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401
        squares = 2.0 * np.maximum(ONE - keys, 0)
        return np.rint(squares / (columns[0] * -UNIT)).astype(np.int64)

    def screened(self, scores: Any, rows: Sides, columns: Sides, functions: Any) -> Any:  # noqa: ANN401
        """Return the scores of a tile."""
        return (scores - 1.0) * (2.0 / columns[0])

    def slope(self, scores: Any, error: Any, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401
        """Return 2 / the least σ."""
        return (2.0 / columns[0]).max()

    def rounding(self, largest: float, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401
        """Return four roundings of the largest score."""
        return 4 * ROUNDING * (1 + largest) * (2.0 / columns[0]).max()


@dataclass(frozen=True)
class Proximity(Adjustment):
    """The logit of Φ((s − μ_x)/σ_x) · Φ((s − μ_y)/σ_y), for the cosine s of x and y.

    The product is the probability, under two independent normal distributions, that a neighbour of x and one
    of y are both less similar. Its logarithm is taken, and that of its complement, so that neither products
    near 0 nor those near 1 are rounded to ties. A σ of 0 leaves its side out: the probability is ½.

    Its slope is, for each side, at most (h(z) + h(−z))/σ, with h the hazard rate φ/(1 − Φ) and h(z) <
    (z + √(z² + 4))/2 (Birnbaum 1942; Sampford 1953): so √(z² + 4)/σ.
    """

    ROWS = ("query_means", "query_deviations")
    COLUMNS = ("candidate_means", "candidate_deviations")

    query_means: Ints  # [n]
    query_deviations: Ints  # [n] 0, or LEAST_DEVIATION at least
    candidate_means: Ints  # [m]
    candidate_deviations: Ints  # [m]

    def _keys(self, keys: Any, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401
        given = np.asarray(keys, dtype=np.float64)
        sides = [tuple(side.astype(np.float64) for side in own) for own in (rows, columns)]
        found = self.screened(given, sides[0], sides[1], numpy_functions())
        return np.rint(found / UNIT).astype(np.int64)

    def screened(self, scores: Any, rows: Sides, columns: Sides, functions: Any) -> Any:  # noqa: ANN401
        """Return the scores of a tile: with all in one unit, whatever it is, z has none."""
        z, w = ((scores - mean) * _inverse(deviation) for mean, deviation in (rows, columns))
        a, b = functions.log_ndtr(z), functions.log_ndtr(w)
        return a + b - functions.logaddexp(functions.log_ndtr(-z), a + functions.log_ndtr(-w))

    def slope(self, scores: Any, error: Any, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401
        """Return the sum of both sides' largest slopes over the scores of the tile."""
        low, high = scores.min() - error, scores.max() + error
        middle, half = (low + high) / 2, (high - low) / 2
        total = 0.0
        for mean, deviation in (rows, columns):
            inverse = _inverse(deviation)
            z = (abs(middle - mean) + half) * inverse
            total = total + ((z * z + 4) ** 0.5 * inverse).max()
        return total

    def rounding(self, largest: float, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401
        """Return four roundings of the largest score, which is at most Σ (z²/2 + |z| + 1) + 1."""
        total = 1.0
        for mean, deviation in (rows, columns):
            z = (abs(mean) + largest) * _inverse(deviation)
            total = total + (z * z / 2 + z + 1).max()
        return 4 * ROUNDING * total


def _inverse(deviation: Any) -> Any:  # noqa: ANN401  (an array or a tensor)
    """Return 1/σ, and 0 where σ is 0."""
    return (deviation > 0) / (deviation + (deviation == 0))
