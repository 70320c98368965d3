"""People against Backretrieval: one point for each system, its BkR across and what people found up."""

from __future__ import annotations

from xlingual.report import numbers
from xlingual.report.axis import axis_for
from xlingual.report.figures import labels
from xlingual.report.study import with_bkr
from xlingual.report.study.wording import amount, ranked, wanted
from xlingual.report.validation.figures import Figure, Frame, Point, Size
from xlingual.results.study import StudyAnalysis

ROOMY: Size = (560, 320, 60, 14, 546, 272)
NARROW: Size = (350, 300, 52, 14, 342, 252)
FEWEST = 2  # points


def scatter(analysis: StudyAnalysis, size: Size = ROOMY) -> Figure | None:
    """Return the drawing; None where fewer than two systems have a BkR."""
    rows = [row for row in ranked(analysis) if row.bkr is not None]
    if len(rows) < FEWEST:
        return None
    ends = [end for row in rows if (ci := row.very_relevant_ci) for end in (ci.low, ci.high)]
    xs = axis_for([0.0, *(row.bkr for row in rows)])
    ys = axis_for([0.0, *ends, *(row.very_relevant for row in rows)], floor=0.0)
    frame = Frame(*size, xs, ys)
    points = []
    for row in rows:
        ci = row.very_relevant_ci
        told = f"BkR {numbers.number(row.bkr)}, {amount(row.very_relevant, ci)} per query"
        points.append(
            Point(
                frame.x(row.bkr or 0.0),
                frame.y(row.very_relevant),
                "circle",
                "above",
                f"\u2068{row.system}\u2069: {told}",
                None,
                None if ci is None else (frame.y(ci.high), frame.y(ci.low)),
            )
        )
    names = [row.system for row in rows]
    whiskers = [(p.x - 2, p.down[0], p.x + 2, p.down[1]) for p in points if p.down]
    edges = (frame.left + 2, frame.top - 6, frame.right + 4, frame.bottom - 2)
    found = labels.placed([(point.x, point.y) for point in points], names, edges, whiskers)
    placed = {label.point for label in found}
    return Figure(
        name="people",
        spoken="; ".join(point.title for point in points),
        across=next((with_bkr.measure(row) for row in analysis.bkr), "BkR"),
        up=f"{wanted(analysis)} per query",
        frame=frame,
        points=points,
        labels=found,
        remarks=[],
        chance=None,
        threshold=None,
        unnamed=[name for i, name in enumerate(names) if i not in placed],
    )
