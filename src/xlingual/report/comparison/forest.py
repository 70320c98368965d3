"""The forest plot of a board: differences from the baseline and their intervals, in percent of an axis."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.report.axis import Axis, axis_for
from xlingual.report.comparison.tables import Line, lines, remarks, size, title
from xlingual.results import comparison as record
from xlingual.results.comparison import Board

_CLASSES = {  # the classes of style.css
    record.BASELINE: "leader",
    record.NO_DIFFERENCE: "level",
    record.EQUIVALENT: "level",
    record.CANNOT_TELL: "level",
}


@dataclass(frozen=True)
class Mark:
    """One encoder: its line of the table, and where its difference and interval lie."""

    line: Line
    kind: str  # class of the row
    at: float | None
    low: float | None
    width: float | None


@dataclass(frozen=True)
class Forest:
    """A board as the page shows it."""

    title: str
    size: str
    baseline: str
    axis: Axis
    zero: float
    margins: tuple[float, ...]  # places of ± margin
    marks: list[Mark]
    remarks: list[str]
    ranked: bool
    level: str  # "95 %"


def forest(board: Board, margin: float | None, level: float) -> Forest:
    """Return the places of all marks of a board."""
    ends = [end for row in board.rows if row.ci for end in (row.ci.low, row.ci.high)]
    axis = axis_for([0.0, *ends, *(row.difference for row in board.rows)])
    marks = []
    for row, line in zip(board.rows, lines(board, margin), strict=True):
        at = None if row.difference is None else axis.at(row.difference)
        low = None if row.ci is None else axis.at(row.ci.low)
        width = None if row.ci is None or low is None else round(axis.at(row.ci.high) - low, 2)
        marks.append(Mark(line, _CLASSES.get(row.outcome, "behind"), at, low, width))
    bounds = () if margin is None else tuple(axis.at(end) for end in (-margin, margin) if axis.holds(end))
    return Forest(
        title=title(board),
        size=size(board),
        baseline=board.baseline,
        axis=axis,
        zero=axis.at(0.0),
        margins=bounds,
        marks=marks,
        remarks=remarks(board),
        ranked=any(line.rank for line in lines(board)),
        level=f"{100 * level:g} %",
    )
