"""Quality against cost: a point for each system, and the frontier that none is better and cheaper than."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlingual.report import numbers
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Figure
from xlingual.report.figures.frame import Ends, Frame, Size, fitted, line_swatch, mark_swatch, scatter
from xlingual.report.shapes import Drawing, polyline
from xlingual.report.table import Key

WIDE: Size = (640, 380, 52, 14, 626, 334)
NARROW: Size = (350, 320, 44, 14, 342, 276)


@dataclass(frozen=True)
class Placed:
    """A system, what it costs, and its quality."""

    name: str
    cost: float
    value: float
    ends: Ends | None = None  # of the value's interval


def frontier(placed: Sequence[Placed], *, lower: bool = False) -> list[Placed]:
    """Return the systems than which no other is both at most as dear and at least as good, cheapest first.

    One of the two must be strict. `lower`: lower values are better.
    """
    sign = -1.0 if lower else 1.0
    ordered = sorted(placed, key=lambda one: (one.cost, -sign * one.value))
    found: list[Placed] = []
    for one in ordered:
        last = found[-1] if found else None
        equal = last is not None and (one.cost, one.value) == (last.cost, last.value)
        if last is None or equal or sign * one.value > sign * last.value:
            found.append(one)
    return found


def against_cost(placed: Sequence[Placed], best: Sequence[Placed], across: str, up: str) -> Figure:
    """Return the scatter of quality (up) against cost (across) with the frontier, as a line of steps."""
    xs, ys = (
        axis_for([0.0, *(one.cost for one in placed)]),
        axis_for([v for one in placed for v in (one.value, *(one.ends or ()))]),
    )

    def draw(size: Size) -> Drawing:
        frame = Frame(*size, xs, ys)
        points = [
            frame.point(
                one.cost,
                one.value,
                f"\u2068{one.name}\u2069: {one.cost:,.3g}, {up} {numbers.number(one.value)}",
                up=one.ends,
                kind="above" if one in best else "below",
            )
            for one in placed
        ]
        steps: list[tuple[float, float]] = []
        for one in best:
            x, y = frame.x(one.cost), frame.y(one.value)
            steps += [(x, steps[-1][1]), (x, y)] if steps else [(x, y)]
        steps.append((frame.right, steps[-1][1]))
        return scatter(
            frame,
            points,
            [one.name for one in placed],
            across=across,
            up=up,
            spoken=f"{up} against {across}, one point per system, {len(placed)} points",
            lines=[polyline(steps, "series")],
            avoided=[box for point in points for box in point.whiskers(2)],
        )

    keys = (
        Key("no other is both cheaper and better", mark_swatch("above")),
        Key("others", mark_swatch("below")),
        Key("frontier", line_swatch("series")),
        Key("vertical lines: the interval"),
    )
    return fitted(draw, WIDE, NARROW, legend=keys, style="wide")
