"""What one cook chooses to tell of a dish, before any language."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.demo_data.draws import Draws, chance, pick, shuffled
from xlingual.demo_data.recipes.dishes import Dish, Step, shopping, steps
from xlingual.demo_data.recipes.pantry import UNITS

# How likely a cook is to tell each thing.
SAY_OTHER = 0.6  # a further ingredient, in the title
SAY_SEASONING = 0.12  # a seasoning, in the title
SAY_STYLE = 0.4
SAY_REGION = 0.25
SAY_OCCASION = 0.2
SAY_MINUTES = 0.1
SAY_SERVINGS = 0.5
LIST = 0.95  # an entry of the ingredient list
DO = 0.92  # a step
SAY_TIP = 0.5

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
class Telling:
    """What is told. In the title: `named` beside kind and hero, `style`, and behind it at most one `tail`."""

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


def tell(dish: Dish, rng: Draws) -> Telling:
    """Choose what to tell of a dish: the title, the list in an order of its own, the steps in theirs."""
    named = [name for name in dish.others if chance(rng, SAY_OTHER)]
    named += [name for name in dish.seasonings if chance(rng, SAY_SEASONING)]
    done = steps(dish)
    told = tuple(step for step in done if chance(rng, DO)) or done
    return Telling(
        kind=dish.kind,
        hero=dish.hero,
        named=tuple(shuffled(rng, named)),
        style=pick(rng, _styles(dish)) if chance(rng, SAY_STYLE) else None,
        tail=_tail(rng),
        minutes=dish.minutes,
        servings=dish.servings if chance(rng, SAY_SERVINGS) else None,
        amounts=_amounts(dish, rng),
        steps=told,
        tip=chance(rng, SAY_TIP),
    )


def _styles(dish: Dish) -> tuple[str, ...]:
    more = {"quick": dish.minutes <= QUICK, "spicy": "chilli" in dish.seasonings}
    return (*STYLES, *(style for style, fits in more.items() if fits))


def _tail(rng: Draws) -> str | None:
    left = rng.random()
    for tail, share in (("region", SAY_REGION), ("occasion", SAY_OCCASION), ("minutes", SAY_MINUTES)):
        left -= share
        if left < 0:
            return tail
    return None


def _amounts(dish: Dish, rng: Draws) -> tuple[Amount, ...]:
    """Return the list: the main ingredient always, each other entry usually, in any order."""
    names = [name for name in shopping(dish) if name == dish.hero or chance(rng, LIST)]
    return tuple(
        Amount(name, pick(rng, QUANTITIES[UNITS[name]]), UNITS[name]) for name in shuffled(rng, names)
    )
