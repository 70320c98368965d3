"""Arabic: dual and broken plurals, numbers of the opposite gender, feminine adjectives with plurals.

All phrases stand where Arabic has the nominative (or, after a number, the genitive plural of a noun), so that
the dual is always -ān. Vowel signs are not written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlingual.data.scenes.languages.grammar import Fields, Frames, Grammar, chosen, spaced
from xlingual.data.scenes.mentions import Mention
from xlingual.data.scenes.streams import Draws, pick


@dataclass(frozen=True)
class Noun:
    """A noun in its three numbers; `tail` is a second noun in the genitive ("a grain of" mushroom)."""

    gender: str
    one: str
    two: str
    more: str
    tail: str = ""


NOUNS = {
    "star": (Noun("f", "نجمة", "نجمتان", "نجمات"), Noun("m", "نجم", "نجمان", "نجوم")),
    "ball": (Noun("f", "كرة", "كرتان", "كرات"),),
    "tree": (Noun("f", "شجرة", "شجرتان", "أشجار"),),
    "house": (Noun("m", "بيت", "بيتان", "بيوت"), Noun("m", "منزل", "منزلان", "منازل")),
    "flower": (Noun("f", "زهرة", "زهرتان", "زهور"), Noun("f", "زهرة", "زهرتان", "أزهار")),
    "fish": (Noun("f", "سمكة", "سمكتان", "سمكات"), Noun("f", "سمكة", "سمكتان", "أسماك")),
    "heart": (Noun("m", "قلب", "قلبان", "قلوب"),),
    "car": (Noun("f", "سيارة", "سيارتان", "سيارات"),),
    "boat": (Noun("m", "قارب", "قاربان", "قوارب"), Noun("m", "مركب", "مركبان", "مراكب")),
    "cup": (Noun("m", "كوب", "كوبان", "أكواب"), Noun("m", "فنجان", "فنجانان", "فناجين")),
    "cloud": (Noun("f", "سحابة", "سحابتان", "سحب"), Noun("f", "غيمة", "غيمتان", "غيوم")),
    "apple": (Noun("f", "تفاحة", "تفاحتان", "تفاحات"),),
    "book": (Noun("m", "كتاب", "كتابان", "كتب"),),
    "hat": (Noun("f", "قبعة", "قبعتان", "قبعات"),),
    "key": (Noun("m", "مفتاح", "مفتاحان", "مفاتيح"),),
    "bottle": (Noun("f", "زجاجة", "زجاجتان", "زجاجات"),),
    "moon": (Noun("m", "هلال", "هلالان", "أهلة"), Noun("m", "قمر", "قمران", "أقمار")),
    "umbrella": (Noun("f", "مظلة", "مظلتان", "مظلات"), Noun("f", "شمسية", "شمسيتان", "شمسيات")),
    "flag": (Noun("m", "علم", "علمان", "أعلام"), Noun("f", "راية", "رايتان", "رايات")),
    "balloon": (Noun("m", "بالون", "بالونان", "بالونات"),),
    "box": (Noun("m", "صندوق", "صندوقان", "صناديق"), Noun("f", "علبة", "علبتان", "علب")),
    "mushroom": (Noun("f", "حبة", "حبتا", "حبات", tail="فطر"),),
    "triangle": (Noun("m", "مثلث", "مثلثان", "مثلثات"),),
    "bell": (Noun("m", "جرس", "جرسان", "أجراس"),),
}


def _regular(word: str) -> tuple[str, str, str, str]:
    return (word, word + "ة", word + "ان", word + "تان")


def _of_colour(masculine: str, feminine: str) -> tuple[str, str, str, str]:
    """Return the forms of a colour like aḥmar, ḥamrāʾ, whose feminine dual has a wāw."""
    return (masculine, feminine, masculine + "ان", feminine[:-1] + "وان")


# Masculine and feminine singular, masculine and feminine dual.
COLOURS = {
    "red": (_of_colour("أحمر", "حمراء"),),
    "blue": (_of_colour("أزرق", "زرقاء"),),
    "green": (_of_colour("أخضر", "خضراء"),),
    "yellow": (_of_colour("أصفر", "صفراء"),),
    "orange": (_regular("برتقالي"),),
    "purple": (_regular("بنفسجي"), _regular("أرجواني")),
    "pink": (_regular("وردي"), _regular("زهري")),
    "brown": (_regular("بني"),),
    "black": (_of_colour("أسود", "سوداء"),),
    "white": (_of_colour("أبيض", "بيضاء"),),
}
SIZES = {
    "small": (_regular("صغير"),),
    "medium": (("متوسط الحجم", "متوسطة الحجم", "متوسطا الحجم", "متوسطتا الحجم"),),
    "big": (_regular("كبير"),),
}
PATTERNS = {"striped": (_regular("مخطط"), _regular("مقلم")), "dotted": (_regular("منقط"), _regular("مرقط"))}
BEHIND = {"checked": ("بنقشة مربعات", "بمربعات"), "plain": ("بلا نقوش",)}
PLACES = {
    "left": ("على اليسار", "في الجهة اليسرى"),
    "right": ("على اليمين", "في الجهة اليمنى"),
    "top": ("في الأعلى",),
    "bottom": ("في الأسفل",),
    "middle": ("في الوسط", "في المنتصف"),
}
NUMBERS = {"m": ("ثلاثة", "أربعة", "خمسة"), "f": ("ثلاث", "أربع", "خمس")}  # beside nouns of that gender
EXISTS = {"m": "يوجد", "f": "توجد"}
SHOWS = {"m": "يظهر", "f": "تظهر"}
GROUNDS = {
    "lightblue": ({"ground": "زرقاء فاتحة", "colour": "أزرق فاتح"},),
    "lightgreen": ({"ground": "خضراء فاتحة", "colour": "أخضر فاتح"},),
    "beige": ({"ground": "بيج", "colour": "بيج"},),
    "pink": ({"ground": "وردية", "colour": "وردي"}, {"ground": "وردية فاتحة", "colour": "وردي فاتح"}),
    "grey": ({"ground": "رمادية", "colour": "رمادي"}, {"ground": "رمادية فاتحة", "colour": "رمادي فاتح"}),
    "darkblue": ({"ground": "زرقاء داكنة", "colour": "أزرق داكن"}, {"ground": "كحلية", "colour": "كحلي"}),
    "yellow": ({"ground": "صفراء", "colour": "أصفر"}, {"ground": "صفراء فاتحة", "colour": "أصفر فاتح"}),
    "purple": ({"ground": "بنفسجية", "colour": "بنفسجي"}, {"ground": "أرجوانية", "colour": "أرجواني"}),
    "turquoise": ({"ground": "فيروزية", "colour": "فيروزي"},),
    "orange": ({"ground": "برتقالية", "colour": "برتقالي"},),
    "darkgreen": ({"ground": "خضراء داكنة", "colour": "أخضر داكن"},),
    "darkred": ({"ground": "حمراء داكنة", "colour": "أحمر داكن"}, {"ground": "عنابية", "colour": "عنابي"}),
}


class Arabic(Grammar):
    """Arabic."""

    code = "ar"
    frames = Frames(
        single=(
            "هناك {np}.",
            "في الصورة {np}.",
            "{exists} في الصورة {np}.",
            "{shows} في الصورة {np}.",
            "{np}.",
            "صورة فيها {np}.",
        ),
        placed=(
            "{place} {np}.",
            "هناك {np} {place}.",
            "{exists} {place} {np}.",
            "{shows} {np} {place}.",
            "{np} {place}.",
        ),
        listed=("هناك {np}.", "في الصورة {np}.", "صورة فيها {np}.", "{np}.", "{shows} في الصورة {np}."),
        ground=("الخلفية {ground}.", "لون الخلفية {colour}."),
        attached=("{sentence} على خلفية {ground}.", "{sentence}، والخلفية {ground}."),
    )
    grounds = GROUNDS

    def group(self, mention: Mention, rng: Draws) -> Fields:
        """Return np, exists and shows (verbs that agree with it) and place."""
        noun = pick(rng, NOUNS[mention.kind])
        feminine = noun.gender == "f"
        number, head, form = "", noun.one, int(feminine)
        gender, definite = noun.gender, False
        if mention.count == 2 and mention.number == "exact":
            head, form = noun.two, 2 + int(feminine)
        elif mention.count > 1:
            head, form = noun.more, 1
            number, gender, definite = _quantity(mention, noun, rng)
        adjectives = [
            pick(rng, words[key])[form]
            for words, key in ((COLOURS, mention.colour), (SIZES, mention.size), (PATTERNS, mention.pattern))
            if key is not None and key in words
        ]
        behind = pick(rng, BEHIND[mention.pattern]) if mention.pattern in BEHIND else ""
        return {
            "np": spaced(number, _noun_phrase(head, noun.tail, adjectives, definite), behind),
            "exists": EXISTS[gender],
            "shows": SHOWS[gender],
            "place": chosen(rng, PLACES, mention.position),
        }

    def join(self, phrases: Sequence[str]) -> str:
        """Return the phrases with "and", which Arabic writes onto the next word."""
        return " و".join(phrases)


def _quantity(mention: Mention, noun: Noun, rng: Draws) -> tuple[str, str, bool]:
    """Return the word for how many, the gender the verb takes, and whether the noun is definite."""
    if mention.number == "exact":
        return NUMBERS[noun.gender][mention.count - 3], noun.gender, False
    if mention.number == "several":
        return pick(rng, (("عدة", "f", False), ("عدد من", "m", True)))
    return "", "f", False


def _noun_phrase(head: str, tail: str, adjectives: Sequence[str], definite: bool) -> str:
    if not definite:
        return spaced(head, tail, *adjectives)
    nouns = (head, f"ال{tail}") if tail else (f"ال{head}",)
    return spaced(*nouns, *(f"ال{adjective}" for adjective in adjectives))
