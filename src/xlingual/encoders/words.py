"""Texts to terms: words as they are written, and short runs of characters."""

from __future__ import annotations

import unicodedata

from xlingual.models.words import runs, words


def written_words(text: str) -> list[str]:
    """Return the words with their letter case, in Unicode form NFC.

    NFKC would take Thai and Lao vowels apart, which lists of words keep whole.
    """
    return runs(unicodedata.normalize("NFC", text))


def character_terms(text: str) -> list[str]:
    """Return every character and every pair of neighbours within a word or clause."""
    return [run[i : i + n] for run in words(text) for n in (1, 2) for i in range(len(run) - n + 1)]
