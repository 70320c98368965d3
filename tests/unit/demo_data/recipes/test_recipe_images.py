"""An image shows kind, method, ingredients and topping, and details that only an image shows."""

import io
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from PIL import Image

from xlingual.demo_data.recipes import recipe_rows
from xlingual.demo_data.recipes.dishes import KINDS, MOST_PIECES, PLANS, TABLES, VESSELS, Dish
from xlingual.demo_data.recipes.image import paint
from xlingual.demo_data.recipes.pantry import INGREDIENTS, TOPPINGS

JITTER = tuple((i * 0.37 % 1, i * 0.61 % 1, i * 0.83 % 1) for i in range(MOST_PIECES))
SOUP = Dish("soup", "carrot", (), ("garlic",), None, "simmered", 20, 4, jitter=JITTER)


def _pixels(dish):
    return np.asarray(Image.open(io.BytesIO(paint(dish))).convert("RGB"), dtype=float)


@pytest.mark.parametrize("size", [16, 64, 200])
def test_image_is_a_png_of_the_size_asked_for(size):
    image = Image.open(io.BytesIO(paint(SOUP, size)))
    assert (image.format, image.mode, image.size) == ("PNG", "RGB", (size, size))


def test_the_same_dish_gives_the_same_bytes():
    assert paint(SOUP) == paint(replace(SOUP))


def test_kinds_and_methods_look_different():
    images = {key: _pixels(replace(SOUP, kind=key[0], method=key[1])) for key in PLANS}
    for a, b in combinations(images, 2):
        in_words_only = a[0] == b[0] and a[0] in ("stew", "dumplings")
        assert in_words_only or np.abs(images[a] - images[b]).mean() > 0.5, (a, b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.cases(3)
def test_every_ingredient_shows_in_every_kind(kind):
    dish = replace(SOUP, kind=kind, method=KINDS[kind].methods[0])
    alone = {name: paint(replace(dish, hero=name)) for name in INGREDIENTS}
    assert len(set(alone.values())) == len(INGREDIENTS)
    beside = {name: paint(replace(dish, others=(name,))) for name in INGREDIENTS if name != dish.hero}
    assert len({*beside.values(), alone["carrot"]}) == len(INGREDIENTS)


def test_details_of_no_text_change_the_image():
    assert len({paint(replace(SOUP, table=table)) for table in TABLES}) == len(TABLES)
    assert len({paint(replace(SOUP, vessel=vessel)) for vessel in VESSELS}) == len(VESSELS)
    assert len({paint(replace(SOUP, topping=topping)) for topping in (None, *TOPPINGS)}) == len(TOPPINGS) + 1


def test_details_of_texts_only_leave_the_image_alone():
    other = replace(SOUP, seasonings=("basil", "cumin"), minutes=45, servings=8)
    assert paint(other) == paint(SOUP)


@pytest.mark.slow
def test_hardly_two_images_are_equal():
    images = [row.image for row in recipe_rows(500, ["en"])]
    assert len(set(images)) == len(images)
