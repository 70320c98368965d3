"""The content of a recipe, as one cook chooses it, before any language."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.demo_data.draws import Draws, chance, pick, shuffled
from xlingual.demo_data.recipes.dishes import Dish, Step, shopping, steps
from xlingual.demo_data.recipes.pantry import UNITS

# How likely a cook is to mention each thing; further ingredients and seasonings in the title.
SAY = {
    "other": 0.6,
    "seasoning": 0.12,
    "style": 0.4,
    "region": 0.25,
    "occasion": 0.2,
    "minutes": 0.1,
    "servings": 0.5,
    "amount": 0.95,
    "step": 0.92,
    "tip": 0.5,
}
STYLES = ("homemade", "festive", "classic", "simple", "light", "tasty", "favourite", "hearty")
QUICK = 30  # minutes; a dish that takes longer is never called quick
QUANTITIES: dict[str, tuple[int, ...]] = {
    "g": (50, 80, 100, 120, 150, 200, 250, 300, 400, 500),
    "ml": (50, 100, 150, 200, 250, 300, 400, 500, 750),
    "piece": (2, 3, 4, 5, 6),
    "tbsp": (2, 3, 4),
    "tsp": (1, 2),
    "clove": (3, 4),
    "bunch": (1,),
    "taste": (0,),
}


@dataclass(frozen=True)
class Amount:
    """An entry of the ingredient list; "taste" has no number."""

    name: str
    number: int
    unit: str


@dataclass(frozen=True)
class RecipeContent:
    """The content of a recipe. Its title has kind, hero, `named`, `style`, and at most one `tail` behind."""

    kind: str
    hero: str
    named: tuple[str, ...]
    style: str | None
    tail: str | None  # "region", "occasion" or "minutes"
    minutes: int
    servings: int | None
    amounts: tuple[Amount, ...]
    steps: tuple[Step, ...]
    tip: bool


def choose_content(dish: Dish, rng: Draws) -> RecipeContent:
    """Choose the content of a recipe: the title, the list in any order, the steps in their order."""
    named = [name for name in dish.others if chance(rng, SAY["other"])]
    named += [name for name in dish.seasonings if chance(rng, SAY["seasoning"])]
    all_steps = steps(dish)
    chosen = tuple(step for step in all_steps if chance(rng, SAY["step"])) or all_steps
    return RecipeContent(
        kind=dish.kind,
        hero=dish.hero,
        named=tuple(shuffled(rng, named)),
        style=pick(rng, _styles(dish)) if chance(rng, SAY["style"]) else None,
        tail=_tail(rng),
        minutes=dish.minutes,
        servings=dish.servings if chance(rng, SAY["servings"]) else None,
        amounts=_amounts(dish, rng),
        steps=chosen,
        tip=chance(rng, SAY["tip"]),
    )


def _styles(dish: Dish) -> tuple[str, ...]:
    more = {"quick": dish.minutes <= QUICK, "spicy": "chilli" in dish.seasonings}
    return (*STYLES, *(style for style, fits in more.items() if fits))


def _tail(rng: Draws) -> str | None:
    left = rng.random()
    for tail in ("region", "occasion", "minutes"):
        left -= SAY[tail]
        if left < 0:
            return tail
    return None


def _amounts(dish: Dish, rng: Draws) -> tuple[Amount, ...]:
    """Return the list: the main ingredient always, each other entry usually, in any order."""
    names = [name for name in shopping(dish) if name == dish.hero or chance(rng, SAY["amount"])]
    return tuple(
        Amount(name, pick(rng, QUANTITIES[UNITS[name]]), UNITS[name]) for name in shuffled(rng, names)
    )
