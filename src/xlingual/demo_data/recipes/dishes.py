"""Dishes, before any language: kinds, ingredients, methods, and how they are served."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import msgspec

from xlingual.demo_data.draws import Draws, chance, pick, weighted
from xlingual.demo_data.recipes.pantry import INGREDIENTS, PANTRY, Taste

FAVOURED = 4.0  # times as likely as things that a cuisine neither favours nor avoids
RARE = 0.15


class Cuisine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Kinds of dish, ingredients, seasonings and toppings that are frequent, and those that are rare."""

    favoured: frozenset[str]
    rare: frozenset[str]

    def weight(self, name: str) -> float:
        """Return how likely a kind, ingredient or seasoning is, in units of the usual."""
        return FAVOURED if name in self.favoured else RARE if name in self.rare else 1.0


@dataclass(frozen=True)
class Kind:
    """A kind of dish: groups of its main and further ingredients, its methods, whether it is sweet."""

    heroes: tuple[str, ...]
    others: tuple[str, ...]
    methods: tuple[str, ...]
    sweet: bool = False


_HEARTY = ("meat", "fish", "vegetable", "legume")
_GREEN = ("vegetable", "legume")
_SWEET = ("fruit", "sweet")

KINDS: dict[str, Kind] = {
    "soup": Kind(_HEARTY, _GREEN, ("simmered", "pureed")),
    "stew": Kind(_HEARTY, _GREEN, ("simmered", "baked")),
    "curry": Kind((*_HEARTY, "dairy"), _GREEN, ("simmered",)),
    "salad": Kind((*_HEARTY, "dairy"), (*_GREEN, "dairy"), ("raw",)),
    "noodles": Kind((*_HEARTY, "dairy"), _GREEN, ("boiled", "fried")),
    "rice": Kind(_HEARTY, _GREEN, ("boiled", "fried")),
    "omelette": Kind(("vegetable", "dairy", "fish", "meat"), ("vegetable", "dairy"), ("fried", "baked")),
    "pie": Kind(("meat", "vegetable", "fruit", "fish"), (), ("baked",)),
    "pizza": Kind(("meat", "vegetable", "fish", "dairy"), ("vegetable", "dairy"), ("baked",)),
    "casserole": Kind(("vegetable", "meat", "fish"), ("vegetable", "dairy"), ("baked",)),
    "cake": Kind(_SWEET, _SWEET, ("baked",), sweet=True),
    "cookies": Kind(_SWEET, _SWEET, ("baked",), sweet=True),
    "pancakes": Kind(_SWEET, _SWEET, ("fried",), sweet=True),
    "porridge": Kind(_SWEET, _SWEET, ("boiled",), sweet=True),
    "sandwich": Kind(("meat", "fish", "dairy", "vegetable"), ("vegetable", "dairy"), ("raw", "toasted")),
    "dumplings": Kind(("meat", "vegetable", "fish"), ("vegetable",), ("boiled", "steamed", "fried")),
    "skewers": Kind(("meat", "fish", "vegetable", "dairy"), ("vegetable",), ("grilled",)),
    "smoothie": Kind(("fruit",), _SWEET, ("blended",), sweet=True),
}
TABLES = ("wood", "white", "slate", "linen", "blue")
VESSELS = ("white", "blue", "clay", "grey")
MOST_PIECES = 26

_OTHERS_WEIGHTS = (0.15, 0.35, 0.35, 0.15)  # 0 to 3 further ingredients
_USUAL_TABLE, _USUAL_VESSEL = 0.6, 0.7  # how often an image has the first of TABLES, of VESSELS


@dataclass(frozen=True)
class Dish:
    """One dish. `table`, `vessel` and `jitter` are seen in the image and never described.

    `jitter` holds MOST_PIECES triples in [0, 1), where pieces lie and how they are turned: painting needs it.
    """

    kind: str
    hero: str
    others: tuple[str, ...]
    seasonings: tuple[str, ...]
    topping: str | None
    method: str
    minutes: int
    servings: int
    table: str = TABLES[0]
    vessel: str = VESSELS[0]
    jitter: tuple[tuple[float, float, float], ...] = ()

    @property
    def ingredients(self) -> tuple[str, ...]:
        """What can be seen in it, the main ingredient first."""
        return (self.hero, *self.others)


def draw_dish(rng: Draws, cuisine: Cuisine) -> Dish:
    """Draw a dish of a cuisine: its kind, then what goes into that kind, each by the cuisine's weights."""
    name = _liked(rng, tuple(KINDS), cuisine)
    kind = KINDS[name]
    hero = _liked(rng, _of_groups(kind.heroes), cuisine)
    sweet = kind.sweet or INGREDIENTS[hero].group in _SWEET
    groups = kind.others or (_SWEET if sweet else ("vegetable", "dairy"))
    n_others = weighted(rng, range(4), _OTHERS_WEIGHTS)
    others = _several(rng, _of_groups(groups), n_others, cuisine, taken=(hero,))
    taste: Taste = "sweet" if sweet else "savoury"
    return Dish(
        kind=name,
        hero=hero,
        others=others,
        seasonings=_several(rng, PANTRY.seasonings[taste], pick(rng, (1, 2, 3)), cuisine),
        topping=_liked(rng, tuple(PANTRY.toppings[taste]), cuisine) if chance(rng, 0.6) else None,
        method=pick(rng, kind.methods),
        minutes=5 * (2 + int(rng.random() * 15)),
        servings=pick(rng, (2, 3, 4, 6, 8)),
        table=TABLES[0] if chance(rng, _USUAL_TABLE) else pick(rng, TABLES),
        vessel=VESSELS[0] if chance(rng, _USUAL_VESSEL) else pick(rng, VESSELS),
    )


def with_jitter(dish: Dish, rng: Draws) -> Dish:
    """Return the dish with the places of its pieces, which only an image needs."""
    return replace(dish, jitter=tuple((rng.random(), rng.random(), rng.random()) for _ in range(MOST_PIECES)))


@lru_cache
def _of_groups(groups: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name, ingredient in INGREDIENTS.items() if ingredient.group in groups)


@lru_cache
def _weights(names: tuple[str, ...], cuisine: Cuisine) -> list[float]:
    return [cuisine.weight(name) for name in names]


def _liked(rng: Draws, names: tuple[str, ...], cuisine: Cuisine) -> str:
    return weighted(rng, names, _weights(names, cuisine))


def _several(
    rng: Draws, names: tuple[str, ...], number: int, cuisine: Cuisine, taken: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return `number` different names that are not taken, each drawn by the cuisine's weights."""
    found: list[str] = []
    while len(found) < number:
        name = _liked(rng, names, cuisine)
        if name not in taken and name not in found:
            found.append(name)
    return tuple(found)


# "action:what". What is a staple, several of them with +, or one of the dish's own parts: hero, others,
# all (both), seasonings, topping. A step whose part is empty is left out.
_BROWNED = ("cut:all", "heat:oil", "fry:hero+seasonings", "add:others")
_DRESSED = ("season:seasonings+salt", "garnish:topping")
_BATTER = ("whisk:egg+sugar", "mix:flour+milk")
PLANS: dict[tuple[str, str], tuple[str, ...]] = {
    ("soup", "simmered"): ("cut:all", "bring:broth", "add:all", "simmer:", *_DRESSED),
    ("soup", "pureed"): ("cut:all", "bring:water", "add:all", "simmer:", "blend:all", *_DRESSED),
    ("stew", "simmered"): (*_BROWNED, "pour:broth", "simmer:", *_DRESSED),
    ("stew", "baked"): (*_BROWNED, "pour:tomato_sauce", "bake:", *_DRESSED),
    ("curry", "simmered"): (*_BROWNED, "pour:coconut_milk", "simmer:", *_DRESSED),
    ("salad", "raw"): ("wash:lettuce", "cut:all", "mix:lettuce+all", "pour:oil+yogurt", *_DRESSED),
    ("noodles", "boiled"): ("boil:noodles", "cut:all", "add:all", "pour:broth", *_DRESSED),
    ("noodles", "fried"): ("boil:noodles", *_BROWNED, "mix:noodles", *_DRESSED),
    ("rice", "boiled"): ("wash:rice", *_BROWNED, "add:rice", "pour:broth", "simmer:", *_DRESSED),
    ("rice", "fried"): ("boil:rice", *_BROWNED, "mix:rice+egg", *_DRESSED),
    ("omelette", "fried"): ("cut:all", "whisk:egg+milk", "heat:butter", "fry:all", "pour:egg", *_DRESSED),
    ("omelette", "baked"): ("cut:all", "whisk:egg+milk", "mix:all", "bake:", *_DRESSED),
    ("pie", "baked"): (
        "knead:flour+butter+water",
        "rest:",
        "cut:all",
        "fill:all",
        "season:seasonings",
        "bake:",
        "garnish:topping",
    ),
    ("pizza", "baked"): (
        "knead:flour+yeast+water+oil",
        "rest:",
        "spread:tomato_sauce",
        "cut:all",
        "layer:all",
        "season:seasonings",
        "bake:",
        "garnish:topping",
    ),
    ("casserole", "baked"): ("cut:all", "layer:all", "whisk:egg+milk", "pour:egg+milk", "bake:", *_DRESSED),
    ("cake", "baked"): (*_BATTER, "add:seasonings", "cut:all", "mix:all", "bake:", "garnish:topping"),
    ("cookies", "baked"): (
        "whisk:butter+sugar",
        "mix:flour+egg",
        "add:seasonings",
        "cut:all",
        "knead:all",
        "bake:",
        "garnish:topping",
    ),
    ("pancakes", "fried"): (
        *_BATTER,
        "add:seasonings",
        "heat:butter",
        "ladle:",
        "cut:all",
        "fill:all",
        "garnish:topping",
    ),
    ("porridge", "boiled"): (
        "bring:milk",
        "add:oats+sugar",
        "simmer:",
        "season:seasonings",
        "cut:all",
        "layer:all",
        "garnish:topping",
    ),
    ("sandwich", "raw"): ("cut:all", "spread:butter", "layer:all", *_DRESSED),
    ("sandwich", "toasted"): ("toast:bread", "cut:all", "spread:butter", "layer:all", *_DRESSED),
    ("dumplings", "boiled"): ("knead:flour+egg+water", "chop:all", "fill:all", "simmer:", *_DRESSED),
    ("dumplings", "steamed"): ("knead:flour+water", "chop:all", "fill:all", "steam:", *_DRESSED),
    ("dumplings", "fried"): ("knead:flour+egg+water", "chop:all", "fill:all", "heat:oil", "turn:", *_DRESSED),
    ("skewers", "grilled"): ("cut:all", "marinate:all+seasonings+oil", "skewer:all", "grill:", *_DRESSED),
    ("smoothie", "blended"): (
        "cut:all",
        "pour:milk+yogurt",
        "add:seasonings",
        "blend:all",
        "chill:",
        "garnish:topping",
    ),
}
BREAD = {"sandwich": ("bread",)}  # staples that no step may name


@dataclass(frozen=True)
class Step:
    """One thing to do, and what it is done with; nothing where the action says all."""

    action: str
    what: tuple[str, ...] = ()


def steps(dish: Dish) -> tuple[Step, ...]:
    """Return the steps of a dish in order, without those that have nothing to be done with."""
    parts = {
        "hero": (dish.hero,),
        "others": dish.others,
        "all": dish.ingredients,
        "seasonings": dish.seasonings,
        "topping": (dish.topping,) if dish.topping else (),
    }
    found = []
    for step in PLANS[dish.kind, dish.method]:
        action, _, what = step.partition(":")
        names = [name for part in what.split("+") if part for name in parts.get(part, (part,))]
        if action in ("cut", "chop"):
            names = [name for name in names if INGREDIENTS[name].shape != "grain"]
        if names or not what:
            found.append(Step(action, tuple(dict.fromkeys(names))))
    return tuple(found)


def shopping(dish: Dish) -> tuple[str, ...]:
    """Return everything that goes into a dish: its ingredients, its staples, its seasonings, its topping."""
    named = (name for step in steps(dish) for name in step.what)
    return tuple(dict.fromkeys([*dish.ingredients, *BREAD.get(dish.kind, ()), *named]))
