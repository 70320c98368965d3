"""A calibration on disk: all that is needed to estimate true retrieval (XLR) from Backretrieval (BkR)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xlingual.errors import InputError
from xlingual.results.evaluation import Interval
from xlingual.results.files import read_json, write_json
from xlingual.results.reading import Record, fields_of, record
from xlingual.signature import same_conventions

SCHEMA = "xlingual/calibration/2"
FORM = "angular"  # arcsin √XLR is linear in arcsin √BkR and in SIM, with slopes of at least 0
PREDICTORS = ("BkR", "SIM")
MUST_EQUAL = {
    "conventions": "the version of the conventions",
    "measure": "the measure",
    "n_source": "N",
    "n_target": "the number of targets",
    "n_pictures": "the number of distinct pictures",
    "sampling": "the sampling",
    "images": "the image encoder",
}
NEAR = 0.02  # of the larger: numbers of distinct pictures within it count as equal
WITHIN = "within this data"  # how the note, or the method of the interval, of an estimate begins
EXTRAPOLATION = "extrapolation to other data"
OTHER_CONDITIONS = "extrapolation to other conditions"  # of data that the calibration knows
MADE_BY = "xlingual calibrate VALIDATION… --out FILE"


@dataclass(frozen=True)
class Conditions:
    """What a relation between BkR and XLR depends on: one language pair of one validation.

    Language pairs of equal `data` are one data set. With other data an estimate is an extrapolation.
    """

    source: str
    target: str
    measure: str  # of BkR, and of XLR unless `xlr_measure` says otherwise: R@10
    n_source: int  # N: XLR is retrieval among N texts, so it is another quantity for another N
    n_target: int  # M: BkR's targets
    n_pictures: int  # D = K/chance: distinct pictures among the sources, where each has equally many texts
    n_seeds: int  # values are means over so many samples
    sampling: str  # all, size or splits
    images: str  # identity of the image encoder, g
    conventions: str
    data: str  # the manifest's digest
    xlr_measure: str | None = None  # Success@10, where items have several target texts

    def differences(self, other: Conditions) -> list[str]:
        """Return in words where `other` does not meet these conditions; empty where it does."""
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
    """Tell whether two values of a condition are the same; distinct pictures, drawn with items, nearly so."""
    if key == "n_pictures" and isinstance(one, int) and isinstance(other, int):
        return abs(one - other) <= NEAR * max(one, other)
    if key == "conventions":
        both = ({"task": "backretrieval", "conventions": str(version)} for version in (one, other))
        return same_conventions(*both)
    return one == other


@dataclass(frozen=True)
class CalibrationPoint:
    """One encoder on one language pair, means over seeds."""

    cell: int  # place of its conditions
    encoder: str
    family: str
    BkR: float
    SIM: float | None
    XLR: float


@dataclass(frozen=True)
class CalibrationModel:
    """arcsin √XLR = intercept + Σ slope·x, x = arcsin √BkR, or SIM as it is; angles in radians."""

    intercept: float
    slopes: list[float]  # one for each predictor, at least 0


@dataclass(frozen=True)
class CalibrationError:
    """Mean absolute error of estimates for what was left out of the fit."""

    left_out: str  # encoder, family, direction, pair or data
    form: str  # angular, line or isotonic
    n_groups: int
    n_points: int
    value: float | None
    ci: Interval | None
    note: str | None = None
    least: float | None = None  # mean error of the group that was estimated best
    most: float | None = None


@dataclass(frozen=True)
class ErrorDifference:
    """How much larger a plain fit's mean absolute error is than the calibration's, paired by point."""

    left_out: str
    form: str
    value: float | None
    ci: Interval | None
    note: str | None = None


@dataclass(frozen=True)
class Coverage:
    """How often intervals held the truth, each family in turn left out of everything."""

    level: float  # asked for
    guaranteed: float  # 2·level − 1: jackknife+ holds the truth at least so often
    value: float | None  # mean over families of the share of a family's points
    ci: Interval | None  # Clopper–Pearson over families
    width: float | None  # mean width of the intervals
    n_families: int
    note: str | None = None


@dataclass(frozen=True)
class DataSet:
    """One data set of a calibration with its own curve: all pairs of one manifest, other encoders apart."""

    data: str
    model: CalibrationModel  # fitted to the points of this data set
    without: dict[str, CalibrationModel]  # the same without a family
    residuals: list[float]  # of its points from the model without their family, absolute, in radians
    coverage: Coverage


@dataclass
class Calibration:
    """A fitted calibration; `residuals` and `without` are what jackknife+ over data sets needs."""

    predictors: list[str]
    family: str | None  # the pattern that gave the families, None where the validations did
    level: float
    cells: list[Conditions]
    points: list[CalibrationPoint]
    model: CalibrationModel  # fitted to all points
    without: dict[str, CalibrationModel]  # fitted without the data set; none where there is only one
    residuals: list[float]  # of each point from the model without its data set, absolute, in radians
    data_sets: list[DataSet]
    errors: list[CalibrationError]
    differences: list[ErrorDifference]
    warnings: list[str] = field(default_factory=list)

    @property
    def xlr_measure(self) -> str:
        """What the measure of XLR is called: R@10, Success@10, or both."""
        return " or ".join(dict.fromkeys(cell.xlr_measure or cell.measure for cell in self.cells))

    def data_of(self, point: CalibrationPoint) -> str:
        """Return the data set of a point."""
        return self.cells[point.cell].data

    def to_dict(self) -> dict[str, Any]:
        """Return what the file holds."""
        return {"schema": SCHEMA, "form": FORM} | asdict(self)

    def write(self, path: str | Path) -> None:
        """Write the calibration to the file `path`, atomically."""
        write_json(Path(path), self.to_dict())

    @classmethod
    def read(cls, path: str | Path) -> Calibration:
        """Read a calibration; raise InputError that names the field where one is missing."""
        path = Path(path)
        content = read_json(path, SCHEMA, MADE_BY)
        with fields_of(path, MADE_BY):
            found = _calibration(content)
            problem = _problem(found, content["form"])
        if problem:
            raise InputError(f"{path}: {problem}: run {MADE_BY} again")
        return found


def _calibration(content: Mapping[str, Any]) -> Calibration:
    return Calibration(
        predictors=[str(name) for name in content["predictors"]],
        family=content["family"],
        level=float(content["level"]),
        cells=_records(Conditions, content["cells"]),
        points=_records(CalibrationPoint, content["points"]),
        model=_model(content["model"]),
        without=_models(content["without"]),
        residuals=[float(value) for value in content["residuals"]],
        data_sets=[
            DataSet(
                str(row["data"]),
                _model(row["model"]),
                _models(row["without"]),
                [float(value) for value in row["residuals"]],
                record(Coverage, row["coverage"]),
            )
            for row in content["data_sets"]
        ],
        errors=_records(CalibrationError, content["errors"]),
        differences=_records(ErrorDifference, content["differences"]),
        warnings=list(content.get("warnings", [])),
    )


def _models(rows: Mapping[str, Any]) -> dict[str, CalibrationModel]:
    return {str(name): _model(row) for name, row in rows.items()}


def _model(row: Mapping[str, Any]) -> CalibrationModel:
    return CalibrationModel(float(row["intercept"]), [float(slope) for slope in row["slopes"]])


def _records(kind: type[Record], rows: Sequence[Mapping[str, Any]]) -> list[Record]:
    return [record(kind, row) for row in rows]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _problem(found: Calibration, form: str) -> str | None:
    """Return what does not fit together in a file, or None."""
    if form != FORM:
        return f"form {form!r} is not known, expected {FORM!r}"
    if not found.cells or not found.points:
        return "'cells' or 'points' is empty"
    if not found.predictors or not set(found.predictors) <= set(PREDICTORS):
        return f"'predictors' is {found.predictors}, expected some of {list(PREDICTORS)}"
    if not 0.5 < found.level < 1:
        return f"'level' is {found.level:g}, expected a value between .5 and 1"
    for name in ("XLR", *found.predictors):
        if not all(_is_number(getattr(point, name)) for point in found.points):
            return f"'points' lacks a number for {name}"
    if any(not 0 <= point.cell < len(found.cells) for point in found.points):
        return "'points' names a cell that is not in 'cells'"
    if sorted(one.data for one in found.data_sets) != sorted({cell.data for cell in found.cells}):
        return "'data_sets' does not name each data of 'cells' once"
    parts = [("", found.points if len(found.data_sets) > 1 else [], found.without, found.residuals)]
    for one in found.data_sets:
        own = [point for point in found.points if found.data_of(point) == one.data]
        own = own if len({point.family for point in own}) > 1 else []  # one family: none to leave out
        parts.append((f" of data {one.data}", own, one.without, one.residuals))
    for where, points, without, residuals in parts:
        if len(residuals) != len(points):
            return f"'residuals'{where} has {len(residuals)} values for {len(points)} points"
        units = {point.family if where else found.data_of(point) for point in points}
        if missing := units - set(without):
            return f"'without'{where} lacks {min(missing)!r}"
    models = [found.model, *(one.model for one in found.data_sets)]
    models += [model for _, _, without, _ in parts for model in without.values()]
    if any(len(model.slopes) != len(found.predictors) for model in models):
        return "'slopes' does not have one value for each predictor"
    return None
