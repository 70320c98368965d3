"""Russian: cases after numerals (2 to 4 genitive singular, 5 genitive plural), agreement of adjectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xlingual.data.scenes.languages.grammar import Fields, Frames, Grammar, chosen, spaced, with_and
from xlingual.data.scenes.mentions import Mention
from xlingual.data.scenes.streams import Draws, chance, pick

NOUNS = {  # gender, nominative and genitive singular, nominative and genitive plural
    "star": (
        ("f", "звезда", "звезды", "звёзды", "звёзд"),
        ("f", "звёздочка", "звёздочки", "звёздочки", "звёздочек"),
    ),
    "ball": (("m", "мяч", "мяча", "мячи", "мячей"), ("m", "мячик", "мячика", "мячики", "мячиков")),
    "tree": (("n", "дерево", "дерева", "деревья", "деревьев"), ("f", "ёлка", "ёлки", "ёлки", "ёлок")),
    "house": (("m", "дом", "дома", "дома", "домов"), ("m", "домик", "домика", "домики", "домиков")),
    "flower": (("m", "цветок", "цветка", "цветы", "цветов"),),
    "fish": (("f", "рыба", "рыбы", "рыбы", "рыб"), ("f", "рыбка", "рыбки", "рыбки", "рыбок")),
    "heart": (("n", "сердце", "сердца", "сердца", "сердец"),),
    "car": (
        ("f", "машина", "машины", "машины", "машин"),
        ("m", "автомобиль", "автомобиля", "автомобили", "автомобилей"),
    ),
    "boat": (
        ("f", "лодка", "лодки", "лодки", "лодок"),
        ("m", "кораблик", "кораблика", "кораблики", "корабликов"),
    ),
    "cup": (("f", "чашка", "чашки", "чашки", "чашек"), ("f", "кружка", "кружки", "кружки", "кружек")),
    "cloud": (("n", "облако", "облака", "облака", "облаков"),),
    "apple": (("n", "яблоко", "яблока", "яблоки", "яблок"),),
    "book": (("f", "книга", "книги", "книги", "книг"),),
    "hat": (("f", "шляпа", "шляпы", "шляпы", "шляп"),),
    "key": (("m", "ключ", "ключа", "ключи", "ключей"),),
    "bottle": (("f", "бутылка", "бутылки", "бутылки", "бутылок"),),
    "moon": (("m", "месяц", "месяца", "месяцы", "месяцев"), ("f", "луна", "луны", "луны", "лун")),
    "umbrella": (
        ("m", "зонт", "зонта", "зонты", "зонтов"),
        ("m", "зонтик", "зонтика", "зонтики", "зонтиков"),
    ),
    "flag": (("m", "флаг", "флага", "флаги", "флагов"), ("m", "флажок", "флажка", "флажки", "флажков")),
    "balloon": (("m", "шарик", "шарика", "шарики", "шариков"),),
    "box": (("f", "коробка", "коробки", "коробки", "коробок"), ("m", "ящик", "ящика", "ящики", "ящиков")),
    "mushroom": (("m", "гриб", "гриба", "грибы", "грибов"),),
    "triangle": (("m", "треугольник", "треугольника", "треугольники", "треугольников"),),
    "bell": (("m", "колокольчик", "колокольчика", "колокольчики", "колокольчиков"),),
}
# Endings of adjectives: masculine, feminine and neuter singular, nominative and genitive plural.
ENDINGS = {
    "hard": ("ый", "ая", "ое", "ые", "ых"),
    "stressed": ("ой", "ая", "ое", "ие", "их"),
    "velar": ("ий", "ая", "ое", "ие", "их"),
    "soft": ("ий", "яя", "ее", "ие", "их"),
}
COLOURS = {
    "red": (("красн", "hard"),),
    "blue": (("син", "soft"),),
    "green": (("зелён", "hard"),),
    "yellow": (("жёлт", "hard"),),
    "orange": (("оранжев", "hard"),),
    "purple": (("фиолетов", "hard"), ("лилов", "hard")),
    "pink": (("розов", "hard"),),
    "brown": (("коричнев", "hard"),),
    "black": (("чёрн", "hard"),),
    "white": (("бел", "hard"),),
}
SIZES = {
    "small": (("маленьк", "velar"), ("небольш", "stressed")),
    "big": (("больш", "stressed"), ("крупн", "hard")),
}
PATTERNS = {
    "plain": (("однотонн", "hard"),),
    "striped": (("полосат", "hard"),),
    "checked": (("клетчат", "hard"),),
}
BEHIND = {"striped": ("в полоску",), "dotted": ("в горошек", "в крапинку"), "checked": ("в клетку",)}
PLACES = {
    "left": ("слева", "с левой стороны"),
    "right": ("справа", "с правой стороны"),
    "top": ("вверху", "сверху"),
    "bottom": ("внизу", "снизу"),
    "middle": ("в центре", "посередине"),
}
NUMBERS = {
    2: {"m": "два", "f": "две", "n": "два"},
    3: dict.fromkeys("mfn", "три"),
    4: dict.fromkeys("mfn", "четыре"),
    5: dict.fromkeys("mfn", "пять"),
}
ONE = {"m": "один", "f": "одна", "n": "одно"}
PAINTED = {"m": "изображён", "f": "изображена", "n": "изображено", "pl": "изображены"}
SEEN = {"m": "виден", "f": "видна", "n": "видно", "pl": "видны"}
GENDERS = "mfn"
GROUNDS = {
    "lightblue": (
        {"pred": "голубой", "attr": "голубом"},
        {"pred": "светло-голубой", "attr": "светло-голубом"},
    ),
    "lightgreen": ({"pred": "светло-зелёный", "attr": "светло-зелёном"},),
    "beige": ({"pred": "бежевый", "attr": "бежевом"}, {"pred": "кремовый", "attr": "кремовом"}),
    "pink": (
        {"pred": "розовый", "attr": "розовом"},
        {"pred": "светло-розовый", "attr": "светло-розовом"},
    ),
    "grey": ({"pred": "серый", "attr": "сером"}, {"pred": "светло-серый", "attr": "светло-сером"}),
    "darkblue": ({"pred": "тёмно-синий", "attr": "тёмно-синем"},),
    "yellow": ({"pred": "жёлтый", "attr": "жёлтом"}, {"pred": "светло-жёлтый", "attr": "светло-жёлтом"}),
    "purple": ({"pred": "фиолетовый", "attr": "фиолетовом"}, {"pred": "лиловый", "attr": "лиловом"}),
    "turquoise": ({"pred": "бирюзовый", "attr": "бирюзовом"},),
    "orange": ({"pred": "оранжевый", "attr": "оранжевом"},),
    "darkgreen": ({"pred": "тёмно-зелёный", "attr": "тёмно-зелёном"},),
    "darkred": ({"pred": "тёмно-красный", "attr": "тёмно-красном"}, {"pred": "бордовый", "attr": "бордовом"}),
}


class Russian(Grammar):
    """Russian."""

    code = "ru"
    frames = Frames(
        single=(
            "На картинке {np}.",
            "На рисунке {painted} {np}.",
            "{np}.",
            "Здесь {np}.",
            "Здесь {seen} {np}.",
        ),
        placed=(
            "{place} {np}.",
            "{place} {seen} {np}.",
            "{np} {place}.",
            "{place} {painted} {np}.",
            "{place} на картинке {np}.",
        ),
        listed=("На картинке {np}.", "На рисунке изображены {np}.", "{np}.", "Здесь {np}."),
        ground=("Фон {pred}.", "Всё это на {attr} фоне."),
        attached=("{sentence} на {attr} фоне.", "{sentence}, фон {pred}."),
    )
    grounds = GROUNDS

    def group(self, mention: Mention, rng: Draws) -> Fields:
        """Return np, painted and seen (participles that agree with it) and place."""
        gender, nominative, genitive, plural, genitive_plural = pick(rng, NOUNS[mention.kind])
        agreement = gender
        if mention.count == 1:
            number = pick(rng, ("", "", ONE[gender]))
            noun, form = nominative, GENDERS.index(gender)
        elif mention.number == "bare":
            number, noun, form, agreement = "", plural, 3, "pl"
        elif mention.number == "several" or mention.count == 5:
            number = NUMBERS[5]["m"] if mention.number == "exact" else "несколько"
            noun, form, agreement = genitive_plural, 4, "n"
        else:  # after 2, 3, 4 adjectives of feminine nouns stand in the nominative
            number = NUMBERS[mention.count][gender]
            noun, form, agreement = genitive, 3 if gender == "f" else 4, "pl"
        before, behind = _pattern(mention.pattern, form, rng)
        size, colour = _one(SIZES, mention.size, form, rng), _one(COLOURS, mention.colour, form, rng)
        medium = "среднего размера" if mention.size == "medium" else ""
        return {
            "np": spaced(number, size, colour, before, noun, behind, medium),
            "painted": PAINTED[agreement],
            "seen": SEEN[agreement],
            "place": chosen(rng, PLACES, mention.position),
        }

    def join(self, phrases: Sequence[str]) -> str:
        """Return a, b и c."""
        return with_and(phrases, "и")


def _one(words: Mapping[str, Sequence[tuple[str, str]]], key: str | None, form: int, rng: Draws) -> str:
    """Return an adjective for `key` in the given form, or "" where there is none."""
    if key is None or key not in words:
        return ""
    stem, endings = pick(rng, words[key])
    return stem + ENDINGS[endings][form]


def _pattern(pattern: str | None, form: int, rng: Draws) -> tuple[str, str]:
    """Return the words for the pattern before and behind the noun; one of them is empty."""
    if pattern in BEHIND and (pattern not in PATTERNS or chance(rng, 0.4)):
        return "", pick(rng, BEHIND[pattern])
    return _one(PATTERNS, pattern, form, rng), ""
