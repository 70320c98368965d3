"""Texts to the terms that `bm25:` counts: columns, words, stop words and stems, by the language of a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any

from xlingual.errors import InputError, MissingExtraError, did_you_mean, listed
from xlingual.models.views import WHOLE
from xlingual.models.words import primary, terms
from xlingual.records import Texts

NONE, LISTS, SNOWBALL = "none", "bm25s", "snowball"
# names of the lists of stop words in bm25s
_LISTS: Mapping[str, str] = {
    "en": "EN",
    "de": "GERMAN",
    "nl": "DUTCH",
    "fr": "FRENCH",
    "es": "SPANISH",
    "pt": "PORTUGUESE",
    "it": "ITALIAN",
    "ru": "RUSSIAN",
    "sv": "SWEDISH",
    "no": "NORWEGIAN",
    "nb": "NORWEGIAN",
    "zh": "CHINESE",
    "tr": "TURKISH",
    "ko": "KOREAN",
    "da": "DANISH",
}


@dataclass(eq=False)
class TermReader:
    """Reads the terms of texts; it keeps which languages lack a list of stop words or a stemmer."""

    columns: tuple[str, ...] = (WHOLE,)
    stopwords: str = NONE
    stemmer: str = NONE
    _lacking: dict[str, set[str]] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """The options that change terms, and the versions of the packages that they come from."""
        stops = NONE if self.stopwords == NONE else f"{LISTS}-{version('bm25s')}"
        stems = NONE if self.stemmer == NONE else f"{SNOWBALL}-{version('PyStemmer')}"
        return f"field={','.join(self.columns)}&stopwords={stops}&stemmer={stems}"

    def check(self) -> None:
        """Raise MissingExtraError where a package is not installed."""
        if self.stopwords != NONE:
            _stop_lists()
        if self.stemmer != NONE:
            _stemmers()

    def read(self, batch: Texts) -> list[str]:
        """Return what is read of each text: the text itself, or columns one after another."""
        parts = [self._column(batch, name) for name in self.columns]
        return list(parts[0]) if len(parts) == 1 else ["\n".join(row) for row in zip(*parts, strict=True)]

    def terms(self, text: str, language: str) -> list[str]:
        """Return the terms of a text, in its order."""
        found = terms(text, language)
        tag = primary(language)
        if self.stopwords != NONE:
            stops = self._of("stop words", tag, _stops(tag))
            found = [term for term in found if term not in stops] if stops else found
        if self.stemmer != NONE:
            stem = self._of("stemmer", tag, _stem(tag))
            found = stem(found) if stem else found
        return found

    def notes(self) -> list[str]:
        """Return which languages lacked what was asked for, since last asked."""
        lacking, self._lacking = self._lacking, {}
        return [
            f"bm25: there is no {what} for {listed(sorted(tags), 20)}: words of these stay as they are"
            if what == "stemmer"
            else f"bm25: there are no {what} for {listed(sorted(tags), 20)}: all words of these count"
            for what, tags in lacking.items()
        ]

    def _of(self, what: str, tag: str, found: Any) -> Any:  # noqa: ANN401  (a set or a function)
        if not found:
            self._lacking.setdefault(what, set()).add(tag)
        return found

    def _column(self, batch: Texts, name: str) -> Sequence[str]:
        if name in batch.fields:
            return batch.fields[name]
        if name == WHOLE:
            return batch.text
        known = (WHOLE, *batch.fields)
        raise InputError(
            f"bm25: the data have no column {name!r}.{did_you_mean(name, known)} Columns of texts: "
            f"{listed(known)}"
        )


@cache
def _stops(tag: str) -> frozenset[str]:
    return frozenset(getattr(_stop_lists(), f"STOPWORDS_{_LISTS[tag]}", ())) if tag in _LISTS else frozenset()


def _stop_lists() -> Any:  # noqa: ANN401  (a module)
    try:
        from bm25s import stopwords
    except ImportError:
        raise MissingExtraError(f"bm25: stopwords={LISTS}", "bm25") from None
    return stopwords


@cache
def _stem(tag: str) -> Callable[[list[str]], list[str]] | None:
    try:
        found: Callable[[list[str]], list[str]] = _stemmers().Stemmer(tag).stemWords
    except KeyError:
        return None
    return found


def _stemmers() -> Any:  # noqa: ANN401  (a module)
    try:
        import Stemmer
    except ImportError:
        raise MissingExtraError(f"bm25: stemmer={SNOWBALL}", "bm25") from None
    return Stemmer
