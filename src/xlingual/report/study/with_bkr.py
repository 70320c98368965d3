"""People against Backretrieval: whether both say the same of the same queries."""

from __future__ import annotations

from xlingual.report import words
from xlingual.report.numbers import in_words, number
from xlingual.report.study.marking import quoted, said
from xlingual.report.study.wording import amount, minus, ordered_pairs, signed
from xlingual.results.study import StudyAnalysis, WithBkr

DIGITS = 3
MOST_PAIRS = 3  # that sentences speak of; the table has all


def rows(analysis: StudyAnalysis) -> list[WithBkr]:
    """Return the comparisons with BkR, each with the system first that people found better."""
    of = {frozenset((row.first, row.second)): row for row in analysis.bkr}
    found = [(of.get(frozenset((p.first, p.second))), p.first) for p in ordered_pairs(analysis)]
    return [row if row.first == first else _turned(row) for row, first in found if row is not None]


def sentence(analysis: StudyAnalysis) -> str:
    """Return whether BkR says the same as people."""
    found = rows(analysis)
    if not found:
        return ""
    if len(found) == 1:
        return _one(found[0])
    known = [row for row in found if row.same_direction is not None]
    if not known:
        return " ".join(_one(row) for row in found[:MOST_PAIRS])
    same = sum(row.same_direction is True for row in known)
    if same == len(known):
        return f"{measure(known[0])} on the same queries points the same way for all {same} pairs."
    others = [row for row in known if not row.same_direction]
    told = [f"{said(row.first)} less {said(row.second)} is {difference(row)}{_luck(row)}" for row in others]
    return (
        f"{measure(known[0])} on the same queries points the same way for {same} of {len(known)} pairs, "
        f"and the other way for {len(others)}: {in_words(told, MOST_PAIRS)}."
    )


def measure(row: WithBkr) -> str:
    """Return the measure as sentences name it: "BkR R@10"."""
    return row.measure if row.measure.startswith("BkR") else f"BkR {row.measure}"


def difference(row: WithBkr) -> str:
    """Return the difference in BkR with its interval."""
    return signed(row.difference, row.ci, DIGITS)


def correlation(row: WithBkr) -> str:
    """Return the correlation over queries with its interval."""
    return amount(row.correlation, row.correlation_ci)


def _one(row: WithBkr) -> str:
    less = f"{said(row.first)} less {said(row.second)} is {difference(row)}"
    if row.same_direction is None:
        why = words.stop(quoted(row.note)) if row.note else "there is no direction to compare."
        return f"Whether {measure(row)} says the same as people cannot be told: {why}"
    way = "points the same way" if row.same_direction else "points the other way"
    return f"{measure(row)} on the same queries {way}: {less}{_luck(row)}{_together(row)}."


def _together(row: WithBkr) -> str:
    """Return whether the differences go together query by query."""
    if row.correlation is None:
        note = f": {quoted(row.note).rstrip('.')}" if row.note else ""
        return f"; whether the two go together query by query cannot be told{note}"
    ci = row.correlation_ci
    if ci is not None and ci.low > 0:
        how = "go together"
    elif ci is not None and ci.high < 0:
        how = "go against each other"
    else:
        how = "are not shown to go together"
    return f"; query by query the two differences {how} (correlation {correlation(row)})"


def _luck(row: WithBkr) -> str:
    return " (which may be luck)" if row.ci is not None and row.ci.low <= 0 <= row.ci.high else ""


def _turned(row: WithBkr) -> WithBkr:
    return WithBkr(
        first=row.second,
        second=row.first,
        measure=row.measure,
        difference=-row.difference,
        ci=None if row.ci is None else minus(row.ci),
        correlation=row.correlation,
        correlation_ci=row.correlation_ci,
        same_direction=row.same_direction,
        note=row.note,
    )


def value(mean: float | None) -> str:
    """Return a mean BkR as text."""
    return number(mean, digits=DIGITS)
