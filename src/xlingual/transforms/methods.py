"""Transforms that need no translations: each is fitted from the moments of the languages.

Each function takes `FitData` and options, and returns an `Affine`. Vectors have unit length before the first
transform, and are not brought back to it between two: cosines do that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Floats
from xlingual.errors import InputError
from xlingual.transforms.affine import Affine, by_language, everywhere
from xlingual.transforms.moments import Axes, FitData, Moments, eigen

LANGUAGE, ALL = "language", "all"  # whose statistics: of each language its own, or those of all rows
_RANK = 1e-10  # variances below this part of the largest one are rounding
_MEANS = 1e-6  # means of languages that are so close, in lengths of a vector, are equal
_Map: TypeAlias = "tuple[Floats | None, Floats]"


def _each(data: FitData, by: str, fit: Callable[[Moments], _Map]) -> Affine:
    """Return what `fit` makes of the moments of each language, or of all rows."""
    if by == ALL:
        return everywhere(*fit(data.all))
    return by_language({language: fit(part) for language, part in data.moments.items()})


def centre(data: FitData, by: str = LANGUAGE) -> Affine:
    """Return x − mean: of the language, so that no language lies apart, or of all rows.

    What it takes from a language is its offset (Libovický, Rosa and Fraser, On the language neutrality of
    pre-trained multilingual representations, Findings of EMNLP 2020).
    """
    return _each(data, by, lambda part: (None, -part.mean))


def standardize(data: FitData, by: str = LANGUAGE) -> Affine:
    """Return (x − mean) / standard deviation, by dimension; one that never varies is only centred."""

    def fit(part: Moments) -> _Map:
        variance = np.diagonal(part.covariance)
        varies = variance > _RANK * variance.max(initial=0)
        scale = np.where(varies, 1 / np.sqrt(np.where(varies, variance, 1)), 1.0)
        return np.diag(scale), -part.mean * scale

    return _each(data, by, fit)


def whiten(data: FitData, by: str = LANGUAGE, shrink: float | None = None) -> Affine:
    """Return (x − mean) · C^(−1/2): all directions vary alike, and none turns more than it must (ZCA).

    C is the covariance shrunk towards a multiple of the identity, by the part `shrink`, 0 to 1; unless given
    by that of `oas`. With 0 the covariance of the vectors it is fitted on becomes the identity, on the
    directions in which they vary at all.
    """

    def fit(part: Moments) -> _Map:
        whitening = _inverse_root(part, oas(part) if shrink is None else shrink)
        return whitening, -part.mean @ whitening

    return _each(data, by, fit)


def all_but_the_top(data: FitData, k: int | None = None) -> Affine:
    """Return x − mean less its parts along the k directions in which all rows vary most.

    Mu and Viswanath, All-but-the-top: simple and effective postprocessing for word representations, ICLR
    2018; k is a hundredth of the dimensions there, which is the default, 1 at least.
    """
    whole = data.all
    dim = len(whole.mean)
    k = max(1, round(dim / 100)) if k is None else k
    keep = _without(_top(whole.axes, k, "all-but-the-top"))
    return everywhere(keep, -whole.mean @ keep)


def lir(data: FitData, k: int = 1) -> Affine:
    """Return x less its parts along the first k right singular vectors of its language's rows, not centred.

    Yang, Yang, Cer and Darve, A simple and effective method to eliminate the self language bias in
    multilingual representations, EMNLP 2021.
    """
    return by_language(
        {
            language: (_without(_top(part.axes_about_zero, k, f"lir, {language}")), np.zeros(len(part.mean)))
            for language, part in data.moments.items()
        }
    )


def lsar(data: FitData, r: int | None = None) -> Affine:
    """Return x less its part in the subspace of rank r that tells languages apart by their means.

    Xie, Zhao, Yu and Li, Discovering low-rank subspaces for language-agnostic multilingual representations,
    EMNLP 2022, algorithm 1; r is the number of directions in which means differ unless given.
    """
    parts = data.moments
    if len(parts) < 2:
        raise InputError(f"lsar needs texts in two languages at least, found {', '.join(parts)} only")
    means = np.stack([part.mean for part in parts.values()], axis=1)  # [d, L]
    ones = np.ones(means.shape[1])
    middle = means.mean(axis=1)
    left, values, right = np.linalg.svd(means - middle[:, None], full_matrices=False)
    spread = np.sqrt(max(np.trace(part.second) for part in parts.values()))  # the length of a vector
    most = int((values > _MEANS * spread).sum())
    r = most if r is None else r
    if not most or r > most:
        raise InputError(
            f"lsar: the means of the {len(parts)} languages differ in {most} directions, not in {r or 1}"
        )
    close = middle[:, None] + (left[:, :r] * values[:r]) @ right[:r]
    apart = np.linalg.pinv(close, rcond=1e-9).T @ ones
    apart /= apart @ apart
    specific = np.linalg.svd(close - apart[:, None], full_matrices=False)[0][:, :r]
    return everywhere(_without(specific), np.zeros(len(middle)))


def pca(data: FitData, d: int) -> Affine:
    """Return the d coordinates of x − mean in which all rows vary most."""
    whole = data.all
    axes = _top(whole.axes, d, "pca")
    return everywhere(axes, -whole.mean @ axes)


def oas(part: Moments) -> float:
    """Return how far a covariance is best shrunk, 0 to 1, as its own size and the number of rows say.

    The oracle approximating shrinkage (Chen, Wiesel, Eldar and Hero, Shrinkage algorithms for MMSE
    covariance estimation, IEEE Transactions on Signal Processing 58, 2010, equation 23), which needs no more
    than the covariance: here in the form of their equation for large d, as scikit-learn's OAS has it.
    """
    dim, n = len(part.mean), part.count
    scale = np.trace(part.covariance) / dim
    alpha = float(np.mean(part.covariance**2))
    above = alpha + scale**2
    below = (n + 1) * (alpha - scale**2 / dim)
    return 1.0 if below <= 0 else min(float(above / below), 1.0)


def inverse_root(covariance: Floats) -> Floats:
    """Return C^(−1/2), symmetric; directions in which nothing varies are left out."""
    return _root(*eigen(covariance))


def _inverse_root(part: Moments, share: float) -> Floats:
    """Return the same of a covariance shrunk by a share towards the mean variance, whose axes stay."""
    values, axes = part.axes
    return _root((1 - share) * values + share * np.trace(part.covariance) / len(values), axes)


def _root(values: Floats, axes: Floats) -> Floats:
    varies = values > _RANK * max(float(values[0]), 0.0)
    if not varies.any():
        raise InputError("all vectors that it is fitted on are equal: there is nothing to fit")
    root: Floats = (axes[:, varies] / np.sqrt(values[varies])) @ axes[:, varies].T
    return root


def _top(whole: Axes, k: int, who: str) -> Floats:
    """Return the first k eigenvectors, [d, k]; InputError where there are fewer directions."""
    values, axes = whole
    rank = int((values > _RANK * max(float(values[0]), 0.0)).sum())
    if k > rank:
        raise InputError(
            f"{who}: {k} directions are asked for, and the texts that it is fitted on vary in {rank}: "
            "ask for fewer, or fit it on more texts"
        )
    return axes[:, :k]


def _without(axes: Floats) -> Floats:
    """Return the projection onto what is orthogonal to orthonormal axes [d, k]."""
    kept: Floats = np.eye(len(axes)) - axes @ axes.T
    return kept
