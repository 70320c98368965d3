"""Translation word by word with a bilingual dictionary."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from xlingual.encoders.segment import pieces, segment
from xlingual.encoders.wordfile import LanguageFiles
from xlingual.errors import InputError, listed
from xlingual.files import regular_file


class Translated(NamedTuple):
    """Translations of n texts of one language, with counts to report about them."""

    text: list[str]
    truncated: list[bool]  # the text was too long for the model and cut
    words: int = 0  # how many words were looked up
    unknown: int = 0  # how many of them were not found


class Translator(Protocol):
    """Translates texts of one language at a time; equal identities give equal translations."""

    @property
    def identity(self) -> str:
        """Everything that changes the translations, in one line."""

    def translate(self, texts: Sequence[str], language: str) -> Translated:
        """Return a translation of each text."""


class DictionaryTranslator:
    """Replaces each word by its first translation; words are found as `wordvec:` finds them.

    A line of a dictionary is `source<TAB>target`, with a third column the language of the source where one
    file serves several; or `source target`, as MUSE writes it. `{lang}` in the path stands for the language
    of the source, one of the `languages` that are translated. Punctuation is left out, and with
    `unknown="drop"` unknown words are too.
    """

    def __init__(self, pattern: str, languages: Sequence[str], unknown: str = "keep") -> None:
        self.files = LanguageFiles(pattern, languages, "the dictionary", _find, read_dictionary)
        self.unknown = unknown

    @property
    def identity(self) -> str:
        """A hash of the files, and what becomes of unknown words."""
        return f"dictionary:{self.files.digest}&unknown={self.unknown}"

    def translate(self, texts: Sequence[str], language: str) -> Translated:
        """Return the translated words of each text, with blanks between them."""
        words = self._words(language)
        found: list[str] = []
        total = unknown = 0
        for text in texts:
            parts = segment(pieces(text), words)
            total += len(parts)
            unknown += sum(not known for _, known in parts)
            kept = (part for part in parts if part[1] or self.unknown == "keep")
            found.append(" ".join(words[word] if known else word for word, known in kept))
        return Translated(found, [False] * len(found), total, unknown)

    def _words(self, language: str) -> Mapping[str, str]:
        by_language = self.files.of(language)
        words = by_language.get(language) or by_language.get("")
        if not words:
            raise InputError(
                f"{self.files.path(language)}: has no words of the language {language}; its third column has "
                f"{listed(by_language)}"
            )
        return words


def _find(path: Path, language: str) -> None:
    which = f"dictionary of the language {language}" if language else "dictionary"
    if not path.exists() or path.is_dir():
        raise InputError(
            f"translate: {which} {path} not found: give a file with source<TAB>target "
            "on each line, or a model: translate:hf-NAME::SPEC"
        )
    regular_file(path, f"the {which}")


def read_dictionary(path: Path) -> dict[str, dict[str, str]]:
    """Return source → target for each language of the source, "" where the lines name none.

    Of several translations the first counts. Raises InputError naming the line.
    """
    found: dict[str, dict[str, str]] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 ({error})") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t" if "\t" in line else None)]
        if len(fields) not in ((2, 3) if "\t" in line else (2,)) or not all(fields):
            raise InputError(
                f"{path}: line {number} is {line.strip()[:60]!r}: expected source<TAB>target, or with a "
                "third column source<TAB>target<TAB>language"
            )
        source, target, language = (*fields, "")[:3]
        found.setdefault(language, {}).setdefault(unicodedata.normalize("NFC", source), target)
    if not found:
        raise InputError(f"{path}: the dictionary is empty: give source<TAB>target on each line")
    return found
