"""A calibration on disk: what it takes to estimate true retrieval (XLR) from Backretrieval (BkR)."""

from __future__ import annotations

import math
from typing import Annotated

from msgspec import Struct, field

from xlingual.results.document import Answer
from xlingual.results.values import (
    Amount,
    Count,
    Interval,
    Level,
    Note,
    Number,
    Share,
    Size,
    Warnings,
    about,
    among,
)
from xlingual.signature import same_conventions

FORM = "angular"  # arcsin √XLR is linear in arcsin √BkR and in SIM, with slopes of at least 0
PREDICTORS = ("BkR", "SIM")
MUST_EQUAL = {
    "conventions": "the version of the conventions",
    "measure": "the measure",
    "n_source": "N",
    "n_target": "the number of targets",
    "n_pictures": "the number of distinct images",
    "sampling": "the sampling",
    "texts_per_item": "the number of texts per item",
    "images": "the image encoder",
    "similarity": "the similarity of texts",
}
NEAR = 0.02  # of the larger: numbers of distinct images within it count as equal
WITHIN = "within this data"  # the beginning of an estimate's note or of its interval's method
EXTRAPOLATION = "extrapolation to other data"
OTHER_CONDITIONS = "extrapolation to other conditions"  # of data that the calibration knows


class Conditions(Struct, frozen=True):
    """What a relation between BkR and XLR depends on: one language pair of one validation.

    Language pairs of equal `data` are one data set. With other data an estimate is an extrapolation.
    """

    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the candidates.")]
    measure: Annotated[
        str,
        about("Canonical name of the measure of BkR: R@10; of XLR too, unless `xlr_measure` says otherwise."),
    ]
    n_source: Annotated[Size, about("Source texts of a sample: N.")]
    n_target: Annotated[Size, about("Target texts of a sample.")]
    n_pictures: Annotated[Size, about("Distinct images among the sources, D = K/chance.")]
    n_seeds: Annotated[Size, about("Samples that the values are means over.")]
    sampling: Annotated[str, among("all", "size", "splits"), about("How samples were drawn.")]
    images: Annotated[str, about("Identity of the image encoder.")]
    conventions: Annotated[str, about("Version of the conventions.")]
    data: Annotated[str, about("First digits of the manifest's digest.")]
    texts_per_item: Annotated[
        str, about("Texts of an item in a language that took part, drawn at random; all: every text.")
    ] = "all"
    xlr_measure: Annotated[
        str | None,
        about(
            "Name of the measure of XLR where it differs from `measure`, as with several target texts of an "
            "item (Success@10); null where it is the same."
        ),
    ] = None
    similarity: Annotated[str, about("How texts were compared: cosine, or a repair of hubs.")] = "cosine"

    def differences(self, other: Conditions) -> list[str]:
        """Return a sentence part for each condition that `other` does not meet."""
        found = [
            f"{name} is {getattr(other, key)}, in the calibration {getattr(self, key)}"
            for key, name in MUST_EQUAL.items()
            if not equal(key, getattr(self, key), getattr(other, key))
        ]
        if other.n_seeds < self.n_seeds:  # a mean over fewer samples is noisier than those of the calibration
            found.append(f"the number of seeds is {other.n_seeds}, in the calibration {self.n_seeds}")
        return found


def units_needed(level: float) -> int:
    """Return how many units (families, data sets) a finite interval needs: ⌈1/α⌉ − 1, α = 1 − level.

    The residuals of m units promise at most m/(m + 1).
    """
    return math.ceil(1 / (1 - level) - 1e-9) - 1


def equal(key: str, one: object, other: object) -> bool:
    """Tell whether two values of a condition are the same; distinct images, drawn with items, nearly so."""
    if key == "n_pictures" and isinstance(one, int) and isinstance(other, int):
        return abs(one - other) <= NEAR * max(one, other)
    if key == "conventions":
        both = ({"task": "backretrieval", "conventions": str(version)} for version in (one, other))
        return same_conventions(*both)
    return one == other


class CalibrationPoint(Struct, frozen=True):
    """One encoder on one language pair, means over seeds."""

    cell: Annotated[Count, about("Place of its conditions in cells, from 0.")]
    encoder: Annotated[str, about("Name of the encoder.")]
    family: Annotated[str, about("Its family.")]
    BkR: Annotated[Share, about("Backretrieval.")]
    SIM: Annotated[Number | None, about("Mean similarity of images; null where the validation has none.")]
    XLR: Annotated[Share, about("True cross-lingual retrieval.")]


class CalibrationModel(Struct, frozen=True):
    """arcsin √XLR = intercept + Σ slope·x, x = arcsin √BkR, or SIM as it is; angles in radians."""

    intercept: Annotated[Number, about("Intercept.")]
    slopes: Annotated[list[Amount], about("One for each predictor.")]


class CalibrationError(Struct, frozen=True):
    """Mean absolute error of estimates for what was left out of the fit."""

    left_out: Annotated[
        str, among("encoder", "family", "direction", "pair", "data"), about("What was left out.")
    ]
    form: Annotated[str, among("angular", "line", "isotonic"), about("Form of the curve.")]
    n_groups: Annotated[Count, about("Groups left out, one after the other.")]
    n_points: Annotated[Count, about("Points estimated.")]
    value: Annotated[Number | None, about("The error.")]
    ci: Annotated[Interval | None, about("Its interval.")]
    note: Note = None
    least: Annotated[Number | None, about("Mean error of the group that was estimated best.")] = None
    most: Annotated[Number | None, about("Mean error of the group that was estimated worst.")] = None


class ErrorDifference(Struct, frozen=True):
    """How much larger a plain fit's mean absolute error is than the calibration's, paired by point."""

    left_out: Annotated[
        str, among("encoder", "family", "direction", "pair", "data"), about("What was left out.")
    ]
    form: Annotated[str, among("line", "isotonic"), about("Form of the plain fit.")]
    value: Annotated[Number | None, about("The difference.")]
    ci: Annotated[Interval | None, about("Its interval.")]
    note: Note = None


class Coverage(Struct, frozen=True):
    """How often intervals contained the true XLR, each family in turn left out of everything."""

    level: Annotated[Level, about("Nominal level.")]
    guaranteed: Annotated[Number, about("2·level - 1: what jackknife+ guarantees.")]
    value: Annotated[Number | None, about("Mean over families of the share of a family's points inside.")]
    ci: Annotated[Interval | None, about("Clopper–Pearson interval over families.")]
    width: Annotated[Number | None, about("Mean width of the intervals.")]
    n_families: Annotated[Count, about("Families.")]
    note: Note = None


class DataSet(Struct, frozen=True):
    """One data set of a calibration with its own curve: all pairs of one manifest, other encoders apart."""

    data: Annotated[str, about("First digits of the manifest's digest, as in cells.")]
    model: Annotated[CalibrationModel, about("The curve through the points of this data set.")]
    without: Annotated[
        dict[str, CalibrationModel],
        about("The same curve fitted without each family; empty where there is only one."),
    ]
    residuals: Annotated[
        list[Number],
        about(
            "Absolute residuals of its points, in their order, from the curve fitted without the point's "
            "family, in radians; empty where there is only one family."
        ),
    ]
    coverage: Annotated[Coverage, about("How often intervals within this data contained the true XLR.")]


class Calibration(Answer, frozen=True, kw_only=True, tag="xlingual/calibration/2"):
    """A fitted calibration; jackknife+ over data sets uses `residuals` and `without`."""

    made_by = "xlingual calibrate VALIDATION… --out FILE"

    form: Annotated[str, among(FORM), about("Form of the curve.")]
    predictors: Annotated[
        list[Annotated[str, among(*PREDICTORS)]], about("Names of the predictors: BkR, or BkR and SIM.")
    ]
    family: Annotated[
        str | None, about("Regular expression that gave the families; null where the validations did.")
    ]
    level: Annotated[Level, about("Level of prediction intervals.")]
    cells: Annotated[list[Conditions], about("Conditions of each language pair of each validation.")]
    points: Annotated[list[CalibrationPoint], about("One entry per encoder and language pair.")]
    model: Annotated[CalibrationModel, about("The curve through all points.")]
    without: Annotated[
        dict[str, CalibrationModel],
        about("The curve fitted without each data set; empty where there is only one."),
    ]
    residuals: Annotated[
        list[Number],
        about(
            "Absolute residual of each point from the curve fitted without its data set, in radians; empty "
            "where there is only one data set."
        ),
    ]
    data_sets: Annotated[list[DataSet], about("One entry per data set: equal data in cells.")]
    errors: Annotated[list[CalibrationError], about("Mean absolute errors by what was left out and form.")]
    differences: Annotated[
        list[ErrorDifference], about("Differences between the errors of plain fits and of the calibration.")
    ]
    warnings: Warnings = field(default_factory=list)

    @property
    def xlr_measure(self) -> str:
        """Name of the measure of XLR: R@10, Success@10, or both."""
        return " or ".join(dict.fromkeys(cell.xlr_measure or cell.measure for cell in self.cells))

    def data_of(self, point: CalibrationPoint) -> str:
        """Return the data set of a point."""
        return self.cells[point.cell].data

    def problem(self) -> str | None:
        """Return the first inconsistency between fields, None where there is none."""
        if not self.cells or not self.points:
            return "'cells' or 'points' is empty"
        if not self.predictors:
            return f"'predictors' is empty, expected some of {list(PREDICTORS)}"
        if not 0.5 < self.level < 1:
            return f"'level' is {self.level:g}, expected a value between .5 and 1"
        for name in ("XLR", *self.predictors):
            if any(getattr(point, name) is None for point in self.points):
                return f"'points' lacks a number for {name}"
        if any(not 0 <= point.cell < len(self.cells) for point in self.points):
            return "'points' names a cell that is not in 'cells'"
        if sorted(one.data for one in self.data_sets) != sorted({cell.data for cell in self.cells}):
            return "'data_sets' does not name each data of 'cells' once"
        parts = [("", self.points if len(self.data_sets) > 1 else [], self.without, self.residuals)]
        for one in self.data_sets:
            own = [point for point in self.points if self.data_of(point) == one.data]
            own = own if len({point.family for point in own}) > 1 else []  # one family: none to leave out
            parts.append((f" of data {one.data}", own, one.without, one.residuals))
        for where, points, without, residuals in parts:
            if len(residuals) != len(points):
                return f"'residuals'{where} has {len(residuals)} values for {len(points)} points"
            units = {point.family if where else self.data_of(point) for point in points}
            if missing := units - set(without):
                return f"'without'{where} lacks {min(missing)!r}"
        models = [self.model, *(one.model for one in self.data_sets)]
        models += [model for _, _, without, _ in parts for model in without.values()]
        if any(len(model.slopes) != len(self.predictors) for model in models):
            return "'slopes' does not have one value for each predictor"
        return None
