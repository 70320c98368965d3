"""What every language has in common: tables of words and sentences, and how sentences are put together.

A language gives, for each mention, the *fields* its sentences are made of: the noun phrase in the cases it
needs, the place, the forms of the verb that agree with it. Whatever is random comes from the describer's own
stream.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlingual.data.scenes.mentions import Mention, Mentions
from xlingual.data.scenes.streams import Draws, chance, pick

Fields = dict[str, str]
Words = Mapping[str, Sequence[str]]  # from what is in a scene to the words for it, any of which may be taken

SAY_IN_ONE = 0.5  # how often several groups share a sentence
ATTACH_GROUND = 0.5  # how often the background is told within the only sentence


@dataclass(frozen=True)
class Frames:
    """Sentences with fields in braces."""

    single: tuple[str, ...]  # about one group whose place is not told
    placed: tuple[str, ...]  # about one group and its place
    listed: tuple[str, ...]  # about several groups
    ground: tuple[str, ...]  # about the background
    attached: tuple[str, ...]  # a {sentence} without its stop, and the background


class Grammar(ABC):
    """One language: `group` gives the fields of a mention, the rest is tables."""

    code: str
    frames: Frames
    grounds: Mapping[str, Sequence[Fields]]
    listed_fields: tuple[str, ...] = ("np",)  # the fields that lists can be made of
    stop = "."
    gap = " "  # between sentences

    @abstractmethod
    def group(self, mention: Mention, rng: Draws) -> Fields:
        """Return the fields of one mention; `place` is "" where the place is not told."""

    @abstractmethod
    def join(self, phrases: Sequence[str]) -> str:
        """Return the phrases as one list: a, b and c."""

    def item(self, fields: Fields, name: str) -> str:
        """Return one entry of a list: the field, and the place behind it."""
        return f"{fields[name]} {fields['place']}".rstrip()

    def describe(self, mentions: Mentions, rng: Draws) -> str:
        """Return a description: one sentence or more."""
        groups = [self.group(mention, rng) for mention in mentions.groups]
        if len(groups) > 1 and chance(rng, SAY_IN_ONE):
            lists = {
                name: self.join([self.item(fields, name) for fields in groups]) for name in self.listed_fields
            }
            sentences = [pick(rng, self.frames.listed).format_map(groups[0] | lists)]
        else:
            sentences = [self._sentence(fields, rng) for fields in groups]
        if mentions.background is not None:
            ground = pick(rng, self.grounds[mentions.background])
            sentences = self._with_ground(sentences, ground, rng)
        return self.gap.join(_capital(sentence) for sentence in sentences)

    def _sentence(self, fields: Fields, rng: Draws) -> str:
        frames = self.frames.placed if fields["place"] else self.frames.single
        return pick(rng, frames).format_map(fields)

    def _with_ground(self, sentences: list[str], ground: Fields, rng: Draws) -> list[str]:
        if len(sentences) == 1 and chance(rng, ATTACH_GROUND):
            bare = sentences[0].removesuffix(self.stop)
            return [pick(rng, self.frames.attached).format_map(ground | {"sentence": bare})]
        sentence = pick(rng, self.frames.ground).format_map(ground)
        return [*sentences, sentence] if chance(rng, 0.7) else [sentence, *sentences]


def with_and(phrases: Sequence[str], word: str) -> str:
    """Return "a, b and c" with the language's word for "and"."""
    if len(phrases) == 1:
        return phrases[0]
    return f"{', '.join(phrases[:-1])} {word} {phrases[-1]}"


def spaced(*words: str | None) -> str:
    """Return the words that are there, with single spaces between them."""
    return " ".join(word for word in words if word)


def chosen(rng: Draws, words: Words, key: str | None) -> str:
    """Return one of the words for `key`, or "" where nothing is said."""
    return "" if key is None else pick(rng, words[key])


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
