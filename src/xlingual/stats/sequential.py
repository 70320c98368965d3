"""Looking at data before they are complete, without wrong findings becoming more frequent.

Each look has its own level. The levels follow from how much error may be *spent* up to a fraction of
the planned data: little early, so that almost all is left for the end. Looks need not be equally spaced, and
need not be known in advance.

K. K. G. Lan, D. L. DeMets. Discrete sequential boundaries for clinical trials. Biometrika 70, 1983.
P. Armitage, C. K. McPherson, B. C. Rowe. Repeated significance tests on accumulating data. JRSS A 132, 1969.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Floats

CLOSEST = 0.01  # fractions of two looks: nearer ones would be one
_NODES = 256
_FARTHEST = 37.0  # standard errors; what is beyond has no chance that a float can hold


def spent(fraction: float, alpha: float = 0.05) -> float:
    """Return the two-sided error that may be spent up to a fraction (0 to 1) of the planned data.

    Lan and DeMets' function like O'Brien and Fleming's bounds, on each side half of `alpha`:
    2·2·(1 − Φ(z/√t)), z the normal quantile of 1 − alpha/4.

    >>> round(spent(0.5), 5), spent(1.0)
    (0.00305, 0.05)
    """
    if fraction >= 1:
        return alpha
    return 4 * _above(_quantile(alpha / 4) / math.sqrt(fraction))


def bounds(fractions: Sequence[float], alpha: float = 0.05) -> list[float]:
    """Return how many standard errors from zero a difference must be at each look, by what may be spent.

    `fractions` rise strictly, by `CLOSEST` at least, from above 0 up to 1; otherwise ValueError.
    """
    _check(fractions)
    found: list[float] = []
    before = 0.0
    walk = _Walk()
    for fraction in fractions:
        now = spent(fraction, alpha)
        found.append(walk.bound(fraction, now - before))
        walk = walk.on(fraction, found[-1])
        before = now
    return found


def levels(fractions: Sequence[float], alpha: float = 0.05) -> list[float]:
    """Return the two-sided level at which each look tests: the p of a difference on its bound."""
    return [2 * _above(bound) for bound in bounds(fractions, alpha)]


def crossing(fractions: Sequence[float], limits: Sequence[float]) -> float:
    """Return the chance that any look finds |z| beyond its limit where there is no difference."""
    _check(fractions)
    walk, total = _Walk(), 0.0
    for fraction, limit in zip(fractions, limits, strict=True):
        total += walk.beyond(fraction, limit)
        walk = walk.on(fraction, limit)
    return total


class _Walk:
    """z·√t of a study that no look has stopped, as a density on nodes; at first it is at 0, at t = 0."""

    def __init__(self, t: float = 0.0, nodes: Floats | None = None, weights: Floats | None = None) -> None:
        self.t = t
        self.nodes = np.zeros(1) if nodes is None else nodes
        self.weights = np.ones(1) if weights is None else weights  # density times width

    def beyond(self, t: float, limit: float) -> float:
        """Return the chance of having come so far and being beyond ± limit standard errors at `t`."""
        from scipy.special import ndtr

        far, step = limit * math.sqrt(t), math.sqrt(t - self.t)
        out = ndtr((self.nodes - far) / step) + ndtr((-self.nodes - far) / step)
        return float(self.weights @ out)

    def bound(self, t: float, error: float) -> float:
        """Return the limit beyond which the chance at `t` is `error`."""
        from scipy.optimize import brentq

        if self.beyond(t, _FARTHEST) >= error:
            return _FARTHEST
        return float(brentq(lambda limit: self.beyond(t, limit) - error, 0.0, _FARTHEST, xtol=1e-10))

    def on(self, t: float, limit: float) -> _Walk:
        """Return the walk at `t`, of what is within the limit there."""
        step = math.sqrt(t - self.t)
        far = min(limit * math.sqrt(t), 9 * math.sqrt(t))  # beyond 9 standard errors nothing is left
        x, width = np.polynomial.legendre.leggauss(_NODES)
        nodes = x * far
        apart = (nodes[:, None] - self.nodes[None, :]) / step
        density = np.exp(-(apart**2) / 2) @ self.weights / (step * math.sqrt(2 * math.pi))
        return _Walk(t, nodes, density * width * far)


def _check(fractions: Sequence[float]) -> None:
    before = 0.0
    for fraction in fractions:
        if not before + CLOSEST <= fraction <= 1:
            raise ValueError(
                f"expected fractions that rise from above 0 to 1, by {CLOSEST:g} at least: {[*fractions]}"
            )
        before = fraction


def _above(z: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(-z))


def _quantile(tail: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(tail))
