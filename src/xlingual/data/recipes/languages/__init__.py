"""One file a language: tables of words and sentences, and the rules of its grammar."""

from __future__ import annotations

from xlingual.data.recipes.languages.ar import Arabic
from xlingual.data.recipes.languages.en import English
from xlingual.data.recipes.languages.es import Spanish
from xlingual.data.recipes.languages.grammar import Language
from xlingual.data.recipes.languages.id import Indonesian
from xlingual.data.recipes.languages.ru import Russian

GRAMMARS: dict[str, Language] = {
    language.code: language for language in (Arabic(), English(), Spanish(), Indonesian(), Russian())
}
