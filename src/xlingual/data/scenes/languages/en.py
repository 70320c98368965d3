"""English: articles a/an, irregular plurals, "there is" or "there are"."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.data.scenes.languages.grammar import Fields, Frames, Grammar, chosen, spaced, with_and
from xlingual.data.scenes.mentions import Mention
from xlingual.data.scenes.streams import Draws, pick

NOUNS = {
    "star": (("star", "stars"),),
    "ball": (("ball", "balls"), ("sphere", "spheres")),
    "tree": (("tree", "trees"), ("fir tree", "fir trees")),
    "house": (("house", "houses"),),
    "flower": (("flower", "flowers"), ("blossom", "blossoms")),
    "fish": (("fish", "fish"),),
    "heart": (("heart", "hearts"),),
    "car": (("car", "cars"), ("automobile", "automobiles")),
    "boat": (("boat", "boats"), ("sailing boat", "sailing boats")),
    "cup": (("cup", "cups"), ("mug", "mugs")),
    "cloud": (("cloud", "clouds"),),
    "apple": (("apple", "apples"),),
    "book": (("book", "books"),),
    "hat": (("hat", "hats"),),
    "key": (("key", "keys"),),
    "bottle": (("bottle", "bottles"),),
    "moon": (("moon", "moons"), ("crescent moon", "crescent moons")),
    "umbrella": (("umbrella", "umbrellas"),),
    "flag": (("flag", "flags"), ("banner", "banners")),
    "balloon": (("balloon", "balloons"),),
    "box": (("box", "boxes"), ("carton", "cartons")),
    "mushroom": (("mushroom", "mushrooms"), ("toadstool", "toadstools")),
    "triangle": (("triangle", "triangles"),),
    "bell": (("bell", "bells"),),
}
COLOURS = {
    "red": ("red",),
    "blue": ("blue",),
    "green": ("green",),
    "yellow": ("yellow",),
    "orange": ("orange",),
    "purple": ("purple", "violet"),
    "pink": ("pink",),
    "brown": ("brown",),
    "black": ("black",),
    "white": ("white",),
}
SIZES = {"small": ("small", "little"), "medium": ("medium-sized",), "big": ("big", "large")}
PATTERNS = {
    "plain": ("plain",),
    "striped": ("striped",),
    "dotted": ("dotted", "spotted", "polka-dot"),
    "checked": ("checked", "chequered"),
}
PLACES = {
    "left": ("on the left", "on the left side"),
    "right": ("on the right", "on the right side"),
    "top": ("at the top",),
    "bottom": ("at the bottom",),
    "middle": ("in the middle", "in the centre"),
}
NUMBERS = ("two", "three", "four", "five")
GROUNDS = {
    "lightblue": ({"ground": "light blue"}, {"ground": "pale blue"}),
    "lightgreen": ({"ground": "light green"}, {"ground": "pale green"}),
    "beige": ({"ground": "beige"}, {"ground": "cream-coloured"}),
    "pink": ({"ground": "pink"}, {"ground": "light pink"}),
    "grey": ({"ground": "grey"}, {"ground": "light grey"}),
    "darkblue": ({"ground": "dark blue"},),
    "yellow": ({"ground": "yellow"}, {"ground": "light yellow"}),
    "purple": ({"ground": "purple"}, {"ground": "violet"}),
    "turquoise": ({"ground": "turquoise"},),
    "orange": ({"ground": "light orange"}, {"ground": "peach-coloured"}),
    "darkgreen": ({"ground": "dark green"},),
    "darkred": ({"ground": "dark red"},),
}


class English(Grammar):
    """English."""

    code = "en"
    frames = Frames(
        single=(
            "There {is} {np}.",
            "You can see {np}.",
            "{np}.",
            "The picture shows {np}.",
            "In the picture there {is} {np}.",
        ),
        placed=(
            "There {is} {np} {place}.",
            "{place} there {is} {np}.",
            "{np} {place}.",
            "{place} you can see {np}.",
            "{place}, {np}.",
        ),
        listed=(
            "There {is} {np}.",
            "The picture shows {np}.",
            "{np}.",
            "A picture of {np}.",
            "You can see {np}.",
        ),
        ground=("The background is {ground}.", "Everything is on a {ground} background."),
        attached=("{sentence} on a {ground} background.", "{sentence} against a {ground} background."),
    )
    grounds = GROUNDS

    def group(self, mention: Mention, rng: Draws) -> Fields:
        """Return np, is and place."""
        singular, plural = pick(rng, NOUNS[mention.kind])
        modifiers = spaced(
            chosen(rng, SIZES, mention.size),
            chosen(rng, COLOURS, mention.colour),
            chosen(rng, PATTERNS, mention.pattern),
        )
        if mention.count == 1:
            words = spaced(modifiers, singular)
            phrase = f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
        else:
            number = {"exact": NUMBERS[mention.count - 2], "several": pick(rng, ("several", "a few"))}
            phrase = spaced(number.get(mention.number), modifiers, plural)
        return {
            "np": phrase,
            "is": "is" if mention.count == 1 else "are",
            "place": chosen(rng, PLACES, mention.position),
        }

    def join(self, phrases: Sequence[str]) -> str:
        """Return a, b and c."""
        return with_and(phrases, "and")
