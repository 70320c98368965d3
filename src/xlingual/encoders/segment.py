"""Texts to words of a given list, as a file of word vectors or a dictionary has it.

Such lists keep letter case and are made by other tokenisers, so a word is looked up as it is written first,
then in lower case, then in lower case and Unicode form NFKC. In scripts without blanks between words it is
the list that says where words end.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache

from xlingual.errors import listed
from xlingual.models.words import CHINESE_JAPANESE, SYLLABIC, TIBETAN, runs

LONGEST = 12  # characters of the longest word that is looked for in a script without blanks

_UNSPACED = f"{SYLLABIC}{TIBETAN}{CHINESE_JAPANESE}"
_PIECE = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")


def pieces(text: str) -> list[str]:
    """Return the words of a text, their letter case kept; each is in scripts without blanks, or not at all.

    In Unicode form NFC: NFKC would take Thai and Lao vowels apart, which lists of words keep whole.
    """
    words = runs(unicodedata.normalize("NFC", text))
    return [piece for word in words for piece in ([word] if word.isascii() else _PIECE.findall(word))]


def lookups(pieces: Iterable[str]) -> Iterator[str]:
    """Yield everything that `segment` may look up in the list of words for the pieces of a text."""
    for piece in pieces:
        if _is_unspaced(piece):
            for start in range(len(piece)):
                for end in range(start + 1, min(start + LONGEST, len(piece)) + 1):
                    yield piece[start:end]
        else:
            yield from forms(piece)


def segment(pieces: Iterable[str], known: Container[str]) -> list[tuple[str, bool]]:
    """Return (word, whether it is known) in the order of the text; a known word as the list writes it.

    A piece in a script without blanks (Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan) is cut from the
    left, the longest known word each time; characters at which no known word begins are one unknown word
    until the next known one.
    """
    found: list[tuple[str, bool]] = []
    for piece in pieces:
        if _is_unspaced(piece):
            found += _longest_matches(piece, known)
        else:
            form = next((form for form in forms(piece) if form in known), None)
            found.append((piece, False) if form is None else (form, True))
    return found


@lru_cache(1 << 16)
def forms(word: str) -> tuple[str, ...]:
    """Return the ways in which a list may write the word, the likeliest first.

    >>> forms("Ｈaus")
    ('Ｈaus', 'ｈaus', 'haus')
    """
    low = word.lower()
    return tuple(dict.fromkeys((word, low, unicodedata.normalize("NFKC", low))))


def _is_unspaced(piece: str) -> bool:
    return piece[0] >= "\u0e00" and _IS_UNSPACED.match(piece) is not None


def _longest_matches(piece: str, known: Container[str]) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    start = unknown = 0  # piece[unknown:start] is not known
    while start < len(piece):
        ends = range(min(start + LONGEST, len(piece)), start, -1)
        end = next((end for end in ends if piece[start:end] in known), None)
        if end is None:
            start += 1
            continue
        found += [(piece[unknown:start], False), (piece[start:end], True)]
        start = unknown = end
    return [(word, known) for word, known in (*found, (piece[unknown:], False)) if word]


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
        shares = [f"{tag} {_percent(*counts)}" for tag, counts in self._counts.items() if counts[0]]
        self._counts = {}
        return [f"{what}: {listed(shares, 20)}"] if shares else []


def _percent(unknown: int, words: int) -> str:
    """Return a share with two digits; 100 % and 0 % only where it is exactly that."""
    share = 100 * unknown / words
    if unknown < words and share >= 99.5:
        return "more than 99 %"
    return f"{share:.0f} %" if share >= 9.95 else "less than 0.1 %" if share < 0.1 else f"{share:.1f} %"
