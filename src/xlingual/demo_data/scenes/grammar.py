"""How a scene is described: tables of words and sentences, and a noun phrase from each language's grammar.

A language gives, for each mention, the *fields* its sentences are made of: the noun phrase in the cases it
needs, the place, the forms of the verb that agree with it. All draws come from the stream of the description.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from xlingual.demo_data.scenes.draws import Draws, chance, pick
from xlingual.demo_data.scenes.mentions import Mention, Mentions
from xlingual.demo_data.scenes.scene import BACKGROUNDS, COLOURS, KINDS, PATTERNS, POSITIONS, SIZES
from xlingual.demo_data.scenes.vocabulary import (
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

Fields = dict[str, str]

SAY_IN_ONE = 0.5  # how often several groups share a sentence
ATTACH_GROUND = 0.5  # how often the background is part of the only sentence
WORDS = Path(__file__).parent / "words"


class SentenceTemplates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sentences with fields in braces."""

    single: Texts  # about one group whose place is not mentioned
    placed: Texts  # about one group and its place
    listed: Texts  # about several groups
    ground: Texts  # about the background
    attached: Texts  # a {sentence} without its stop, and the background


class Lists(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How groups are listed: the words between them, and each entry of a field with its place."""

    comma: str
    last: str  # before the last one
    entries: dict[str, str]
    last_of_many: str | None = None  # of more than two, where that differs


class SceneWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Contents of the TOML file of a language."""

    nouns: WordTable
    colours: WordTable
    sizes: WordTable
    patterns: WordTable
    behind: WordTable = WordTable({})  # sizes and patterns that stand behind the noun
    places: WordTable
    numbers: WordTable  # by count, "several" and "bare"
    articles: WordTable = WordTable({})
    endings: WordTable = WordTable({})
    verbs: WordTable = WordTable({})
    grounds: WordTable
    sentences: SentenceTemplates
    lists: Lists
    sounds: dict[str, str] = {}
    stop: str = "."
    gap: str = " "  # between sentences

    def __post_init__(self) -> None:
        """Raise ValueError where a word is missing or unknown."""
        sizes_and_patterns = {**self.sizes.entries, **self.patterns.entries, **self.behind.entries}
        for what, names, needed in (
            ("nouns", self.nouns.entries, KINDS),
            ("colours", self.colours.entries, COLOURS),
            ("sizes, patterns and behind", sizes_and_patterns, (*SIZES, *PATTERNS)),
            ("places", self.places.entries, POSITIONS),
            ("grounds", self.grounds.entries, BACKGROUNDS),
        ):
            complete(what, names, needed)
        fields = {"np", "place", *self.lists.entries, *self.verbs.entries}
        known_fields("lists.entries", self.lists.entries.values(), fields)
        templates, ground = self.sentences, self.grounds.forms
        known_fields("sentences", (*templates.single, *templates.placed, *templates.listed), fields)
        known_fields("sentences", (*templates.ground, *templates.attached), {"sentence", *ground})


@dataclass(frozen=True)
class Grammar:
    """One language."""

    code: str

    @cached_property
    def words(self) -> SceneWords:
        """The words of the language, read when they are first needed."""
        return read_toml(WORDS / f"{self.code}.toml", SceneWords)

    def phrase(self, noun: Forms, mention: Mention, rng: Draws) -> Fields:
        """Return a noun's phrase `np`, further forms of it, and what verbs agree with (`agrees`)."""
        raise NotImplementedError

    def number(self, mention: Mention, rng: Draws, form: str = "word") -> str:
        """Return the word for how many; one for "several" is drawn whether it is used or not."""
        numbers = self.words.numbers
        several = numbers.word(rng, "several", form)
        return several if mention.number == "several" else numbers.word(rng, mention.amount, form)

    def adjectives(self, order: str, mention: Mention, rng: Draws, form: str = "word") -> list[str]:
        """Return words for the attributes of a mention, drawn in the given order ("size colour pattern")."""
        return [
            getattr(self.words, f"{name}s").word(rng, getattr(mention, name), form) for name in order.split()
        ]

    def listed(self, field: str, entries: Sequence[str]) -> str:
        """Return the entries of a list as one phrase: a, b and c."""
        lists = self.words.lists
        return joined(entries, lists.comma, (len(entries) > 2 and lists.last_of_many) or lists.last)

    def group(self, mention: Mention, rng: Draws) -> Fields:
        """Return the fields of one mention; `place` is "" where the place is not mentioned."""
        words = self.words
        fields = self.phrase(words.nouns.draw(rng, mention.kind), mention, rng)
        if words.sounds:
            fields = {name: in_sound(text, words.sounds) for name, text in fields.items()}
        for verb in words.verbs.entries:
            fields[verb] = words.verbs.word(rng, verb, fields["agrees"])
        fields["place"] = words.places.word(rng, mention.position)
        return fields

    def describe(self, mentions: Mentions, rng: Draws) -> str:
        """Return a description: one sentence or more."""
        groups = [self.group(mention, rng) for mention in mentions.groups]
        if len(groups) > 1 and chance(rng, SAY_IN_ONE):
            lists = {
                field: self.listed(field, [entry.format_map(fields).rstrip() for fields in groups])
                for field, entry in self.words.lists.entries.items()
            }
            sentences = [pick(rng, self.words.sentences.listed).format_map(groups[0] | lists)]
        else:
            sentences = [self._sentence(fields, rng) for fields in groups]
        if mentions.background is not None:
            ground = dict(self.words.grounds.draw(rng, mentions.background))
            sentences = self._with_ground(sentences, ground, rng)
        return self.words.gap.join(capital(sentence) for sentence in sentences)

    def _sentence(self, fields: Fields, rng: Draws) -> str:
        templates = self.words.sentences
        return pick(rng, templates.placed if fields["place"] else templates.single).format_map(fields)

    def _with_ground(self, sentences: list[str], ground: Fields, rng: Draws) -> list[str]:
        if len(sentences) == 1 and chance(rng, ATTACH_GROUND):
            bare = sentences[0].removesuffix(self.words.stop)
            return [pick(rng, self.words.sentences.attached).format_map(ground | {"sentence": bare})]
        sentence = pick(rng, self.words.sentences.ground).format_map(ground)
        return [*sentences, sentence] if chance(rng, 0.7) else [sentence, *sentences]
