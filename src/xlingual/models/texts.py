"""Texts as the networks read them: two views, numbered words and n-grams, and arrays of numbers."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.files import atomic_file
from xlingual.models.words import tokens
from xlingual.records import Texts

PADDING, UNKNOWN, FIRST = 0, 1, 2  # the numbers of no word, of unknown words, and of the first known one
SHARED = "all"  # the vocabulary of all languages together, as a file is named
WHOLE = "text"  # the name of the text itself among the fields
_MOST_CACHED = 1 << 20
_END = re.compile(r"(?<=[.!?؟।])\s+|(?<=[。！？])\s*|\s*\n\s*")
_REMEDY = "Name the columns in training with --title and --body, or train with --split-text"


@dataclass(frozen=True)
class Vocabulary:
    """Words of one language; word i has the number i + 2. 0 fills up short texts, 1 is any unknown word.

    `len` counts the numbers, those two included: so many rows an embedding needs.
    """

    words: tuple[str, ...]

    @classmethod
    def of(cls, counts: Mapping[str, int], threshold: int = 1, most: int | None = None) -> Vocabulary:
        """Take the words that occur at least `threshold` times, the `most` frequent of them.

        Frequent words come first, equally frequent ones in the order of their code points.

        >>> Vocabulary.of({"a": 1, "the": 3, "cat": 3}, threshold=2).words
        ('cat', 'the')
        """
        frequent = [(-count, word) for word, count in counts.items() if count >= threshold]
        return cls(tuple(word for _, word in sorted(frequent)[:most]))

    def __len__(self) -> int:
        return len(self.words) + FIRST

    def numbers(self, tokens: Iterable[str]) -> list[int]:
        """Give the number of each token; 1 where it is unknown."""
        number = self._number
        return [number.get(token, UNKNOWN) for token in tokens]

    def write(self, path: Path) -> None:
        """Write one word a line in UTF-8, atomically."""
        with atomic_file(path) as temporary:
            temporary.write_bytes(
                "".join(f"{word}\n" for word in self.words).encode("utf-8", "surrogatepass")
            )

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """Read what `write` wrote; raise InputError where it is missing or no list of distinct words."""
        try:
            text = path.read_bytes().decode("utf-8", "surrogatepass")
        except (FileNotFoundError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path}: the vocabulary is missing or not UTF-8 ({error}): copy the model's whole folder"
            ) from None
        words = tuple(text.removesuffix("\n").split("\n")) if text else ()
        seen: set[str] = set()
        for line, word in enumerate(words, 1):
            if not word or word in seen:  # all later numbers would be wrong
                what = f"the word {word!r} is there twice" if word else "an empty line"
                raise InputError(
                    f"{path}, line {line}: {what}: a vocabulary has each word once; copy the folder of the "
                    "model anew"
                )
            seen.add(word)
        return cls(words)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, FIRST)}


class TextFeatures:
    """Numbers the features of a text, for all languages alike: equal spellings are one feature.

    A known word has its number of the vocabulary. With `ngrams` = (3, 5), n-grams of 3 to 5 characters of
    each word (its ends count as a character each, `<` and `>`) have one of `buckets` numbers behind those, by
    their hash; an unknown word then has its n-grams only, else it is the unknown word.

    >>> TextFeatures(Vocabulary(("two", "dogs"))).of("Two dogs, two cats", "en")
    [2, 3, 1]
    """

    def __init__(self, vocabulary: Vocabulary, ngrams: Sequence[int] | None = None, buckets: int = 0) -> None:
        if (ngrams is None) != (buckets == 0):
            raise ValueError(f"n-grams and buckets go together: {ngrams}, {buckets}")
        self.vocabulary, self.ngrams, self.buckets = vocabulary, ngrams, buckets
        self._numbers: dict[str, tuple[int, ...]] = {}  # of words

    def __len__(self) -> int:
        return len(self.vocabulary) + self.buckets

    def of(self, text: str, language: str) -> list[int]:
        """Give the distinct features of a text, in the order in which they first occur."""
        return self.of_words(tokens(text, language))

    def of_words(self, words: Iterable[str]) -> list[int]:
        """Give the distinct features of the words of a text."""
        return list(dict.fromkeys(number for word in words for number in self._of_word(word)))

    def _of_word(self, word: str) -> tuple[int, ...]:
        numbers = self._numbers.get(word)
        if numbers is None:
            (number,) = self.vocabulary.numbers([word])
            numbers = (number,)
            if self.ngrams is not None:
                marked, (low, high) = f"<{word}>", self.ngrams
                grams = (marked[i : i + n] for n in range(low, high + 1) for i in range(len(marked) - n + 1))
                hashes = (zlib.crc32(gram.encode("utf-8", "surrogatepass")) for gram in grams)
                behind = (len(self.vocabulary) + value % self.buckets for value in hashes)
                numbers = (*(numbers if number != UNKNOWN else ()), *behind)
            if len(self._numbers) < _MOST_CACHED:
                self._numbers[word] = numbers
        return numbers


def bags(numbers: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Put the numbers of all texts one after the other, int64 [all], and where each begins, int64 [b]."""
    sizes = np.array([len(text) for text in numbers], dtype=np.int64)
    flat = np.fromiter((number for text in numbers for number in text), np.int64, int(sizes.sum()))
    return flat, np.cumsum(sizes) - sizes


def padded(pieces: Sequence[Mapping[str, Sequence[int]]], padding: int) -> tuple[Ints, ...]:
    """Make tokens, mask and, where there are any, types of texts, int64 [b, longest] each.

    A text without tokens is one token of padding: attention needs one that counts.
    """
    ids, _ = padded_numbers([piece["input_ids"] or [padding] for piece in pieces], padding)
    lengths = np.array([max(1, len(piece["input_ids"])) for piece in pieces]).reshape(-1, 1)
    mask = (np.arange(ids.shape[1]) < lengths).astype(np.int64)
    if not pieces or "token_type_ids" not in pieces[0]:
        return ids, mask
    return ids, mask, padded_numbers([piece["token_type_ids"] or [0] for piece in pieces])[0]


def padded_numbers(texts: Sequence[Sequence[int]], padding: int = PADDING) -> tuple[Ints, Ints]:
    """Make numbers int64 [b, longest], `padding` behind the end of a text, and lengths int64 [b]."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    numbers = np.full((len(texts), int(lengths.max(initial=0))), padding, dtype=np.int64)
    for row, text in enumerate(texts):
        numbers[row, : len(text)] = text
    return numbers, lengths


@dataclass(frozen=True)
class Views:
    """Title and body of n texts; of those that are `lacking` one, or cannot be split, one stands for both."""

    title: Texts
    body: Texts
    lacking: Sequence[bool]  # [n]


class ViewReader:
    """Reads the two views of texts for an encoder, and counts those that lack one of them."""

    def __init__(self, who: str, title: str, body: str, split: str | None, remedy: str = _REMEDY) -> None:
        self.who, self.title, self.body, self.split = who, title, body, split
        self._remedy = remedy
        self._lacking = self._texts = 0

    def read(self, batch: Texts) -> tuple[Texts, Texts]:
        """Give the titles and the bodies; raise InputError where the texts have none."""
        views = two_views(batch, self.title, self.body, self.split, self.who, self._remedy)
        self._lacking, self._texts = self._lacking + sum(views.lacking), self._texts + len(batch)
        return views.title, views.body

    def notes(self) -> list[str]:
        """Write how many texts lacked one of the two views, since last asked."""
        lacking, texts, self._lacking, self._texts = self._lacking, self._texts, 0, 0
        what = f"an empty {self.title} or {self.body}" if self.split is None else "no second part"
        note = f"{self.who}: {lacking:,} of {texts:,} texts have {what}: what there is stands for both"
        return [note] if lacking else []


def two_views(
    batch: Texts, title: str, body: str, split: str | None, who: str, remedy: str = _REMEDY
) -> Views:
    """Give the two views of each text; `who` reads them, and `remedy` helps, in messages.

    Without `split` they are the fields `title` and `body` ("text" is the text itself, where no field is
    called so). `first-sentence`: the first sentence (or line) and the rest. `halves`: the first and the
    second half of the words; of the characters where there are no blanks. Where one of the two is empty, the
    other stands for both. Raises InputError where the data have no such field.
    """
    if split is None:
        columns = {WHOLE: batch.text, **batch.fields}
        for name in (title, body):
            if name not in columns:
                where = f" (row {batch.ids[0]!r}, {batch.language[0]})" if len(batch) else ""
                raise InputError(
                    f"{who} reads the columns of a title and a body, and the data have no column {name!r}"
                    f"{where}, only {listed(columns)}.{did_you_mean(name, batch.fields)} {remedy}"
                )
        parts = list(zip(columns[title], columns[body], strict=True))
    else:
        cut = _first_sentence if split == "first-sentence" else _halves
        parts = [cut(text) for text in batch.text]
    lacking = [not all(view.strip() for view in part) for part in parts]
    for row in np.flatnonzero(lacking).tolist():
        parts[row] = (parts[row][0].strip() or parts[row][1],) * 2
    first, second = (replace(batch, text=[part[i] for part in parts], context=(), fields={}) for i in (0, 1))
    return Views(first, second, lacking)


def _first_sentence(text: str) -> tuple[str, str]:
    text = text.strip()
    for end in _END.finditer(text):
        if text[: end.start()].strip() and text[end.end() :].strip():
            return text[: end.start()], text[end.end() :]
    return text, ""


def _halves(text: str) -> tuple[str, str]:
    words = text.split()
    blank, pieces = (" ", words) if len(words) > 1 else ("", list("".join(words)))
    middle = (len(pieces) + 1) // 2
    return blank.join(pieces[:middle]), blank.join(pieces[middle:])
