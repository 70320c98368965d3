"""Figure 3 of the paper: a box over language pairs for each model, and the worst pairs joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from xlingual.report import words
from xlingual.report.axis import Axis, axis_for
from xlingual.report.blocks import Figure
from xlingual.report.figures.frame import fitted
from xlingual.report.figures.labels import shortened
from xlingual.report.figures.pairs import FEWEST_FOR_BOX, box_of
from xlingual.report.findings.case_study import SCALE, label, times
from xlingual.report.shapes import Drawing, Shape, circle, group, line, mark, polyline, rect, text
from xlingual.results.case_study import BASE, TRIPLET, TRIPLET_XL, CaseStudy, Model

SHAPES = ("circle", "square", "triangle", "diamond")
_TOP, _BOTTOM = 26.0, 58.0  # above the first row, and below the last one for names and their lines


@dataclass(frozen=True)
class FigureLayout:
    """Sizes of a drawing: models are named left of their rows, or above them where it is narrow."""

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


def over_pairs(study: CaseStudy) -> Figure | None:
    """Return the figure; None where there are fewer than two language pairs."""
    if study.n_pairs < 2:
        return None
    return fitted(lambda layout: drawing(study, layout), ROOMY, NARROW, style="journey")


def drawing(study: CaseStudy, layout: FigureLayout) -> Drawing:
    """Return the figure in one size."""
    chance = [] if study.chance is None else [SCALE * study.chance]
    values = [SCALE * pair.value for model in study.models for pair in model.pairs]
    axis = axis_for([*values, *chance], floor=0.0)
    bottom = _TOP + layout.row * len(study.models)
    drawn: list[Shape] = []
    for tick, (_, name) in zip(axis.ticks, axis.labels(), strict=True):
        x = layout.x(axis, tick)
        drawn += [line(x, 20, x, bottom, "grid"), text(x, 14, name, "tick", anchor="middle")]
    for x in (layout.x(axis, value) for value in chance if axis.holds(value)):
        drawn.append(line(x, 20, x, bottom, "chance"))
    drawn += [_box(model, layout.y(i), axis, layout) for i, model in enumerate(study.models)]
    joined = _joined(study, axis, layout, bottom)
    drawn += joined
    drawn += [_name(label(model), layout.y(i), layout) for i, model in enumerate(study.models)]
    height = bottom + (_BOTTOM if joined else 12)
    about = f"{len(study.models)} models over {study.n_pairs} language pairs"
    spoken = "; ".join([about, *map(_spoken, study.models)])
    return Drawing(tuple(drawn), height, layout.width, spoken=spoken)


def _box(model: Model, y: float, axis: Axis, layout: FigureLayout) -> Shape:
    """Return the row of a model: its box, and every language pair as a dot."""
    ordered = sorted(model.pairs, key=lambda pair: pair.value)
    values = [SCALE * pair.value for pair in ordered]
    low, high, drawn = values[0], values[-1], []
    if len(values) >= FEWEST_FOR_BOX:
        quartiles, low, high = box_of(values)
        left, middle, right = (layout.x(axis, value) for value in quartiles)
        drawn = [
            rect(left, y - 10, round(right - left, 1), 20, "quartiles", rx=3),
            line(middle, y - 11, middle, y + 11, "median"),
        ]
    whisker = line(layout.x(axis, low), y, layout.x(axis, high), y, "whisker")
    titles = [f"{words.pair(pair.source, pair.target)}: {times(pair.value)}" for pair in ordered]
    dots = [
        circle(layout.x(axis, value), y, 3.2, "point", title=title)
        for value, title in zip(values, titles, strict=True)
    ]
    style = "box first" if model.role in (TRIPLET, TRIPLET_XL) else "box"
    return group([whisker, *drawn, *dots], style, spoken=_spoken(model))


def _spoken(model: Model) -> str:
    values = [pair.value for pair in model.pairs]
    return f"{label(model)} from {times(min(values))} to {times(max(values))}"


def _name(name: str, y: float, layout: FigureLayout) -> Shape:
    if layout.above:
        return text(0, y - 20, shortened(name, 44), "name")
    return text(layout.left - 16, y + 4, shortened(name, 26), "name model-name", anchor="end")


def _joined(study: CaseStudy, axis: Axis, layout: FigureLayout, bottom: float) -> list[Shape]:
    """Return the lines of Triplet's worst pairs from the base on, then their marks and their names below."""
    begin = next((i for i, model in enumerate(study.models) if model.role == BASE), 0)
    found = []
    for number, worst in enumerate(study.worst.shown):
        name = words.pair(worst.source, worst.target)
        spots = [
            (layout.x(axis, SCALE * pair.value), layout.y(i), f"{name}, {label(model)}: {times(pair.value)}")
            for i, model in enumerate(study.models)
            for pair in model.pairs
            if (pair.source, pair.target) == (worst.source, worst.target)
        ]
        if spots:
            found.append((number % len(SHAPES), name, spots))
    places = spread([spots[-1][0] for _, _, spots in found], layout)
    lines, marks = [], []
    for (kind, name, spots), place in zip(found, places, strict=True):
        along = [(x, y) for x, y, _ in spots[begin:]]
        lines.append(polyline([*along, (place, bottom + 26)], f"series w{kind}"))
        marks += [group([mark(SHAPES[kind], x, y)], f"mark w{kind}", title=title) for x, y, title in spots]
        marks.append(text(place, bottom + 40, name, "name pair-name", anchor="middle"))
    return lines + marks


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
