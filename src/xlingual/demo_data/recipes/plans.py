"""How each dish is cooked: staples and steps by kind and method, before any language."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.demo_data.recipes.dishes import Dish
from xlingual.demo_data.recipes.pantry import INGREDIENTS

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
