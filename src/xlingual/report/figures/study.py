"""The figures of a blind study: scores in bars, and people against Backretrieval."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Figure
from xlingual.report.figures.frame import Frame, Size, fitted, scatter
from xlingual.report.findings.study import bkr_name
from xlingual.report.numbers import count, percent
from xlingual.report.shapes import Drawing, Shape, group, rect, text
from xlingual.report.study_views import amount, best_label, ranked
from xlingual.report.table import Cell
from xlingual.results.study import StudyAnalysis, SystemScores

LEAST_NAMED = 8.0  # percent of a bar that have room for their number
ROOMY: Size = (560, 320, 60, 14, 546, 272)
NARROW: Size = (350, 300, 52, 14, 342, 252)
FEWEST = 2  # points


def scores_bar(row: SystemScores, labels: Sequence[str]) -> Drawing:
    """Return how often a system's suggestions got each score: a bar in parts."""
    total, begin, drawn, titles = sum(row.counts), 0, [], []
    for score, times in enumerate(row.counts, 1):
        if not times:
            continue
        titles.append(f"{labels[score - 1]}: {count(times)} ({percent(times / total)})")
        left, width = round(100 * begin / total, 2), round(100 * times / total, 2)
        shapes: list[Shape] = [rect(f"{left}%", 5, f"{width}%", 24, "")]
        if width >= LEAST_NAMED:
            middle = f"{left + width / 2:.2f}%"
            shapes.append(text(middle, 21, percent(times / total), "", anchor="middle"))
        drawn.append(group(shapes, f"score r{score}", title=titles[-1]))
        begin += times
    return Drawing(tuple(drawn), 34, style="bar", spoken=f"{row.system}: {', '.join(titles)}")


def score_swatch(score: int) -> Drawing:
    """Return the swatch of a score."""
    return Drawing((rect(0, 0, 14, 12, "", rx=2),), 12, 14, f"score r{score}")


def people_against_bkr(analysis: StudyAnalysis) -> Figure | None:
    """Return a point for each system: BkR across, very relevant suggestions up; None for too few."""
    if sum(row.bkr is not None for row in analysis.systems) < FEWEST:
        return None
    return fitted(lambda size: drawing(analysis, size), ROOMY, NARROW, style="people")


def drawing(analysis: StudyAnalysis, size: Size) -> Drawing:
    """Return people against Backretrieval in one size."""
    rows = [(row, row.bkr) for row in ranked(analysis) if row.bkr is not None]
    cells = [Cell.by(amount, row.very_relevant, row.very_relevant_ci) for row, _ in rows]
    interval_ends = [end for cell in cells for end in cell.ends or ()]
    up = axis_for([0.0, *interval_ends, *(row.very_relevant for row, _ in rows)], floor=0.0)
    frame = Frame(*size, axis_for([0.0, *(bkr for _, bkr in rows)]), up)
    points = []
    for (row, bkr), cell in zip(rows, cells, strict=True):
        title = f"\u2068{row.system}\u2069: BkR {numbers.number(bkr)}, {cell.plain} per query"
        points.append(frame.point(bkr, row.very_relevant, title, kind="above", up=cell.ends))
    return scatter(
        frame,
        points,
        [row.system for row, _ in rows],
        across=next((bkr_name(row) for row in analysis.bkr), "BkR"),
        up=f"{best_label(analysis)} per query",
        spoken="; ".join(point.title for point in points),
        taken=[box for point in points for box in point.whiskers(2)],
        air=6,
    )
