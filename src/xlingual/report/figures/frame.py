"""What figures with two axes share: axes, points with whiskers and names, lines, the legend's swatches.

A figure makes a `Frame` of a size and two axes and places its values in it:

    frame = Frame(*size, axis_for(xs), axis_for(ys))
    points = [frame.point(x, y, "bge-m3: 0.41", up=(low, high)) for …]
    drawing = scatter(frame, points, names, across="BkR", up="XLR", spoken="BkR against XLR, 12 encoders")

`scatter` draws axes, lines, whiskers, points and as many names as have room, in this order. A figure of
other shapes begins with `frame.axes(across, up)`, adds its own, and ends with `frame.drawing(drawn, spoken)`.
`fitted` makes the block: one drawing for a wide page, one for a telephone, which style sheets choose from.
For a legend: `Key("chance", line_swatch("chance"))`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from xlingual.report import shapes
from xlingual.report.axis import Axis
from xlingual.report.blocks import Figure
from xlingual.report.figures import labels
from xlingual.report.shapes import Drawing, Shape

Ends = tuple[float, float]  # of an interval: the lower one first
# width, height, and the plot's left, top, right and bottom in it
Size = tuple[float, float, float, float, float, float]
SizeT = TypeVar("SizeT")


@dataclass(frozen=True)
class Point:
    """A mark at its place in a drawing, with its whiskers (left, right; top, bottom) where there are any."""

    x: float
    y: float
    title: str  # on hover
    kind: str = ""  # class of the style sheet: its colour
    mark: str = "circle"
    across: Ends | None = None
    down: Ends | None = None

    @property
    def box(self) -> labels.Box:
        """The square that the mark needs."""
        return labels.around((self.x, self.y))

    def whiskers(self, half: float = 1.0) -> list[labels.Box]:
        """Return the boxes of the whiskers, for names and words to keep clear of."""
        found = []
        if self.across:
            found.append((self.across[0], self.y - half, self.across[1], self.y + half))
        if self.down:
            found.append((self.x - half, self.down[0], self.x + half, self.down[1]))
        return found


@dataclass(frozen=True)
class Level:
    """A line across the plot (chance, no agreement), and its name where there is room for it."""

    y: float
    label: labels.Label | None
    boxes: Sequence[labels.Box]  # of both


@dataclass(frozen=True)
class Frame:
    """A drawing's size, the edges of the plot in it, and its axes."""

    width: float
    height: float
    left: float
    top: float
    right: float
    bottom: float
    xs: Axis
    ys: Axis

    def x(self, value: float) -> float:
        """Return where the value lies from the left."""
        return round(self.left + (self.right - self.left) * self.xs.at(value) / 100, 1)

    def y(self, value: float) -> float:
        """Return where the value lies from the top."""
        return round(self.bottom - (self.bottom - self.top) * self.ys.at(value) / 100, 1)

    def point(
        self, x: float, y: float, title: str, *, kind: str = "", mark: str = "circle",
        across: Ends | None = None, up: Ends | None = None,
    ) -> Point:  # fmt: skip
        """Return the point of two values; `across` and `up` are the intervals of the first and the second."""
        return Point(
            self.x(x),
            self.y(y),
            title,
            kind,
            mark,
            None if across is None else (self.x(across[0]), self.x(across[1])),
            None if up is None else (self.y(up[1]), self.y(up[0])),
        )

    def level(self, value: float | None, text: str, taken: Sequence[labels.Box] = ()) -> Level | None:
        """Return the line of a value across the plot, named where the name covers nothing that is `taken`.

        None where the value is not on the axis.
        """
        if value is None or not self.ys.holds(value):
            return None
        y = self.y(value)
        label = labels.on_line(text, y, (self.left, self.top, self.right, self.bottom), taken)
        line = (self.left, y - 1, self.right, y + 1)
        return Level(y, label, [line, labels.box_of(label)] if label else [line])

    def axes(self, across: str, up: str) -> list[Shape]:
        """Return both axes: grid, numbers, and what they show."""
        drawn = []
        for tick, (_, text) in zip(self.xs.ticks, self.xs.labels(), strict=True):
            x = self.x(tick)
            drawn.append(self.upright(x, "grid"))
            drawn.append(shapes.text(x, self.bottom + 16, text, "tick", anchor="middle"))
        for tick, (_, text) in zip(self.ys.ticks, self.ys.labels(), strict=True):
            y = self.y(tick)
            drawn.append(self.flat(y, "grid"))
            drawn.append(shapes.text(self.left - 7, y + 3.5, text, "tick", anchor="end"))
        middle, centre = (self.left + self.right) / 2, (self.top + self.bottom) / 2
        drawn.append(shapes.text(middle, self.bottom + 33, across, "axis-name", anchor="middle"))
        return [*drawn, shapes.text(12, centre, up, "axis-name", anchor="middle", turned=True)]

    def upright(self, x: float, style: str) -> Shape:
        """Return a line from the top to the bottom of the plot, at a place."""
        return shapes.line(x, self.top, x, self.bottom, style)

    def flat(self, y: float, style: str) -> Shape:
        """Return a line from the left to the right of the plot, at a place."""
        return shapes.line(self.left, y, self.right, y, style)

    def drawing(self, drawn: Iterable[Shape], spoken: str, **more: Any) -> Drawing:  # noqa: ANN401  (its fields)
        """Return the drawing of this size."""
        return Drawing(tuple(drawn), self.height, self.width, spoken=spoken, **more)


def scatter(
    frame: Frame,
    points: Sequence[Point],
    names: Sequence[str] | None = None,
    *,
    across: str,
    up: str,
    spoken: str,
    lines: Sequence[Shape] = (),
    level: Level | None = None,
    remarks: Sequence[tuple[float, float, str]] = (),
    taken: Sequence[labels.Box] = (),
    avoided: Sequence[labels.Box] = (),
    air: float = 0.0,
    **more: Any,  # noqa: ANN401  (fields of a drawing)
) -> Drawing:
    """Return points in their frame, named where there is room, the earlier ones first.

    `names`: one for each point; None for a small drawing, whose points say theirs on hover. `lines` lie
    beneath the points; `level` is drawn as chance. No name covers what is `taken`, nor what is `avoided`
    where it has room elsewhere; names may reach `air` beyond the top and right edges.
    """
    occupied = [*taken, *(level.boxes if level else ())]
    found = _named(frame, points, names or (), occupied, avoided, air)
    placed = {label.point for label in found}
    drawn = frame.axes(across, up)
    if level is not None:
        drawn.append(frame.flat(level.y, "chance"))
    drawn += lines
    drawn += [whisker for point in points for whisker in _whiskers(point)]
    drawn += [shapes.line(*label.line, "leader-line") for label in found if label.line]
    drawn += [_mark(point) for point in points]
    drawn += [_text(label, "name") for label in found]
    if level is not None and level.label is not None:
        drawn.append(_text(level.label, "chance-name"))
    drawn += [shapes.text(x, y, text, "remark-text") for x, y, text in remarks]
    unnamed = tuple(name for i, name in enumerate(names or ()) if i not in placed)
    return frame.drawing(drawn, spoken, unnamed=unnamed, **more)


def fitted(draw: Callable[[SizeT], Drawing], wide: SizeT, narrow: SizeT, **more: Any) -> Figure:  # noqa: ANN401
    """Return the block of a figure that is drawn in two sizes; the page shows the one that fits."""
    roomy, small = (
        replace(draw(size), style=f"plot {kind}") for size, kind in ((wide, "roomy"), (narrow, "narrow"))
    )
    return Figure(roomy, small, **more)


def mark_swatch(kind: str, mark: str = "circle") -> Drawing:
    """Return the swatch of points of a kind."""
    return Drawing((shapes.group([shapes.mark(mark, 7, 7)], f"mark {kind}"),), 14, 14, "key")


def line_swatch(style: str) -> Drawing:
    """Return the swatch of a line such as chance."""
    return Drawing((shapes.line(0, 6, 26, 6, style),), 12, 26, "")


def _named(
    frame: Frame, points: Sequence[Point], names: Sequence[str], taken: Sequence[labels.Box],
    avoided: Sequence[labels.Box], air: float,
) -> list[labels.Label]:  # fmt: skip
    edges = (frame.left + 2, frame.top - air, frame.right - 2 + air, frame.bottom - 2)
    spots = [(point.x, point.y) for point in points][: len(names)]
    found = labels.placed(spots, names, edges, [*taken, *avoided])
    missing = sorted(set(range(len(names))) - {label.point for label in found})
    if avoided and missing:
        others = [labels.around(spot) for i, spot in enumerate(spots) if i not in missing]
        occupied = [*taken, *others, *map(labels.box_of, found)]
        rest = labels.placed([spots[i] for i in missing], [names[i] for i in missing], edges, occupied)
        found += [replace(label, point=missing[label.point or 0]) for label in rest]
    return found


def _mark(point: Point) -> Shape:
    drawn = shapes.mark(point.mark, point.x, point.y)
    return shapes.group([drawn], f"mark {point.kind}".rstrip(), title=point.title)


def _whiskers(point: Point) -> list[Shape]:
    found, style = [], f"spread {point.kind}".rstrip()
    if point.across:
        found.append(shapes.line(point.across[0], point.y, point.across[1], point.y, "spread"))
    if point.down:
        found.append(shapes.line(point.x, point.down[0], point.x, point.down[1], style))
    return found


def _text(label: labels.Label, style: str) -> Shape:
    return shapes.text(label.x, label.y, label.text, style, anchor=label.anchor)
