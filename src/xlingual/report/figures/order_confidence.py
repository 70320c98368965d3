"""The reliability diagram of order confidence: what the model says against how often the order is right."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import shapes
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Figure
from xlingual.report.figures.frame import Frame, Size, fitted, line_swatch, mark_swatch, scatter
from xlingual.report.shapes import Drawing
from xlingual.report.table import Key
from xlingual.results.order_confidence import OrderBin

WIDE: Size = (560, 380, 52, 14, 546, 334)
NARROW: Size = (350, 320, 44, 14, 342, 276)
APART = 0.008  # of the two kinds of pairs in a bin, so that their whiskers do not lie on each other
KINDS = {True: ("", "circle", "the leader and another"), False: ("noise", "square", "other neighbours")}


def diagram(bins: Sequence[OrderBin]) -> Figure:
    """Return the mean share of orders that are right in each bin, with its interval over data sets."""

    def draw(size: Size) -> Drawing:
        frame = Frame(*size, axis_for([0.0, 1.0]), axis_for([0.0, 1.0]))
        points = []
        for one in bins:
            kind, mark, name = KINDS[one.leader]
            middle = (max(one.low, 0.4) + one.high) / 2 + (APART if one.leader else -APART)
            title = f"{name}, p {one.low:g} to {one.high:g}: right {one.mean:.2f}, {one.n:,} pairs"
            ends = one.ci.low, one.ci.high
            points.append(frame.point(middle, one.mean, title, kind=kind, mark=mark, up=ends))
        level = shapes.line(frame.x(0), frame.y(0), frame.x(1), frame.y(1), "chance")
        return scatter(
            frame,
            points,
            across="p of the model",
            up="share in the right order",
            spoken="How often the order is right, by the probability that the model gives",
            lines=[level],
            name="Reliability on data sets left out",
        )

    legend = (
        *(Key(name, mark_swatch(kind, mark)) for kind, mark, name in KINDS.values()),
        Key("as often as the model says", line_swatch("chance")),
    )
    return fitted(draw, WIDE, NARROW, legend=legend)
