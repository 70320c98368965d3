"""The form of a calibration and its intervals: a line between angles, and jackknife+ over units.

A share p is turned into the angle arcsin √p, whose sampling error hardly depends on p, and the angle of XLR
is a line in the angle of BkR: two parameters, monotone, within 0 and 1, and no point is fixed in advance.

What is left out together is a unit: a family of encoders within one data set, a data set among several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xlingual.arrays import Floats
from xlingual.results.calibration import CalibrationModel, units_needed

RIGHT_ANGLE = np.pi / 2
_ROUNDING = 1e-9


def angle(share: Floats) -> Floats:
    """Return arcsin √share in radians, 0 to π/2; shares outside 0 to 1 are taken to be at the bound."""
    return np.asarray(np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0))))


def share(angles: Floats) -> Floats:
    """Return sin² of the angles, those outside 0 to π/2 taken to be at the bound."""
    return np.asarray(np.sin(np.clip(angles, 0.0, RIGHT_ANGLE)) ** 2)


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
    used = spread > _ROUNDING  # a column that does not vary gives no slope
    slopes = np.zeros(x.shape[1])
    if used.any():
        scaled = (x[:, used] - centre[used]) / spread[used]
        slopes[used] = nnls(scaled, y - y.mean())[0] / spread[used]
    return CalibrationModel(float(y.mean() - centre @ slopes), [float(slope) for slope in slopes])


def predicted_angle(model: CalibrationModel, x: Floats) -> Floats:
    """Return the angle of XLR for each row of x [n, p], within 0 and π/2."""
    return np.asarray(np.clip(model.intercept + x @ np.array(model.slopes), 0.0, RIGHT_ANGLE))


def leave_out(x: Floats, xlr: Floats, units: Sequence[str]) -> tuple[dict[str, CalibrationModel], Floats]:
    """Return the model without each unit, and each point's residual [n] from that without its own."""
    names = np.array(units)
    models = {name: fit(x[names != name], xlr[names != name]) for name in dict.fromkeys(units)}
    own = np.array([predicted_angle(models[name], x[[i]])[0] for i, name in enumerate(units)])
    return models, np.abs(angle(xlr) - own)


def jackknife_plus(
    models: Mapping[str, CalibrationModel],
    residuals: Sequence[float] | Floats,
    units: Sequence[str],
    x: Floats,
    level: float,
) -> tuple[float, float] | None:
    """Return the interval of XLR at one row x [p], or None where there are too few units for one.

    Each unit has the same weight, divided among its points (Lee, Barber and Willett 2023; with one point
    per unit it is jackknife+ of Barber, Candès, Ramdas and Tibshirani 2021). If units are exchangeable, it
    holds the truth of a new unit with probability 2·level − 1 or more, and typically with `level`.
    """
    names, counts = np.unique(np.array(units), return_counts=True)
    if len(names) < units_needed(level):
        return None
    weights = 1 / counts[np.searchsorted(names, np.array(units))]
    centres = np.array([predicted_angle(models[name], x[None, :])[0] for name in units])
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
