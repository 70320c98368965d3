"""Figure 3 of the paper: a box over language pairs for each model, and the worst pairs joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xlingual.report import words
from xlingual.report.axis import Axis, axis_for
from xlingual.report.blocks import Figure
from xlingual.report.figures.frame import fitted
from xlingual.report.figures.pairs import FEWEST_FOR_BOX, box_of
from xlingual.report.findings.case_study import SCALE, label, times
from xlingual.report.shapes import Drawing, Shape, circle, group, line, mark, polyline, rect, text
from xlingual.results.case_study import BASE, TRIPLET, TRIPLET_XL, CaseStudy, Model

SHAPES = ("circle", "square", "triangle", "diamond")
_TOP, _BOTTOM = 26.0, 58.0  # above the first row, and below the last one for names and their lines


@dataclass(frozen=True)
class Layout:
    """Sizes of a drawing: models stand left of their rows, or above them where it is narrow."""

    width: float
    left: float
    right: float
    row: float
    above: bool  # whether names stand above their rows
    name_width: float  # of a language pair, at least so far apart

    def y(self, number: int) -> float:
        """Return where a row lies from the top."""
        return _TOP + self.row * number + (self.row - 18 if self.above else self.row / 2)

    def x(self, axis: Axis, value: float) -> float:
        """Return where a value of the measure lies from the left."""
        return round(self.left + (self.right - self.left) * axis.at(SCALE * value) / 100, 1)


ROOMY = Layout(900, 190, 880, 52, above=False, name_width=70)
NARROW = Layout(350, 12, 338, 64, above=True, name_width=58)


def over_pairs(study: CaseStudy) -> Figure | None:
    """Return the figure; None where there are fewer than two language pairs."""
    if study.n_pairs < 2:
        return None
    return fitted(lambda layout: drawing(study, layout), ROOMY, NARROW, style="journey")


def drawing(study: CaseStudy, layout: Layout) -> Drawing:
    """Return the figure in one size."""
    values = [pair.value for model in study.models for pair in model.pairs]
    held = values if study.chance is None else [*values, study.chance]
    axis = axis_for([SCALE * value for value in held], floor=0.0)
    bottom = _TOP + layout.row * len(study.models)
    spoken = [_spoken(model) for model in study.models]
    joined = list(_joined(study, axis, layout, bottom))
    drawn: list[Shape] = []
    for place, tick in axis.labels():
        x = round(layout.left + (layout.right - layout.left) * place / 100, 1)
        drawn += [line(x, 20, x, bottom, "grid"), text(x, 14, tick, "tick", anchor="middle")]
    if study.chance is not None and axis.holds(SCALE * study.chance):
        x = layout.x(axis, study.chance)
        drawn.append(line(x, 20, x, bottom, "chance"))
    drawn += [_box(model, layout.y(i), axis, layout) for i, model in enumerate(study.models)]
    drawn += [one for one in joined if one.name == "polyline"]
    drawn += [one for one in joined if one.name != "polyline"]
    drawn += [_name(label(model), layout.y(i), layout) for i, model in enumerate(study.models)]
    return Drawing(
        tuple(drawn),
        bottom + (_BOTTOM if joined else 12),
        layout.width,
        spoken=f"{len(spoken)} models over {study.n_pairs} language pairs; {'; '.join(spoken)}",
    )


def _box(model: Model, y: float, axis: Axis, layout: Layout) -> Shape:
    """Return the row of a model: its box, and every language pair as a dot."""
    ordered = sorted(model.pairs, key=lambda pair: pair.value)
    values = [pair.value for pair in ordered]
    low, high, drawn = values[0], values[-1], []
    if len(values) >= FEWEST_FOR_BOX:
        quartiles, low, high = box_of(values)
        left, middle, right = (layout.x(axis, value) for value in quartiles)
        drawn = [
            rect(left, y - 10, round(right - left, 1), 20, "quartiles", rx=3),
            line(middle, y - 11, middle, y + 11, "median"),
        ]
    whisker = line(layout.x(axis, low), y, layout.x(axis, high), y, "whisker")
    dots = [
        circle(
            layout.x(axis, pair.value),
            y,
            3.2,
            "point",
            title=f"{words.pair(pair.source, pair.target)}: {times(pair.value)}",
        )
        for pair in ordered
    ]
    trained = model.role in (TRIPLET, TRIPLET_XL)
    return group([whisker, *drawn, *dots], "box first" if trained else "box", spoken=_spoken(model))


def _spoken(model: Model) -> str:
    values = [pair.value for pair in model.pairs]
    return f"{label(model)} from {times(min(values))} to {times(max(values))}"


def _name(name: str, y: float, layout: Layout) -> Shape:
    if layout.above:
        return text(0, y - 20, _cut(name, 44), "name")
    return text(layout.left - 16, y + 4, _cut(name, 26), "name model-name", anchor="end")


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _joined(study: CaseStudy, axis: Axis, layout: Layout, bottom: float) -> Iterator[Shape]:
    """Give for each of Triplet's worst pairs its line from the base on, its marks, and its name below."""
    begin = next((i for i, model in enumerate(study.models) if model.role == BASE), 0)
    found: list[tuple[int, str, list[tuple[float, float, str]]]] = []
    for number, worst in enumerate(study.worst.shown):
        key = (worst.source, worst.target)
        name = words.pair(*key)
        spots = [
            (layout.x(axis, pair.value), layout.y(i), f"{name}, {label(model)}: {times(pair.value)}")
            for i, model in enumerate(study.models)
            for pair in model.pairs
            if (pair.source, pair.target) == key
        ]
        if spots:
            found.append((number % len(SHAPES), name, spots))
    places = spread([spots[-1][0] for _, _, spots in found], layout)
    for (kind, name, spots), place in zip(found, places, strict=True):
        along = [(x, y) for x, y, _ in spots[begin:]]
        yield polyline([*along, (place, bottom + 26)], f"series w{kind}")
        for x, y, said in spots:
            yield group([mark(SHAPES[kind], x, y)], f"mark w{kind}", title=said)
        yield text(place, bottom + 40, name, "name pair-name", anchor="middle")


def spread(wanted: Sequence[float], layout: Layout) -> list[float]:
    """Return places near the wanted ones, in their order, so far apart that names do not overlap.

    >>> spread([200.0, 201.0], ROOMY)
    [165.5, 235.5]
    """
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    groups: list[list[int]] = []  # names that stand side by side
    for place in order:
        groups.append([place])
        while len(groups) > 1 and _start(groups[-1], wanted, layout) < _end(groups[-2], wanted, layout):
            last = groups.pop()
            groups[-1] += last
    found = [0.0] * len(wanted)
    for members in groups:
        first = _start(members, wanted, layout) + layout.name_width / 2
        for number, place in enumerate(members):
            found[place] = round(first + number * layout.name_width, 1)
    return found


def _start(members: Sequence[int], wanted: Sequence[float], layout: Layout) -> float:
    """Return where a group of names begins: centred over its marks, within the drawing."""
    width = len(members) * layout.name_width
    centre = sum(wanted[i] for i in members) / len(members)
    return max(min(centre - width / 2, layout.width - width), 0.0)


def _end(members: Sequence[int], wanted: Sequence[float], layout: Layout) -> float:
    return _start(members, wanted, layout) + len(members) * layout.name_width
