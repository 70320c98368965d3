"""Lists of words in files, as word vectors and dictionaries are: texts cut into their words.

Such lists keep letter case and are made by other tokenisers, so a word is looked up as it is written first,
then in lower case, then in lower case and Unicode form NFKC. In scripts without blanks between words it is
the list that says where words end.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Generic, TypeVar

from xlingual.errors import InputError, listed
from xlingual.files import regular_file
from xlingual.models.folder import file_digest
from xlingual.models.words import CHINESE_JAPANESE, SYLLABIC, TIBETAN, runs
from xlingual.records import digest

T = TypeVar("T")

LONGEST = 12  # characters of the longest word that is looked for in a script without blanks
_UNSPACED = f"{SYLLABIC}{TIBETAN}{CHINESE_JAPANESE}"
_PIECE = re.compile(f"([{_UNSPACED}]+)|[^{_UNSPACED}]+")


def segment(text: str, known: Container[str]) -> list[tuple[str, bool]]:
    """Cut a text into (word, whether it is known), in its order; a known word as the list writes it.

    Words are runs of letters, marks and digits in Unicode form NFC: NFKC would take Thai and Lao vowels
    apart. In scripts without blanks (Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan) a run is cut from
    the left, the longest known word each time; characters at which no known word begins are one unknown word
    until the next known one.
    """
    words: list[tuple[str, bool]] = []
    for run in runs(unicodedata.normalize("NFC", text)):
        for piece in _PIECE.finditer(run):
            word = piece[0]
            if piece[1] is None:
                form = next((form for form in _forms(word) if form in known), None)
                words.append((word, False) if form is None else (form, True))
                continue
            start = unknown = 0  # word[unknown:start] is not known
            while start < len(word):
                ends = range(min(start + LONGEST, len(word)), start, -1)
                end = next((end for end in ends if word[start:end] in known), None)
                if end is None:
                    start += 1
                    continue
                words += [(word[unknown:start], False), (word[start:end], True)]
                start = unknown = end
            words.append((word[unknown:], False))
    return [(word, known) for word, known in words if word]


@lru_cache(1 << 16)
def _forms(word: str) -> tuple[str, ...]:
    """List the ways in which a list may write the word, the likeliest first."""
    low = word.lower()
    return tuple(dict.fromkeys((word, low, unicodedata.normalize("NFKC", low))))


class UnknownWords:
    """Counts of unknown words and of all, by language, until they are reported."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}  # unknown, all

    def add(self, language: str, unknown: int, words: int) -> None:
        """Count the words of some texts."""
        before, total = self._counts.get(language, (0, 0))
        self._counts[language] = before + unknown, total + words

    def notes(self, what: str) -> list[str]:
        """Return one sentence, `what` and the shares by language, or none; the count starts anew."""
        counts, self._counts = self._counts, {}
        shares = [f"{tag} {100 * n / words:.3g} %" for tag, (n, words) in counts.items() if n]
        return [f"{what}: {listed(shares, 20)}"] if shares else []


class LanguageFiles(Generic[T]):
    """Files in whose path `{lang}` stands for a language; without it one file serves all languages.

    `read` reads a file: once, when it is first asked for, and only as it was when its digest was taken.
    Raises InputError where a file is missing; `what` names it in errors.
    """

    def __init__(self, pattern: str, languages: Sequence[str], what: str, read: Callable[[Path], T]) -> None:
        self.pattern, self.what, self.read = pattern, what, read
        self.tags = tuple(sorted(set(languages))) if "{lang}" in pattern else ("",)
        self._contents: dict[Path, T] = {}
        for tag in self.tags:
            self.path(tag)

    @cached_property
    def digests(self) -> dict[str, str]:
        """The hash of each language's file, as they were at first."""
        return {tag: file_digest(self.path(tag)) for tag in self.tags}

    @property
    def digest(self) -> str:
        """A hash of the files of all languages."""
        return digest(*(part for tag in self.tags for part in (tag, self.digests[tag]))).hex()

    def path(self, language: str) -> Path:
        """Name the file of a language; raise InputError where it is not there."""
        return regular_file(self.pattern.replace("{lang}", language), self.what)

    def of(self, language: str) -> T:
        """Give what was read from the file of a language; raise InputError where it has changed since."""
        tag, path = language if "{lang}" in self.pattern else "", self.path(language)
        first = self.digests.setdefault(tag, file_digest(path))
        if path not in self._contents:
            self._contents[path] = self.read(path)
        if file_digest(path) != first:
            raise InputError(f"{path}: {self.what} changed while it was read: start again")
        return self._contents[path]
