"""The words that a network knows, each with a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from xlingual.errors import InputError
from xlingual.files import atomic_file

PADDING, UNKNOWN, FIRST = 0, 1, 2  # the numbers of no word, of unknown words, and of the first known one


@dataclass(frozen=True)
class Vocabulary:
    """Words of one language; word i has the number i + 2. 0 fills up short texts, 1 is any unknown word.

    `len` counts the numbers, those two included: so many rows an embedding needs.
    """

    words: tuple[str, ...]

    @classmethod
    def of(cls, counts: Mapping[str, int], threshold: int = 1, most: int | None = None) -> Vocabulary:
        """Return the words that occur at least `threshold` times, the `most` frequent of them.

        Frequent words come first, equally frequent ones in the order of their code points.

        >>> Vocabulary.of({"a": 1, "the": 3, "cat": 3}, threshold=2).words
        ('cat', 'the')
        """
        frequent = [(-count, word) for word, count in counts.items() if count >= threshold]
        return cls(tuple(word for _, word in sorted(frequent)[:most]))

    def __len__(self) -> int:
        return len(self.words) + FIRST

    def numbers(self, tokens: Iterable[str]) -> list[int]:
        """Return the number of each token; 1 where it is unknown."""
        known = self._number
        return [known.get(token, UNKNOWN) for token in tokens]

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
        except FileNotFoundError:
            raise InputError(
                f"{path}: the vocabulary is missing: copy the whole folder of the model"
            ) from None
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}: not UTF-8 ({error.reason}): copy the folder of the model anew"
            ) from None
        words = tuple(text.removesuffix("\n").split("\n")) if text else ()
        _check_distinct(path, words)
        return cls(words)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, FIRST)}


def _check_distinct(path: Path, words: Sequence[str]) -> None:
    """Raise InputError for an empty line or a word that is there twice: all later numbers would be wrong."""
    seen: set[str] = set()
    for line, word in enumerate(words, 1):
        if not word or word in seen:
            what = f"the word {word!r} is there twice" if word else "an empty line"
            raise InputError(
                f"{path}, line {line}: {what}: a vocabulary has each word once; copy the folder of the model "
                "anew"
            )
        seen.add(word)
