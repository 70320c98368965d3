"""An encoder's values from record to record, with intervals; marks show the changes that are real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xlingual.report import numbers, words
from xlingual.report.axis import axis_for, named_axis
from xlingual.report.blocks import Figure
from xlingual.report.figures.frame import Frame, Point, Size, fitted, line_swatch, mark_swatch, scatter
from xlingual.report.shapes import Drawing, polyline
from xlingual.report.table import Key
from xlingual.results import comparison as outcomes
from xlingual.results.history import Change, Line, Series
from xlingual.tasks import task_of

WIDE: Size = (640, 240, 56, 14, 626, 194)
NARROW: Size = (350, 230, 50, 14, 342, 184)
_MARKS = {outcomes.BETTER: ("noise", "triangle"), outcomes.WORSE: ("shuffle", "triangle down")}
_TICKS = {WIDE: 7, NARROW: 3}
_LONGEST = 12  # letters of a name below the axis
KEYS = (
    Key("better than the record before", mark_swatch("noise", "triangle")),
    Key("worse than the record before", mark_swatch("shuffle", "triangle down")),
    Key("no change found", mark_swatch("")),
    Key("other conditions from here on: not compared", line_swatch("chance")),
    Key("vertical lines: the interval"),
)


def over_records(series: Series, line: Line, lines: Sequence[Line], by: str) -> Figure:
    """Return a line over the records of a series, on the axis of all `lines` that are shown beside it."""
    place = {record.id: number for number, record in enumerate(series.records)}
    titles = [record.label for record in series.records]
    ends = [end for one in lines for point in one.points for end in (point.value, *numbers.ends(point.ci))]
    name = task_of(series.task).measure_name(series.measure)

    def draw(size: Size) -> Drawing:
        xs = named_axis([_short(title) for title in titles], _TICKS[size])
        frame = Frame(*size, xs, axis_for(ends))
        points, parts, breaks = list[Point](), list[list[tuple[float, float]]]([[]]), list[float]()
        for one in line.points:
            if one.value is None:
                continue
            x = place[one.record]
            change = one.change
            kind, mark = _MARKS.get(change.outcome if change else "", ("", "circle"))
            value = numbers.with_interval(one.value, one.ci, series.measure)
            title = f"\u2068{titles[x]}\u2069: {value}{_hover(change, series.measure)}"
            up = None if one.ci is None else (one.ci.low, one.ci.high)
            points.append(frame.point(x, one.value, title, kind=kind, mark=mark, up=up))
            if change is not None and change.difference is None and parts[-1]:
                breaks.append(frame.x(x - 0.5))
                parts.append([])
            parts[-1].append((points[-1].x, points[-1].y))
        drawn = scatter(
            frame,
            points,
            across="version" if by == "label" else "record, by date",
            up=name,
            spoken=f"{name} of {line.encoder} over {len(points)} records",
            lines=[
                *(polyline(part, "series") for part in parts if len(part) > 1),
                *(frame.upright(x, "chance") for x in breaks),
            ],
        )
        where = "" if line.source is None or line.target is None else words.pair(line.source, line.target)
        return replace(drawn, name=line.encoder, hint=where)

    return fitted(draw, WIDE, NARROW)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def change_text(change: Change, measure: str) -> str:
    """Return a difference with its interval: "−0.119 [−0.165, −0.074]"."""
    value = change.difference or 0.0
    if change.ci is None:
        return numbers.signed(value) if value else numbers.number(value, measure)
    text = numbers.difference(value, change.ci, measure)
    return f"+{text}" if value > 0 else text


def _hover(change: Change | None, measure: str) -> str:
    if change is None:
        return ""
    if change.difference is None:
        return f"; {change.note}"
    return f"; {change.outcome}: {change_text(change, measure)}"
