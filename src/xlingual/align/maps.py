"""Linear maps that bring weighted pairs of vectors together, and hold on to what they cannot know.

Pairs are few and some are wrong, so a map stays near the identity where they say nothing. `x` and `y` are
float64 [m, d], `weight` [m]; `penalty` is how much the identity counts beside all pairs together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.transforms.methods import inverse_root

Solve: TypeAlias = Callable[[Floats, Floats, Floats, float], Floats]


def ridge(x: Floats, y: Floats, weight: Floats, penalty: float) -> Floats:
    """Return the W [d, d] with the least Σ weight·‖x·W − y‖² + penalty·Σ weight·‖W − I‖².

    Ridge regression (Hoerl and Kennard 1970) of y − x, so that it shrinks to the identity and not to zero.
    With fewer pairs than dimensions it is solved in the pairs.
    """
    m, d = x.shape
    root = np.sqrt(weight)[:, None]
    left, right, damped = root * x, root * (y - x), penalty * float(weight.sum())
    if m < d:
        change = left.T @ np.linalg.solve(left @ left.T + damped * np.eye(m), right)
    else:
        change = np.linalg.solve(left.T @ left + damped * np.eye(d), left.T @ right)
    return np.asarray(np.eye(d) + change, dtype=np.float64)


def procrustes(x: Floats, y: Floats, weight: Floats, penalty: float) -> Floats:
    """Return the rotation W [d, d] with the least Σ weight·‖x·W − y‖² + penalty·Σ weight·‖W − I‖².

    W = U·Vᵀ of the singular value decomposition of Σ weight·xᵀ·y + penalty·Σ weight·I (Schönemann 1966).
    """
    d = x.shape[1]
    left, _, right = np.linalg.svd((weight[:, None] * x).T @ y + penalty * float(weight.sum()) * np.eye(d))
    return np.asarray(left @ right, dtype=np.float64)


SOLVERS: Mapping[str, Solve] = {"ridge": ridge, "procrustes": procrustes}


def cca(
    x: Floats, language: Ints, left: Ints, right: Ints, weight: Floats, shrink: float
) -> dict[int, Floats]:
    """Return for each language the directions [d, d] along which pairs vary together, by how much they do.

    Canonical correlation analysis of two languages (Hotelling 1936), MAXVAR of more (Kettenring, Biometrika
    58, 1971). A language's own covariance is that of all its rows of `x` [n, d], with the share `shrink` of
    it spread over all directions alike; that between two is of the pairs left, right [p] alone. A direction
    counts by its correlation, so that those that only noise has in common fade out. Languages without pairs
    have no directions.
    """
    codes, d = [int(code) for code in np.unique(language[np.concatenate([left, right])])], x.shape[1]
    together = np.zeros((len(codes) * d, len(codes) * d))
    spans = {code: slice(place * d, (place + 1) * d) for place, code in enumerate(codes)}
    roots = {code: _root(x[language == code], shrink) for code in codes}
    for a in codes:
        together[spans[a], spans[a]] = np.eye(d)
        for b in codes:
            lines = np.flatnonzero((language[left] == a) & (language[right] == b))
            if a != b and len(lines):
                part = weight[lines] / weight[lines].sum()
                cross = (part[:, None] * x[left[lines]]).T @ x[right[lines]] * (1 - shrink)
                block = roots[a] @ cross @ roots[b]
                together[spans[a], spans[b]] += block
                together[spans[b], spans[a]] += block.T
    values, axes = np.linalg.eigh(together)
    values, axes = values[::-1][:d], axes[:, ::-1][:, :d]
    correlation = np.clip((values - 1) / max(len(codes) - 1, 1), 0, 1)
    return {code: roots[code] @ axes[spans[code]] * correlation for code in codes}


def _root(x: Floats, shrink: float) -> Floats:
    """Return the inverse square root of the shrunk covariance of centred rows."""
    covariance = x.T @ x / max(len(x), 1)
    d = len(covariance)
    damped = (1 - shrink) * covariance + max(shrink, 1e-6) * np.trace(covariance) / d * np.eye(d)
    return inverse_root(damped)
