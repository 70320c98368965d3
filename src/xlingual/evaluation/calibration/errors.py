"""How far a calibration is off for data it has not seen, and how often its intervals hold the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.calibration.model import (
    fit,
    jackknife_plus,
    leave_out,
    predicted_angle,
    share,
)
from xlingual.results import Interval
from xlingual.results.calibration import FORM, CalibrationError, Coverage, ErrorDifference, units_needed
from xlingual.stats import mean_interval

LEVEL = 0.95  # of the intervals of errors, their differences, and coverage
FEWEST_GROUPS = 3  # an interval of an error needs so many groups
Predict = Callable[[Floats, Floats, Floats], Floats]  # (x, XLR, x of the points left out) → XLR


def angular(x: Floats, xlr: Floats, at: Floats) -> Floats:
    """Return estimates for the rows `at` by the calibration's form, fitted to x [n, p] and XLR [n]."""
    return share(predicted_angle(fit(x, xlr), at))


def line(bkr: Floats, xlr: Floats, at: Floats) -> Floats:
    """Return the estimates of a straight line XLR = a + b·BkR; bkr is [n, 1]."""
    columns = np.column_stack([np.ones(len(bkr)), bkr])
    return np.asarray(np.column_stack([np.ones(len(at)), at]) @ np.linalg.lstsq(columns, xlr, rcond=None)[0])


def isotonic(bkr: Floats, xlr: Floats, at: Floats) -> Floats:
    """Return the estimates of an isotonic regression of XLR on BkR, constant beyond the last points."""
    from sklearn.isotonic import IsotonicRegression

    return np.asarray(IsotonicRegression(out_of_bounds="clip").fit(bkr[:, 0], xlr).predict(at[:, 0]))


def absolute_errors(predict: Predict, x: Floats, xlr: Floats, groups: Ints, among: Ints) -> Floats:
    """Return the absolute error of each point [n], estimated from the other groups of the same `among` [n].

    NaN where there is nothing to estimate it from.
    """
    found = np.full(len(xlr), np.nan)
    for group, part in dict.fromkeys(zip(groups.tolist(), among.tolist(), strict=True)):
        out = (groups == group) & (among == part)
        rest = (groups != group) & (among == part)
        if rest.any():
            found[out] = np.abs(predict(x[rest], xlr[rest], x[out]) - xlr[out])
    return found


def left_out_errors(
    x: Floats, bkr: Floats, xlr: Floats, groupings: Mapping[str, Sequence[object]]
) -> tuple[list[CalibrationError], list[ErrorDifference]]:
    """Return errors and paired differences to plain fits, for each way of leaving out.

    `groupings` maps encoder, family, direction, pair, data to the group of each point. A data set that is
    left out is estimated from the others; all else from the other points of the same data set. Where encoders
    are left out, the unit of the intervals is the family; else it is what is left out.
    """
    errors: list[CalibrationError] = []
    differences: list[ErrorDifference] = []
    family, data = codes(groupings["family"]), codes(groupings["data"])
    for left_out, labels in groupings.items():
        groups = codes(labels)
        among = np.zeros_like(data) if left_out == "data" else data
        values = absolute_errors(angular, x, xlr, groups, among)
        known = np.isfinite(values)
        if not known.any():
            continue
        units = family if left_out == "encoder" else groups
        found = {FORM: values}
        for plain in (line, isotonic):
            found[plain.__name__] = absolute_errors(plain, bkr[:, None], xlr, groups, among)
        errors += [
            _error(left_out, form, own[known], groups[known], units[known]) for form, own in found.items()
        ]
        for form, own in found.items():
            if form != FORM:
                gap = (own - values)[known]
                ci, note = _interval(gap, units[known])
                differences.append(ErrorDifference(left_out, form, float(gap.mean()), ci, note))
    return errors, differences


def codes(labels: Sequence[object]) -> Ints:
    """Return a number for each label, equal for equal labels, in order of appearance."""
    known: dict[object, int] = {}
    return np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.int64)


def _error(left_out: str, form: str, values: Floats, groups: Ints, units: Ints) -> CalibrationError:
    by_group = [float(values[groups == group].mean()) for group in np.unique(groups)]
    within = values.max() <= 1  # a straight line leaves 0 to 1, so its error may exceed 1
    ci, note = _interval(values, units, bounds=(0.0, 1.0) if within else None)
    if ci is not None:
        ci = replace(ci, low=max(ci.low, 0.0))
    return CalibrationError(
        left_out=left_out,
        form=form,
        n_groups=len(by_group),
        n_points=len(values),
        value=float(values.mean()),
        ci=ci,
        note=note,
        least=min(by_group),
        most=max(by_group),
    )


def _interval(
    values: Floats, units: Ints, bounds: tuple[float, float] | None = None
) -> tuple[Interval | None, str | None]:
    """Return (interval of the mean, None), or (None, why there is none)."""
    n = len(np.unique(units))
    if n < FEWEST_GROUPS:
        return None, f"no interval: {n} groups, at least {FEWEST_GROUPS} are needed"
    return mean_interval(values, [units], bounds=bounds, level=LEVEL), None


def coverage(x: Floats, xlr: Floats, families: Sequence[str], level: float) -> Coverage:
    """Estimate how often intervals hold the truth: each family in turn has no part in fit or residuals."""
    names = list(dict.fromkeys(families))
    needed = units_needed(level) + 1
    if len(names) < needed:
        note = (
            f"not estimated: {len(names)} families, and leaving one out must leave {needed - 1} for an "
            f"interval at level {level:g}"
        )
        return Coverage(level, 2 * level - 1, None, None, None, len(names), note)
    of, shares, widths = np.array(families), [], []
    for name in names:
        kept = of != name
        rest = [family for family in families if family != name]
        models, residuals = leave_out(x[kept], xlr[kept], rest)
        ends = [jackknife_plus(models, residuals, rest, row, level) for row in x[~kept]]
        known = np.array([end for end in ends if end is not None])  # all: the families suffice
        shares.append(float(np.mean((known[:, 0] <= xlr[~kept]) & (xlr[~kept] <= known[:, 1]))))
        widths.append(float(np.mean(known[:, 1] - known[:, 0])))
    value = float(np.mean(shares))
    ci = clopper_pearson(float(np.sum(shares)), len(shares))
    return Coverage(level, 2 * level - 1, value, ci, float(np.mean(widths)), len(names))


def clopper_pearson(hits: float, n: int, level: float = LEVEL) -> Interval:
    """Return the exact binomial interval of hits out of n; shares of a hit (fractions) are allowed.

    Shares between 0 and 1 vary less than hits of the same mean, so for them it is on the wide side.
    """
    from scipy.stats import beta

    tail = (1 - level) / 2
    low = float(beta.ppf(tail, hits, n - hits + 1)) if hits > 0 else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, n - hits)) if hits < n else 1.0
    return Interval(low, high, level, "Clopper–Pearson over families")
