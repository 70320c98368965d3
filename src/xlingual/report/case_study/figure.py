"""Figure 3 as places in a drawing: a box over language pairs for each model, the worst pairs joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

from xlingual.report import words
from xlingual.report.axis import Axis, axis_for
from xlingual.report.case_study.wording import SCALE, label, times
from xlingual.report.plots import FEWEST_FOR_BOX
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


ROOMY = Layout(900, 190, 880, 52, above=False, name_width=70)
NARROW = Layout(350, 12, 338, 64, above=True, name_width=58)


@dataclass(frozen=True)
class Row:
    """One model: its box, and every language pair as a dot."""

    label: str
    spoken: str
    y: float
    trained: bool
    low: float  # ends of the whiskers
    high: float
    quartiles: tuple[float, float, float] | None
    dots: list[tuple[float, str]]


@dataclass(frozen=True)
class Joined:
    """A language pair followed over the models: a mark in each row, and its name below the last."""

    name: str
    kind: int  # which colour
    shape: str
    points: str  # of the line
    marks: list[tuple[float, float, str]]
    name_x: float
    name_y: float


@dataclass(frozen=True)
class Figure:
    """A drawing with its size."""

    layout: Layout
    height: float
    bottom: float
    spoken: str
    ticks: list[tuple[float, str]]
    chance: float | None
    rows: list[Row]
    joined: list[Joined]


def figure(study: CaseStudy, layout: Layout = ROOMY) -> Figure | None:
    """Return the figure; None where there are fewer than two language pairs."""
    if study.n_pairs < 2:
        return None
    axis = axis_for([SCALE * v for v in _held(study)], floor=0.0)
    rows = [_row(study, model, number, axis, layout) for number, model in enumerate(study.models)]
    bottom = _TOP + layout.row * len(rows)
    joined = _joined(study, rows, axis, layout, bottom)
    shown = SCALE * study.chance if study.chance is not None else None
    return Figure(
        layout=layout,
        height=bottom + (_BOTTOM if joined else 12),
        bottom=bottom,
        spoken=f"{len(rows)} models over {study.n_pairs} language pairs; "
        + "; ".join(row.spoken for row in rows),
        ticks=[
            (_x(axis, layout, tick), text) for tick, (_, text) in zip(axis.ticks, axis.labels(), strict=True)
        ],
        chance=None if shown is None or not axis.holds(shown) else _x(axis, layout, shown),
        rows=rows,
        joined=joined,
    )


def _held(study: CaseStudy) -> list[float]:
    values = [pair.value for model in study.models for pair in model.pairs]
    return values if study.chance is None else [*values, study.chance]


def _x(axis: Axis, layout: Layout, value: float) -> float:
    """Return where a value (in thousandths) lies from the left."""
    return round(layout.left + (layout.right - layout.left) * axis.at(value) / 100, 1)


def _y(layout: Layout, number: int) -> float:
    return _TOP + layout.row * number + (layout.row - 18 if layout.above else layout.row / 2)


def _row(study: CaseStudy, model: Model, number: int, axis: Axis, layout: Layout) -> Row:
    ordered = sorted(model.pairs, key=lambda pair: pair.value)
    values = [SCALE * pair.value for pair in ordered]
    dots = [
        (_x(axis, layout, SCALE * p.value), f"{words.pair(p.source, p.target)}: {times(p.value)}")
        for p in ordered
    ]
    low, high, box = values[0], values[-1], None
    if len(values) >= FEWEST_FOR_BOX:
        first, middle, third = quantiles(values, n=4, method="inclusive")
        reach = 1.5 * (third - first)
        inside = [value for value in values if first - reach <= value <= third + reach]
        low, high = inside[0], inside[-1]
        box = (_x(axis, layout, first), _x(axis, layout, middle), _x(axis, layout, third))
    return Row(
        label=label(model),
        spoken=f"{label(model)} from {values[0]:.1f} to {values[-1]:.1f}",
        y=_y(layout, number),
        trained=model.role in (TRIPLET, TRIPLET_XL),
        low=_x(axis, layout, low),
        high=_x(axis, layout, high),
        quartiles=box,
        dots=dots,
    )


def _joined(study: CaseStudy, rows: Sequence[Row], axis: Axis, layout: Layout, bottom: float) -> list[Joined]:
    """Return the worst pairs of Triplet: a mark in every row, and a line from the base on."""
    found = []
    begin = next((i for i, model in enumerate(study.models) if model.role == BASE), 0)
    for number, worst in enumerate(study.worst.shown):
        key = (worst.source, worst.target)
        marks = []
        for model, row in zip(study.models, rows, strict=True):
            value = next((p.value for p in model.pairs if (p.source, p.target) == key), None)
            if value is not None:
                text = f"{words.pair(*key)}, {row.label}: {times(value)}"
                marks.append((_x(axis, layout, SCALE * value), row.y, text))
        found.append((number, words.pair(*key), marks))
    found = [one for one in found if one[2]]
    places = spread([marks[-1][0] for _, _, marks in found], layout)
    name_y = bottom + 40
    return [
        Joined(
            name=name,
            kind=number % len(SHAPES),
            shape=SHAPES[number % len(SHAPES)],
            points=" ".join(
                f"{x},{y}" for x, y in [*((m[0], m[1]) for m in marks[begin:]), (place, name_y - 14)]
            ),
            marks=marks,
            name_x=place,
            name_y=name_y,
        )
        for (number, name, marks), place in zip(found, places, strict=True)
    ]


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
    for group in groups:
        first = _start(group, wanted, layout) + layout.name_width / 2
        for number, place in enumerate(group):
            found[place] = round(first + number * layout.name_width, 1)
    return found


def _start(group: Sequence[int], wanted: Sequence[float], layout: Layout) -> float:
    """Return where a group of names begins: centred over its marks, within the drawing."""
    width = len(group) * layout.name_width
    centre = sum(wanted[i] for i in group) / len(group)
    return max(min(centre - width / 2, layout.width - width), 0.0)


def _end(group: Sequence[int], wanted: Sequence[float], layout: Layout) -> float:
    return _start(group, wanted, layout) + len(group) * layout.name_width
