"""What the report reads off results of image–sentence ranking: numbers by language, direction and system."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xlingual.languages import named
from xlingual.report import numbers, words
from xlingual.results import Entry, Results, Summary
from xlingual.results.views import Against, ImageSentenceViews

TASK = "image-sentence"
IMAGE, RSUM = "image", "rsum"
MOST_RSUM = 600
TO_IMAGE, TO_SENTENCE = "Sentence to image", "Image to sentence"
SHOWN = {"MedR/floor": "MedR", "MedR": "MedR (mid-ranks)", RSUM: "sum of recalls"}

_SMALL = 0.0005  # below, one decimal of per cent leaves no digit


@dataclass(frozen=True)
class Difference:
    """A system's value minus the baseline's, as text; `real` where its interval excludes zero."""

    text: str
    interval: str
    real: bool
    better: bool


@dataclass(frozen=True)
class Cell:
    """One number of one system."""

    value: float
    text: str
    interval: str
    chance: str
    difference: Difference | None
    best: bool
    tied: int | None = None


@dataclass(frozen=True)
class Line:
    """One measure, a cell for each system; None where a system has no such number."""

    measure: str
    cells: list[Cell | None]

    @property
    def head(self) -> str:
        """What the row is called."""
        return measure_head(self.measure)


@dataclass(frozen=True)
class LanguageTable:
    """Table 1 of one language."""

    code: str
    language: str  # in words
    systems: list[str]
    baseline: str | None
    blocks: list[tuple[str, list[Line]]]
    total: Line | None
    n_pictures: int
    n_texts: int
    n_folds: int


def measure_head(measure: str) -> str:
    """Return what a row of a measure is called.

    >>> measure_head("MedR/floor"), measure_head("Success@5")
    ('MedR', 'R@5')
    """
    return SHOWN.get(measure, words.as_the_field_says(measure))


def is_recall(measure: str) -> bool:
    """Tell whether a measure is the field's R@k, shown in per cent; earlier results store it by that name."""
    return measure.startswith(("Success@", "R@"))


def languages_of(run: Results) -> list[str]:
    """Return the languages in order of appearance."""
    found = (entry.source for entry in run.entries if entry.task == TASK)
    return [language for language in dict.fromkeys(found) if language != IMAGE]


def systems_of(run: Results, language: str | None = None) -> list[str]:
    """Return the systems (that have a language) in order of appearance."""
    return list(
        dict.fromkeys(
            entry.encoder
            for entry in run.entries
            if entry.task == TASK and (language is None or language in (entry.source, entry.target))
        )
    )


def language_tables(run: Results) -> list[LanguageTable]:
    """Return the table of each language."""
    return [_table(run, language) for language in languages_of(run)]


def sums(run: Results, language: str, measure: str = RSUM) -> dict[str, Summary]:
    """Return the summary of each system for a language (from it to pictures, for other measures)."""
    return {
        row.encoder: row
        for row in run.summary
        if (row.task, row.source, row.target, row.measure) == (TASK, language, IMAGE, measure)
    }


def against(row: Entry | Summary) -> Against | None:
    """Return the difference to the baseline, None where there is none."""
    return row.views.against if isinstance(row.views, ImageSentenceViews) else None


def n_folds(entry: Entry) -> int:
    """Return over how many slices a number is a mean, 0 where over none."""
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
        told = (0 if value == int(value) else 1) if digits is None else digits
        return numbers.number(value, digits=told)
    if measure == RSUM:
        return numbers.number(value, digits=1)
    return numbers.number(100 * value, digits=digits or 1) if is_recall(measure) else numbers.number(value)


def digits_of_recall(value: float | None, ci: object) -> int:
    """Return how many decimals of per cent tell an interval's ends apart, and show two digits of a value.

    An encoder to which nearly all candidates are equal has small recalls with narrow intervals.

    >>> digits_of_recall(0.3825, None), digits_of_recall(0.00004, {"low": 0.000035, "high": 0.000046})
    (1, 4)
    """
    low, high = _ends(ci) if ci is not None else (0.0, 1.0)
    digits = numbers.digits_beside([100 * low], [100 * high], 1)
    if value is None or not 0 < value < _SMALL:
        return digits
    return max(digits, min(numbers.MOST_DIGITS, 1 - math.floor(math.log10(100 * value))))


def _ends(ci: Any) -> tuple[float, float]:  # noqa: ANN401  (an Interval, or one read from JSON)
    return (ci["low"], ci["high"]) if isinstance(ci, Mapping) else (ci.low, ci.high)


def interval_text(ci: object, measure: str, digits: int | None = None) -> str:
    """Return "[low, high]" of an Interval or of one read from JSON, "" where there is none."""
    if ci is None:
        return ""
    low, high = _ends(ci)
    return f"[{value_text(low, measure, digits)}, {value_text(high, measure, digits)}]"


def difference_of(found: Against | None, measure: str, digits: int | None = None) -> Difference | None:
    """Return a difference as text, with its sign."""
    if found is None:
        return None
    value, ci = found.value, found.ci
    real = ci is not None and not ci.low <= 0 <= ci.high
    text = value_text(value, measure, digits)
    signed = text if text.startswith("−") or not float(text) else f"+{text}"
    better = value < 0 if words.lower_is_better(measure) else value > 0
    return Difference(signed, interval_text(ci, measure, digits), real, better)


def _table(run: Results, language: str) -> LanguageTable:
    systems = systems_of(run, language)
    found: dict[tuple[bool, str, str], Entry] = {
        (entry.target == IMAGE, entry.measure, entry.encoder): entry
        for entry in run.entries
        if entry.task == TASK and language in (entry.source, entry.target)
    }
    measures = list(dict.fromkeys(measure for _, measure, _ in found))
    blocks = [
        (
            title,
            [_line(measure, [found.get((way, measure, name)) for name in systems]) for measure in measures],
        )
        for way, title in ((True, TO_IMAGE), (False, TO_SENTENCE))
    ]
    total = sums(run, language)
    baselines = [view.baseline for entry in found.values() if (view := against(entry))]
    sizes = {entry.target == IMAGE: entry.n_source for entry in found.values()}
    folds = max(map(n_folds, found.values()))
    return LanguageTable(
        language,
        named(language),
        systems,
        baselines[0] if baselines else None,
        blocks,
        _line(RSUM, [total.get(name) for name in systems]) if total else None,
        sizes.get(False, 0),
        sizes.get(True, 0),
        folds,
    )


def _line(measure: str, rows: list[Any]) -> Line:
    """Return the cells of entries or summaries, the best ones marked where there are two or more."""
    values = [row.value for row in rows if row is not None and row.value is not None]
    pick = min if words.lower_is_better(measure) else max
    best = pick(values) if len(values) > 1 else None
    digits = 0 if all(value == int(value) for value in values) else 1
    return Line(measure, [None if row is None else _cell(row, measure, best, digits) for row in rows])


def _cell(row: Entry | Summary, measure: str, best: float | None, digits: int) -> Cell:
    """Return the cell of an entry or a summary; `digits` are those of ranks."""
    of_recall = digits_of_recall(row.value, row.ci) if is_recall(measure) else None
    return Cell(
        row.value if row.value is not None else float("nan"),
        value_text(row.value, measure, of_recall or digits),
        interval_text(row.ci, measure, of_recall),
        value_text(row.chance, measure, of_recall),
        difference_of(against(row), measure, None if of_recall else digits),
        best is not None and row.value == best,
        row.n_tied if isinstance(row, Entry) else None,
    )
