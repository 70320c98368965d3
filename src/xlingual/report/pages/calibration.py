"""The page of a calibration, and the table of the XLR that one estimates for a result."""

from __future__ import annotations

from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Heading, Page, Prose, Section
from xlingual.report.findings.calibration import counts, estimate_sentences, estimates, findings, intervals
from xlingual.report.table import Cell, Column, Table
from xlingual.results import Results
from xlingual.results.calibration import FORM, Calibration

_FORMS = {FORM: "calibration", "line": "straight line", "isotonic": "isotonic"}
_LEFT_OUT = {  # explanations of those that may be misread
    "direction": "one direction, estimated from the others of its data set; its reverse stays in the fit",
    "pair": "both directions of two languages, estimated from the other pairs of their data set",
    "data": "all language pairs of one data set, estimated from the other data sets",
}
TERMS = {
    "Estimated XLR": "The true cross-lingual retrieval that corresponds to a value of Backretrieval (BkR) "
    "in the validations. It is valid only under equal conditions.",
    "Error": "The mean absolute difference of estimated and true XLR, for what was left out of the fit: an "
    "encoder, a family of encoders, a direction, a language pair, or a whole data set.",
    "More": "How much larger the error of a plainer fit is than that of the calibration, on the same "
    "encoders and language pairs.",
    "Coverage": "How often the interval of a family that was left out contained its true XLR. Jackknife+ "
    "guarantees less than the level it aims at: twice the level less one.",
}


def page(calibration: Calibration, *, title: str | None = None) -> Page:
    """Return the page of a calibration: its accuracy, its errors, and the conditions it holds under."""
    under = conditions(calibration)
    lines: list[Block] = [
        Heading("Intervals within this data hold under these conditions:", where="terminal"),
        *(Prose(f"{name}: {condition}", where="terminal") for name, condition in under),
    ]
    about = "For each way of leaving out, and against plainer fits."
    settings = {
        "family": calibration.family or "as in the validations",
        "level of intervals": numbers.percent(calibration.level),
    }
    return Page(
        kind="calibration",
        title=title or f"XLR {calibration.xlr_measure} estimated from {' and '.join(calibration.predictors)}",
        verdict=findings(calibration),
        sections=[Section("Errors", [errors(calibration), *lines], about)],
        facts=numbers.facts(*counts(calibration)),
        about=words.explained(
            *(("backretrieval", cell.measure) for cell in calibration.cells),
            *(("crosslingual-retrieval", cell.xlr_measure or cell.measure) for cell in calibration.cells),
        ),
        terms=list(TERMS.items()),
        conditions=[(name, [value]) for name, value in (*settings.items(), *under)],
        methods=sorted({error.ci.method for error in calibration.errors if error.ci}),
        names=list(dict.fromkeys(point.encoder for point in calibration.points)),
    )


def errors(calibration: Calibration) -> Table:
    """Return the errors of each way of leaving out, the calibration before the plain fits."""
    names = {
        one.left_out: "data set" if one.left_out == "data" else one.left_out for one in calibration.errors
    }
    more = {(one.left_out, one.form): Cell.difference(one.value, one.ci) for one in calibration.differences}
    rows = [
        [
            names[error.left_out],
            _FORMS.get(error.form, error.form),
            Cell(str(error.n_groups), value=error.n_groups),
            Cell.of(error.value, error.ci),
            more.get((error.left_out, error.form), Cell(numbers.MISSING)),
        ]
        for error in calibration.errors
    ]
    return Table.of_texts(
        "Mean absolute error of the estimated XLR (more: than that of the calibration)",
        ["left out", "fit", "groups", "error", "more"],
        rows,
        names=2,
        notes=[f"{names[key]}: {meaning}." for key, meaning in _LEFT_OUT.items() if key in names],
        where="both",
    )


def conditions(calibration: Calibration) -> list[tuple[str, str]]:
    """Return the conditions of each language pair."""
    return [
        (
            words.pair(cell.source, cell.target),
            f"N = {cell.n_source}, {cell.measure}, {cell.n_target} targets, {cell.n_pictures} images, "
            f"sampling {cell.sampling}, {numbers.counted(cell.n_seeds, 'seed')}, images {cell.images}, "
            f"data {cell.data}, conventions {cell.conventions}",
        )
        for cell in calibration.cells
    ]


def estimate_table(results: Results) -> Table | None:
    """Return the estimated XLR of a result that has it, from the result alone; None where there is none."""
    rows = [
        [
            row.encoder,
            f"mean of {row.n_pairs}" if row.source is None else words.pair(row.source, row.target or ""),
            Cell.of(row.value),
            Cell.of(estimate.value, estimate.ci),
        ]
        for row, estimate in estimates(results)
    ]
    if not rows:
        return None
    levels = {ci.level for ci in intervals(results.summary)}
    level = f"{numbers.percent(levels.pop())} interval" if len(levels) == 1 else "interval"
    estimated = Column(f"estimated XLR, {level}", short="estimated XLR", interval=level)
    heads = [Column("encoder", "name", data=True), Column("pair", "name"), "BkR", estimated]
    notes = tuple(estimate_sentences(results))
    return Table.of_texts("Estimated XLR", heads, rows, notes=notes, where="both")
