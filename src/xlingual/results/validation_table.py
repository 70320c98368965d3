"""Table 1 of the Backretrieval paper on disk: several validations side by side, a row for each direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, TypeAlias

from msgspec import Struct, field

from xlingual.results.document import FolderDocument
from xlingual.results.files import REPORT
from xlingual.results.validation import COEFFICIENTS, MEASURES, Agreements, CoefficientDifference
from xlingual.results.values import (
    Amount,
    Conditions,
    Count,
    Note,
    Number,
    Share,
    Size,
    Timings,
    Warnings,
    about,
)

CONTRASTS = ("BkR-SIM", "BkR-CORR")
_ROUNDING = 1e-12  # what the order of additions leaves between equal means


class CorrectedDifference(CoefficientDifference, frozen=True):
    """A difference of two coefficients of one row, with p corrected for all tests of the table."""

    p_adjusted: Annotated[
        Share | None, about("p corrected by Holm over all differences of the table; null without a test.")
    ] = None


CorrectedDifferences: TypeAlias = Annotated[
    dict[str, dict[str, CorrectedDifference]],
    about("Differences of dependent coefficients: by BkR-SIM and BkR-CORR, then by coefficient."),
]


class TableRow(Struct, frozen=True, kw_only=True):
    """One language pair of one data set."""

    data_set: Annotated[str, about("Name of the data set.")]
    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the candidates.")]
    n_source: Annotated[Size, about("Source texts of a sample: N.")]
    k: Annotated[Size, about("K of the measure.")]
    n_seeds: Annotated[Size, about("Samples.")]
    n_encoders: Annotated[Count, about("Text encoders.")]
    n_families: Annotated[Count, about("Families of text encoders: the unit of the tests.")]
    image_encoder: Annotated[str, about("Name of the image encoder.")]
    agreement: Agreements
    best: Annotated[
        dict[str, str],
        about(
            "The measure with the highest mean by coefficient, of equal ones the first of BkR, SIM, CORR; "
            "absent where no measure has one."
        ),
    ]
    differences: CorrectedDifferences
    conditions: Conditions

    def leaders(self, kind: str) -> list[str]:
        """Return the measures with the highest mean of a coefficient: several where they are equal."""
        if kind not in self.best:
            return []
        means = {name: self.agreement[name][kind].mean for name in MEASURES}
        highest = means[self.best[kind]]
        return [
            name
            for name, mean in means.items()
            if mean is not None and highest is not None and abs(mean - highest) < _ROUNDING
        ]

    @property
    def pair(self) -> str:
        """The direction: en-de."""
        return f"{self.source}-{self.target}"


class MeanAgreement(Struct, frozen=True):
    """The mean of a coefficient over the rows of a table."""

    mean: Annotated[Number | None, about("Mean over the rows that have the coefficient.")]
    se: Annotated[
        Amount | None,
        about("Monte Carlo error of the mean; rows of one data set share their samples, and count so."),
    ]
    n_rows: Annotated[Count, about("Rows that have the coefficient.")]
    note: Note = None


class ValidationTable(FolderDocument, frozen=True, tag="xlingual/validation_table/1"):
    """How BkR, SIM and CORR agree with true retrieval on several data sets."""

    made_by = "xlingual validate backretrieval MANIFEST MANIFEST … --out DIR"
    file = "validation_table.json"
    derived = (REPORT,)

    measure: Annotated[str, about("Canonical name of the measure of BkR: R@10.")]
    rows: Annotated[list[TableRow], about("One entry per data set and language pair, in order.")]
    mean: Annotated[
        dict[str, dict[str, MeanAgreement]], about("The mean over rows: by measure, then by coefficient.")
    ]
    n_tests: Annotated[Count, about("Differences that p_adjusted is corrected for.")]
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)

    def problem(self) -> str | None:
        """Return a problem where a measure, difference or coefficient is missing, or there is no row."""
        if not self.rows:
            return "'rows' is empty"
        missing = next(self._missing(), None)
        return None if missing is None else f"the field {missing!r} is missing"

    def _missing(self) -> Iterator[str]:
        parts: list[tuple[str, Mapping[str, Mapping[str, object]], tuple[str, ...]]]
        parts = [("mean", self.mean, MEASURES)]
        for number, row in enumerate(self.rows):
            parts.append((f"rows[{number}].agreement", row.agreement, MEASURES))
            parts.append((f"rows[{number}].differences", row.differences, CONTRASTS))
        for where, found, names in parts:
            for name in names:
                own = found.get(name, {})
                yield from (f"{where}.{name}.{kind}" for kind in COEFFICIENTS if kind not in own)
