"""Corrections of p-values for several tests at once."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats


def holm(p: Floats) -> Floats:
    """Return Holm's adjusted p-values [n] of `p` [n], in the given order.

    With p(1) ≤ … ≤ p(n) the adjusted p(i) is the largest of (n − j + 1)·p(j), j ≤ i, and at most 1. Rejecting
    where it is ≤ α keeps the chance of any wrong rejection at or under α, however the tests depend on each
    other. An empty `p` gives an empty result; ValueError where a value is no probability.

    S. Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6,
    1979.

    >>> holm(np.array([0.04, 0.01, 0.03])).round(4).tolist()
    [0.06, 0.03, 0.06]
    """
    p = _checked(p)
    n = len(p)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(n, 0, -1))
    return _in_given_order(stepped, order)


def simultaneous_level(n: int, level: float = 0.95) -> float:
    """Return the level of each of `n` intervals that hold their targets all at once with the chance `level`.

    1 − (1 − level)/n, however the intervals depend on each other.

    O. J. Dunn. Multiple comparisons among means. Journal of the American Statistical Association 56, 1961.

    >>> round(simultaneous_level(5), 6)
    0.99
    """
    return 1 - (1 - level) / n


def benjamini_hochberg(p: Floats) -> Floats:
    """Return Benjamini and Hochberg's adjusted p-values [n] of `p` [n], in the given order.

    With p(1) ≤ … ≤ p(n) the adjusted p(i) is the smallest of n/j·p(j), j ≥ i. Rejecting where it is ≤ α keeps
    the expected share of wrong ones among the rejections at or under α, for tests that are independent or
    positively dependent. An empty `p` gives an empty result; ValueError where a value is no probability.

    Y. Benjamini, Y. Hochberg. Controlling the false discovery rate. JRSS B 57, 1995.

    >>> benjamini_hochberg(np.array([0.04, 0.01, 0.03])).round(4).tolist()
    [0.04, 0.03, 0.04]
    """
    p = _checked(p)
    n = len(p)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * n / np.arange(1, n + 1)
    stepped = np.minimum.accumulate(scaled[::-1])[::-1]
    return _in_given_order(stepped, order)


def _in_given_order(adjusted: Floats, order: np.ndarray) -> Floats:
    out = np.empty(len(order))
    out[order] = np.minimum(adjusted, 1.0)
    return out


def _checked(p: Floats) -> Floats:
    p = np.asarray(p, dtype=np.float64)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise ValueError(f"expected probabilities [n] from 0 to 1, got {p!r}")
    return p
