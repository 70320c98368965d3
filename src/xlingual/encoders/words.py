"""Texts to terms: words where a language puts spaces between them, else short runs of characters."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

# languages written without spaces between words, by the first part of their tag
UNSPACED = frozenset(
    {"bo", "cmn", "dz", "ja", "jpn", "khm", "km", "lao", "lo", "lzh", "mya", "my", "tha", "th", "wuu", "yue"}
    | {"zh", "zho"}
)

_ASCII_WORD = re.compile(r"\w+")  # the same words as `_word()` finds, several times as fast


def normalized(text: str) -> str:
    """Return the text in Unicode form NFKC and lower case."""
    return unicodedata.normalize("NFKC", text).lower()


def is_spaced(language: str) -> bool:
    """Tell whether the language of a tag (`zh-Hant`, `pt_BR`) puts spaces between words."""
    return re.split("[-_]", language.lower(), maxsplit=1)[0] not in UNSPACED


def words(text: str) -> list[str]:
    """Return the words: runs of letters, marks and digits of the normalised text."""
    return _word().findall(normalized(text))


def written_words(text: str) -> list[str]:
    """Return the words with their letter case, in Unicode form NFC.

    NFKC would take Thai and Lao vowels apart, which lists of words keep whole.
    """
    return (
        _ASCII_WORD.findall(text) if text.isascii() else _word().findall(unicodedata.normalize("NFC", text))
    )


def character_terms(text: str) -> list[str]:
    """Return every character and every pair of neighbours within a word or clause."""
    runs = words(text)
    return [run[i : i + n] for run in runs for n in (1, 2) for i in range(len(run) - n + 1)]


@cache
def _word() -> re.Pattern[str]:
    r"""Return the pattern of a word: `\w` misses vowel signs and joiners, and would cut Hindi words apart."""
    marks = "".join(chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c))[0] == "M")
    return re.compile(rf"[\w{marks}\u200c\u200d]+")
