"""What a repair or an image pivot changes, by language pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xlingual.report import numbers
from xlingual.report.blocks import STEPS, Heat, HeatMap, Matrix
from xlingual.results.pivot import PivotChange
from xlingual.results.repair import Change


def changes_of(
    pairs: Sequence[Change] | Sequence[PivotChange],
    label: Callable[[Any], str],
    *,
    title: str,
    corner: str,
    framed: str = "",
    style: str = "close wide",
) -> Matrix:
    """Return the differences by language of the queries (rows) and of what they find (columns), two hues."""
    place = {(one.source or "", one.target or ""): one for one in pairs}
    sources, seen = (list(dict.fromkeys(pair[side] for pair in place)) for side in (0, 1))
    targets = [tag for tag in dict.fromkeys([*sources, *seen]) if tag in seen]  # in the order of the rows
    most = max(abs(one.difference) for one in pairs) or 1.0

    def cell(one: Change | PivotChange | None) -> Heat | None:
        if one is None:
            return None
        text = numbers.signed(one.difference)
        by = numbers.signed(one.difference, one.ci)
        said = f"{label(one)}: {numbers.number(one.before)} → {numbers.number(one.after)}, {by}"
        step = round((one.difference / most + 1) / 2 * (STEPS - 1))
        ends = None if one.ci is None else (one.ci.low, one.ci.high)
        return Heat(text, text, said, step, one.difference, ends)

    lines = [(tag, [cell(place.get((tag, other))) for other in targets]) for tag in sources]
    return Matrix(
        [HeatMap("after − before", targets, lines)],
        scale="difference",
        ends=(numbers.signed(-most), numbers.signed(most)),
        title=title,
        corner=corner,
        hue="d",
        style=style,
        framed=framed,
        where="page",
    )
