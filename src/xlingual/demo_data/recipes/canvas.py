"""Drawing in units of the image's side: plain forms, and pieces of ingredients."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

from PIL import Image, ImageDraw

from xlingual.demo_data.painting import Colour, mixed
from xlingual.demo_data.recipes.pantry import INGREDIENTS


class Canvas:
    """An image to draw on; x goes to the right and y down, from 0 to 1."""

    def __init__(self, image: Image.Image) -> None:
        self.side = image.width
        self._draw = ImageDraw.Draw(image)

    def disc(self, x: float, y: float, radius: float, colour: Colour, flat: float = 1.0) -> None:
        """Draw a disc; `flat` is its height in units of its width."""
        self._draw.ellipse(
            self._at(x - radius, y - radius * flat, x + radius, y + radius * flat), fill=colour
        )

    def ring(self, x: float, y: float, radius: float, colour: Colour, width: float) -> None:
        """Draw a circle's line."""
        box = self._at(x - radius, y - radius, x + radius, y + radius)
        self._draw.ellipse(box, outline=colour, width=max(1, round(width * self.side)))

    def rectangle(
        self, x0: float, y0: float, x1: float, y1: float, colour: Colour, round_by: float = 0.0
    ) -> None:
        """Draw a rectangle with round corners."""
        self._draw.rounded_rectangle(self._at(x0, y0, x1, y1), radius=round_by * self.side, fill=colour)

    def polygon(self, points: Sequence[tuple[float, float]], colour: Colour) -> None:
        """Draw a polygon."""
        self._draw.polygon([(x * self.side, y * self.side) for x, y in points], fill=colour)

    def line(self, points: Sequence[tuple[float, float]], colour: Colour, width: float) -> None:
        """Draw a line through points."""
        pixels = [(x * self.side, y * self.side) for x, y in points]
        self._draw.line(pixels, fill=colour, width=max(1, round(width * self.side)), joint="curve")

    def piece(self, name: str, x: float, y: float, size: float, turn: float = 0.0) -> None:
        """Draw a piece of an ingredient, `size` across, turned by `turn` whole turns, with a darker edge."""
        ingredient = INGREDIENTS[name]
        edge = mixed(ingredient.colour, (0, 0, 0), 0.3)
        if ingredient.shape in ("disc", "ring"):
            self.disc(x, y, size / 2, edge)
            self.disc(x, y, size * 0.4, ingredient.colour)
            if ingredient.shape == "ring":
                self.disc(x, y, size * 0.2, mixed(ingredient.colour, (255, 255, 255), 0.55))
        elif ingredient.shape == "grain":
            for dx, dy in ((-0.25, -0.2), (0.25, -0.1), (0.0, 0.28)):
                self.disc(x + dx * size, y + dy * size, size * 0.22, edge)
                self.disc(x + dx * size, y + dy * size, size * 0.17, ingredient.colour)
        else:
            outline = [_turned(px * size, py * size, turn) for px, py in OUTLINES[ingredient.shape]]
            self.polygon([(x + dx, y + dy) for dx, dy in outline], edge)
            self.polygon([(x + 0.78 * dx, y + 0.78 * dy) for dx, dy in outline], ingredient.colour)

    def _at(self, *values: float) -> tuple[int, ...]:
        return tuple(round(value * self.side) for value in values)


def _turned(x: float, y: float, turn: float) -> tuple[float, float]:
    angle = 2 * pi * turn
    return x * cos(angle) - y * sin(angle), x * sin(angle) + y * cos(angle)


def _arc(start: float, end: float, radius: float) -> list[tuple[float, float]]:
    return [
        (
            radius * cos(2 * pi * (start + (end - start) * i / 8)),
            radius * sin(2 * pi * (start + (end - start) * i / 8)),
        )
        for i in range(9)
    ]


OUTLINES: dict[str, list[tuple[float, float]]] = {
    "chunk": [(-0.45, -0.4), (0.4, -0.45), (0.45, 0.4), (-0.4, 0.45)],
    "strip": [(-0.6, -0.16), (0.6, -0.12), (0.6, 0.16), (-0.6, 0.12)],
    "leaf": [(-0.6, 0.0), (-0.2, -0.28), (0.25, -0.26), (0.6, 0.0), (0.25, 0.26), (-0.2, 0.28)],
    "crescent": [*_arc(0.0, 0.5, 0.55), *[(0.8 * x, 0.45 * y) for x, y in reversed(_arc(0.05, 0.45, 0.45))]],
}
