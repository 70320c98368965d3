"""One file a language: tables of words and sentences, and the rules of its grammar."""

from __future__ import annotations

from xlingual.data.scenes.languages.ar import Arabic
from xlingual.data.scenes.languages.de import German
from xlingual.data.scenes.languages.en import English
from xlingual.data.scenes.languages.es import Spanish
from xlingual.data.scenes.languages.fr import French
from xlingual.data.scenes.languages.grammar import Grammar
from xlingual.data.scenes.languages.id import Indonesian
from xlingual.data.scenes.languages.ja import Japanese
from xlingual.data.scenes.languages.ru import Russian
from xlingual.data.scenes.languages.zh import Chinese

GRAMMARS: dict[str, Grammar] = {
    grammar.code: grammar
    for grammar in (
        Arabic(),
        German(),
        English(),
        Spanish(),
        French(),
        Indonesian(),
        Japanese(),
        Russian(),
        Chinese(),
    )
}
