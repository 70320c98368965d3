"""The words of a language: a TOML file of tables, read and checked here, and how words are put together."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import TypeVar

import msgspec

from xlingual.demo_data.scenes.draws import Draws, pick
from xlingual.errors import InputError

Contents = TypeVar("Contents")
Forms = Mapping[str, str]  # the forms of one word by their names
Texts = tuple[str, ...]  # alternatives, one of them is taken

BAR = " | "  # between the forms of a word


class WordTable:
    """Words by their meaning, each with the forms that the line `forms` names ("one | many").

    An entry is a list of words that mean the same, from which one is drawn, or a single word, without a
    draw. A word without bars is the same in all forms; without a line `forms` the only form is "word".
    """

    def __init__(self, rows: object) -> None:
        texts = msgspec.convert(rows, dict[str, str | list[str]])
        self.forms = str(texts.pop("forms", "word")).split(BAR)
        self.entries = {name: self._entry(name, entry) for name, entry in texts.items()}
        self._nothing = dict.fromkeys(self.forms, "")

    def _entry(self, name: str, entry: str | list[str]) -> Forms | list[Forms]:
        if not entry:
            raise ValueError(f"{name} is empty: give at least one word")
        return self._word(name, entry) if isinstance(entry, str) else [self._word(name, one) for one in entry]

    def _word(self, name: str, word: str) -> Forms:
        forms = word.split(BAR)
        if len(forms) == 1:
            return dict.fromkeys(self.forms, word)
        if len(forms) != len(self.forms):
            raise ValueError(f"{name} = {word!r} has {len(forms)} forms: give {BAR.join(self.forms)}")
        return dict(zip(self.forms, forms, strict=True))

    def texts(self) -> list[str]:
        """Return every word in every form."""
        words = [entry if isinstance(entry, list) else [entry] for entry in self.entries.values()]
        return [form for entry in words for word in entry for form in word.values()]

    def draw(self, rng: Draws, name: str | None) -> Forms:
        """Return a word for `name` with its forms, which are empty where there is none."""
        entry = self.entries.get(name or "", self._nothing)
        return pick(rng, entry) if isinstance(entry, list) else entry

    def word(self, rng: Draws, name: str | None, form: str = "word") -> str:
        """Return a word for `name` in one form, or "" where there is none."""
        return self.draw(rng, name)[form]


def read_toml(path: Path, contents: type[Contents]) -> Contents:
    """Read a TOML file as the msgspec structure `contents`; raise InputError where it is not like that."""
    try:
        return msgspec.convert(
            tomllib.loads(path.read_text("utf-8")), contents, dec_hook=lambda kind, rows: kind(rows)
        )
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{path}: {error}") from error


def complete(what: str, names: Iterable[str], needed: Iterable[str]) -> None:
    """Raise ValueError unless the names of a table are those that are needed."""
    problems = [f"{name} is missing" for name in sorted({*needed} - {*names})]
    problems += [f"{name} is unknown" for name in sorted({*names} - {*needed})]
    if problems:
        raise ValueError(f"{what}: {', '.join(problems)}")


def known_fields(what: str, templates: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError where a template has an unknown field in braces."""
    for template in templates:
        for _, field, _, _ in Formatter().parse(template):
            if field is not None and field not in known:
                fields = " ".join(f"{{{name}}}" for name in sorted(known))
                raise ValueError(f"{what}: {template!r} has {{{field}}}: there are {fields}")


def joined(phrases: Sequence[str], comma: str, last: str) -> str:
    """Return "a, b and c": `comma` between phrases, `last` before the last one."""
    return comma.join([*phrases[:-2], last.join(phrases[-2:])])


def spaced(*words: str) -> str:
    """Return the words that are not empty, with single spaces between them."""
    return " ".join(word for word in words if word)


def capital(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def in_sound(text: str, sounds: Mapping[str, str]) -> str:
    """Return the text with forms that depend on the next sound: "an apple", "d'étoiles"."""
    for pattern, instead in sounds.items():
        text = re.sub(pattern, instead, text)
    return text
