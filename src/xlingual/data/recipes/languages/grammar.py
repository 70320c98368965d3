"""What every language has in common: how a title and a body are put together from tables of words.

A language gives its tables and the few methods that need its grammar: titles, amounts, and lists of nouns in
the form that a sentence asks for. Whatever is random comes from the teller's own stream.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from xlingual.data.recipes.telling import Amount, Telling
from xlingual.data.scenes.streams import Draws, pick

Sentences = Mapping[str, tuple[str, ...]]  # from an action to sentences, with {x} for what, {t} for minutes

SHORT, LONG = (5, 10, 15), (20, 25, 30, 40, 45)  # minutes of a step
LONG_ACTIONS = ("simmer", "bake", "rest", "chill", "steam")


class Language(ABC):
    """One language: tables, and how titles, amounts and lists are written."""

    code: str
    actions: Sentences
    ingredients_heading: tuple[str, ...]
    steps_heading: tuple[str, ...]
    tips: tuple[str, ...]

    @abstractmethod
    def title(self, telling: Telling, rng: Draws) -> str:
        """Return the title: kind and main ingredient, and what else is named."""

    @abstractmethod
    def amount(self, amount: Amount) -> str:
        """Return one entry of the ingredient list."""

    @abstractmethod
    def listed(self, names: Sequence[str]) -> str:
        """Return "the a, b and c" as the object of a verb."""

    @abstractmethod
    def minutes(self, number: int) -> str:
        """Return "20 minutes"; the number is a multiple of five."""

    @abstractmethod
    def serves(self, number: int) -> str:
        """Return "Serves 4", for 2, 3, 4, 6 or 8."""

    def body(self, telling: Telling, rng: Draws) -> str:
        """Return the ingredient list and the numbered steps, one a line."""
        lines = [self.serves(telling.servings)] if telling.servings else []
        lines.append(pick(rng, self.ingredients_heading))
        lines += [f"- {self.amount(amount)}" for amount in telling.amounts]
        lines.append(pick(rng, self.steps_heading))
        for number, step in enumerate(telling.steps, start=1):
            minutes = pick(rng, LONG if step.action in LONG_ACTIONS else SHORT)
            sentence = pick(rng, self.actions[step.action])
            text = sentence.format(x=self.listed(step.what) if step.what else "", t=self.minutes(minutes))
            lines.append(f"{number}. {text}.")
        if telling.tip:
            lines.append(pick(rng, self.tips))
        return "\n".join(lines)


def with_and(phrases: Sequence[str], word: str) -> str:
    """Return "a, b and c" with the language's word for "and"."""
    if len(phrases) == 1:
        return phrases[0]
    return f"{', '.join(phrases[:-1])} {word} {phrases[-1]}"


def capital(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def table(lines: str) -> dict[str, tuple[str, ...]]:
    """Return "name: form | form" lines as a table."""
    rows = (line.split(":", 1) for line in lines.strip().splitlines())
    return {name.strip(): tuple(form.strip() for form in forms.split("|")) for name, forms in rows}
