"""Recipes: built-in data, made from a seed.

Dishes told in one language each, with title, body and picture, and nothing translated: what a cooking site in
several languages has, for Backretrieval and for training without parallel texts.
"""

from __future__ import annotations

from xlingual.demo_data.recipes.items import LANGUAGES, Recipe, recipe_rows, write_recipes

__all__ = ["LANGUAGES", "Recipe", "recipe_rows", "write_recipes"]
