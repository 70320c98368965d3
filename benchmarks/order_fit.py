"""The model of order confidence, fitted and judged on what was left out.

The model is a logistic regression without intercept on antisymmetric features, so that exchanging two
encoders gives 1 − p; its coefficients are at least 0. A tested pair of encoders is judged by a model that saw
neither its data set nor any encoder of its two families.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from xlingual.arrays import Floats

Rows = Mapping[str, np.ndarray]  # columns [n]
Feature = Callable[[Rows], np.ndarray]
RIDGE = 1e-3  # keeps coefficients finite where all is in order


def signed_log(x: Floats) -> Floats:
    """Return sign(x)·log(1 + |x|)."""
    return np.sign(x) * np.log1p(np.abs(x))


def fit(x: Floats, p: Floats, weight: Floats, free: Floats | None = None) -> Floats:
    """Return coefficients ≥ 0 (any sign where `free`) of features x [n, k] for probabilities p [n]."""
    k = x.shape[1]
    bounds = [(None, None) if free is not None and free[i] else (0, None) for i in range(k)]

    def loss(w: Floats) -> tuple[float, Floats]:
        z = x @ w
        value = weight @ (np.logaddexp(0, z) - p * z) + RIDGE * w @ w
        return float(value), x.T @ (weight * (expit(z) - p)) + 2 * RIDGE * w

    found: Floats = minimize(loss, np.full(k, 0.1), jac=True, bounds=bounds, method="L-BFGS-B").x
    return found


def weights(rows: Rows) -> Floats:
    """Return weights that make data sets weigh alike, and in each its cells."""
    out = np.zeros(len(rows["data"]))
    cells = np.array(
        [f"{a}|{b}|{c}" for a, b, c in zip(rows["data"], rows["pair"], rows["condition"], strict=True)]
    )
    for data in np.unique(rows["data"]):
        own = rows["data"] == data
        names, code, count = np.unique(cells[own], return_inverse=True, return_counts=True)
        out[own] = 1 / count[code] / len(names)
    return out / out.sum()


def left_out(rows: Rows, x: Floats, free: Floats | None = None, shift: bool = True) -> Floats:
    """Return p of each row by a model that saw neither its data set nor its two families."""
    p, weight = rows["p"], weights(rows)
    out = np.full(len(p), np.nan)
    pairs = np.array(
        ["|".join(sorted((a, b))) for a, b in zip(rows["family a"], rows["family b"], strict=True)]
    )
    for data in np.unique(rows["data"]):
        other = rows["data"] != data
        for name in np.unique(pairs[~other]):
            a, b = name.split("|")
            families = np.isin(rows["family a"], (a, b)) | np.isin(rows["family b"], (a, b))
            train = other & ~families
            here = ~other & (pairs == name)
            w = fit(x[train], p[train], weight[train] / weight[train].sum(), free)
            out[here] = expit(x[here] @ w)
    return out


def losses(p: Floats, predicted: Floats, weight: Floats) -> tuple[float, float]:
    """Return log loss and Brier score."""
    q = np.clip(predicted, 1e-6, 1 - 1e-6)
    weight = weight / weight.sum()
    return (
        float(weight @ -(p * np.log(q) + (1 - p) * np.log(1 - q))),
        float(weight @ (p * (1 - q) ** 2 + (1 - p) * q**2)),
    )


def resampled(rows: Rows, inside: np.ndarray, replicates: int = 500) -> tuple[float, float]:
    """Return the 95 % interval of the mean over data sets of how often rows are right.

    Data sets are drawn with replacement, and in each its encoders: a row counts as often as both its own.
    """
    rng = np.random.default_rng(11)
    tables = []
    for data in np.unique(rows["data"]):
        own = inside & (rows["data"] == data)
        names, code = np.unique(np.concatenate([rows["a"][own], rows["b"][own]]), return_inverse=True)
        a, b = np.split(code, 2)
        shape = (len(names), len(names))
        n, right = np.zeros(shape), np.zeros(shape)
        np.add.at(n, (a, b), 1.0)
        np.add.at(right, (a, b), rows["p"][own] > 0.5)
        tables.append((n, right))
    found = []
    for _ in range(replicates):
        means = []
        for place in rng.integers(len(tables), size=len(tables)):
            n, right = tables[place]
            times = (
                np.bincount(rng.integers(len(n), size=len(n)), minlength=len(n)) if len(n) else np.zeros(0)
            )
            total = times @ n @ times
            if total:
                means.append(times @ right @ times / total)
        found.append(np.mean(means) if means else np.nan)
    low, high = np.nanquantile(found, [0.025, 0.975])
    return float(low), float(high)
