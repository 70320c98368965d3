"""French: agreement, size before and colour behind the noun, "de grandes étoiles", elision of "de"."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.data.scenes.languages.grammar import Fields, Frames, Grammar, chosen, spaced, with_and
from xlingual.data.scenes.mentions import Mention
from xlingual.data.scenes.streams import Draws, pick

NOUNS = {  # gender, singular, plural
    "star": (("f", "étoile", "étoiles"),),
    "ball": (("f", "balle", "balles"), ("f", "boule", "boules")),
    "tree": (("m", "arbre", "arbres"), ("m", "sapin", "sapins")),
    "house": (("f", "maison", "maisons"),),
    "flower": (("f", "fleur", "fleurs"),),
    "fish": (("m", "poisson", "poissons"),),
    "heart": (("m", "cœur", "cœurs"),),
    "car": (("f", "voiture", "voitures"), ("f", "auto", "autos")),
    "boat": (("m", "bateau", "bateaux"), ("m", "voilier", "voiliers")),
    "cup": (("f", "tasse", "tasses"),),
    "cloud": (("m", "nuage", "nuages"),),
    "apple": (("f", "pomme", "pommes"),),
    "book": (("m", "livre", "livres"),),
    "hat": (("m", "chapeau", "chapeaux"),),
    "key": (("f", "clé", "clés"), ("f", "clef", "clefs")),
    "bottle": (("f", "bouteille", "bouteilles"),),
    "moon": (("f", "lune", "lunes"), ("m", "croissant de lune", "croissants de lune")),
    "umbrella": (("m", "parapluie", "parapluies"),),
    "flag": (("m", "drapeau", "drapeaux"),),
    "balloon": (("m", "ballon", "ballons"),),
    "box": (("f", "boîte", "boîtes"), ("f", "caisse", "caisses")),
    "mushroom": (("m", "champignon", "champignons"),),
    "triangle": (("m", "triangle", "triangles"),),
    "bell": (("f", "cloche", "cloches"),),
}
_ORANGE, _BROWN = ("orange",) * 4, ("marron",) * 4
# Masculine and feminine singular, masculine and feminine plural.
COLOURS = {
    "red": (("rouge", "rouge", "rouges", "rouges"),),
    "blue": (("bleu", "bleue", "bleus", "bleues"),),
    "green": (("vert", "verte", "verts", "vertes"),),
    "yellow": (("jaune", "jaune", "jaunes", "jaunes"),),
    "orange": (_ORANGE,),
    "purple": (("violet", "violette", "violets", "violettes"),),
    "pink": (("rose", "rose", "roses", "roses"),),
    "brown": (_BROWN, ("brun", "brune", "bruns", "brunes")),
    "black": (("noir", "noire", "noirs", "noires"),),
    "white": (("blanc", "blanche", "blancs", "blanches"),),
}
SIZES = {
    "small": (("petit", "petite", "petits", "petites"),),
    "big": (("grand", "grande", "grands", "grandes"), ("gros", "grosse", "gros", "grosses")),
}
PATTERNS = {
    "plain": (("uni", "unie", "unis", "unies"),),
    "striped": (("à rayures",) * 4, ("rayé", "rayée", "rayés", "rayées")),
    "dotted": (("à pois",) * 4,),
    "checked": (("à carreaux",) * 4,),
}
PLACES = {
    "left": ("à gauche", "sur la gauche"),
    "right": ("à droite", "sur la droite"),
    "top": ("en haut",),
    "bottom": ("en bas",),
    "middle": ("au milieu", "au centre"),
}
NUMBERS = ("deux", "trois", "quatre", "cinq")
SEVERAL = ("plusieurs", "quelques")
GROUNDS = {
    "lightblue": ({"ground": "bleu clair"}, {"ground": "bleu pâle"}),
    "lightgreen": ({"ground": "vert clair"}, {"ground": "vert pâle"}),
    "beige": ({"ground": "beige"}, {"ground": "crème"}),
    "pink": ({"ground": "rose"}, {"ground": "rose clair"}),
    "grey": ({"ground": "gris"}, {"ground": "gris clair"}),
    "darkblue": ({"ground": "bleu foncé"}, {"ground": "bleu marine"}),
    "yellow": ({"ground": "jaune"}, {"ground": "jaune pâle"}),
    "purple": ({"ground": "violet"}, {"ground": "mauve"}),
    "turquoise": ({"ground": "turquoise"}, {"ground": "bleu turquoise"}),
    "orange": ({"ground": "orange"}, {"ground": "orange clair"}),
    "darkgreen": ({"ground": "vert foncé"}, {"ground": "vert sombre"}),
    "darkred": ({"ground": "rouge foncé"}, {"ground": "bordeaux"}),
}


class French(Grammar):
    """French."""

    code = "fr"
    listed_fields = ("np", "of")
    frames = Frames(
        single=(
            "Il y a {np}.",
            "On voit {np}.",
            "Sur l'image, il y a {np}.",
            "L'image montre {np}.",
            "{np}.",
            "Dessin {of}.",
        ),
        placed=(
            "Il y a {np} {place}.",
            "{place}, il y a {np}.",
            "{place}, on voit {np}.",
            "{np} {place}.",
            "{place} se {finds} {np}.",
        ),
        listed=("Il y a {np}.", "L'image montre {np}.", "{np}.", "Dessin {of}.", "On voit {np}."),
        ground=("Le fond est {ground}.", "L'arrière-plan est {ground}."),
        attached=("{sentence}, sur un fond {ground}.", "{sentence} sur fond {ground}."),
    )
    grounds = GROUNDS

    def group(self, mention: Mention, rng: Draws) -> Fields:
        """Return np, of (the phrase after "de"), finds and place."""
        gender, singular, plural = pick(rng, NOUNS[mention.kind])
        many = mention.count > 1
        form = int(gender == "f") + 2 * int(many)
        size = pick(rng, SIZES[mention.size])[form] if mention.size in SIZES else ""
        words = spaced(
            size,
            plural if many else singular,
            pick(rng, COLOURS[mention.colour])[form] if mention.colour else "",
            pick(rng, PATTERNS[mention.pattern])[form] if mention.pattern else "",
            "de taille moyenne" if mention.size == "medium" else "",
        )
        determiner = {
            "exact": NUMBERS[mention.count - 2] if many else ("un", "une")[gender == "f"],
            "several": pick(rng, SEVERAL),
            "bare": "de" if size else "des",  # "des" becomes "de" before an adjective
        }[mention.number]
        phrase = f"{determiner} {words}"
        return {
            "np": phrase,
            "of": _after_de(words if mention.number == "bare" else phrase),  # de + des = de
            "finds": "trouvent" if many else "trouve",
            "place": chosen(rng, PLACES, mention.position),
        }

    def join(self, phrases: Sequence[str]) -> str:
        """Return a, b et c."""
        return with_and(phrases, "et")


def _after_de(phrase: str) -> str:
    return f"d'{phrase}" if phrase[0] in "aeiouéèêâîœ" else f"de {phrase}"
