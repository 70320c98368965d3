"""German: three genders, nominative, accusative and dative, strong and mixed endings of adjectives."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.data.scenes.languages.grammar import Fields, Frames, Grammar, chosen, spaced, with_and
from xlingual.data.scenes.mentions import Mention
from xlingual.data.scenes.streams import Draws, pick

NOUNS = {  # gender, singular, plural
    "star": (("m", "Stern", "Sterne"),),
    "ball": (("m", "Ball", "Bälle"), ("f", "Kugel", "Kugeln")),
    "tree": (("m", "Baum", "Bäume"), ("m", "Tannenbaum", "Tannenbäume")),
    "house": (("n", "Haus", "Häuser"),),
    "flower": (("f", "Blume", "Blumen"), ("f", "Blüte", "Blüten")),
    "fish": (("m", "Fisch", "Fische"),),
    "heart": (("n", "Herz", "Herzen"),),
    "car": (("n", "Auto", "Autos"),),
    "boat": (("n", "Boot", "Boote"), ("n", "Segelboot", "Segelboote"), ("n", "Schiff", "Schiffe")),
    "cup": (("f", "Tasse", "Tassen"), ("m", "Becher", "Becher")),
    "cloud": (("f", "Wolke", "Wolken"),),
    "apple": (("m", "Apfel", "Äpfel"),),
    "book": (("n", "Buch", "Bücher"),),
    "hat": (("m", "Hut", "Hüte"),),
    "key": (("m", "Schlüssel", "Schlüssel"),),
    "bottle": (("f", "Flasche", "Flaschen"),),
    "moon": (("m", "Mond", "Monde"), ("f", "Mondsichel", "Mondsicheln")),
    "umbrella": (("m", "Schirm", "Schirme"), ("m", "Regenschirm", "Regenschirme")),
    "flag": (("f", "Fahne", "Fahnen"), ("f", "Flagge", "Flaggen")),
    "balloon": (("m", "Ballon", "Ballons"), ("m", "Luftballon", "Luftballons")),
    "box": (("f", "Kiste", "Kisten"), ("f", "Schachtel", "Schachteln")),
    "mushroom": (("m", "Pilz", "Pilze"),),
    "triangle": (("n", "Dreieck", "Dreiecke"),),
    "bell": (("f", "Glocke", "Glocken"),),
}
# A word with a hyphen at its end takes an ending; one without is never declined.
COLOURS = {
    "red": ("rot-",),
    "blue": ("blau-",),
    "green": ("grün-",),
    "yellow": ("gelb-",),
    "orange": ("orange", "orangefarben-"),
    "purple": ("lila", "violett-"),
    "pink": ("rosa", "rosafarben-"),
    "brown": ("braun-",),
    "black": ("schwarz-",),
    "white": ("weiß-",),
}
SIZES = {"small": ("klein-",), "medium": ("mittelgroß-",), "big": ("groß-",)}
PATTERNS = {
    "plain": ("einfarbig-",),
    "striped": ("gestreift-",),
    "dotted": ("gepunktet-", "getupft-"),
    "checked": ("kariert-",),
}
PLACES = {
    "left": ("links", "auf der linken Seite"),
    "right": ("rechts", "auf der rechten Seite"),
    "top": ("oben", "im oberen Teil"),
    "bottom": ("unten", "im unteren Teil"),
    "middle": ("in der Mitte",),
}
NUMBERS = ("zwei", "drei", "vier", "fünf")
ARTICLES = {
    "nom": {"m": "ein", "f": "eine", "n": "ein"},
    "acc": {"m": "einen", "f": "eine", "n": "ein"},
    "dat": {"m": "einem", "f": "einer", "n": "einem"},
}
ENDINGS = {  # of adjectives after "ein"; in the plural without an article
    "nom": {"m": "er", "f": "e", "n": "es", "pl": "e"},
    "acc": {"m": "en", "f": "e", "n": "es", "pl": "e"},
    "dat": {"m": "en", "f": "en", "n": "en", "pl": "en"},
}
SEVERAL = ("mehrer-", "einig-")
GROUNDS = {
    "lightblue": ({"pred": "hellblau", "attr": "hellblauem"},),
    "lightgreen": ({"pred": "hellgrün", "attr": "hellgrünem"},),
    "beige": ({"pred": "beige", "attr": "beigem"}, {"pred": "cremefarben", "attr": "cremefarbenem"}),
    "pink": ({"pred": "rosa", "attr": "rosa"}, {"pred": "hellrosa", "attr": "hellrosa"}),
    "grey": ({"pred": "grau", "attr": "grauem"}, {"pred": "hellgrau", "attr": "hellgrauem"}),
    "darkblue": ({"pred": "dunkelblau", "attr": "dunkelblauem"},),
    "yellow": ({"pred": "gelb", "attr": "gelbem"}, {"pred": "hellgelb", "attr": "hellgelbem"}),
    "purple": ({"pred": "lila", "attr": "lila"}, {"pred": "violett", "attr": "violettem"}),
    "turquoise": ({"pred": "türkis", "attr": "türkisfarbenem"},),
    "orange": ({"pred": "orange", "attr": "orangefarbenem"},),
    "darkgreen": ({"pred": "dunkelgrün", "attr": "dunkelgrünem"},),
    "darkred": ({"pred": "dunkelrot", "attr": "dunkelrotem"}, {"pred": "weinrot", "attr": "weinrotem"}),
}


class German(Grammar):
    """German."""

    code = "de"
    listed_fields = ("np", "acc", "dat")
    frames = Frames(
        single=(
            "Da {is} {np}.",
            "Man sieht {acc}.",
            "Auf dem Bild {is} {np} zu sehen.",
            "Es gibt {acc}.",
            "{np}.",
            "Ein Bild mit {dat}.",
        ),
        placed=(
            "{place} {is} {np}.",
            "{place} sieht man {acc}.",
            "{place} {finds} sich {np}.",
            "{np} {place}.",
            "{place} gibt es {acc}.",
        ),
        listed=(
            "Man sieht {acc}.",
            "Auf dem Bild sind {np} zu sehen.",
            "{np}.",
            "Ein Bild mit {dat}.",
            "Das Bild zeigt {acc}.",
        ),
        ground=("Der Hintergrund ist {pred}.", "Alles ist vor {attr} Hintergrund zu sehen."),
        attached=("{sentence}, auf {attr} Hintergrund.", "{sentence} vor {attr} Hintergrund."),
    )
    grounds = GROUNDS

    def group(self, mention: Mention, rng: Draws) -> Fields:
        """Return np, acc and dat (noun phrases in three cases), is, finds and place."""
        noun = pick(rng, NOUNS[mention.kind])
        number = {"exact": NUMBERS[mention.count - 2], "several": pick(rng, SEVERAL)}.get(mention.number)
        adjectives = [
            chosen(rng, SIZES, mention.size),
            chosen(rng, PATTERNS, mention.pattern),
            chosen(rng, COLOURS, mention.colour),
        ]
        one = mention.count == 1
        return {
            "np": _phrase("nom", noun, one, number, adjectives),
            "acc": _phrase("acc", noun, one, number, adjectives),
            "dat": _phrase("dat", noun, one, number, adjectives),
            "is": "ist" if one else "sind",
            "finds": "befindet" if one else "befinden",
            "place": chosen(rng, PLACES, mention.position),
        }

    def join(self, phrases: Sequence[str]) -> str:
        """Return a, b und c."""
        return with_and(phrases, "und")


def _phrase(
    case: str, noun: tuple[str, str, str], one: bool, number: str | None, adjectives: Sequence[str]
) -> str:
    gender, singular, plural = noun
    ending = ENDINGS[case][gender if one else "pl"]
    determiner = ARTICLES[case][gender] if one else _declined(number or "", ending)
    declined = [_declined(adjective, ending) for adjective in adjectives]
    if not one and case == "dat" and plural[-1] not in "ns":
        plural += "n"
    return spaced(determiner, *declined, singular if one else plural)


def _declined(word: str, ending: str) -> str:
    return word[:-1] + ending if word.endswith("-") else word
