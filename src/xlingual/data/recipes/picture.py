"""A dish as a picture: drawn large with Pillow, then scaled down; the same dish gives the same bytes."""

from __future__ import annotations

from io import BytesIO

from xlingual.data.recipes.canvas import Canvas, mixed
from xlingual.data.recipes.dishes import Dish
from xlingual.data.recipes.pantry import TOPPINGS, Colour
from xlingual.data.recipes.servings import SERVINGS

OVERSAMPLING = 3
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
    from PIL import Image

    image = Image.new("RGB", (size * OVERSAMPLING,) * 2, TABLE_COLOURS[dish.table])
    canvas = Canvas(image)
    _boards(canvas, dish)
    SERVINGS[dish.kind](canvas, dish)
    if dish.topping:
        _sprinkle(canvas, dish, TOPPINGS[dish.topping])
    buffer = BytesIO()
    image.reduce(OVERSAMPLING).save(buffer, format="PNG", compress_level=6)
    return buffer.getvalue()


def _boards(canvas: Canvas, dish: Dish) -> None:
    """Draw the joints of the table's boards, in a place that no text tells."""
    shade = mixed(TABLE_COLOURS[dish.table], (0, 0, 0), 0.12)
    first = dish.jitter[0][0] if dish.jitter else 0.5
    for i in range(4):
        y = (i + first) / 4
        canvas.rectangle(0, y, 1, y + 0.012, shade)


def _sprinkle(canvas: Canvas, dish: Dish, colour: Colour) -> None:
    """Scatter the topping over the middle of the dish."""
    for i in range(SPECKS):
        x, y, _ = dish.jitter[-1 - i] if dish.jitter else (i / SPECKS, (i * 4 % SPECKS) / SPECKS, 0.0)
        canvas.disc(0.3 + 0.4 * x, 0.32 + 0.36 * y, 0.022, colour)
