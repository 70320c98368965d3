"""Recipes of the built-in data: each is one dish, told by one cook in one language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xlingual.data.recipes.cuisines import CUISINES
from xlingual.data.recipes.dishes import Dish, draw_dish, with_jitter
from xlingual.data.recipes.languages import GRAMMARS
from xlingual.data.recipes.picture import paint
from xlingual.data.recipes.telling import tell
from xlingual.data.scenes.streams import pick, stream
from xlingual.errors import InputError, did_you_mean

LANGUAGES: tuple[str, ...] = tuple(sorted(GRAMMARS))
SMALLEST, LARGEST = 16, 512  # side of a picture, in pixels


@dataclass(frozen=True)
class Recipe:
    """A recipe in one language; the picture is painted when it is asked for, and None outside "test"."""

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
    def picture(self) -> bytes | None:
        """The picture as PNG bytes."""
        return paint(self.dish, self.size) if self.split == "test" else None


def recipe_rows(
    items: int,
    languages: Sequence[str] = LANGUAGES,
    seed: int = 0,
    *,
    train: int = 0,
    parallel: int = 0,
    size: int = 64,
) -> Iterator[Recipe]:
    """Return the recipes of `seed`, made one at a time.

    For each language `items` recipes with a picture (split "test"), then `train` without (split "train"):
    each is a dish of that language's cuisine, drawn for it alone, so that no two recipes are translations.
    Last `parallel` dishes without pictures, each told in every language (split "fit").

    Recipe number i of a split and language depends on `seed` and on these three only, neither on how many
    there are nor on the other languages.

    Raise InputError, at once, where an argument is not what it must be.
    """
    _check(items, languages, seed, train, parallel, size)
    return _recipes(items, tuple(languages), seed, train, parallel, size)


def _recipes(
    items: int, languages: tuple[str, ...], seed: int, train: int, parallel: int, size: int
) -> Iterator[Recipe]:
    for split, number in (("test", items), ("train", train)):
        for language in languages:
            for index in range(number):
                dish = _own_dish(split, language, seed, index)
                yield _told(f"{split}-{language}-{index:06d}", split, language, dish, seed, index, size)
    for index in range(parallel):
        dish = _shared_dish(seed, index)
        for language in languages:
            yield _told(f"fit-{index:06d}", "fit", language, dish, seed, index, size)


def _own_dish(split: str, language: str, seed: int, index: int) -> Dish:
    """Return the dish of a recipe of one language; what only a picture shows is from a stream of its own."""
    dish = draw_dish(stream(seed, f"recipe-dish-{split}-{language}", index), CUISINES[language])
    if split != "test":
        return dish
    return with_jitter(dish, stream(seed, f"recipe-picture-{language}", index))


def _shared_dish(seed: int, index: int) -> Dish:
    """Return a dish to be told in all languages, of a cuisine drawn from all that there are."""
    rng = stream(seed, "recipe-dish-fit", index)
    return draw_dish(rng, CUISINES[pick(rng, LANGUAGES)])


def _told(name: str, split: str, language: str, dish: Dish, seed: int, index: int, size: int) -> Recipe:
    rng = stream(seed, f"recipe-text-{split}-{language}", index)
    telling = tell(dish, rng)
    grammar = GRAMMARS[language]
    title = grammar.title(telling, rng)
    return Recipe(name, name, split, language, title, grammar.body(telling, rng), dish, size)


def _check(items: int, languages: Sequence[str], seed: int, train: int, parallel: int, size: int) -> None:
    known = ", ".join(LANGUAGES)
    if isinstance(languages, str):
        raise InputError(f"recipes: languages is the text {languages!r}: give a list, such as ['en', 'es']")
    if not languages:
        raise InputError(f"recipes: no language given: choose from {known}")
    for language in languages:
        if language not in GRAMMARS:
            hint = did_you_mean(language, LANGUAGES)
            raise InputError(f"recipes: unknown language {language!r}.{hint} Known: {known}")
        if list(languages).count(language) > 1:
            raise InputError(f"recipes: language {language!r} is given twice: name each language once")
    for name, number in (("items", items), ("train", train), ("parallel", parallel), ("seed", seed)):
        if number < 0:
            raise InputError(f"recipes: {name} is {number}: give 0 or a positive whole number")
    if not items + train + parallel:
        raise InputError("recipes: items, train and parallel are all 0: make at least 1 recipe")
    if not SMALLEST <= size <= LARGEST:
        raise InputError(f"recipes: size is {size}: give a picture side from {SMALLEST} to {LARGEST} pixels")
