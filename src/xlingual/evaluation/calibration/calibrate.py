"""Calibration: from validations, the true retrieval (XLR) that a Backretrieval (BkR) stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from xlingual.arrays import Floats
from xlingual.errors import InputError, listed
from xlingual.evaluation.calibration.errors import coverage, left_out_errors
from xlingual.evaluation.calibration.model import design, fit, leave_out
from xlingual.evaluation.similarities import COSINE
from xlingual.requests import answers
from xlingual.requests.validating import CalibrateRequest
from xlingual.results.calibration import (
    FORM,
    MUST_EQUAL,
    PREDICTORS,
    Calibration,
    CalibrationModel,
    CalibrationPoint,
    Conditions,
    DataSet,
    equal,
    units_needed,
)
from xlingual.results.validation import EncoderScores, PairValidation, Validation

LEVEL = 0.9  # of prediction intervals; .95 would need 19 families
FEWEST = 3  # encoders and families
_ROUNDING = 1e-9
# with other values BkR or XLR is another quantity
_SAME = ("measure", "n_source", "n_target", "n_pictures", "conventions", "similarity")
_RANGES = {"XLR": (0.0, 1.0), "BkR": (0.0, 1.0), "SIM": (-1.0, 1.0)}


@answers(CalibrateRequest)
def calibrate(
    validations: Sequence[Validation | str | Path],
    *,
    family: str | None = None,
    level: float = LEVEL,
    with_sim: bool = False,
) -> Calibration:
    """Fit XLR given BkR to one or several validations.

    Args:
        validations: records, or their files or folders; measure, N and conventions must be equal.
        family: a regular expression; what it matches in an encoder's name (its first group where it has one)
            is the family. None takes the families of the validations.
        level: of prediction intervals; jackknife+ guarantees 2·level − 1.
        with_sim: use SIM beside BkR, with a slope of at least 0.

    Raises:
        InputError: fewer than three encoders or families, constant values, conditions that are missing or
            cannot be mixed.

    """
    if not 0.5 < level < 1:
        raise InputError(f"level {level:g} is not between .5 and 1: give for example .9")
    predictors = list(PREDICTORS) if with_sim else ["BkR"]
    read = [
        (f"validation {place}", one) if isinstance(one, Validation) else (str(one), Validation.read(one))
        for place, one in enumerate(validations, 1)
    ]
    cells, points, warnings = _collected(read, _pattern(family), predictors)
    _refuse(cells, points)
    x = design({name: [getattr(point, name) for point in points] for name in predictors}, predictors)
    bkr, xlr = np.array([point.BkR for point in points]), np.array([point.XLR for point in points])
    groups = _groupings(cells, points)
    errors, differences = left_out_errors(x, bkr, xlr, groups)
    data, families = np.array(groups["data"]), np.array(groups["family"])
    model, without, residuals = _fitted(x, xlr, data)
    data_sets = []
    for name in dict.fromkeys(data.tolist()):
        own = x[data == name], xlr[data == name], families[data == name]
        data_sets.append(DataSet(name, *_fitted(*own), coverage(*own[:2], own[2].tolist(), level)))
    warnings += _flat(model, predictors)
    for one in data_sets:
        if (n := one.coverage.n_families) < units_needed(level):
            reason = too_few(n, "families of encoders", "it", level)
            warnings.append(f"no interval within data {one.data}: {reason}")
    return Calibration(
        form=FORM,
        predictors=predictors,
        family=family,
        level=level,
        cells=cells,
        points=points,
        model=model,
        without=without,
        residuals=residuals,
        data_sets=data_sets,
        errors=errors,
        differences=differences,
        warnings=warnings,
    )


def too_few(found: int, unit: str, where: str, level: float) -> str:
    """Return why no interval can be given."""
    return f"jackknife+ at level {level:g} needs at least {units_needed(level)} {unit}, {where} has {found}"


def _fitted(
    x: Floats, xlr: Floats, units: np.ndarray
) -> tuple[CalibrationModel, dict[str, CalibrationModel], list[float]]:
    """Return the model, those without each unit and the residuals from them; of one unit none is left out."""
    several = len(set(units.tolist())) > 1
    without, residuals = leave_out(x, xlr, units.tolist()) if several else ({}, np.empty(0))
    return fit(x, xlr), without, [float(value) for value in residuals]


def sampling_kind(sample: str) -> str:
    """Return all, size or splits for the sample of a signature ("all#0", "500", "splits-1f…")."""
    kind = sample.partition("#")[0]
    return "splits" if kind.startswith("splits") else "size" if kind.isdigit() else kind


def _flat(model: CalibrationModel, predictors: Sequence[str]) -> list[str]:
    """Return which predictors the estimate does not follow, in words."""
    slopes = dict(zip(predictors, model.slopes, strict=True))
    if not any(model.slopes):
        named = " or ".join(predictors)
        return [f"XLR does not rise with {named} in these validations: every estimate is the same"]
    return [
        f"{name} adds nothing: beside {other} its slope is 0, so estimates do not follow it"
        for name, other in (("BkR", "SIM"), ("SIM", "BkR"))
        if slopes.get(name) == 0.0
    ]


def _pattern(family: str | None) -> re.Pattern[str] | None:
    try:
        return None if family is None else re.compile(family)
    except re.error as error:
        raise InputError(f"--family {family!r} is not a regular expression ({error})") from error


def _collected(
    validations: Sequence[tuple[str, Validation]], pattern: re.Pattern[str] | None, predictors: Sequence[str]
) -> tuple[list[Conditions], list[CalibrationPoint], list[str]]:
    cells: list[Conditions] = []
    points: list[CalibrationPoint] = []
    left_out: list[str] = []
    given: dict[tuple[str, str, str], str] = {}
    for name, validation in validations:
        for pair in validation.pairs:
            cell = _conditions(name, pair)
            key = cell.data, cell.source, cell.target
            if key in given:
                raise InputError(
                    f"{name}: {cell.source}-{cell.target} of data {cell.data} is in {given[key]} too: the "
                    "same items must not count twice, give one of them"
                )
            given[key] = name
            cells.append(cell)
            for encoder in pair.encoders:
                _check(f"{name}: {encoder.encoder} ({cell.source}-{cell.target})", encoder)
                point = _point(len(cells) - 1, encoder, pattern, predictors)
                if point is None:
                    left_out.append(f"{encoder.encoder} ({cell.source}-{cell.target})")
                else:
                    points.append(point)
    warnings = [f"left out, without a value: {listed(left_out)}"] if left_out else []
    return cells, points, warnings


def _check(where: str, encoder: EncoderScores) -> None:
    """Raise InputError for a mean that is no number, or one that its measure cannot have."""
    for name, (low, high) in _RANGES.items():
        mean = encoder.scores[name].mean
        if mean is None:
            continue
        if isinstance(mean, bool) or not isinstance(mean, int | float) or not low <= mean <= high:
            raise InputError(
                f"{where}: the mean of {name} is {mean!r}, expected a number from {low:g} to {high:g}: run "
                "xlingual validate backretrieval again"
            )


def _conditions(name: str, pair: PairValidation) -> Conditions:
    needed = ("data", "sample", "images", "measure", "conventions")
    missing = [key for key in needed if key not in pair.conditions]
    if missing:
        raise InputError(
            f"{name}: {pair.source}-{pair.target} lacks the condition {listed(missing)}: "
            "run xlingual validate backretrieval again"
        )
    return Conditions(
        source=pair.source,
        target=pair.target,
        measure=pair.conditions["measure"],
        n_source=pair.n_source,
        n_target=pair.n_target,
        n_pictures=round(pair.k / pair.chance) if pair.chance else pair.n_pictures,
        n_seeds=pair.n_seeds,
        sampling=sampling_kind(pair.conditions["sample"]),
        images=pair.conditions["images"],
        conventions=pair.conditions["conventions"],
        data=pair.conditions["data"],
        texts_per_item=pair.conditions.get("texts-per-item", "all"),
        xlr_measure=pair.conditions.get("xlr"),
        similarity=pair.conditions.get("similarity", COSINE),
    )


def _point(
    cell: int, encoder: EncoderScores, pattern: re.Pattern[str] | None, predictors: Sequence[str]
) -> CalibrationPoint | None:
    means = {name: encoder.scores[name].mean for name in ("XLR", *PREDICTORS)}
    bkr, xlr = means["BkR"], means["XLR"]
    if bkr is None or xlr is None or any(means[name] is None for name in predictors):
        return None
    family = encoder.family if pattern is None else family_of(encoder.encoder, pattern)
    return CalibrationPoint(cell, encoder.encoder, family, bkr, means["SIM"], xlr)


def family_of(encoder: str, pattern: re.Pattern[str]) -> str:
    """Return the match of the pattern in a name, its first group where it has one; else the whole name."""
    found = pattern.search(encoder)
    if found is None:
        return encoder
    return (found.group(1) if pattern.groups else found.group()) or encoder


def _refuse(cells: Sequence[Conditions], points: Sequence[CalibrationPoint]) -> None:
    """Raise InputError where no calibration can be fitted."""
    for key in _SAME:
        if any(not equal(key, getattr(cells[0], key), getattr(cell, key)) for cell in cells):
            values = sorted({str(getattr(cell, key)) for cell in cells})
            sized = key in ("n_source", "n_target")
            remedy = "validate again with an equal --sample-size" if sized else "fit each apart"
            raise InputError(f"the validations differ in {MUST_EQUAL[key]} ({listed(values)}): {remedy}")
    by_data = {cell.data: cell.images for cell in cells}
    for cell in cells:
        if cell.images != by_data[cell.data]:
            raise InputError(
                f"data {cell.data} is seen by two image encoders ({cell.images}, {by_data[cell.data]}): a "
                "calibration of one is wrong for the other, fit each apart"
            )
    for what, found in (("encoders", {p.encoder for p in points}), ("families", {p.family for p in points})):
        if len(found) < FEWEST:
            raise InputError(
                f"a calibration needs at least {FEWEST} {what} with values, found {len(found)} "
                f"({listed(sorted(found))}): validate more encoders, or give another --family"
            )
    for name in ("BkR", "XLR"):
        values_of = [getattr(point, name) for point in points]
        if max(values_of) - min(values_of) <= _ROUNDING:
            raise InputError(
                f"{name} is {values_of[0]:.3f} for every encoder, so nothing can be fitted: validate "
                "encoders of different quality"
            )


def _groupings(
    cells: Sequence[Conditions], points: Sequence[CalibrationPoint]
) -> Mapping[str, Sequence[object]]:
    """Return the group of each point for each way of leaving out.

    Both directions of a language pair are one pair: the same texts, so one would give the other away.
    """
    pairs = [
        (cells[point.cell].data, frozenset({cells[point.cell].source, cells[point.cell].target}))
        for point in points
    ]
    return {
        "encoder": [point.encoder for point in points],
        "family": [point.family for point in points],
        "direction": [point.cell for point in points],
        "pair": pairs,
        "data": [cells[point.cell].data for point in points],
    }
