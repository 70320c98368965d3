"""Differences of harmonic numbers, exact to the last digits for ranks of any size."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats, Ints

_SMALL = 32  # from here on the series of the harmonic numbers is exact to float64


def harmonic_difference(above: Ints, places: Ints) -> Floats:
    """Return H(above + places) − H(above) = Σ 1/(above + j), j = 1 … places; float64, the inputs' shape.

    A table of harmonic numbers loses the digits that average precision needs: the difference of two of about
    10 is multiplied by the number of candidates above. Here small numbers come from a table and the rest from
    H(x) = ln x + γ + 1/(2x) − 1/(12x²) + 1/(120x⁴) − 1/(252x⁶) + …, subtracted term by term.
    """
    table = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, _SMALL + 1))])
    last = above + places
    low, high = np.minimum(above, _SMALL), np.minimum(last, _SMALL)
    start = np.maximum(above, _SMALL).astype(np.float64)
    end = np.maximum(last, _SMALL).astype(np.float64)
    beyond = end - start
    a, b = 1.0 / start, 1.0 / end
    series = np.log1p(beyond * a) - 0.5 * beyond * a * b
    for weight, power in ((-1 / 12, 2), (1 / 120, 4), (-1 / 252, 6), (1 / 240, 8)):
        series += weight * (b**power - a**power)
    found: Floats = np.where(last > _SMALL, table[high] - table[low] + series, table[high] - table[low])
    return np.where(places == 1, 1.0 / (above + 1.0), found)
