"""The text of a recipe: title and body, put together from a language's words.

All that a language needs is its TOML file in `words/`. All draws come from the stream of the recipe's text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from xlingual.demo_data.draws import Draws, chance, pick
from xlingual.demo_data.recipes.content import STYLES, Amount, RecipeContent
from xlingual.demo_data.recipes.dishes import KINDS, PLANS, Cuisine
from xlingual.demo_data.recipes.pantry import UNITS
from xlingual.demo_data.words import (
    Forms,
    Texts,
    WordTable,
    capital,
    complete,
    in_sound,
    joined,
    known_fields,
    read_toml,
)

WORDS = Path(__file__).parent / "words"
SHORT, LONG = (5, 10, 15), (20, 25, 30, 40, 45)  # minutes of a step
LONG_ACTIONS = ("simmer", "bake", "rest", "chill", "steam")


class RecipeWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Contents of the TOML file of a language."""

    comma: str
    last: str  # before the last of a list
    object: str  # an ingredient as the object of a verb
    ingredients: Texts  # headings
    steps: Texts
    tips: Texts
    regions: Texts
    occasions: Texts
    prefix: str = ""  # of a title
    prefix_share: float = 0.0
    titles: dict[str, WordTable]
    tails: dict[str, str]
    sounds: dict[str, str] = {}
    minutes: dict[str, str]
    serves: dict[str, str]
    amounts: dict[str, str]
    kinds: WordTable
    styles: WordTable
    nouns: WordTable
    actions: WordTable
    cuisine: Cuisine

    def __post_init__(self) -> None:
        """Raise ValueError where a word is missing or unknown."""
        actions = {step.partition(":")[0] for plan in PLANS.values() for step in plan}
        tails, forms = ("region", "occasion", "minutes"), self.nouns.forms
        for what, names, needed in (
            ("nouns", self.nouns.entries, UNITS),
            ("kinds", self.kinds.entries, KINDS),
            ("styles", self.styles.entries, (*STYLES, "quick", "spicy")),
            ("actions", self.actions.entries, actions),
            ("tails", self.tails, tails),
        ):
            complete(what, names, needed)
        for what, templates, known in (
            ("tails", self.tails.values(), tails),
            ("actions", self.actions.texts(), ("x", "t")),
            ("minutes and serves", (*self.minutes.values(), *self.serves.values()), ("n",)),
            ("object", (self.object,), forms),
            ("amounts", self.amounts.values(), ("n", *forms, *map(str.capitalize, forms))),
        ):
            known_fields(what, templates, known)
        named = [f"{part}[{form}]" for part in ("hero", "named", "all") for form in forms]
        for name, title in self.titles.items():
            known_fields(f"titles.{name}", title.texts(), ("kind", "style", *named))


@dataclass(frozen=True)
class Language:
    """One language."""

    code: str

    @cached_property
    def words(self) -> RecipeWords:
        """The words of the language, read when they are first needed."""
        return read_toml(WORDS / f"{self.code}.toml", RecipeWords)

    def title(self, content: RecipeContent, rng: Draws) -> str:
        """Return the title: kind and main ingredient, and the further names."""
        words = self.words
        kind = words.kinds.draw(rng, content.kind)
        style = words.styles.word(rng, content.style, kind.get("agrees", "word"))
        titles = words.titles[kind.get("title", "plain")]
        length = ("alone", "one", "more")[min(len(content.named), 2)]
        title = titles.word(rng, length if length in titles.entries else "more").format(
            kind=kind["word"],
            style=style,
            hero=self._forms((content.hero,)),
            named=self._forms(content.named),
            all=self._forms((content.hero, *content.named)),
        )
        region, occasion = pick(rng, words.regions), pick(rng, words.occasions)
        if content.tail:
            tails = {"region": region, "occasion": occasion, "minutes": self.minutes(content.minutes)}
            title += words.tails[content.tail].format_map(tails)
        if words.prefix and chance(rng, words.prefix_share):
            title = f"{words.prefix} {title}"
        return capital(in_sound(" ".join(title.split()), words.sounds))

    def body(self, content: RecipeContent, rng: Draws) -> str:
        """Return the ingredient list and the numbered steps, one a line."""
        words = self.words
        lines = [self.serves(content.servings)] if content.servings else []
        lines.append(pick(rng, words.ingredients))
        lines += [f"- {self.amount(amount)}" for amount in content.amounts]
        lines.append(pick(rng, words.steps))
        for number, step in enumerate(content.steps, start=1):
            minutes = pick(rng, LONG if step.action in LONG_ACTIONS else SHORT)
            sentence = words.actions.word(rng, step.action)
            what = self._joined([words.object.format_map(self._nouns[name]) for name in step.what])
            lines.append(f"{number}. {sentence.format(x=what, t=self.minutes(minutes))}.")
        if content.tip:
            lines.append(pick(rng, words.tips))
        return "\n".join(lines)

    def amount(self, amount: Amount) -> str:
        """Return one entry of the ingredient list: "200 g carrots"."""
        name, number, unit = amount.name, amount.number, amount.unit
        amounts = self.words.amounts
        template = amounts.get(name) or amounts.get(f"{unit}-{number}") or amounts[unit]
        return template.format(n=number, **self._nouns[name])

    def minutes(self, number: int) -> str:
        """Return "20 minutes"."""
        return _numbered(self.words.minutes, number)

    def serves(self, number: int) -> str:
        """Return "Serves 4"."""
        return _numbered(self.words.serves, number)

    @cached_property
    def _nouns(self) -> dict[str, dict[str, str]]:
        """The forms of each noun (of a list: its first), and under names with a capital with a capital."""
        entries = self.words.nouns.entries.items()
        first = {name: entry[0] if isinstance(entry, list) else entry for name, entry in entries}
        return {
            name: {**noun, **{form.capitalize(): capital(text) for form, text in noun.items()}}
            for name, noun in first.items()
        }

    def _forms(self, names: Sequence[str]) -> Forms:
        """Return the names as a list, in each of the forms of nouns."""
        return {
            form: self._joined([self._nouns[name][form] for name in names]) for form in self.words.nouns.forms
        }

    def _joined(self, phrases: Sequence[str]) -> str:
        return joined(phrases, self.words.comma, self.words.last)


def _numbered(templates: Mapping[str, str], number: int) -> str:
    """Return the template for a number, or that for all others, with the number in it."""
    return templates.get(str(number), templates["n"]).format(n=number)


GRAMMARS = {path.stem: Language(path.stem) for path in sorted(WORDS.glob("*.toml"))}
