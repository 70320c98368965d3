"""Drawings as plain records of SVG elements. Figures make them, and one renderer writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Place = float | str  # in units of the drawing, or a percentage such as "12.5%"


@dataclass(frozen=True)
class Shape:
    """One element: its SVG name, attributes, class of the style sheet, text in it and text on hover."""

    name: str
    attributes: Mapping[str, Place] = field(default_factory=dict)
    style: str = ""
    text: str = ""
    title: str = ""
    inside: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """Shapes on a canvas. `spoken` is what a screen reader says; none where the drawing only decorates.

    `width` None: as wide as there is room, with places across it in percent.
    """

    shapes: tuple[Shape, ...]
    height: float
    width: float | None = None
    style: str = "plot"
    spoken: str = ""
    name: str = ""  # above the drawing
    hint: str = ""  # beside the name
    notes: tuple[str, ...] = ()  # below it
    unnamed: tuple[str, ...] = ()  # points whose names have no room


def line(x1: Place, y1: Place, x2: Place, y2: Place, style: str) -> Shape:
    """Return a straight line."""
    return Shape("line", {"x1": x1, "x2": x2, "y1": y1, "y2": y2}, style)


def rect(
    x: Place, y: Place, width: Place, height: Place, style: str, *, rx: float = 0, title: str = ""
) -> Shape:
    """Return a rectangle."""
    at = {"x": x, "y": y, "width": width, "height": height}
    return Shape("rect", at | ({"rx": rx} if rx else {}), style, title=title)


def circle(x: Place, y: Place, r: float, style: str, *, title: str = "") -> Shape:
    """Return a circle."""
    return Shape("circle", {"cx": x, "cy": y, "r": r}, style, title=title)


def path(d: str, style: str) -> Shape:
    """Return a path."""
    return Shape("path", {"d": d}, style)


def polyline(points: Iterable[tuple[float, float]], style: str) -> Shape:
    """Return a line through points."""
    return Shape("polyline", {"points": " ".join(f"{x},{y}" for x, y in points)}, style)


def text(x: Place, y: Place, content: str, style: str, *, anchor: str = "", turned: bool = False) -> Shape:
    """Return a text; `turned` reads from below."""
    at: dict[str, Place] = {"x": x, "y": y}
    if anchor:
        at["text-anchor"] = anchor
    if turned:
        at["transform"] = f"rotate(-90 {x} {y})"
    return Shape("text", at, style, content)


def group(shapes: Iterable[Shape], style: str, *, title: str = "", spoken: str = "") -> Shape:
    """Return shapes that belong together."""
    return Shape("g", {"aria-label": spoken} if spoken else {}, style, title=title, inside=tuple(shapes))


def mark(kind: str, x: float, y: float) -> Shape:
    """Return a mark: square, triangle (down), diamond, else a circle. They differ without colour."""
    if kind == "square":
        return Shape("rect", {"x": x - 4, "y": y - 4, "width": 8, "height": 8})
    if kind == "triangle":
        return Shape("path", {"d": f"M{x} {y - 5}l5 9h-10z"})
    if kind == "triangle down":
        return Shape("path", {"d": f"M{x} {y + 5}l5 -9h-10z"})
    if kind == "diamond":
        return Shape("path", {"d": f"M{x} {y - 6}l6 6-6 6-6-6z"})
    return Shape("circle", {"cx": x, "cy": y, "r": 4.2})
