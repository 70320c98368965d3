"""The form of a calibration and its intervals: a line between angles, and jackknife+ over families.

A share p is turned into the angle arcsin √p, whose sampling error hardly depends on p, and the angle of XLR
is a line in the angle of BkR: two parameters, monotone, within 0 and 1, and no point is fixed in advance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xlingual.records import Floats
from xlingual.results.calibration import CalibrationModel

RIGHT_ANGLE = np.pi / 2
_ROUNDING = 1e-9


def angle(share: Floats) -> Floats:
    """Return arcsin √share in radians, 0 to π/2; shares outside 0 to 1 are taken to be at the bound."""
    found: Floats = np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0)))
    return found


def share(angles: Floats) -> Floats:
    """Return sin² of the angles, those outside 0 to π/2 taken to be at the bound."""
    found: Floats = np.sin(np.clip(angles, 0.0, RIGHT_ANGLE)) ** 2
    return found


def design(values: Mapping[str, Sequence[float | None]], predictors: Sequence[str]) -> Floats:
    """Return the columns of the model, float64 [n, predictors]: the angle of BkR, SIM as it is."""
    columns = [np.array(values[name], dtype=np.float64) for name in predictors]
    return np.stack(
        [angle(c) if name == "BkR" else c for name, c in zip(predictors, columns, strict=True)], axis=1
    )


def fit(x: Floats, xlr: Floats) -> CalibrationModel:
    """Fit the angle of XLR [n] by least squares on the columns x [n, p], with slopes of at least 0."""
    from scipy.optimize import nnls

    y = angle(xlr)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    used = spread > _ROUNDING  # a column that does not vary tells nothing
    slopes = np.zeros(x.shape[1])
    if used.any():
        scaled = (x[:, used] - centre[used]) / spread[used]
        slopes[used] = nnls(scaled, y - y.mean())[0] / spread[used]
    return CalibrationModel(float(y.mean() - centre @ slopes), [float(slope) for slope in slopes])


def predicted_angle(model: CalibrationModel, x: Floats) -> Floats:
    """Return the angle of XLR for each row of x [n, p], within 0 and π/2."""
    found: Floats = np.clip(model.intercept + x @ np.array(model.slopes), 0.0, RIGHT_ANGLE)
    return found


def families_needed(level: float) -> int:
    """Return how many families jackknife+ needs for a finite interval: ⌈1/α⌉ − 1, α = 1 − level."""
    return int(np.ceil(1 / (1 - level) - _ROUNDING)) - 1


def leave_families_out(
    x: Floats, xlr: Floats, families: Sequence[str]
) -> tuple[dict[str, CalibrationModel], Floats]:
    """Return the model without each family, and each point's residual [n] from that without its own."""
    names = np.array(families)
    models = {name: fit(x[names != name], xlr[names != name]) for name in dict.fromkeys(families)}
    own = np.array([predicted_angle(models[name], x[[i]])[0] for i, name in enumerate(families)])
    return models, np.abs(angle(xlr) - own)


def jackknife_plus(
    models: Mapping[str, CalibrationModel],
    residuals: Sequence[float] | Floats,
    families: Sequence[str],
    x: Floats,
    level: float,
) -> tuple[float, float] | None:
    """Return the interval of XLR at one row x [p], or None where there are too few families for one.

    Each family has the same weight, divided among its points (Lee, Barber and Willett 2023; with one point
    per family it is jackknife+ of Barber, Candès, Ramdas and Tibshirani 2021). If families are exchangeable,
    it holds the truth of an encoder of a new family with probability 2·level − 1 or more.
    """
    names, counts = np.unique(np.array(families), return_counts=True)
    if len(names) < families_needed(level):
        return None
    weights = 1 / counts[np.searchsorted(names, np.array(families))]
    centres = np.array([predicted_angle(models[name], x[None, :])[0] for name in families])
    spread = np.asarray(residuals)
    # a value is outside where (1 − α)(K + 1) of the weight lies beyond it
    beyond = (1 - level) * (len(names) + 1) - 1
    low = _weighted_end(centres - spread, weights, beyond)
    high = -_weighted_end(-(centres + spread), weights, beyond)
    ends = share(np.array([low, high]))
    return float(ends[0]), float(ends[1])


def _weighted_end(values: Floats, weights: Floats, beyond: float) -> float:
    """Return the smallest value at or below which lies more than `beyond` of the weight."""
    order = np.argsort(values, kind="stable")
    place = np.searchsorted(np.cumsum(weights[order]), beyond + _ROUNDING, side="right")
    return float(values[order[min(int(place), len(order) - 1)]])
