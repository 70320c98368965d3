"""What recipes are made of (`pantry.toml`): ingredients and how they look, seasonings, toppings, units."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from xlingual.demo_data.painting import Colour
from xlingual.demo_data.words import Texts, read_toml

Taste = Literal["savoury", "sweet"]


class Ingredient(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A visible ingredient: what it counts as, how it is bought, and how a piece looks."""

    group: Literal["meat", "fish", "dairy", "vegetable", "legume", "fruit", "sweet"]
    unit: Literal["g", "piece"]
    colour: Colour
    shape: Literal["chunk", "disc", "ring", "strip", "leaf", "crescent", "grain"]


class Pantry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Contents of the file."""

    ingredients: dict[str, Ingredient]
    seasonings: dict[Taste, Texts]
    toppings: dict[Taste, dict[str, Colour]]  # the colour of their specks
    units: dict[str, str]  # of ingredients that cannot be seen


PANTRY = read_toml(Path(__file__).with_suffix(".toml"), Pantry)
INGREDIENTS = PANTRY.ingredients
TOPPINGS = PANTRY.toppings["savoury"] | PANTRY.toppings["sweet"]
UNITS = PANTRY.units | {name: ingredient.unit for name, ingredient in INGREDIENTS.items()}
