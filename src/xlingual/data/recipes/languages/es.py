"""Spanish: articles by gender and number, adjectives that agree with the kind of dish."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.data.recipes.languages.grammar import Language, capital, table, with_and
from xlingual.data.recipes.telling import Amount, Telling
from xlingual.data.scenes.streams import Draws, pick

# Behind "de" ("sopa de zanahoria") | with the article, as it stands in lists and sentences.
WORDS = table("""
    chicken: pollo | el pollo
    beef: ternera | la ternera
    lamb: cordero | el cordero
    turkey: pavo | el pavo
    sausage: salchicha | las salchichas
    salmon: salmón | el salmón
    tuna: atún | el atún
    cod: bacalao | el bacalao
    shrimp: gambas | las gambas
    tofu: tofu | el tofu
    cheese: queso | el queso
    tomato: tomate | los tomates
    potato: patata | las patatas
    carrot: zanahoria | las zanahorias
    pumpkin: calabaza | la calabaza
    cabbage: col | la col
    spinach: espinacas | las espinacas
    aubergine: berenjena | las berenjenas
    courgette: calabacín | los calabacines
    pepper: pimiento rojo | los pimientos rojos
    mushroom: champiñones | los champiñones
    corn: maíz | el maíz
    beetroot: remolacha | las remolachas
    cucumber: pepino | los pepinos
    broccoli: brócoli | el brócoli
    cauliflower: coliflor | la coliflor
    avocado: aguacate | los aguacates
    bean: alubias | las alubias
    lentil: lentejas | las lentejas
    chickpea: garbanzos | los garbanzos
    pea: guisantes | los guisantes
    apple: manzana | las manzanas
    banana: plátano | los plátanos
    strawberry: fresas | las fresas
    orange: naranja | las naranjas
    mango: mango | los mangos
    cherry: cerezas | las cerezas
    blueberry: arándanos | los arándanos
    pear: pera | las peras
    pineapple: piña | la piña
    raspberry: frambuesas | las frambuesas
    peach: melocotón | los melocotones
    plum: ciruela | las ciruelas
    chocolate: chocolate | el chocolate
    walnut: nueces | las nueces
    almond: almendras | las almendras
    date: dátiles | los dátiles
    raisin: pasas | las pasas
    coconut: coco | el coco
    garlic: ajo | el ajo
    onion: cebolla | las cebollas
    ginger: jengibre | el jengibre
    chilli: guindilla | la guindilla
    cumin: comino | el comino
    turmeric: cúrcuma | la cúrcuma
    paprika: pimentón | el pimentón
    thyme: tomillo | el tomillo
    bay_leaf: laurel | el laurel
    soy_sauce: salsa de soja | la salsa de soja
    lemon_juice: zumo de limón | el zumo de limón
    black_pepper: pimienta negra | la pimienta negra
    basil: albahaca | la albahaca
    coriander: cilantro | el cilantro
    cinnamon: canela | la canela
    vanilla: vainilla | la vainilla
    cardamom: cardamomo | el cardamomo
    honey: miel | la miel
    lemon_zest: ralladura de limón | la ralladura de limón
    nutmeg: nuez moscada | la nuez moscada
    saffron: azafrán | el azafrán
    parsley: perejil | el perejil
    dill: eneldo | el eneldo
    spring_onion: cebolleta | las cebolletas
    sesame: sésamo | el sésamo
    sour_cream: nata agria | la nata agria
    mint: menta | la menta
    powdered_sugar: azúcar glas | el azúcar glas
    whipped_cream: nata montada | la nata montada
    cocoa: cacao | el cacao
    water: agua | el agua
    broth: caldo | el caldo
    flour: harina | la harina
    sugar: azúcar | el azúcar
    butter: mantequilla | la mantequilla
    oil: aceite | el aceite
    salt: sal | la sal
    egg: huevo | los huevos
    milk: leche | la leche
    rice: arroz | el arroz
    noodles: fideos | los fideos
    bread: pan | el pan
    yogurt: yogur | el yogur
    oats: avena | la avena
    tomato_sauce: salsa de tomate | la salsa de tomate
    coconut_milk: leche de coco | la leche de coco
    lettuce: lechuga | la lechuga
    yeast: levadura | la levadura
""")
# Gender and number of the kind, the word that joins the main ingredient to it, the kind.
KINDS = {
    "soup": (("f", "de", "sopa"),),
    "stew": (("m", "de", "guiso"), ("m", "de", "estofado")),
    "curry": (("m", "de", "curry"),),
    "salad": (("f", "de", "ensalada"),),
    "noodles": (("mp", "con", "fideos"), ("mp", "con", "tallarines")),
    "rice": (("m", "con", "arroz"),),
    "omelette": (("f", "de", "tortilla"),),
    "pie": (("f", "de", "tarta"), ("f", "de", "empanada")),
    "pizza": (("f", "de", "pizza"),),
    "casserole": (("m", "de", "gratinado"), ("f", "de", "cazuela")),
    "cake": (("m", "de", "bizcocho"), ("m", "de", "pastel")),
    "cookies": (("fp", "de", "galletas"), ("fp", "de", "pastas")),
    "pancakes": (("fp", "con", "tortitas"), ("mp", "con", "panqueques")),
    "porridge": (("fp", "con", "gachas"),),
    "sandwich": (("m", "de", "sándwich"), ("m", "de", "bocadillo")),
    "dumplings": (("fp", "de", "empanadillas"),),
    "skewers": (("fp", "de", "brochetas"), ("mp", "de", "pinchos")),
    "smoothie": (("m", "de", "batido"),),
}
FORMS = ("m", "f", "mp", "fp")
STYLES = {  # masculine and feminine singular, masculine and feminine plural
    "homemade": (("casero", "casera", "caseros", "caseras"),),
    "festive": (("festivo", "festiva", "festivos", "festivas"),),
    "classic": (
        ("clásico", "clásica", "clásicos", "clásicas"),
        ("tradicional", "tradicional", "tradicionales", "tradicionales"),
    ),
    "simple": (("sencillo", "sencilla", "sencillos", "sencillas"), ("fácil", "fácil", "fáciles", "fáciles")),
    "light": (("ligero", "ligera", "ligeros", "ligeras"),),
    "tasty": (
        ("sabroso", "sabrosa", "sabrosos", "sabrosas"),
        ("delicioso", "deliciosa", "deliciosos", "deliciosas"),
    ),
    "favourite": (("favorito", "favorita", "favoritos", "favoritas"),),
    "hearty": (("contundente", "contundente", "contundentes", "contundentes"),),
    "quick": (("rápido", "rápida", "rápidos", "rápidas"),),
    "spicy": (("picante", "picante", "picantes", "picantes"),),
}
REGIONS = (
    "al estilo de Murcia",
    "al estilo de Galicia",
    "al estilo de Sevilla",
    "al estilo de Oaxaca",
    "al estilo de Mendoza",
    "al estilo de Bogotá",
    "al estilo de Lima",
    "al estilo de Canarias",
    "al estilo de Valencia",
    "al estilo de Navarra",
)
OCCASIONS = (
    "para dos",
    "para invitados",
    "para toda la familia",
    "para niños",
    "para el domingo",
    "para la cena",
    "para días de lluvia",
    "de la abuela",
)
ACTIONS = table("""
    cut: Corta {x} en trozos | Corta {x} en dados
    chop: Pica {x} muy fino | Pica {x}
    wash: Lava bien {x} | Enjuaga {x}
    heat: Calienta {x} en una sartén | Pon {x} en una sartén caliente
    fry: Sofríe {x} durante {t} | Dora {x} unos {t}
    add: Añade {x} | Incorpora {x}
    boil: Hierve {x} durante {t} | Cuece {x} durante {t}
    bring: Lleva {x} a ebullición | Pon a hervir {x}
    simmer: Cocina a fuego lento durante {t} | Tapa y deja cocer {t}
    blend: Tritura {x} | Bate {x} con la batidora
    mix: Mezcla con {x} | Remueve con {x}
    whisk: Bate {x} | Bate {x} durante {t}
    knead: Amasa {x} | Prepara una masa con {x}
    rest: Deja reposar la masa {t} | Deja la masa en reposo durante {t}
    fill: Rellena con {x} | Pon {x} en el centro
    bake: Hornea durante {t} a 180 grados | Mete en el horno durante {t}
    spread: Unta con {x} | Extiende {x}
    layer: Coloca {x} por encima | Cubre con {x}
    toast: Tuesta {x} | Tuesta {x} hasta que se dore
    steam: Cuece al vapor durante {t} | Cocina al vapor unos {t}
    turn: Fríe por ambos lados durante {t} | Fríe durante {t} dando la vuelta
    ladle: Fríe la masa por cucharones | Haz discos finos de masa en la sartén
    marinate: Marina {x} durante {t} | Mezcla {x} y deja reposar {t}
    skewer: Ensarta {x} en palillos | Pincha {x} en palillos
    grill: Asa durante {t} dando la vuelta | Asa sobre las brasas durante {t}
    chill: Enfría durante {t} | Deja en la nevera durante {t}
    pour: Vierte {x} | Agrega {x} y remueve
    season: Sazona con {x} | Condimenta con {x}
    garnish: Decora con {x} | Espolvorea con {x} antes de servir
""")
UNITS = {
    "g": "{n} g de {x}",
    "ml": "{n} ml de {x}",
    "piece": "{n} {x}",
    "tbsp": "{n} cucharadas de {x}",
    "tsp": "{n} cucharaditas de {x}",
    "clove": "{n} dientes de {x}",
    "bunch": "{n} manojo de {x}",
    "taste": "{x} al gusto",
}


def _bare(name: str) -> str:
    """Return the noun as it stands in a list: "zanahorias"."""
    return WORDS[name][1].split(" ", 1)[1]


class Spanish(Language):
    """Spanish."""

    code = "es"
    actions = ACTIONS
    ingredients_heading = ("Ingredientes:", "Necesitas:")
    steps_heading = ("Preparación:", "Pasos:")
    tips = (
        "¡Buen provecho!",
        "Sirve caliente o frío.",
        "Se conserva dos días en la nevera.",
        "Al día siguiente está aún más rico.",
        "A mi familia le encanta.",
        "Usa menos sal para los niños.",
    )

    def title(self, telling: Telling, rng: Draws) -> str:
        """Return "Sopa sencilla de zanahoria con alubias y albahaca al estilo de Lima"."""
        form, joined, kind = pick(rng, KINDS[telling.kind])
        style = f" {pick(rng, STYLES[telling.style])[FORMS.index(form)]}" if telling.style else ""
        named = [_bare(name) for name in telling.named]
        if joined == "con":
            extra = f" con {with_and([_bare(telling.hero), *named], 'y')}"
        else:
            extra = f" de {WORDS[telling.hero][0]}" + (f" con {with_and(named, 'y')}" if named else "")
        tail = {
            "region": f" {pick(rng, REGIONS)}",
            "occasion": f" {pick(rng, OCCASIONS)}",
            "minutes": f" en {telling.minutes} minutos",
            None: "",
        }[telling.tail]
        return capital(f"{kind}{style}{extra}{tail}")

    def amount(self, amount: Amount) -> str:
        """Return "200 g de zanahorias"."""
        if amount.unit == "tsp" and amount.number == 1:
            return f"1 cucharadita de {_bare(amount.name)}"
        return UNITS[amount.unit].format(n=amount.number, x=_bare(amount.name))

    def listed(self, names: Sequence[str]) -> str:
        """Return "las zanahorias, las alubias y la albahaca"."""
        return with_and([WORDS[name][1] for name in names], "y")

    def minutes(self, number: int) -> str:
        """Return "20 minutos"."""
        return f"{number} minutos"

    def serves(self, number: int) -> str:
        """Return "Para 4 personas"."""
        return f"Para {number} personas"
