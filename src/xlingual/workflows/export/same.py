"""Whether an export gives the vectors of the model."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Vectors
from xlingual.errors import InputError

MOST = 1e-5  # largest difference that is left to rounding


def check_same(who: str, found: Vectors, expected: Vectors) -> float:
    """Return the largest difference of vectors [n, d]; raise InputError where they are not the same.

    Where numbers above 1 occur it is a share of the largest one.
    """
    if found.shape != expected.shape or not np.isfinite(found).all():
        raise InputError(
            f"{who} gives vectors of the shape {found.shape}, expected {expected.shape} and finite"
        )
    size = max(1.0, float(np.abs(expected).max(initial=0)))
    difference = float(np.abs(found - expected).max(initial=0)) / size
    if difference > MOST:
        raise InputError(
            f"{who} gives other vectors than the model (they differ by {difference:.2g}, expected {MOST:g} "
            "at most) and is not written: use model: in xlingual, or train on another base"
        )
    return difference
