"""How accurate a calibration is, and the estimates of a result, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xlingual.report import numbers, words
from xlingual.report.blocks import Finding
from xlingual.results import EstimatedXLR, Interval, Results, Summary
from xlingual.results.calibration import FORM, WITHIN, Calibration, DataSet, ErrorDifference, units_needed

SHOWN = 4  # encoders named in a sentence
Estimate = tuple[Summary, EstimatedXLR]


def findings(found: Calibration) -> list[Finding]:
    """Return how accurate a calibration is, the most important first."""
    error = next((one for one in found.errors if one.left_out == "family" and one.form == FORM), None)
    known = (
        ""
        if error is None
        else f" with a mean absolute error of {numbers.with_interval(error.value, error.ci)}"
    )
    slopes = zip(found.predictors, found.model.slopes, strict=True)
    followed = [name for name, slope in slopes if slope] or found.predictors
    of = ", ".join(numbers.counted(*one) for one in counts(found))
    sentences = [
        f"Within one data set XLR {found.xlr_measure} is estimated from {' and '.join(followed)}{known} for "
        f"families of encoders that were left out ({of}).",
        *(_against(one) for one in found.differences if one.left_out == "family"),
        *(_coverage(one, len(found.data_sets) > 1) for one in found.data_sets),
        _other_data(found),
        *(words.stop(f"Note: {warning}") for warning in found.warnings),
    ]
    return [Finding(sentences)]


def counts(found: Calibration) -> list[tuple[int, str, str]]:
    """Return what a calibration was made from: amounts with their nouns, for one and for many."""
    return [
        (len({point.encoder for point in found.points}), "encoder", "encoders"),
        (len({point.family for point in found.points}), "family", "families"),
        (len(found.cells), "direction", "directions"),
        (len(found.data_sets), "data set", "data sets"),
    ]


def estimates(results: Results) -> list[Estimate]:
    """Return the summaries with an estimated XLR, those of a pair before the mean over several."""
    rows = [(row, row.estimated_xlr) for row in results.summary if row.estimated_xlr is not None]
    return [(row, one) for row, one in rows if row.source is not None or row.n_pairs > 1]


def estimate_sentences(results: Results) -> list[str]:
    """Return the estimates, what their intervals promise, and why some have no interval.

    Nothing where there are no estimates.
    """
    every = estimates(results)
    rows = [(row, one) for row, one in every if row.source is not None]
    if not rows:
        return []
    best = sorted(rows, key=lambda found: -found[1].value)[:SHOWN]
    named = [
        f"{row.encoder} {numbers.with_interval(one.value, one.ci)}{_where(row, rows)}" for row, one in best
    ]
    left = f" ({len(rows) - len(best)} more in the table)" if len(rows) > len(best) else ""
    notes: dict[str, list[str]] = {}
    for row, one in every:
        if one.note:
            notes.setdefault(one.note, []).append(f"{row.encoder}{_where(row, every)}")
    return [
        f"Estimated XLR {best[0][1].measure or best[0][0].measure}: {numbers.in_words(named)}{left}.",
        *_promises(one.ci for _, one in rows if one.ci),
        *(words.stop(f"{numbers.in_words(named, SHOWN)}: {note}") for note, named in notes.items()),
    ]


def intervals(rows: Sequence[Summary]) -> list[Interval]:
    """Return the intervals of estimates."""
    return [row.estimated_xlr.ci for row in rows if row.estimated_xlr and row.estimated_xlr.ci]


def _where(row: Summary, among: Sequence[Estimate]) -> str:
    if row.source is None:
        return f" (mean of {row.n_pairs})"
    several = len({(other.source, other.target) for other, _ in among}) > 1
    return f" ({words.pair(row.source, row.target or '')})" if several else ""


def _promises(found: Iterable[Interval]) -> list[str]:
    """Return the coverage of each kind of interval and its assumption."""
    sentences = []
    for ci in {ci.method: ci for ci in found}.values():
        kind, _, method = ci.method.partition(": ")
        unit = (
            "this encoder is to the families of the calibration as they are to each other"
            if ci.method.startswith(WITHIN)
            else "this data set is to those of the calibration as they are to each other: that cannot be "
            "checked"
        )
        sentences.append(
            f"{kind.capitalize()}: the intervals ({method}) aim at {numbers.percent(ci.level)} and hold the "
            f"truth in at least {numbers.percent(2 * ci.level - 1)} of the cases, if {unit}."
        )
    return sentences


def _against(one: ErrorDifference) -> str:
    name = {"line": "a straight line", "isotonic": "an isotonic fit"}.get(one.form, one.form)
    if one.value is None or one.ci is None:
        return f"Against {name}: {words.stop(one.note or 'no difference is known')}"
    shown = numbers.difference(one.value, one.ci)
    if one.ci.low > 0:
        return f"It is better than {name}, whose error is larger by {shown}."
    if one.ci.high < 0:
        return f"It is worse than {name}, whose error is smaller: difference {shown}."
    return f"It is not distinguishable from {name}: the difference of the errors, {shown}, contains zero."


def _other_data(found: Calibration) -> str:
    one = next((one for one in found.errors if one.left_out == "data" and one.form == FORM), None)
    if one is None:
        return "The error on other data is not known: the validations are of one data set."
    span = f", {numbers.number(one.least)} to {numbers.number(one.most)}" if one.least is not None else ""
    error = f"{numbers.with_interval(one.value, one.ci)}{span} ({one.n_groups} of them)"
    text, needed = f"For a data set that was left out the error is {error}", units_needed(found.level)
    if len(found.data_sets) >= needed:
        return f"{text}."
    return (
        f"{text}: too few for a {numbers.percent(found.level)} interval for other data, which takes {needed}."
    )


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
