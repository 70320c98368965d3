"""The bars of a leaderboard: their axis, and the swatches of its legend."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import words
from xlingual.report.axis import Axis, axis_for
from xlingual.report.leaders import BoardRow
from xlingual.report.shapes import Drawing, circle, line, rect

CROWDED = 0.1  # share of the axis below which intervals cannot be seen
AIR = 0.08  # beside the outermost intervals of such an axis

SWATCHES = {
    "interval": Drawing((rect(1, 2, 28, 8, "ci", rx=4), circle(15, 6, 4, "dot")), 12, 30, ""),
    **{kind: Drawing((line(5, 0, 5, 14, kind),), 14, 10, "") for kind in ("chance", "oracle", "ceiling")},
}


def bar_axis(rows: Sequence[BoardRow]) -> Axis:
    """Return the axis of a leaderboard: it holds every value, interval and chance, and the oracle.

    Where all of them lie close together and far from the oracle, the axis ends a little beyond them instead:
    otherwise every encoder would be one dot on the line of chance.
    """
    floor = words.least(rows[0].measure)
    values = [row.value for row in rows] + [row.chance for row in rows]
    values += [end for row in rows if row.ci for end in (row.ci.low, row.ci.high)]
    whole = axis_for(values + [row.oracle for row in rows], floor=floor)
    known = [max(value, floor) for value in values if value is not None]
    span = max(known, default=0.0) - min(known, default=0.0)
    if 0 < span < CROWDED * (whole.high - whole.low):
        return axis_for([*known, min(known) - AIR * span, max(known) + AIR * span], floor=floor)
    return whole
