"""Krippendorff's alpha: how far several observers agree beyond chance, whatever is missing."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats, Ints


def coincidences(counts: Ints) -> Floats:
    """Return the coincidence matrices [n, C, C] of n units.

    `counts` [n, C] says how many observers gave a unit each of C values. A unit with m values adds each
    ordered pair of them with the weight 1/(m − 1); one with fewer than two adds nothing.

    >>> coincidences(np.array([[1, 1], [0, 1]])).tolist()
    [[[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]
    """
    counts = np.asarray(counts, dtype=np.float64)
    values = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :]
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    weights: Floats = np.where(values >= 2, 1 / np.maximum(values - 1, 1), 0.0)
    found: Floats = pairs * weights[:, None, None]
    return found


def ordinal_alpha(together: Floats) -> Floats:
    """Return alpha [...] for ordered values, from sums of coincidence matrices [..., C, C].

    α = 1 − (n − 1)·Σ o_ck·δ²_ck / Σ n_c·n_k·δ²_ck over values c and k, with n_c = Σ_k o_ck, n = Σ n_c and the
    ordinal difference δ_ck = Σ_{g from c to k} n_g − (n_c + n_k)/2: how many values lie between the two, half
    of their own counted. 1 is agreement, 0 chance; not a number where all values are equal, or none are
    paired.

    K. Krippendorff. Computing Krippendorff's Alpha-Reliability. University of Pennsylvania, 2011.
    """
    frequency = together.sum(axis=-1)
    n = frequency.sum(axis=-1)
    place = np.cumsum(frequency, axis=-1) - frequency / 2
    squared = (place[..., :, None] - place[..., None, :]) ** 2
    observed = np.sum(together * squared, axis=(-2, -1))
    expected = np.sum(frequency[..., :, None] * frequency[..., None, :] * squared, axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(expected > 0, 1 - (n - 1) * observed / expected, np.nan)
    return found
