"""What a repair changes, by question and answer language."""

from __future__ import annotations

from xlingual.report import numbers
from xlingual.report.blocks import STEPS, Heat, HeatMap, Matrix
from xlingual.report.findings.repair import label
from xlingual.results.repair import CROSSLINGUAL_MAP, POOL_MAP, Change, Repair

_VALUE = {
    POOL_MAP: "mAP of a single answer",
    CROSSLINGUAL_MAP: "mAP among the candidates of the answer's language",
}


def changes_by_pair(found: Repair) -> Matrix:
    """Return the differences by the question's language (rows) and the answer's (columns), two hues."""
    place = {(one.source, one.target): one for one in found.pairs}
    sources, seen = (list(dict.fromkeys(pair[side] for pair in place)) for side in (0, 1))
    targets = [tag for tag in dict.fromkeys([*sources, *seen]) if tag in seen]  # in the order of the rows
    most = max(abs(one.difference) for one in found.pairs) or 1.0
    lines = [(tag, [_cell(place.get((tag, other)), most) for other in targets]) for tag in sources]
    return Matrix(
        [HeatMap("after − before", targets, lines)],
        scale="difference",
        ends=(numbers.signed(-most), numbers.signed(most)),
        title=f"{_VALUE[found.criterion]}: what changes, by language pair",
        corner="question ↓\nanswer →",
        hue="d",
        style="close wide",
        framed="question and answer are in one language",
        where="page",
    )


def _cell(one: Change | None, most: float) -> Heat | None:
    if one is None:
        return None
    text = numbers.signed(one.difference)
    by = numbers.signed(one.difference, one.ci)
    title = f"{label(one)}: {numbers.number(one.before)} → {numbers.number(one.after)}, {by}"
    step = round((one.difference / most + 1) / 2 * (STEPS - 1))
    return Heat(
        text, text, title, step, one.difference, None if one.ci is None else (one.ci.low, one.ci.high)
    )
