"""English: nouns before nouns in the singular, plurals in lists."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.data.recipes.languages.grammar import Language, capital, table, with_and
from xlingual.data.recipes.telling import Amount, Telling
from xlingual.data.scenes.streams import Draws, chance, pick

# Before another noun ("carrot soup") | in a list ("200 g carrots"), where that differs.
WORDS = table("""
    chicken: chicken
    beef: beef
    lamb: lamb
    turkey: turkey
    sausage: sausage | sausages
    salmon: salmon
    tuna: tuna
    cod: cod
    shrimp: prawn | prawns
    tofu: tofu
    cheese: cheese
    tomato: tomato | tomatoes
    potato: potato | potatoes
    carrot: carrot | carrots
    pumpkin: pumpkin
    cabbage: cabbage
    spinach: spinach
    aubergine: aubergine | aubergines
    courgette: courgette | courgettes
    pepper: red pepper | red peppers
    mushroom: mushroom | mushrooms
    corn: sweetcorn
    beetroot: beetroot | beetroots
    cucumber: cucumber | cucumbers
    broccoli: broccoli
    cauliflower: cauliflower
    avocado: avocado | avocados
    bean: bean | beans
    lentil: lentil | lentils
    chickpea: chickpea | chickpeas
    pea: pea | peas
    apple: apple | apples
    banana: banana | bananas
    strawberry: strawberry | strawberries
    orange: orange | oranges
    mango: mango | mangoes
    cherry: cherry | cherries
    blueberry: blueberry | blueberries
    pear: pear | pears
    pineapple: pineapple
    raspberry: raspberry | raspberries
    peach: peach | peaches
    plum: plum | plums
    chocolate: chocolate
    walnut: walnut | walnuts
    almond: almond | almonds
    date: date | dates
    raisin: raisin | raisins
    coconut: coconut
    garlic: garlic
    onion: onion | onions
    ginger: ginger
    chilli: chilli
    cumin: cumin
    turmeric: turmeric
    paprika: paprika
    thyme: thyme
    bay_leaf: bay leaf | bay leaves
    soy_sauce: soy sauce
    lemon_juice: lemon juice
    black_pepper: black pepper
    basil: basil
    coriander: coriander
    cinnamon: cinnamon
    vanilla: vanilla
    cardamom: cardamom
    honey: honey
    lemon_zest: lemon zest
    nutmeg: nutmeg
    saffron: saffron
    parsley: parsley
    dill: dill
    spring_onion: spring onion | spring onions
    sesame: sesame | sesame seeds
    sour_cream: sour cream
    mint: mint
    powdered_sugar: icing sugar
    whipped_cream: whipped cream
    cocoa: cocoa
    water: water
    broth: stock
    flour: flour
    sugar: sugar
    butter: butter
    oil: oil
    salt: salt
    egg: egg | eggs
    milk: milk
    rice: rice
    noodles: noodle | noodles
    bread: bread
    yogurt: yoghurt
    oats: oat | oats
    tomato_sauce: tomato sauce
    coconut_milk: coconut milk
    lettuce: lettuce
    yeast: dried yeast
""")
KINDS = table("""
    soup: soup
    stew: stew | hotpot
    curry: curry
    salad: salad
    noodles: noodles
    rice: rice | pilaf
    omelette: omelette | frittata
    pie: pie | tart
    pizza: pizza
    casserole: casserole | bake
    cake: cake | sponge cake
    cookies: cookies | biscuits
    pancakes: pancakes | crêpes
    porridge: porridge
    sandwich: sandwich
    dumplings: dumplings
    skewers: skewers | kebabs
    smoothie: smoothie | shake
""")
STYLES = table("""
    homemade: homemade | home-style
    festive: festive
    classic: classic | traditional
    simple: simple | easy
    light: light
    tasty: tasty | delicious
    favourite: favourite
    hearty: hearty
    quick: quick
    spicy: spicy
""")
REGIONS = (
    "from Devon",
    "from Kent",
    "from Yorkshire",
    "from Cornwall",
    "from Texas",
    "from Ontario",
    "from Georgia",
    "from Tasmania",
    "from Galway",
    "the Highland way",
)
OCCASIONS = (
    "for two",
    "for guests",
    "for the whole family",
    "for a rainy day",
    "for children",
    "for Sunday",
    "for the weekend",
    "like my grandmother's",
)
ACTIONS = table("""
    cut: Cut {x} into pieces | Dice {x}
    chop: Finely chop {x} | Mince {x}
    wash: Wash {x} well | Rinse {x}
    heat: Heat {x} in a pan | Put {x} into a hot pan
    fry: Fry {x} for {t} | Brown {x} for about {t}
    add: Add {x} | Stir in {x}
    boil: Boil {x} for {t} | Cook {x} for {t}
    bring: Bring {x} to the boil | Heat {x} until it boils
    simmer: Simmer for {t} over a low heat | Cook for {t} with the lid on
    blend: Blend {x} until smooth | Purée {x}
    mix: Mix with {x} | Fold in {x}
    whisk: Whisk {x} | Beat {x} for {t}
    knead: Knead {x} into a dough | Make a dough with {x}
    rest: Let the dough rest for {t} | Leave the dough for {t}
    fill: Fill with {x} | Put {x} in the middle
    bake: Bake for {t} at 180 degrees | Put in the oven for {t}
    spread: Spread with {x} | Brush with {x}
    layer: Arrange {x} on top | Cover with {x}
    toast: Toast {x} | Toast {x} until golden
    steam: Steam for {t} | Cook over steam for {t}
    turn: Fry on both sides for {t} | Fry for {t}, turning often
    ladle: Fry one ladle of batter at a time | Cook thin rounds of batter on both sides
    marinate: Marinate {x} for {t} | Rub {x} together and leave for {t}
    skewer: Thread {x} onto sticks | Put {x} on sticks
    grill: Grill for {t}, turning often | Grill over hot coals for {t}
    chill: Chill for {t} | Put in the fridge for {t}
    pour: Pour in {x} | Add {x} and stir
    season: Season with {x} | Add {x} to taste
    garnish: Garnish with {x} | Sprinkle with {x} before serving
""")


def _noun(name: str) -> str:
    return WORDS[name][-1]


class English(Language):
    """English."""

    code = "en"
    actions = ACTIONS
    ingredients_heading = ("Ingredients:", "You need:")
    steps_heading = ("Method:", "Steps:")
    tips = (
        "Enjoy your meal!",
        "Serve hot or cold.",
        "It keeps for two days in the fridge.",
        "Tastes even better the next day.",
        "My family loves it.",
        "Use less salt for children.",
    )

    def title(self, telling: Telling, rng: Draws) -> str:
        """Return "Quick carrot soup with beans and basil, from Kent"."""
        kind = pick(rng, KINDS[telling.kind])
        style = f"{pick(rng, STYLES[telling.style])} " if telling.style else ""
        if chance(rng, 0.75):
            head, behind = f"{style}{WORDS[telling.hero][0]} {kind}", telling.named
        else:
            head, behind = f"{style}{kind}", (telling.hero, *telling.named)
        extra = f" with {with_and([_noun(name) for name in behind], 'and')}" if behind else ""
        tail = {
            "region": f", {pick(rng, REGIONS)}",
            "occasion": f" {pick(rng, OCCASIONS)}",
            "minutes": f" in {telling.minutes} minutes",
            None: "",
        }[telling.tail]
        return capital(f"{head}{extra}{tail}")

    def amount(self, amount: Amount) -> str:
        """Return "200 g carrots"."""
        noun, number = _noun(amount.name), amount.number
        return {
            "piece": f"{number} {noun}",
            "clove": f"{number} cloves {noun}",
            "bunch": f"{number} bunch {noun}",
            "taste": f"{noun} to taste",
        }.get(amount.unit, f"{number} {amount.unit} {noun}")

    def listed(self, names: Sequence[str]) -> str:
        """Return "the carrots, beans and basil"."""
        return f"the {with_and([_noun(name) for name in names], 'and')}"

    def minutes(self, number: int) -> str:
        """Return "20 minutes"."""
        return f"{number} minutes"

    def serves(self, number: int) -> str:
        """Return "Serves 4"."""
        return f"Serves {number}"
