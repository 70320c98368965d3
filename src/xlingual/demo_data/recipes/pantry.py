"""What recipes are made of: ingredients and how a piece of each looks, seasonings, toppings, staples."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.demo_data.painting import Colour


@dataclass(frozen=True)
class Ingredient:
    """A visible ingredient: what it counts as, how it is bought ("g" or "piece"), and how a piece looks."""

    group: str
    unit: str
    colour: Colour
    shape: str  # "chunk", "disc", "ring", "strip", "leaf", "crescent" or "grain"


INGREDIENTS: dict[str, Ingredient] = {
    "chicken": Ingredient("meat", "g", (226, 180, 120), "chunk"),
    "beef": Ingredient("meat", "g", (112, 58, 38), "chunk"),
    "lamb": Ingredient("meat", "g", (150, 84, 62), "strip"),
    "turkey": Ingredient("meat", "g", (206, 160, 118), "strip"),
    "sausage": Ingredient("meat", "piece", (176, 62, 48), "disc"),
    "salmon": Ingredient("fish", "g", (248, 142, 98), "chunk"),
    "tuna": Ingredient("fish", "g", (186, 112, 110), "chunk"),
    "cod": Ingredient("fish", "g", (240, 234, 220), "leaf"),
    "shrimp": Ingredient("fish", "g", (250, 156, 122), "crescent"),
    "tofu": Ingredient("dairy", "g", (246, 240, 214), "chunk"),
    "cheese": Ingredient("dairy", "g", (250, 206, 78), "chunk"),
    "tomato": Ingredient("vegetable", "piece", (220, 48, 36), "disc"),
    "potato": Ingredient("vegetable", "piece", (232, 206, 122), "chunk"),
    "carrot": Ingredient("vegetable", "piece", (242, 124, 30), "disc"),
    "pumpkin": Ingredient("vegetable", "g", (240, 148, 32), "chunk"),
    "cabbage": Ingredient("vegetable", "g", (196, 220, 148), "strip"),
    "spinach": Ingredient("vegetable", "g", (34, 104, 44), "leaf"),
    "aubergine": Ingredient("vegetable", "piece", (88, 42, 104), "disc"),
    "courgette": Ingredient("vegetable", "piece", (122, 168, 76), "ring"),
    "pepper": Ingredient("vegetable", "piece", (206, 36, 30), "strip"),
    "mushroom": Ingredient("vegetable", "g", (176, 146, 116), "crescent"),
    "corn": Ingredient("vegetable", "g", (250, 216, 62), "grain"),
    "beetroot": Ingredient("vegetable", "piece", (136, 20, 66), "chunk"),
    "cucumber": Ingredient("vegetable", "piece", (140, 196, 112), "ring"),
    "broccoli": Ingredient("vegetable", "g", (58, 128, 54), "disc"),
    "cauliflower": Ingredient("vegetable", "g", (240, 232, 206), "disc"),
    "avocado": Ingredient("vegetable", "piece", (166, 192, 92), "crescent"),
    "bean": Ingredient("legume", "g", (122, 40, 36), "grain"),
    "lentil": Ingredient("legume", "g", (188, 122, 62), "grain"),
    "chickpea": Ingredient("legume", "g", (226, 194, 130), "grain"),
    "pea": Ingredient("legume", "g", (106, 178, 62), "grain"),
    "apple": Ingredient("fruit", "piece", (204, 216, 112), "crescent"),
    "banana": Ingredient("fruit", "piece", (250, 230, 140), "disc"),
    "strawberry": Ingredient("fruit", "g", (226, 38, 58), "leaf"),
    "orange": Ingredient("fruit", "piece", (250, 152, 34), "ring"),
    "mango": Ingredient("fruit", "piece", (252, 184, 50), "chunk"),
    "cherry": Ingredient("fruit", "g", (152, 16, 44), "disc"),
    "blueberry": Ingredient("fruit", "g", (58, 66, 140), "grain"),
    "pear": Ingredient("fruit", "piece", (222, 216, 150), "leaf"),
    "pineapple": Ingredient("fruit", "g", (250, 220, 92), "ring"),
    "raspberry": Ingredient("fruit", "g", (214, 44, 102), "grain"),
    "peach": Ingredient("fruit", "piece", (252, 176, 112), "crescent"),
    "plum": Ingredient("fruit", "piece", (96, 42, 92), "leaf"),
    "chocolate": Ingredient("sweet", "g", (78, 44, 28), "chunk"),
    "walnut": Ingredient("sweet", "g", (166, 118, 72), "crescent"),
    "almond": Ingredient("sweet", "g", (214, 166, 108), "leaf"),
    "date": Ingredient("sweet", "g", (110, 62, 32), "leaf"),
    "raisin": Ingredient("sweet", "g", (82, 50, 44), "grain"),
    "coconut": Ingredient("sweet", "g", (252, 250, 244), "strip"),
}

SAVOURY_SEASONINGS = (
    "garlic",
    "onion",
    "ginger",
    "chilli",
    "cumin",
    "turmeric",
    "paprika",
    "thyme",
    "bay_leaf",
    "soy_sauce",
    "lemon_juice",
    "black_pepper",
    "basil",
    "coriander",
)
SWEET_SEASONINGS = ("cinnamon", "vanilla", "cardamom", "honey", "lemon_zest", "nutmeg", "saffron")

# Toppings are scattered over the dish: the colour of their specks.
SAVOURY_TOPPINGS: dict[str, Colour] = {
    "parsley": (40, 132, 48),
    "dill": (70, 150, 60),
    "spring_onion": (110, 190, 80),
    "sesame": (248, 232, 190),
    "sour_cream": (255, 253, 246),
}
SWEET_TOPPINGS: dict[str, Colour] = {
    "mint": (60, 160, 90),
    "powdered_sugar": (255, 255, 255),
    "whipped_cream": (255, 250, 240),
    "cocoa": (92, 56, 36),
}
TOPPINGS: dict[str, Colour] = SAVOURY_TOPPINGS | SWEET_TOPPINGS

# How what cannot be seen is measured; ingredients have their own units.
UNITS: dict[str, str] = {
    "garlic": "clove",
    "onion": "piece",
    "ginger": "tsp",
    "chilli": "tsp",
    "cumin": "tsp",
    "turmeric": "tsp",
    "paprika": "tsp",
    "thyme": "tsp",
    "bay_leaf": "taste",
    "soy_sauce": "tbsp",
    "lemon_juice": "tbsp",
    "black_pepper": "taste",
    "basil": "bunch",
    "coriander": "bunch",
    "cinnamon": "tsp",
    "vanilla": "tsp",
    "cardamom": "tsp",
    "honey": "tbsp",
    "lemon_zest": "tsp",
    "nutmeg": "taste",
    "saffron": "taste",
    "parsley": "bunch",
    "dill": "bunch",
    "spring_onion": "bunch",
    "sesame": "tbsp",
    "sour_cream": "tbsp",
    "mint": "bunch",
    "powdered_sugar": "tbsp",
    "whipped_cream": "tbsp",
    "cocoa": "tbsp",
    "water": "ml",
    "broth": "ml",
    "flour": "g",
    "sugar": "g",
    "butter": "g",
    "oil": "tbsp",
    "salt": "taste",
    "egg": "piece",
    "milk": "ml",
    "rice": "g",
    "noodles": "g",
    "bread": "g",
    "yogurt": "g",
    "oats": "g",
    "tomato_sauce": "tbsp",
    "coconut_milk": "ml",
    "lettuce": "g",
    "yeast": "tsp",
} | {name: ingredient.unit for name, ingredient in INGREDIENTS.items()}
