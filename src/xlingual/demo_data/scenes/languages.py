"""The noun phrases of each language: agreement and the order of words; the words are in `words/`."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.demo_data.scenes.draws import Draws, chance, pick, shuffled
from xlingual.demo_data.scenes.grammar import Fields, Grammar
from xlingual.demo_data.scenes.mentions import Mention
from xlingual.demo_data.scenes.vocabulary import Forms, spaced

SAY_ONE = 0.4  # how often a single thing is counted in Japanese


class Arabic(Grammar):
    """Dual and broken plurals, numbers of the opposite gender, feminine adjectives with plurals.

    All phrases stand where Arabic has the nominative (or, after a number, the genitive plural of a noun), so
    that the dual is always -ān. Vowel signs are not written.
    """

    def phrase(self, noun: Forms, mention: Mention, rng: Draws) -> Fields:
        """Return np, and the gender of verbs: feminine with a plural that has no number."""
        number, agrees = "", noun["gender"]
        if mention.amount in ("1", "2"):
            head, form = (noun["one"], agrees) if mention.count == 1 else (noun["two"], f"{agrees} two")
        else:
            number, head, form = self.words.numbers.word(rng, mention.amount, agrees), noun["many"], "f"
        definite = number.endswith("من")  # "a number of the"
        if mention.number != "exact":
            agrees = "m" if definite else "f"
        parts = [head, *self.adjectives("colour size pattern", mention, rng, form)]
        if definite:  # the article goes to the last noun and to adjectives
            first, _, last = head.rpartition(" ")
            parts = [first, *(f"ال{word}" for word in (last, *parts[1:]) if word)]
        behind = self.words.behind.word(rng, mention.pattern)
        return {"np": spaced(number, *parts, behind), "agrees": agrees}


class German(Grammar):
    """Three genders, nominative, accusative and dative, strong and mixed endings of adjectives."""

    def phrase(self, noun: Forms, mention: Mention, rng: Draws) -> Fields:
        """Return np, acc and dat: the noun phrase in three cases."""
        words, agrees = self.words, mention.grammatical
        gender = noun["gender"] if agrees == "one" else agrees
        stems = [self.number(mention, rng), *self.adjectives("size pattern colour", mention, rng)]
        fields = {"agrees": agrees}
        for case in ("np", "acc", "dat"):
            ending = words.endings.word(rng, case, gender)
            declined = [stem[:-1] + ending if stem.endswith("-") else stem for stem in stems]
            article = words.articles.word(rng, case, gender) if agrees == "one" else ""
            n = "n" if agrees == "many" and case == "dat" and noun["many"][-1] not in "ns" else ""
            fields[case] = spaced(article, *declined, noun[agrees] + n)
        return fields


class English(Grammar):
    """Articles a/an, irregular plurals, "there is" or "there are"."""

    def phrase(self, noun: Forms, mention: Mention, rng: Draws) -> Fields:
        """Return np."""
        agrees = mention.grammatical
        adjectives = self.adjectives("size colour pattern", mention, rng)
        number = self.words.numbers.word(rng, "1") if agrees == "one" else self.number(mention, rng)
        return {"np": spaced(number, *adjectives, noun[agrees]), "agrees": agrees}


class Spanish(Grammar):
    """Gender and number of articles and adjectives, "gran" before the noun, colours behind it."""

    def phrase(self, noun: Forms, mention: Mention, rng: Draws) -> Fields:
        """Return np."""
        words, agrees = self.words, mention.grammatical
        form = noun["gender"] + ("p" if agrees == "many" else "")
        number = self.number(mention, rng, noun["gender"])
        before = mention.size if mention.size in words.sizes.entries and chance(rng, 0.5) else None
        behind = words.behind.word(rng, None if before else mention.size, form)
        colour = words.colours.draw(rng, mention.colour)
        pattern = words.patterns.word(rng, mention.pattern, form)
        modifiers = [colour[form], pattern, behind]
        if (
            behind and mention.size != "medium"
        ):  # a second bare adjective would be clumsy: "grande de color rojo"
            modifiers = [behind, pattern, f"de color {colour['m']}" if mention.colour else ""]
        before_noun = words.sizes.word(rng, before, form)
        return {"np": spaced(number, before_noun, noun[agrees], *modifiers), "agrees": agrees}


class French(Grammar):
    """Agreement, size before and colour behind the noun, "de grandes étoiles", elision of "de"."""

    def phrase(self, noun: Forms, mention: Mention, rng: Draws) -> Fields:
        """Return np, and of: the phrase after "de"."""
        agrees = mention.grammatical
        form = noun["gender"] + ("p" if agrees == "many" else "")
        size, colour, pattern = self.adjectives("size colour pattern", mention, rng, form)
        number = self.number(mention, rng, noun["gender"])
        bare = spaced(size, noun[agrees], colour, pattern, self.words.behind.word(rng, mention.size))
        if mention.number != "bare":
            return {"np": f"{number} {bare}", "of": f"de {number} {bare}", "agrees": agrees}
        # "des" becomes "de" before an adjective, and "de des" is "de"
        return {"np": f"{'de' if size else number} {bare}", "of": f"de {bare}", "agrees": agrees}


class Indonesian(Grammar):
    """Classifiers, reduplication for plurals without a number, modifiers behind the noun."""

    def phrase(self, noun: Forms, mention: Mention, rng: Draws) -> Fields:
        """Return np."""
        head = [self.words.numbers.word(rng, mention.amount), noun["one"]]
        if mention.number == "bare":
            head = [noun["many"]]
        elif mention.number == "exact":
            classifiers = noun["counted with"].split(", ")
            if mention.count == 1:
                head[0] += pick(rng, classifiers)
            else:
                head.insert(1, pick(rng, [*classifiers, ""]))
        size, pattern, colour = self.adjectives("size pattern colour", mention, rng)
        modifiers = [colour, size, pattern]
        if colour and chance(rng, 0.3):
            modifiers = [size, pattern, f"berwarna {colour}"]
        return {"np": spaced(*head, *modifiers), "agrees": "word"}


class Japanese(Grammar):
    """Counters, modifiers before the noun, the verb at the end, no spaces."""

    def phrase(self, noun: Forms, mention: Mention, rng: Draws) -> Fields:
        """Return np (up to the verb) and of (a noun phrase)."""
        colour, pattern, size = self.adjectives("colour pattern size", mention, rng)
        phrase = "".join(shuffled(rng, (size, colour + pattern))) + noun["word"]
        number = self._number(mention, pick(rng, noun["counters"].split(", ")), rng)
        counted = f"{number}の{phrase}" if number else phrase
        behind = chance(rng, 0.7)  # the number more often follows the noun
        return {
            "np": f"{phrase}が{number}" if behind else f"{counted}が",
            "of": counted,
            "agrees": "animal" if mention.kind == "fish" else "thing",
        }

    def listed(self, field: str, entries: Sequence[str]) -> str:
        """Return the entries one after the other: commas after verbless clauses, "と" between nouns."""
        if field == "of":
            return "と".join(entries)
        return super().listed(field, [*(entry.removesuffix("が") for entry in entries[:-1]), entries[-1]])

    def _number(self, mention: Mention, counter: str, rng: Draws) -> str:
        """Return the number with its counter, or "" where it is not mentioned."""
        if mention.number == "several":
            return "いくつか" if counter in "つ個" else f"数{counter}"
        if mention.number == "bare" or (mention.count == 1 and not chance(rng, SAY_ONE)):
            return ""
        return self.words.numbers.word(rng, mention.amount) + counter


class Russian(Grammar):
    """Cases after numerals (2 to 4 genitive singular, 5 genitive plural), agreement of adjectives."""

    def phrase(self, noun: Forms, mention: Mention, rng: Draws) -> Fields:
        """Return np."""
        words = self.words
        gender = noun["gender"]
        if mention.count == 1:
            case, form, agrees = "one", gender, gender
        elif mention.number == "bare":
            case, form, agrees = "many", "many", "many"
        elif mention.amount in ("several", "5"):
            case, form, agrees = "of many", "of many", "n"
        else:  # after 2, 3, 4 adjectives of feminine nouns stand in the nominative
            case, form, agrees = "of one", "many" if gender == "f" else "of many", "many"
        number = words.numbers.word(rng, mention.amount, gender)
        pattern, behind = mention.pattern, None
        if pattern in words.behind.entries and (pattern not in words.patterns.entries or chance(rng, 0.4)):
            pattern, behind = None, pattern
        before = words.patterns.word(rng, pattern, form)
        after = words.behind.word(rng, behind)
        size, colour = self.adjectives("size colour", mention, rng, form)
        medium = words.behind.word(rng, mention.size)
        return {"np": spaced(number, size, colour, before, noun[case], after, medium), "agrees": agrees}


class Chinese(Grammar):
    """Measure words between the number and the noun, modifiers with 的, the place before the verb."""

    def phrase(self, noun: Forms, mention: Mention, rng: Draws) -> Fields:
        """Return np."""
        colour, size, pattern = self.adjectives("colour size pattern", mention, rng)
        modifiers = [*shuffled(rng, (size, pattern)), colour]
        if colour.endswith("的"):  # a colour without 的 stands right before the noun
            modifiers = shuffled(rng, modifiers)
        number = self._number(mention, noun["measure"], rng)
        return {"np": number + "".join(modifiers) + noun["word"], "agrees": "word"}

    def listed(self, field: str, entries: Sequence[str]) -> str:
        """Return the clauses with commas between them; only the last is introduced by "also"."""
        last = entries[-1].replace("有", "还有", 1) if entries[-1].startswith("有") else entries[-1]
        return super().listed(field, [*entries[:-1], last])

    def _number(self, mention: Mention, measure: str, rng: Draws) -> str:
        """Return the number with its measure word; an open number is "some"."""
        if mention.number != "bare":
            return self.words.numbers.word(rng, mention.amount) + measure
        return pick(rng, ("一些", f"几{measure}")) if mention.count > 2 else "一些"


GRAMMARS: dict[str, Grammar] = {
    "ar": Arabic("ar"),
    "de": German("de"),
    "en": English("en"),
    "es": Spanish("es"),
    "fr": French("fr"),
    "id": Indonesian("id"),
    "ja": Japanese("ja"),
    "ru": Russian("ru"),
    "zh": Chinese("zh"),
}
