"""What a calibration found, and what it says of a result: sentences and rows of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlingual.report import numbers, words
from xlingual.report.blocks import Table
from xlingual.results import EstimatedXLR, Interval, Results, Summary
from xlingual.results.calibration import (
    FORM,
    WITHIN,
    Calibration,
    CalibrationError,
    DataSet,
    ErrorDifference,
    units_needed,
)

FORMS = {FORM: "calibration", "line": "straight line", "isotonic": "isotonic"}
SHOWN = 4  # encoders named in a sentence
_LEFT_OUT = {"data": "data set"}


@dataclass(frozen=True)
class ErrorRow:
    """One way of leaving out and one form of fit, as text."""

    left_out: str
    form: str
    groups: str
    error: str
    more: str  # than the calibration's error


@dataclass(frozen=True)
class EstimateRow:
    """One encoder on one language pair, as text."""

    encoder: str
    pair: str
    bkr: str
    estimate: str
    interval: str


def calibration_verdict(found: Calibration) -> list[str]:
    """Return what a calibration is worth, the most important first."""
    n_families = len({point.family for point in found.points})
    n_encoders = len({point.encoder for point in found.points})
    of = f"{n_encoders} encoders, {n_families} families, {_counted(len(found.cells), 'direction')}"
    of += f", {_counted(len(found.data_sets), 'data set')}"
    error = _error(found, "family")
    known = "" if error is None else f" with a mean absolute error of {_error_text(error)}"
    return [
        f"Within one data set XLR {found.xlr_measure} is estimated from {_followed(found)}{known} for "
        f"families of encoders that were left out ({of}).",
        *(_against(one) for one in found.differences if one.left_out == "family"),
        *(_coverage(one, len(found.data_sets) > 1) for one in found.data_sets),
        *_other_data(found),
        *(words.stop(f"Note: {warning}") for warning in found.warnings),
    ]


def error_rows(found: Calibration) -> list[ErrorRow]:
    """Return the errors of each way of leaving out, the calibration before the plain fits."""
    more = {(one.left_out, one.form): one for one in found.differences}
    return [
        ErrorRow(
            left_out=_LEFT_OUT.get(error.left_out, error.left_out),
            form=FORMS.get(error.form, error.form),
            groups=str(error.n_groups),
            error=numbers.with_interval(error.value, error.ci),
            more=_more(more.get((error.left_out, error.form))),
        )
        for error in found.errors
    ]


def left_out_lines(found: Calibration) -> list[str]:
    """Return what was left out together for each way of leaving out that may be misread."""
    meaning = {
        "direction": "one direction, estimated from the others of its data set; its reverse stays in the fit",
        "pair": "both directions of two languages, estimated from the other pairs of their data set",
        "data": "all language pairs of one data set, estimated from the other data sets",
    }
    present = {error.left_out for error in found.errors}
    return [f"{_LEFT_OUT.get(key, key)}: {text}." for key, text in meaning.items() if key in present]


def condition_lines(found: Calibration) -> list[str]:
    """Return the conditions of a calibration, one line for each language pair."""
    return [
        f"{words.pair(cell.source, cell.target)}: N = {cell.n_source}, {cell.measure}, "
        f"{cell.n_target} targets, {cell.n_pictures} pictures, sampling {cell.sampling}, "
        f"{cell.n_seeds} seed{'s' if cell.n_seeds != 1 else ''}, images {cell.images}, "
        f"data {cell.data}, conventions {cell.conventions}"
        for cell in found.cells
    ]


def estimates(results: Results) -> list[Summary]:
    """Return the summaries with an estimated XLR, those of a pair before the mean over several."""
    rows = [row for row in results.summary if row.estimated_xlr is not None]
    return [row for row in rows if row.source is not None or row.n_pairs > 1]


def estimate_rows(results: Results) -> list[EstimateRow]:
    """Return the table of estimated XLR."""
    return [
        EstimateRow(
            encoder=row.encoder,
            pair=f"mean of {row.n_pairs}" if row.source is None else words.pair(row.source, row.target or ""),
            bkr=numbers.number(row.value),
            estimate=numbers.number(row.estimated_xlr.value),
            interval=numbers.interval(row.estimated_xlr.ci) or numbers.MISSING,
        )
        for row in estimates(results)
        if row.estimated_xlr is not None
    ]


def estimate_sentences(results: Results) -> list[str]:
    """Return what the estimates say and what they rest on; for those without an interval why."""
    every = estimates(results)
    rows = [row for row in every if row.source is not None]
    best = sorted(rows, key=lambda row: -row.estimated_xlr.value if row.estimated_xlr else 0.0)[:SHOWN]
    if not best:
        return ["No XLR can be estimated: no value of Backretrieval."]
    named = [
        f"{row.encoder} {_value(row.estimated_xlr)}{_where(row, rows)}" for row in best if row.estimated_xlr
    ]
    left = f" ({len(rows) - len(best)} more in the table)" if len(rows) > len(best) else ""
    return [
        f"Estimated XLR {_xlr_measure(best[0])}: {numbers.in_words(named)}{left}.",
        *_promises(rows),
        *_notes(every),
    ]


def _xlr_measure(row: Summary) -> str:
    """Return the measure of XLR that a row's estimate is of."""
    named = row.estimated_xlr.measure if row.estimated_xlr else None
    return named or row.measure


def estimate_table(results: Results) -> Table | None:
    """Return the estimated XLR for the page, from the results alone; None where there is none."""
    rows = estimate_rows(results)
    if not rows:
        return None
    levels = {ci.level for ci in _intervals(results.summary)}
    level = f"{numbers.percent(levels.pop())} interval" if len(levels) == 1 else "interval"
    cells = [[row.encoder, row.pair, row.bkr, row.estimate, row.interval] for row in rows]
    head = ["encoder", "pair", "BkR", "estimated XLR", level]
    notes = tuple(estimate_sentences(results))
    return Table.of_texts("Estimated XLR", head, cells, names=2, data=True, notes=notes, where="both")


def _value(found: EstimatedXLR) -> str:
    return numbers.with_interval(found.value, found.ci)


def _intervals(rows: Sequence[Summary]) -> list[Interval]:
    return [row.estimated_xlr.ci for row in rows if row.estimated_xlr and row.estimated_xlr.ci]


def _followed(found: Calibration) -> str:
    """Return the predictors that the estimate follows, all where it follows none."""
    slopes = zip(found.predictors, found.model.slopes, strict=True)
    return " and ".join([name for name, slope in slopes if slope] or found.predictors)


def _where(row: Summary, rows: Sequence[Summary]) -> str:
    if row.source is None:
        return f" (mean of {row.n_pairs})"
    alone = len({(other.source, other.target) for other in rows}) == 1
    return "" if alone else f" ({words.pair(row.source or '', row.target or '')})"


def _promises(rows: Sequence[Summary]) -> list[str]:
    """Return what each kind of interval promises and what that rests on."""
    sentences = []
    for ci in {ci.method: ci for ci in _intervals(rows)}.values():
        within = ci.method.startswith(WITHIN)
        kind, _, method = ci.method.partition(": ")
        unit = (
            "this encoder is to the families of the calibration as they are to each other"
            if within
            else "this data set is to those of the calibration as they are to each other: that cannot be "
            "checked"
        )
        sentences.append(
            f"{kind.capitalize()}: the intervals ({method}) aim at {numbers.percent(ci.level)} and hold the "
            f"truth in at least {numbers.percent(2 * ci.level - 1)} of the cases, if {unit}."
        )
    return sentences


def _notes(rows: Sequence[Summary]) -> list[str]:
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.estimated_xlr is not None and row.estimated_xlr.note:
            notes.setdefault(row.estimated_xlr.note, []).append(f"{row.encoder}{_where(row, rows)}")
    return [words.stop(f"{numbers.in_words(named, SHOWN)}: {note}") for note, named in notes.items()]


def _error(found: Calibration, left_out: str) -> CalibrationError | None:
    return next((one for one in found.errors if one.left_out == left_out and one.form == FORM), None)


def _error_text(one: CalibrationError) -> str:
    return numbers.with_interval(one.value, one.ci)


def _against(one: ErrorDifference) -> str:
    name = {"line": "a straight line", "isotonic": "an isotonic fit"}.get(one.form, one.form)
    if one.value is None or one.ci is None:
        return f"Against {name}: {words.stop(one.note or 'no difference is known')}"
    shown = numbers.difference(one.value, one.ci)
    if one.ci.low > 0:
        return f"It is better than {name}, whose error is larger by {shown}."
    if one.ci.high < 0:
        return f"It is worse than {name}, whose error is smaller: difference {shown}."
    return f"It cannot be told apart from {name}: the difference of the errors, {shown}, contains zero."


def _other_data(found: Calibration) -> list[str]:
    needed = units_needed(found.level)
    level, have = numbers.percent(found.level), len(found.data_sets)
    one = _error(found, "data")
    if one is None:
        return ["How far off it is on other data is not known: the validations are about one data set."]
    span = f", {numbers.number(one.least)} to {numbers.number(one.most)}" if one.least is not None else ""
    text = f"For a data set that was left out the error is {_error_text(one)}{span} ({one.n_groups} of them)"
    if have < needed:
        text += f": too few for a {level} interval for other data, which takes {needed}"
    return [f"{text}."]


def _coverage(one: DataSet, several: bool) -> str:
    share, where = one.coverage, f" within data {one.data}" if several else " within this data"
    level, sure = numbers.percent(share.level), numbers.percent(share.guaranteed)
    if share.value is None:
        return words.stop(f"Coverage of the {level} intervals{where}: {share.note or 'not known'}")
    ends = share.ci
    shown = "" if ends is None else f" [{numbers.percent(ends.low)}, {numbers.percent(ends.high)}]"
    return (
        f"The {level} intervals{where} (guaranteed: {sure}, for exchangeable families) held the truth in "
        f"{numbers.percent(share.value)}{shown} of {share.n_families} families left out; "
        f"mean width {numbers.number(share.width)}."
    )


def _more(one: ErrorDifference | None) -> str:
    if one is None or one.value is None:
        return numbers.MISSING
    return numbers.number(one.value) if one.ci is None else numbers.difference(one.value, one.ci)


def _counted(count: int, noun: str) -> str:
    return f"one {noun}" if count == 1 else f"{count} {noun}s"
