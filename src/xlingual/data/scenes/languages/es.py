"""Spanish: gender and number of articles and adjectives, "gran" before the noun, colours behind it."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.data.scenes.languages.grammar import Fields, Frames, Grammar, chosen, spaced, with_and
from xlingual.data.scenes.mentions import Mention
from xlingual.data.scenes.streams import Draws, pick

NOUNS = {  # gender, singular, plural
    "star": (("f", "estrella", "estrellas"),),
    "ball": (("f", "pelota", "pelotas"), ("f", "bola", "bolas")),
    "tree": (("m", "árbol", "árboles"), ("m", "abeto", "abetos")),
    "house": (("f", "casa", "casas"),),
    "flower": (("f", "flor", "flores"),),
    "fish": (("m", "pez", "peces"),),
    "heart": (("m", "corazón", "corazones"),),
    "car": (("m", "coche", "coches"), ("m", "auto", "autos")),
    "boat": (("m", "barco", "barcos"), ("m", "velero", "veleros")),
    "cup": (("f", "taza", "tazas"),),
    "cloud": (("f", "nube", "nubes"),),
    "apple": (("f", "manzana", "manzanas"),),
    "book": (("m", "libro", "libros"),),
    "hat": (("m", "sombrero", "sombreros"),),
    "key": (("f", "llave", "llaves"),),
    "bottle": (("f", "botella", "botellas"),),
    "moon": (("f", "luna", "lunas"),),
    "umbrella": (("m", "paraguas", "paraguas"), ("f", "sombrilla", "sombrillas")),
    "flag": (("f", "bandera", "banderas"),),
    "balloon": (("m", "globo", "globos"),),
    "box": (("f", "caja", "cajas"),),
    "mushroom": (("f", "seta", "setas"), ("m", "hongo", "hongos")),
    "triangle": (("m", "triángulo", "triángulos"),),
    "bell": (("f", "campana", "campanas"),),
}
# Masculine and feminine singular, masculine and feminine plural.
COLOURS = {
    "red": (("rojo", "roja", "rojos", "rojas"),),
    "blue": (("azul", "azul", "azules", "azules"),),
    "green": (("verde", "verde", "verdes", "verdes"),),
    "yellow": (("amarillo", "amarilla", "amarillos", "amarillas"),),
    "orange": (
        ("naranja", "naranja", "naranja", "naranja"),
        ("anaranjado", "anaranjada", "anaranjados", "anaranjadas"),
    ),
    "purple": (("morado", "morada", "morados", "moradas"), ("violeta", "violeta", "violetas", "violetas")),
    "pink": (("rosa", "rosa", "rosas", "rosas"), ("rosado", "rosada", "rosados", "rosadas")),
    "brown": (("marrón", "marrón", "marrones", "marrones"), ("café", "café", "café", "café")),
    "black": (("negro", "negra", "negros", "negras"),),
    "white": (("blanco", "blanca", "blancos", "blancas"),),
}
SMALL = ("pequeño", "pequeña", "pequeños", "pequeñas")
BEFORE = {"small": SMALL, "big": ("gran", "gran", "grandes", "grandes")}
BEHIND = {"small": SMALL, "big": ("grande", "grande", "grandes", "grandes")}
PATTERNS = {
    "striped": ("de rayas", "a rayas"),
    "dotted": ("de lunares", "con lunares"),
    "checked": ("de cuadros", "a cuadros"),
}
PLAIN = ("liso", "lisa", "lisos", "lisas")
PLACES = {
    "left": ("a la izquierda", "en el lado izquierdo"),
    "right": ("a la derecha", "en el lado derecho"),
    "top": ("arriba", "en la parte superior"),
    "bottom": ("abajo", "en la parte inferior"),
    "middle": ("en el centro", "en el medio"),
}
NUMBERS = ("dos", "tres", "cuatro", "cinco")
ONE, SOME = ("un", "una"), ("unos", "unas")
SEVERAL = (("varios", "varias"), ("algunos", "algunas"))
GROUNDS = {
    "lightblue": ({"ground": "azul claro"}, {"ground": "celeste"}),
    "lightgreen": ({"ground": "verde claro"},),
    "beige": ({"ground": "beige"}, {"ground": "crema"}),
    "pink": ({"ground": "rosa"}, {"ground": "rosa claro"}),
    "grey": ({"ground": "gris"}, {"ground": "gris claro"}),
    "darkblue": ({"ground": "azul oscuro"}, {"ground": "azul marino"}),
    "yellow": ({"ground": "amarillo"}, {"ground": "amarillo claro"}),
    "purple": ({"ground": "morado"}, {"ground": "violeta"}),
    "turquoise": ({"ground": "turquesa"}, {"ground": "azul turquesa"}),
    "orange": ({"ground": "naranja"}, {"ground": "anaranjado"}),
    "darkgreen": ({"ground": "verde oscuro"},),
    "darkred": ({"ground": "rojo oscuro"}, {"ground": "granate"}),
}


class Spanish(Grammar):
    """Spanish."""

    code = "es"
    frames = Frames(
        single=(
            "Hay {np}.",
            "Se {sees} {np}.",
            "En la imagen hay {np}.",
            "La imagen muestra {np}.",
            "{np}.",
            "Una imagen con {np}.",
        ),
        placed=(
            "Hay {np} {place}.",
            "{place} hay {np}.",
            "{place} se {sees} {np}.",
            "{np} {place}.",
            "{place}, {np}.",
        ),
        listed=("Hay {np}.", "La imagen muestra {np}.", "{np}.", "Una imagen con {np}.", "Se ven {np}."),
        ground=("El fondo es {ground}.", "El color del fondo es {ground}."),
        attached=("{sentence}, sobre un fondo {ground}.", "{sentence}, con fondo {ground}."),
    )
    grounds = GROUNDS

    def group(self, mention: Mention, rng: Draws) -> Fields:
        """Return np, sees and place."""
        gender, singular, plural = pick(rng, NOUNS[mention.kind])
        feminine, many = gender == "f", mention.count > 1
        form = int(feminine) + 2 * int(many)
        determiner = {
            "exact": NUMBERS[mention.count - 2] if many else ONE[feminine],
            "several": pick(rng, SEVERAL)[feminine],
            "bare": SOME[feminine],
        }[mention.number]
        before, behind = _size(mention.size, form, rng)
        colour = pick(rng, COLOURS[mention.colour]) if mention.colour else None
        # With the size behind the noun, a bare second adjective would be clumsy: "grande de color rojo".
        hue = colour and (f"de color {colour[0]}" if behind else colour[form])
        pattern = PLAIN[form] if mention.pattern == "plain" else chosen(rng, PATTERNS, mention.pattern)
        modifiers = (behind, pattern, hue) if behind else (hue, pattern)
        if mention.size == "medium":
            modifiers = (*modifiers, "de tamaño mediano")
        return {
            "np": spaced(determiner, before, plural if many else singular, *modifiers),
            "sees": "ven" if many else "ve",
            "place": chosen(rng, PLACES, mention.position),
        }

    def join(self, phrases: Sequence[str]) -> str:
        """Return a, b y c."""
        return with_and(phrases, "y")


def _size(size: str | None, form: int, rng: Draws) -> tuple[str, str]:
    """Return the words for the size before and behind the noun; one of them is empty."""
    if size not in BEFORE:
        return "", ""
    return pick(rng, ((BEFORE[size][form], ""), ("", BEHIND[size][form])))
