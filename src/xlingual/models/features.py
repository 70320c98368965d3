"""Texts to numbered features: known words, and hashed character n-grams within words."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from xlingual.models.vocabulary import UNKNOWN, Vocabulary
from xlingual.models.words import tokens

SHARED = "all"  # the vocabulary of all languages together, as a file is named
_MOST_CACHED = 1 << 20


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
        self._known: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.vocabulary) + self.buckets

    def of(self, text: str, language: str) -> list[int]:
        """Return the distinct features of a text, in the order in which they first occur."""
        return self.of_words(tokens(text, language))

    def of_words(self, words: Iterable[str]) -> list[int]:
        """Return the distinct features of the words of a text."""
        return list(dict.fromkeys(number for word in words for number in self._of_word(word)))

    def _of_word(self, word: str) -> tuple[int, ...]:
        found = self._known.get(word)
        if found is None:
            (own,) = self.vocabulary.numbers([word])
            if self.ngrams is None:
                found = (own,)
            else:
                found = (*((own,) if own != UNKNOWN else ()), *self._hashed(word))
            if len(self._known) < _MOST_CACHED:
                self._known[word] = found
        return found

    def _hashed(self, word: str) -> list[int]:
        assert self.ngrams is not None
        marked, (low, high) = f"<{word}>", self.ngrams
        return [
            len(self.vocabulary)
            + zlib.crc32(marked[i : i + n].encode("utf-8", "surrogatepass")) % self.buckets
            for n in range(low, high + 1)
            for i in range(len(marked) - n + 1)
        ]
