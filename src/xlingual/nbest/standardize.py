"""The spread of features within lists: the unit in which weights can be compared."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats
from xlingual.nbest.lists import NBestLists

_ROUNDING = 1e-12  # of a feature's size: less than that is no spread


def within_list_spread(lists: NBestLists) -> Floats:
    """Return the standard deviation of each feature within its list, [f]; 0 where it never differs.

    Deviations are taken from the mean of the hypothesis' own list, and put together over all lists: what
    sentences differ in, such as their length, moves no hypothesis above another of its list.
    """
    sums = np.add.reduceat(lists.features, lists.offsets[:-1], axis=0)
    means = sums / lists.sizes[:, None]
    deviations = lists.features - means[lists.sentence]
    most = np.abs(deviations).max(axis=0, initial=0.0)
    unit = np.where(most > 0, most, 1.0)  # so that squares of large values stay finite
    spread: Floats = unit * np.sqrt(((deviations / unit) ** 2).mean(axis=0))
    spread[spread <= _ROUNDING * np.abs(lists.features).max(axis=0, initial=0.0)] = 0.0
    return spread


def scales(spread: Floats, standardize: bool) -> Floats:
    """Return what features are divided by before tuning, [f]: their spread, or 1."""
    return np.where(spread > 0, spread, 1.0) if standardize else np.ones_like(spread)
