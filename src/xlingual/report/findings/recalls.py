"""Image–sentence ranking as its literature writes it: recalls in per cent, ranks, differences."""

from __future__ import annotations

import math

from xlingual.report import numbers, words
from xlingual.report.leaders import contains
from xlingual.report.table import Cell
from xlingual.results import Entry, Interval, Results, Summary, by_key
from xlingual.results.views import Against, ImageSentenceViews
from xlingual.tasks import TASKS

TASK = TASKS["image-sentence"]
IMAGE, RSUM = "image", "rsum"
MOST_RSUM = 600
SHOWN = {"MedR": "MedR (mid-ranks)", RSUM: "sum of recalls"}
_SMALL = 0.0005  # below, one decimal of per cent leaves no digit


def measure_head(measure: str) -> str:
    """Return what a row of a measure is called.

    >>> measure_head("MedR/floor"), measure_head("Success@5")
    ('MedR', 'R@5')
    """
    return SHOWN.get(measure) or TASK.measure_name(measure)


def is_recall(measure: str) -> bool:
    """Tell whether a measure is the field's R@k, shown in per cent; earlier results store it by that name."""
    return measure.startswith(("Success@", "R@"))


def languages_of(run: Results) -> list[str]:
    """Return the languages in order of appearance."""
    found = dict.fromkeys(entry.source for entry in by_key(run.entries, task=TASK.name))
    return [language for language in found if language != IMAGE]


def systems_of(run: Results, language: str | None = None) -> list[str]:
    """Return the systems (that have a language) in order of appearance."""
    own = by_key(run.entries, task=TASK.name)
    return list(dict.fromkeys(e.encoder for e in own if language is None or language in (e.source, e.target)))


def sums(run: Results, language: str, measure: str = RSUM) -> dict[str, Summary]:
    """Return the summary of each system for a language (from it to images, for other measures)."""
    found = by_key(run.summary, task=TASK.name, source=language, target=IMAGE, measure=measure)
    return {row.encoder: row for row in found}


def against(row: Entry | Summary) -> Against | None:
    """Return the difference to the baseline, None where there is none."""
    return row.views.against if isinstance(row.views, ImageSentenceViews) else None


def n_folds(entry: Entry) -> int:
    """Return the number of slices that a number is the mean of, 0 for none."""
    return len(entry.views.folds or ()) if isinstance(entry.views, ImageSentenceViews) else 0


def value_text(value: float | None, measure: str, digits: int | None = None) -> str:
    """Return a number as this task's tables have it: recalls in per cent, whole ranks without decimals.

    `digits`: other decimals than usual, such as one for ranks where not all in a row are whole.

    >>> value_text(0.3825, "Success@1"), value_text(3.0, "MedR/floor"), value_text(1.667, "MedR/floor")
    ('38.2', '3', '1.7')
    """
    if value is None:
        return numbers.MISSING
    if measure.startswith("MedR"):
        whole = 0 if value == int(value) else 1
        return numbers.number(value, digits=whole if digits is None else digits)
    if measure == RSUM:
        return numbers.number(value, digits=1)
    return numbers.number(100 * value, digits=digits or 1) if is_recall(measure) else numbers.number(value)


def cell_of(row: Entry | Summary, *, best: float | None = None, digits: int | None = None) -> Cell:
    """Return the cell of an entry or a summary, its difference to the baseline beside it.

    `best` is the value to set apart; `digits` are those of ranks.
    """
    of_recall = is_recall(row.measure)
    own = digits_of_recall(row.value, row.ci) if of_recall else digits
    return Cell(
        value_text(row.value, row.measure, own),
        interval_text(row.ci, row.measure, own),
        gap=difference_of(row, None if of_recall else digits),
        tone="best" if best is not None and row.value == best else "",
        value=row.value,
        ends=None if row.ci is None else (row.ci.low, row.ci.high),
    )


def difference_of(row: Entry | Summary, digits: int | None = None) -> Cell | None:
    """Return the difference to the baseline with its sign, and a mark where its interval excludes zero."""
    found = against(row)
    if found is None:
        return None
    text = value_text(found.value, row.measure, digits)
    real = found.ci is not None and not contains(found.ci, 0.0)
    better = (found.value < 0) == words.lower_is_better(row.measure)
    return Cell(
        text if text.startswith("−") or not float(text) else f"+{text}",
        interval_text(found.ci, row.measure, digits),
        mark="*" if real else "",
        tone=("gain" if better else "loss") if real else "",
        value=found.value,
        ends=None if found.ci is None else (found.ci.low, found.ci.high),
    )


def digits_of_recall(value: float | None, ci: Interval | None) -> int:
    """Return how many decimals of per cent separate an interval's ends, and show two digits of a value.

    An encoder that finds nearly all candidates equal has small recalls with narrow intervals.

    >>> digits_of_recall(0.3825, None), digits_of_recall(0.00004, Interval(0.000035, 0.000046, 0.95, ""))
    (1, 4)
    """
    low, high = (0.0, 1.0) if ci is None else (ci.low, ci.high)
    digits = numbers.digits_beside([100 * low], [100 * high], 1)
    if value is None or not 0 < value < _SMALL:
        return digits
    return max(digits, min(numbers.MOST_DIGITS, 1 - math.floor(math.log10(100 * value))))


def interval_text(ci: Interval | None, measure: str, digits: int | None = None) -> str:
    """Return "[low, high]", "" where there is none."""
    if ci is None:
        return ""
    return f"[{value_text(ci.low, measure, digits)}, {value_text(ci.high, measure, digits)}]"
