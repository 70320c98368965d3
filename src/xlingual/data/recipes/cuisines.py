"""What is cooked where: each language's cuisine favours some dishes and ingredients and has few of others."""

from __future__ import annotations

from dataclasses import dataclass

FAVOURED = 4.0  # times as likely as what a cuisine neither favours nor avoids
RARE = 0.15


@dataclass(frozen=True)
class Cuisine:
    """Kinds of dish, ingredients and seasonings that are frequent, and those that are rare."""

    favoured: frozenset[str]
    rare: frozenset[str]

    def weight(self, name: str) -> float:
        """Return how likely a kind, ingredient or seasoning is, in units of the usual."""
        return FAVOURED if name in self.favoured else RARE if name in self.rare else 1.0


def _cuisine(favoured: str, rare: str) -> Cuisine:
    return Cuisine(frozenset(favoured.split()), frozenset(rare.split()))


CUISINES: dict[str, Cuisine] = {
    "ar": _cuisine(
        "rice stew salad skewers pie lamb chicken aubergine chickpea lentil cauliflower date almond orange "
        "cumin cardamom saffron lemon_juice coriander parsley mint",
        "sandwich dumplings porridge tofu beetroot mushroom blueberry raspberry sausage soy_sauce dill",
    ),
    "en": _cuisine(
        "sandwich cake cookies casserole pie porridge beef turkey potato cheese mushroom apple blueberry "
        "chocolate strawberry thyme black_pepper vanilla whipped_cream",
        "dumplings skewers lentil aubergine date beetroot cumin turmeric dill",
    ),
    "es": _cuisine(
        "omelette rice stew salad soup shrimp cod tomato pepper bean potato avocado corn orange almond peach "
        "garlic paprika saffron cinnamon",
        "dumplings porridge curry tofu beetroot cabbage raspberry ginger soy_sauce dill cardamom",
    ),
    "id": _cuisine(
        "noodles rice soup curry skewers omelette chicken shrimp tofu tuna spinach corn banana coconut mango "
        "pineapple ginger chilli turmeric soy_sauce garlic spring_onion",
        "pie casserole sandwich porridge lamb beetroot cheese cherry plum raspberry walnut thyme dill",
    ),
    "ru": _cuisine(
        "soup dumplings pancakes porridge pie salad beef potato beetroot cabbage mushroom pea cherry "
        "raspberry apple plum onion bay_leaf dill sour_cream",
        "curry noodles skewers avocado tofu shrimp mango pineapple coconut chilli turmeric soy_sauce cumin",
    ),
}
