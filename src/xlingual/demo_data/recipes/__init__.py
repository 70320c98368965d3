"""Recipes: built-in data, made from a seed.

Dishes described in one language each, with title, body and image, without translations, as on a cooking site
in several languages: for Backretrieval and for training without parallel texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xlingual.demo_data.draws import pick, stream
from xlingual.demo_data.folder import check_request, write_items
from xlingual.demo_data.recipes.content import choose_content
from xlingual.demo_data.recipes.dishes import Dish, draw_dish, with_jitter
from xlingual.demo_data.recipes.image import paint
from xlingual.demo_data.recipes.words import GRAMMARS
from xlingual.errors import InputError

LANGUAGES: tuple[str, ...] = tuple(sorted(GRAMMARS))
COLUMNS = ("id", "lang", "text", "title", "body", "image", "item", "split")


@dataclass(frozen=True)
class DemoRecipe:
    """A recipe in one language; the image is painted when it is asked for, and None outside "test"."""

    id: str
    item: str
    split: str  # "test", "train" or "fit"
    language: str
    title: str
    body: str
    dish: Dish
    size: int

    @property
    def text(self) -> str:
        """Title and body, as one text."""
        return f"{self.title}\n{self.body}"

    @property
    def image(self) -> bytes | None:
        """The image as PNG bytes."""
        return paint(self.dish, self.size) if self.split == "test" else None

    @property
    def cells(self) -> dict[str, str | None]:
        """The row of the manifest."""
        image = f"images/{self.id}.png" if self.split == "test" else None
        texts = (self.id, self.language, self.text, self.title, self.body, image, self.item, self.split)
        return dict(zip(COLUMNS, texts, strict=True))


def recipe_rows(
    items: int,
    languages: Sequence[str] = LANGUAGES,
    seed: int = 0,
    *,
    train: int = 0,
    parallel: int = 0,
    size: int = 64,
) -> Iterator[DemoRecipe]:
    """Return the recipes of `seed`, made one at a time.

    For each language `items` recipes with an image (split "test"), then `train` without (split "train"):
    each is a dish of that language's cuisine, drawn for it alone, so that no two recipes are translations.
    Last `parallel` dishes without images, each described in every language (split "fit").

    Recipe number i of a split and language depends on `seed` and on these three only, neither on how many
    there are nor on the other languages.

    Raise InputError, at once, where an argument is not what it must be.
    """
    check_request("recipes", languages, LANGUAGES, size)
    for name, number in (("items", items), ("train", train), ("parallel", parallel), ("seed", seed)):
        if number < 0:
            raise InputError(f"recipes: {name} is {number}: give 0 or a positive whole number")
    if not items + train + parallel:
        raise InputError("recipes: items, train and parallel are all 0: make at least 1 recipe")
    return _recipes(items, tuple(languages), seed, train, parallel, size)


def write_recipes(
    out: str | Path,
    *,
    items: int,
    languages: Sequence[str] = LANGUAGES,
    seed: int = 0,
    train: int = 0,
    parallel: int = 0,
    size: int = 64,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write recipes (see `recipe_rows`) into the folder `out` and return the path of its manifest.

    The manifest has one row per recipe, with COLUMNS; `image` is a path relative to the folder, and empty
    where there is no image. It is written last, and an older one is removed first. `progress` is called
    with the number of recipes written so far and of all.

    Raise InputError where an argument is not what it must be or the folder cannot be made.
    """
    recipes = recipe_rows(items, languages, seed, train=train, parallel=parallel, size=size)
    total = len(languages) * (items + train + parallel)

    def written(done: int) -> None:
        if progress is not None and (done % 50 == 0 or done == total):
            progress(done, total)

    return write_items(out, recipes, COLUMNS, written)


def _recipes(
    items: int, languages: tuple[str, ...], seed: int, train: int, parallel: int, size: int
) -> Iterator[DemoRecipe]:
    for split, number in (("test", items), ("train", train)):
        for language in languages:
            for index in range(number):
                dish = _own_dish(split, language, seed, index)
                yield _told(f"{split}-{language}-{index:06d}", split, language, dish, seed, index, size)
    for index in range(parallel):
        rng = stream(seed, "recipe-dish-fit", index)
        dish = draw_dish(rng, GRAMMARS[pick(rng, LANGUAGES)].words.cuisine)  # of any cuisine
        for language in languages:
            yield _told(f"fit-{index:06d}", "fit", language, dish, seed, index, size)


def _own_dish(split: str, language: str, seed: int, index: int) -> Dish:
    """Return the dish of a recipe of one language; parts that only an image shows have their own stream."""
    dish = draw_dish(stream(seed, f"recipe-dish-{split}-{language}", index), GRAMMARS[language].words.cuisine)
    if split != "test":
        return dish
    return with_jitter(dish, stream(seed, f"recipe-picture-{language}", index))


def _told(name: str, split: str, language: str, dish: Dish, seed: int, index: int, size: int) -> DemoRecipe:
    rng = stream(seed, f"recipe-text-{split}-{language}", index)
    content, grammar = choose_content(dish, rng), GRAMMARS[language]
    title = grammar.title(content, rng)
    return DemoRecipe(name, name, split, language, title, grammar.body(content, rng), dish, size)
