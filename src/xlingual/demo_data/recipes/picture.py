"""A dish as a picture."""

from __future__ import annotations

from PIL import Image

from xlingual.demo_data.painting import OVERSAMPLING, Colour, mixed, png
from xlingual.demo_data.recipes.canvas import Canvas
from xlingual.demo_data.recipes.dishes import Dish
from xlingual.demo_data.recipes.pantry import TOPPINGS
from xlingual.demo_data.recipes.servings import SERVINGS

TABLE_COLOURS: dict[str, Colour] = {
    "wood": (190, 146, 100),
    "white": (236, 234, 230),
    "slate": (86, 92, 100),
    "linen": (222, 208, 180),
    "blue": (120, 160, 196),
}
SPECKS = 9  # of the topping


def paint(dish: Dish, size: int = 64) -> bytes:
    """Return the dish on its table as a PNG of size × size pixels."""
    image = Image.new("RGB", (size * OVERSAMPLING,) * 2, TABLE_COLOURS[dish.table])
    canvas = Canvas(image)
    _boards(canvas, dish)
    SERVINGS[dish.kind](canvas, dish)
    if dish.topping:
        _sprinkle(canvas, dish, TOPPINGS[dish.topping])
    return png(image)


def _boards(canvas: Canvas, dish: Dish) -> None:
    """Draw the joints of the table's boards, in a place that no text tells."""
    shade = mixed(TABLE_COLOURS[dish.table], (0, 0, 0), 0.12)
    for i in range(4):
        y = (i + dish.jitter[0][0]) / 4
        canvas.rectangle(0, y, 1, y + 0.012, shade)


def _sprinkle(canvas: Canvas, dish: Dish, colour: Colour) -> None:
    """Scatter the topping over the middle of the dish."""
    for i in range(SPECKS):
        x, y, _ = dish.jitter[-1 - i]
        canvas.disc(0.3 + 0.4 * x, 0.32 + 0.36 * y, 0.022, colour)
