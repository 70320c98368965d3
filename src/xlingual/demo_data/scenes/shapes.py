"""The outlines of the kinds of object, in a unit square (x to the right, y down)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import cos, pi, sin

Points = tuple[float, ...]


@dataclass(frozen=True)
class ShapePart:
    """One filled form; `paint` is "body" (the colour with its pattern), "dark" or "light" (its shades)."""

    form: str  # "ellipse" (x0, y0, x1, y1), "rectangle" (the same), or "polygon" (x, y, x, y, …)
    paint: str
    at: Points


def _painted(paint: str) -> Callable[..., ShapePart]:
    return lambda form, *at: ShapePart(form, paint, at)


_body, _dark, _light = map(_painted, ("body", "dark", "light"))


def _flat(points: Iterable[tuple[float, float]]) -> Points:
    return tuple(number for point in points for number in point)


def _star() -> Points:
    radii = (0.52, 0.23) * 5
    return _flat((0.5 + r * sin(i * pi / 5), 0.54 - r * cos(i * pi / 5)) for i, r in enumerate(radii))


def _heart() -> Points:
    angles = [2 * pi * i / 40 for i in range(40)]
    heights = [13 * cos(t) - 5 * cos(2 * t) - 2 * cos(3 * t) - cos(4 * t) for t in angles]
    return _flat((0.5 + 16 * sin(t) ** 3 / 34, 0.45 - y / 34) for t, y in zip(angles, heights, strict=True))


def _moon() -> Points:
    outer = [(0.42 + 0.46 * cos(a), 0.5 + 0.46 * sin(a)) for a in _angles(0.28 * pi, 1.72 * pi)]
    inner = [(0.66 + 0.38 * cos(a), 0.5 + 0.38 * sin(a)) for a in _angles(1.62 * pi, 0.38 * pi)]
    return _flat(outer + inner)


def _dome(x0: float, y0: float, x1: float, y1: float) -> Points:
    """Return the upper half of an ellipse that stands on the line y1."""
    middle, half, height = (x0 + x1) / 2, (x1 - x0) / 2, y1 - y0
    return _flat((middle - half * cos(a), y1 - height * sin(a)) for a in _angles(0, pi))


def _canopy() -> Points:
    """Return a dome whose lower edge has four scallops."""
    edge = [(0.99 - 0.98 * i / 32, 0.56 - 0.1 * abs(sin(i * pi / 8))) for i in range(33)]
    return _dome(0.01, 0.06, 0.99, 0.56) + _flat(edge)


def _angles(first: float, last: float) -> list[float]:
    return [first + (last - first) * i / 20 for i in range(21)]


def _petals() -> tuple[ShapePart, ...]:
    spots = [(0.5 + 0.24 * cos(i * pi / 3), 0.4 + 0.24 * sin(i * pi / 3)) for i in range(6)]
    return tuple(_body("ellipse", x - 0.15, y - 0.15, x + 0.15, y + 0.15) for x, y in spots)


SHAPES: dict[str, tuple[ShapePart, ...]] = {
    "ball": (_body("ellipse", 0.04, 0.04, 0.96, 0.96), _light("ellipse", 0.26, 0.16, 0.42, 0.3)),
    "box": (_body("rectangle", 0.08, 0.2, 0.92, 0.95), _dark("rectangle", 0.03, 0.1, 0.97, 0.3)),
    "triangle": (_body("polygon", 0.5, 0.04, 0.98, 0.93, 0.02, 0.93),),
    "star": (_body("polygon", *_star()),),
    "heart": (_body("polygon", *_heart()),),
    "tree": (
        _dark("rectangle", 0.42, 0.7, 0.58, 0.99),
        _body("polygon", 0.5, 0.01, 0.8, 0.4, 0.67, 0.4, 0.93, 0.78, 0.07, 0.78, 0.33, 0.4, 0.2, 0.4),
    ),
    "house": (
        _body("rectangle", 0.14, 0.42, 0.86, 0.96),
        _dark("polygon", 0.5, 0.03, 0.99, 0.45, 0.01, 0.45),
        _dark("rectangle", 0.42, 0.64, 0.6, 0.96),
        _light("rectangle", 0.22, 0.53, 0.35, 0.68),
        _light("rectangle", 0.66, 0.53, 0.79, 0.68),
    ),
    "fish": (
        _dark("polygon", 0.7, 0.5, 0.99, 0.22, 0.99, 0.78),
        _body("ellipse", 0.01, 0.22, 0.82, 0.78),
        _light("ellipse", 0.13, 0.36, 0.25, 0.48),
        _dark("ellipse", 0.16, 0.39, 0.22, 0.45),
    ),
    "boat": (
        _dark("rectangle", 0.46, 0.05, 0.52, 0.7),
        _light("polygon", 0.54, 0.06, 0.93, 0.6, 0.54, 0.6),
        _light("polygon", 0.44, 0.2, 0.44, 0.6, 0.13, 0.6),
        _body("polygon", 0.01, 0.66, 0.99, 0.66, 0.82, 0.96, 0.18, 0.96),
    ),
    "car": (
        _body("polygon", 0.2, 0.5, 0.32, 0.22, 0.7, 0.22, 0.84, 0.5),
        _light("polygon", 0.3, 0.48, 0.37, 0.3, 0.49, 0.3, 0.49, 0.48),
        _light("polygon", 0.55, 0.48, 0.55, 0.3, 0.66, 0.3, 0.74, 0.48),
        _body("rectangle", 0.01, 0.48, 0.99, 0.74),
        _dark("ellipse", 0.12, 0.61, 0.38, 0.87),
        _dark("ellipse", 0.62, 0.61, 0.88, 0.87),
        _light("ellipse", 0.2, 0.69, 0.3, 0.79),
        _light("ellipse", 0.7, 0.69, 0.8, 0.79),
    ),
    "cup": (
        _dark("ellipse", 0.58, 0.28, 0.98, 0.72),
        _light("ellipse", 0.68, 0.38, 0.88, 0.62),
        _body("polygon", 0.05, 0.14, 0.79, 0.14, 0.7, 0.92, 0.14, 0.92),
    ),
    "flower": (
        _dark("rectangle", 0.46, 0.5, 0.54, 0.99),
        _dark("ellipse", 0.52, 0.76, 0.8, 0.9),
        *_petals(),
        _light("ellipse", 0.37, 0.27, 0.63, 0.53),
    ),
    "cloud": (
        _body("ellipse", 0.01, 0.42, 0.42, 0.8),
        _body("ellipse", 0.18, 0.2, 0.62, 0.7),
        _body("ellipse", 0.44, 0.28, 0.84, 0.74),
        _body("ellipse", 0.6, 0.44, 0.99, 0.8),
        _body("rectangle", 0.2, 0.55, 0.8, 0.8),
    ),
    "moon": (_body("polygon", *_moon()),),
    "flag": (
        _dark("rectangle", 0.12, 0.02, 0.2, 0.99),
        _body("polygon", 0.2, 0.07, 0.58, 0.12, 0.96, 0.07, 0.96, 0.55, 0.58, 0.6, 0.2, 0.55),
    ),
    "key": (
        _body("ellipse", 0.01, 0.28, 0.45, 0.72),
        _light("ellipse", 0.13, 0.4, 0.33, 0.6),
        _body("rectangle", 0.43, 0.44, 0.99, 0.56),
        _body("rectangle", 0.72, 0.56, 0.8, 0.72),
        _body("rectangle", 0.88, 0.56, 0.96, 0.76),
    ),
    "bottle": (
        _dark("rectangle", 0.4, 0.01, 0.6, 0.12),
        _body(
            "polygon",
            *(0.42, 0.12, 0.58, 0.12, 0.58, 0.3, 0.75, 0.46, 0.75, 0.98),
            *(0.25, 0.98, 0.25, 0.46, 0.42, 0.3),
        ),
    ),
    "mushroom": (
        _light("polygon", 0.38, 0.5, 0.62, 0.5, 0.68, 0.97, 0.32, 0.97),
        _body("polygon", *_dome(0.02, 0.06, 0.98, 0.58)),
    ),
    "umbrella": (
        _dark("rectangle", 0.47, 0.02, 0.53, 0.9),
        _dark("rectangle", 0.47, 0.9, 0.72, 0.97),
        _dark("rectangle", 0.66, 0.8, 0.72, 0.97),
        _body("polygon", *_canopy()),
    ),
    "apple": (
        _dark("polygon", 0.48, 0.26, 0.54, 0.02, 0.6, 0.04, 0.54, 0.26),
        _dark("ellipse", 0.56, 0.04, 0.84, 0.18),
        _body("ellipse", 0.05, 0.2, 0.62, 0.94),
        _body("ellipse", 0.38, 0.2, 0.95, 0.94),
    ),
    "hat": (
        _body("polygon", *_dome(0.22, 0.14, 0.78, 0.72)),
        _body("ellipse", 0.01, 0.6, 0.99, 0.86),
        _dark("rectangle", 0.22, 0.54, 0.78, 0.66),
    ),
    "book": (
        _body("rectangle", 0.14, 0.04, 0.88, 0.96),
        _dark("rectangle", 0.14, 0.04, 0.26, 0.96),
        _light("rectangle", 0.38, 0.18, 0.76, 0.34),
    ),
    "balloon": (
        _dark("rectangle", 0.48, 0.72, 0.52, 0.99),
        _dark("polygon", 0.5, 0.68, 0.58, 0.8, 0.42, 0.8),
        _body("ellipse", 0.18, 0.01, 0.82, 0.74),
        _light("ellipse", 0.3, 0.12, 0.42, 0.28),
    ),
    "bell": (
        _dark("ellipse", 0.38, 0.74, 0.62, 0.97),
        _dark("ellipse", 0.42, 0.01, 0.58, 0.17),
        _body("polygon", *_dome(0.22, 0.08, 0.78, 0.56)),
        _body("polygon", 0.22, 0.54, 0.78, 0.54, 0.94, 0.84, 0.06, 0.84),
    ),
}
