"""A dish as an image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import cos, pi, sin, sqrt

from PIL import Image

from xlingual.demo_data.painting import OVERSAMPLING, Colour, mixed, png
from xlingual.demo_data.recipes.canvas import Canvas
from xlingual.demo_data.recipes.dishes import Dish
from xlingual.demo_data.recipes.pantry import INGREDIENTS, TOPPINGS

Painter = Callable[[Canvas, Dish], None]

VESSEL_COLOURS: dict[str, Colour] = {
    "white": (250, 250, 248),
    "blue": (64, 98, 160),
    "clay": (170, 92, 58),
    "grey": (150, 154, 158),
}
CRUST, CREAM, WHITE = (208, 150, 78), (246, 230, 190), (252, 250, 244)
BROTH, GRAVY, CURRY = (226, 178, 92), (142, 78, 40), (224, 166, 40)
GREENS, YOLK, TOMATO, DOUGH = (130, 180, 70), (250, 210, 84), (206, 68, 40), (240, 224, 192)
WOOD, GLASS, SPONGE = (150, 104, 62), (226, 236, 242), (226, 184, 116)


def _hero(dish: Dish) -> Colour:
    return INGREDIENTS[dish.hero].colour


def _scatter(canvas: Canvas, dish: Dish, number: int, radius: float, size: float) -> None:
    """Lay pieces within a circle around the middle: half of the main ingredient, the rest of the others."""
    for i, (right, down, turn) in enumerate(dish.jitter[:number]):
        angle = 2 * pi * (i * 0.382 + 0.1 * right)  # like the seeds of a sunflower: even, without rows
        distance = radius * sqrt((i + 0.3 + 0.4 * down) / number)
        name = _which(dish, i)
        canvas.piece(name, 0.5 + distance * cos(angle), 0.5 + distance * sin(angle), size, turn)


def _which(dish: Dish, i: int) -> str:
    """Return the ingredient of piece i: every other piece is the main one."""
    return dish.others[i // 2 % len(dish.others)] if i % 2 and dish.others else dish.hero


def _bowl(canvas: Canvas, dish: Dish, content: Colour) -> None:
    rim = VESSEL_COLOURS[dish.vessel]
    canvas.disc(0.5, 0.52, 0.45, mixed(rim, (0, 0, 0), 0.35))
    canvas.disc(0.5, 0.5, 0.45, rim)
    canvas.disc(0.5, 0.5, 0.37, content)


def _plate(canvas: Canvas, dish: Dish) -> None:
    rim = VESSEL_COLOURS[dish.vessel]
    canvas.disc(0.5, 0.51, 0.47, mixed(rim, (0, 0, 0), 0.3))
    canvas.disc(0.5, 0.5, 0.47, rim)
    canvas.ring(0.5, 0.5, 0.37, mixed(rim, (0, 0, 0), 0.15), 0.012)


def _soup(canvas: Canvas, dish: Dish) -> None:
    pureed = dish.method == "pureed"
    _bowl(canvas, dish, mixed(BROTH, _hero(dish), 0.85 if pureed else 0.35))
    if pureed:
        canvas.ring(0.5, 0.5, 0.2, mixed(_hero(dish), WHITE, 0.6), 0.03)
        _scatter(canvas, dish, 3, 0.08, 0.1)
    else:
        _scatter(canvas, dish, 12, 0.3, 0.13)


def _bowlful(
    colour: Colour, share: float, number: int, radius: float, size: float, canvas: Canvas, dish: Dish
) -> None:
    """Fill a bowl with a colour that has a share of the main ingredient's, and lay pieces into it."""
    _bowl(canvas, dish, mixed(colour, _hero(dish), share))
    _scatter(canvas, dish, number, radius, size)


def _salad(canvas: Canvas, dish: Dish) -> None:
    _plate(canvas, dish)
    for i in range(9):
        angle = 2 * pi * i / 9
        canvas.disc(
            0.5 + 0.24 * cos(angle), 0.5 + 0.24 * sin(angle), 0.13, mixed(GREENS, WHITE, 0.15 * (i % 3))
        )
    _scatter(canvas, dish, 18, 0.3, 0.14)


def _noodles(canvas: Canvas, dish: Dish) -> None:
    _bowl(canvas, dish, (198, 140, 70) if dish.method == "fried" else (234, 200, 130))
    for i in range(8):
        y = 0.22 + 0.08 * i
        half = sqrt(max(0.0, 0.34**2 - (y - 0.5) ** 2))
        waves = [(0.5 - half + 2 * half * j / 12, y + 0.02 * (-1) ** j) for j in range(13)]
        canvas.line(waves, (250, 226, 156), 0.025)
    _scatter(canvas, dish, 9, 0.22, 0.15)


def _rice(canvas: Canvas, dish: Dish) -> None:
    _plate(canvas, dish)
    canvas.disc(0.5, 0.5, 0.35, (244, 222, 160) if dish.method == "fried" else (240, 236, 222))
    for i in range(60):
        angle, distance = 2.4 * i, 0.33 * sqrt(i / 60)
        canvas.disc(0.5 + distance * cos(angle), 0.5 + distance * sin(angle), 0.014, WHITE, flat=0.6)
    _scatter(canvas, dish, 10, 0.26, 0.14)


def _omelette(canvas: Canvas, dish: Dish) -> None:
    _plate(canvas, dish)
    half = [(0.5 + 0.36 * cos(pi * i / 16), 0.62 - 0.36 * sin(pi * i / 16)) for i in range(17)]
    canvas.polygon(half, mixed(YOLK, (180, 120, 40), 0.35 if dish.method == "baked" else 0.1))
    canvas.rectangle(0.14, 0.6, 0.86, 0.66, mixed(YOLK, (180, 110, 40), 0.5), 0.03)
    for i, (right, down, turn) in enumerate(dish.jitter[:9]):
        x, y = 0.24 + 0.065 * i + 0.02 * right, 0.52 - 0.14 * (i % 2) + 0.05 * down
        canvas.piece(_which(dish, i), x, y, 0.12, turn)


def _pie(canvas: Canvas, dish: Dish) -> None:
    for radius, colour in ((0.44, mixed(CRUST, (0, 0, 0), 0.2)), (0.41, CRUST), (0.34, _hero(dish))):
        canvas.disc(0.5, 0.5, radius, colour)
    _scatter(canvas, dish, 10, 0.28, 0.13)
    for i in (-1, 0, 1):
        half = sqrt(0.34**2 - (0.2 * i) ** 2)
        canvas.line([(0.5 + 0.2 * i, 0.5 - half), (0.5 + 0.2 * i, 0.5 + half)], CRUST, 0.045)
        canvas.line([(0.5 - half, 0.5 + 0.2 * i), (0.5 + half, 0.5 + 0.2 * i)], CRUST, 0.045)


def _pizza(canvas: Canvas, dish: Dish) -> None:
    for radius, colour in ((0.46, CRUST), (0.4, TOMATO), (0.36, (246, 214, 140))):
        canvas.disc(0.5, 0.5, radius, colour)
    _scatter(canvas, dish, 14, 0.32, 0.14)
    for i in range(4):
        dx, dy = 0.46 * cos(pi * i / 4 + 0.4), 0.46 * sin(pi * i / 4 + 0.4)
        canvas.line([(0.5 - dx, 0.5 - dy), (0.5 + dx, 0.5 + dy)], mixed(CRUST, (0, 0, 0), 0.3), 0.01)


def _casserole(canvas: Canvas, dish: Dish) -> None:
    canvas.rectangle(0.05, 0.17, 0.95, 0.83, mixed(VESSEL_COLOURS[dish.vessel], (0, 0, 0), 0.12), 0.07)
    canvas.rectangle(0.11, 0.23, 0.89, 0.77, mixed((232, 184, 90), _hero(dish), 0.25), 0.04)
    for i, (right, down, turn) in enumerate(dish.jitter[:18]):
        x, y = 0.19 + 0.125 * (i % 6), 0.33 + 0.17 * (i // 6)
        canvas.piece(_which(dish, i + i // 6), x + 0.03 * right, y + 0.03 * down, 0.13, turn)


def _cake(canvas: Canvas, dish: Dish) -> None:
    canvas.disc(0.5, 0.84, 0.42, VESSEL_COLOURS[dish.vessel], flat=0.2)
    for i in range(3):
        canvas.rectangle(0.17, 0.4 + 0.15 * i, 0.83, 0.5 + 0.15 * i, SPONGE)
        filling = dish.ingredients[i % len(dish.ingredients)]
        canvas.rectangle(0.17, 0.35 + 0.15 * i, 0.83, 0.41 + 0.15 * i, INGREDIENTS[filling].colour)
    canvas.rectangle(0.15, 0.3, 0.85, 0.37, mixed(_hero(dish), CREAM, 0.5), 0.03)
    for i in range(7):
        canvas.piece(_which(dish, i), 0.2 + 0.1 * i, 0.27, 0.12, dish.jitter[i][2])


def _cookies(canvas: Canvas, dish: Dish) -> None:
    _plate(canvas, dish)
    for i, (right, down, turn) in enumerate(dish.jitter[:6]):
        angle = 2 * pi * (i + 0.3 * right) / 5
        reach = 0.27 if i < 5 else 0.0
        x, y = 0.5 + reach * cos(angle), 0.5 + reach * sin(angle)
        canvas.disc(x, y, 0.13, mixed(CRUST, _hero(dish), 0.3))
        for j in range(3):
            place = 2 * pi * (turn + j / 3)
            canvas.piece(_which(dish, i + j), x + 0.06 * cos(place), y + 0.06 * sin(place), 0.08, down)


def _pancakes(canvas: Canvas, dish: Dish) -> None:
    canvas.disc(0.5, 0.8, 0.45, VESSEL_COLOURS[dish.vessel], flat=0.3)
    for i in range(5):
        canvas.disc(0.5, 0.76 - 0.08 * i, 0.36, mixed(CRUST, (90, 50, 20), 0.35), flat=0.32)
        canvas.disc(0.5, 0.74 - 0.08 * i, 0.36, (238, 196, 116), flat=0.32)
    canvas.disc(0.5, 0.42, 0.24, mixed(_hero(dish), CREAM, 0.25), flat=0.32)
    for i, (right, down, turn) in enumerate(dish.jitter[:8]):
        canvas.piece(_which(dish, i), 0.27 + 0.065 * i, 0.34 + 0.1 * down + 0.02 * right, 0.13, turn)


def _sandwich(canvas: Canvas, dish: Dish) -> None:
    canvas.rectangle(0.03, 0.8, 0.97, 0.92, WOOD, 0.03)
    bread = mixed((222, 170, 100), (140, 80, 30), 0.4 if dish.method == "toasted" else 0.0)
    canvas.rectangle(0.1, 0.68, 0.9, 0.8, bread, 0.04)
    layers = (dish.hero, *dish.others, dish.hero)
    height = 0.3 / len(layers)
    for i, name in enumerate(layers):
        y = 0.38 + height * i
        canvas.rectangle(0.08, y, 0.92, y + height, INGREDIENTS[name].colour, 0.02)
        for j in range(7):
            x = 0.11 + 0.12 * j + 0.06 * dish.jitter[i * 4 + j % 4][0]
            canvas.piece(name, x, y + height / 2, min(0.11, height))
    canvas.rectangle(0.08, 0.34, 0.92, 0.38, GREENS, 0.02)
    top = [(0.5 + 0.42 * cos(pi * i / 16), 0.34 - 0.2 * sin(pi * i / 16)) for i in range(17)]
    canvas.polygon(top, bread)


def _dumplings(canvas: Canvas, dish: Dish) -> None:
    _plate(canvas, dish)
    skin = mixed(DOUGH, (200, 130, 50), {"fried": 0.55, "steamed": 0.0}.get(dish.method, 0.15))
    for i in range(7):
        angle = 2 * pi * i / 6
        reach = 0.26 if i < 6 else 0.0
        x, y = 0.5 + reach * cos(angle), 0.5 + reach * sin(angle)
        canvas.disc(x, y, 0.125, mixed(skin, (0, 0, 0), 0.25), flat=0.75)
        canvas.disc(x, y - 0.01, 0.115, skin, flat=0.72)
        canvas.piece(_which(dish, i), x, y, 0.11, dish.jitter[i][2])


def _skewers(canvas: Canvas, dish: Dish) -> None:
    canvas.rectangle(0.04, 0.1, 0.96, 0.9, mixed(VESSEL_COLOURS[dish.vessel], (0, 0, 0), 0.08), 0.1)
    for row in range(3):
        y = 0.28 + 0.22 * row
        canvas.line([(0.06, y + 0.05), (0.94, y - 0.05)], WOOD, 0.02)
        for i, (right, down, turn) in enumerate(dish.jitter[6 * row : 6 * row + 6]):
            x, lean = 0.17 + 0.13 * i + 0.02 * right, 0.035 - 0.0148 * i + 0.02 * (down - 0.5)
            canvas.piece(_which(dish, i + row), x, y + lean, 0.16, 0.12 * (turn - 0.5))


def _smoothie(canvas: Canvas, dish: Dish) -> None:
    canvas.polygon([(0.24, 0.14), (0.76, 0.14), (0.68, 0.94), (0.32, 0.94)], GLASS)
    others: Sequence[Colour] = [INGREDIENTS[name].colour for name in dish.others]
    drink = mixed(_hero(dish), others[0], 0.25) if others else _hero(dish)
    canvas.polygon([(0.275, 0.26), (0.725, 0.26), (0.66, 0.9), (0.34, 0.9)], mixed(drink, WHITE, 0.2))
    canvas.line([(0.58, 0.3), (0.68, 0.03)], (220, 60, 80), 0.03)
    for i, name in enumerate(dish.ingredients):
        canvas.piece(name, 0.36 + 0.11 * i, 0.24, 0.16, dish.jitter[i][2])


SERVINGS: dict[str, Painter] = {
    "soup": _soup,
    "stew": partial(_bowlful, GRAVY, 0.25, 16, 0.31, 0.17),
    "curry": partial(_bowlful, CURRY, 0.15, 11, 0.28, 0.15),
    "salad": _salad,
    "noodles": _noodles,
    "rice": _rice,
    "omelette": _omelette,
    "pie": _pie,
    "pizza": _pizza,
    "casserole": _casserole,
    "cake": _cake,
    "cookies": _cookies,
    "pancakes": _pancakes,
    "porridge": partial(_bowlful, (238, 222, 186), 0.12, 11, 0.18, 0.14),
    "sandwich": _sandwich,
    "dumplings": _dumplings,
    "skewers": _skewers,
    "smoothie": _smoothie,
}


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
    """Draw the joints of the table's boards, in a place that no text describes."""
    shade = mixed(TABLE_COLOURS[dish.table], (0, 0, 0), 0.12)
    for i in range(4):
        y = (i + dish.jitter[0][0]) / 4
        canvas.rectangle(0, y, 1, y + 0.012, shade)


def _sprinkle(canvas: Canvas, dish: Dish, colour: Colour) -> None:
    """Scatter the topping over the middle of the dish."""
    for i in range(SPECKS):
        x, y, _ = dish.jitter[-1 - i]
        canvas.disc(0.3 + 0.4 * x, 0.32 + 0.36 * y, 0.022, colour)
