"""Box plots over language pairs, row by row, with some pairs followed from row to row and named below."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import ceil
from statistics import fmean

from xlingual.report import words
from xlingual.report.axis import Axis
from xlingual.report.blocks import Box, Boxes, Figure, Legend
from xlingual.report.emphasis import mark_of
from xlingual.report.figures.frame import fitted
from xlingual.report.figures.labels import shortened, width_of
from xlingual.report.shapes import Drawing, Shape, circle, group, line, mark, polyline, rect, text
from xlingual.report.table import Key

_TOP, _BOTTOM, _LINE = 26.0, 58.0, 18.0  # above the rows; below them for names; of a further line of names
_AIR = 10.0  # between two names
KEYS = (
    Key("box: the middle half of the pairs, with the median as a line"),
    Key("whiskers: pairs within 1.5 box lengths"),
)


@dataclass(frozen=True)
class FigureLayout:
    """Sizes of a drawing: boxes are named left of their rows, or above them where it is narrow."""

    width: float
    left: float
    right: float
    row: float
    above: bool  # whether names are above their rows
    name_width: float  # of a language pair, at least so far apart

    def y(self, number: int) -> float:
        """Return where a row lies from the top."""
        return _TOP + self.row * number + (self.row - 18 if self.above else self.row / 2)

    def x(self, axis: Axis, value: float) -> float:
        """Return where a value on the axis lies from the left."""
        return round(self.left + (self.right - self.left) * axis.at(value) / 100, 1)


ROOMY = FigureLayout(900, 190, 880, 52, above=False, name_width=70)
NARROW = FigureLayout(350, 12, 338, 64, above=True, name_width=58)


@dataclass(frozen=True)
class OverPairs:
    """What a figure shows: boxes, their axis, levels such as chance, and the language pairs followed.

    Pairs are joined from the row `begin` on. The boxes of `first` are in the colour of leaders.
    """

    boxes: Sequence[Box]
    axis: Axis
    followed: Sequence[tuple[str, str]]
    levels: Sequence[float] = ()
    begin: int = 0
    first: Collection[int] = ()
    spoken: str = ""


def figure(shown: OverPairs, name: str = "") -> Figure:
    """Return the figure for a page and for a telephone."""
    return fitted(lambda layout: replace(drawing(shown, layout), name=name), ROOMY, NARROW, style="journey")


def annotated(plot: Boxes, pairs: Sequence[tuple[str, str]]) -> list[Figure | Legend]:
    """Return box plots as a figure that follows some language pairs, and its legend."""
    spoken = "; ".join([f"{plot.name} over language pairs", *(box.spoken for box in plot.boxes)])
    shown = figure(OverPairs(plot.boxes, plot.axis, pairs, first=[0], spoken=spoken), name=plot.name)
    boxed = any(box.quartiles for box in plot.boxes)
    return [shown, Legend((Key("every dot is a language pair"), *(KEYS if boxed else ())))]


def drawing(shown: OverPairs, layout: FigureLayout) -> Drawing:
    """Return the figure in one size."""
    axis, boxes = shown.axis, shown.boxes
    bottom = _TOP + layout.row * len(boxes)
    drawn: list[Shape] = []
    for tick, (_, name) in zip(axis.ticks, axis.labels(), strict=True):
        x = layout.x(axis, tick)
        drawn += [line(x, 20, x, bottom, "grid"), text(x, 14, name, "tick", anchor="middle")]
    for x in (layout.x(axis, value) for value in shown.levels if axis.holds(value)):
        drawn.append(line(x, 20, x, bottom, "chance"))
    drawn += [_box(box, layout.y(i), axis, layout, i in shown.first) for i, box in enumerate(boxes)]
    joined, lines = _joined(shown, layout, bottom)
    drawn += joined
    drawn += [_name(box.label, layout.y(i), layout) for i, box in enumerate(boxes)]
    height = bottom + (_BOTTOM + _LINE * (lines - 1) if joined else 12)
    return Drawing(tuple(drawn), height, layout.width, spoken=shown.spoken)


def _box(box: Box, y: float, axis: Axis, layout: FigureLayout, first: bool) -> Shape:
    """Return a row: its box, and every language pair as a dot."""
    drawn = []
    if box.quartiles:
        left, middle, right = (layout.x(axis, value) for value in box.quartiles)
        drawn = [
            rect(left, y - 10, round(right - left, 1), 20, "quartiles", rx=3),
            line(middle, y - 11, middle, y + 11, "median"),
        ]
    whisker = line(layout.x(axis, box.low), y, layout.x(axis, box.high), y, "whisker")
    dots = [circle(layout.x(axis, value), y, 3.2, "point", title=title) for value, title in box.dots]
    return group([whisker, *drawn, *dots], "box first" if first else "box", spoken=box.spoken)


def _name(name: str, y: float, layout: FigureLayout) -> Shape:
    if layout.above:
        return text(0, y - 20, shortened(name, 44), "name")
    return text(layout.left - 16, y + 4, shortened(name, 26), "name model-name", anchor="end")


def _joined(shown: OverPairs, layout: FigureLayout, bottom: float) -> tuple[list[Shape], int]:
    """Return the lines of followed pairs, then their marks and their names below; and the names' lines."""
    found = []
    for place, pair in enumerate(shown.followed):
        spots = [
            (
                layout.x(shown.axis, value),
                layout.y(i),
                f"{words.pair(*pair)}, {box.label}: {title.rpartition(': ')[2]}",
            )
            for i, box in enumerate(shown.boxes)
            for own, (value, title) in zip(box.pairs, box.dots, strict=True)
            if own == pair
        ]
        if spots:
            found.append((mark_of(place), words.pair(*pair), spots))
    places = name_places([spots[-1][0] for *_, spots in found], [name for _, name, _ in found], layout)
    lines, marks = [], []
    for ((kind, style), name, spots), (x_name, on_line) in zip(found, places, strict=True):
        along = [(x, y) for x, y, _ in spots[shown.begin :]]
        below = bottom + _LINE * on_line
        lines.append(polyline([*along, (x_name, below + 26)], f"series {style}"))
        marks += [group([mark(kind, x, y)], f"mark {style}", title=title) for x, y, title in spots]
        marks.append(text(x_name, below + 40, name, "name pair-name", anchor="middle"))
    return lines + marks, max((on_line + 1 for _, on_line in places), default=1)


def name_places(
    wanted: Sequence[float], names: Sequence[str], layout: FigureLayout
) -> list[tuple[float, int]]:
    """Return a place and a line for each name, so that none overlap: more lines where one is too narrow."""
    width = max([layout.name_width, *(width_of(name) * 12 / 11 + _AIR for name in names)])
    n_lines = ceil(len(names) / max(1, int(layout.width // width)))
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    found = [(0.0, 0)] * len(wanted)
    for on_line in range(n_lines):
        own = order[on_line::n_lines]
        for i, place in zip(
            own, spread([wanted[i] for i in own], replace(layout, name_width=width)), strict=True
        ):
            found[i] = place, on_line
    return found


def spread(wanted: Sequence[float], layout: FigureLayout) -> list[float]:
    """Return places near the wanted ones, in their order, so far apart that names do not overlap.

    >>> spread([200.0, 201.0], ROOMY)
    [165.5, 235.5]
    """
    width, order = layout.name_width, sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    groups: list[list[float]] = []  # names side by side: where each would have the first name of all begin
    for number, i in enumerate(order):
        groups.append([wanted[i] - (number + 0.5) * width])
        while len(groups) > 1 and fmean(groups[-1]) < fmean(groups[-2]):
            last = groups.pop()
            groups[-1] += last
    most = layout.width - len(wanted) * width
    begins = [max(min(fmean(group), most), 0.0) for group in groups for _ in group]
    places = {i: begins[number] + (number + 0.5) * width for number, i in enumerate(order)}
    return [round(places[i], 1) for i in range(len(wanted))]
