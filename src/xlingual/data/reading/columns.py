"""Columns: which column of a table is the id, the language, the texts, the image, the item."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypedDict

from xlingual.data.languages import SHORT_TAG, TAG, UNDERSCORED, case_problem, differing_in_case
from xlingual.data.reading.tables import SourceTable
from xlingual.errors import InputError, listed, nearest, parameter
from xlingual.languages import name_of

# What columns of languages and of texts are often called, the likeliest first.
_LIKE_LANG = ("language", "lang", "langs", "lang_code", "language_code", "locale", "lng", "language_tag")
_LIKE_TEXT = (
    *("text", "texts", "title", "caption", "sentence", "description", "name", "body", "content", "question"),
    *("query", "document", "review", "summary", "label"),
)
_Role = Literal["id_column", "image_column", "item_column", "cluster_column"]
SEVERAL_IMAGES = ("first", "mean")
LANGUAGE_ALONE = "{lang}"  # the pattern of text columns that are named by their language: en, de


class ReadOptions(TypedDict, total=False):
    """Options of `Manifest.read`: which columns mean what, and which rows to take."""

    text_column: str | None  # a column, or a pattern with {lang} for the wide form
    image_column: str | None
    item_column: str | None
    id_column: str | None
    lang_column: str | None
    cluster_column: str | None
    separator: str | None
    encoding: str | None
    split: str | None
    rows: str | None
    images: Literal["first", "mean"] | None  # which of several images of a row


class DataOptions(ReadOptions, total=False):
    """Options of functions that take data in memory, or a path, in place of a Manifest."""

    folder: str | Path | None  # what paths of images are relative to; None: the current folder


@dataclass(frozen=True)
class TextColumn:
    """One text column of the wide form; `number` counts the texts of a language, from 1."""

    name: str
    language: str
    number: int


@dataclass(frozen=True)
class ManifestColumns:
    """The columns of a manifest by what they mean."""

    texts: tuple[TextColumn, ...]  # wide form; empty in the long form
    text: str  # long form; "" in the wide form
    lang: str
    id: str | None
    image: str | None
    item: str | None
    cluster: str | None
    split: str | None
    fields: dict[str, str]  # field → column
    language_fields: dict[str, dict[str, str]] = field(default_factory=dict)  # field → language → column
    codes: tuple[str, ...] = ()  # further columns of whole numbers or truth values
    numbers: tuple[str, ...] = ()  # further columns of numbers of any kind
    several_images: str | None = None  # "first" or "mean": which images of a row count


def find_columns(table: SourceTable, options: ReadOptions) -> ManifestColumns:
    """Decide the form and find all columns; raise InputError where a needed one is missing.

    The form is wide where the text column is a pattern with {lang}; long where a text column without {lang}
    or a language column is given, or the table has both `lang` and `text`; else wide where there are columns
    `text_<language>`.
    """
    if not table.names:
        raise InputError(f"{table.source} has no texts: it is empty; give a manifest with at least one text")
    wide = _is_wide(table, options)
    texts = _wide_texts(table, options) if wide else ()
    text, lang = ("", "") if wide else _long_texts(table, options)
    source = Path(table.source)
    of_folder = source.stem == "metadata" and source.suffix != ""  # as in an image folder of Hugging Face
    images = ("file_name", "image") if of_folder else ("image",)
    roles = {
        "id": _given_or_usual(table, options, "id_column", "id"),
        "image": _given_or_usual(table, options, "image_column", *images),
        "item": None if texts else _given_or_usual(table, options, "item_column", "item"),
        "cluster": _given_or_usual(table, options, "cluster_column", "cluster"),
        "split": "split" if "split" in table.names else None,
    }
    used = {text, lang, *(column.name for column in texts), *roles.values()}
    others = [name for name in table.names if name not in used and table.is_text(name)]
    language_fields = _language_fields(others, tuple(dict.fromkeys(column.language for column in texts)))
    folded = {name for columns in language_fields.values() for name in columns.values()}
    return ManifestColumns(
        texts=texts,
        text=text,
        lang=lang,
        **roles,
        fields={name: name for name in others if name not in folded},
        language_fields=language_fields,
        codes=tuple(name for name in table.names if name not in used and table.is_code(name)),
        numbers=tuple(name for name in table.names if name not in used and table.is_number(name)),
        several_images=_several(table, options),
    )


def _several(table: SourceTable, options: ReadOptions) -> str | None:
    given = options.get("images")
    if given is not None and given not in SEVERAL_IMAGES:
        raise InputError(f"{parameter('images', given)}: expected {' or '.join(SEVERAL_IMAGES)}")
    return given


def _is_wide(table: SourceTable, options: ReadOptions) -> bool:
    text, lang, item = options.get("text_column"), options.get("lang_column"), options.get("item_column")
    if text is not None and "{lang}" in text:
        for given, option in ((lang, "lang_column"), (item, "item_column")):
            if given is not None:
                raise InputError(
                    f"{parameter(option, given)} does not go with {parameter('text_column', text)}: in "
                    "the wide form the columns name the language and each row is an item; leave one of the "
                    "two out"
                )
        return True
    if text is not None or lang is not None or {"lang", "text"} <= set(table.names):
        return False
    wide = bool(_matches(table, "text_{lang}", SHORT_TAG))
    if wide and item is not None:
        raise InputError(
            f"{table.source} is in the wide form, where each row is an item: leave "
            f"{parameter('item_column')} out, or use {parameter('cluster_column')} for rows that "
            "belong together"
        )
    return wide


def _long_texts(table: SourceTable, options: ReadOptions) -> tuple[str, str]:
    given_text, given_lang = options.get("text_column"), options.get("lang_column")
    text = "text" if given_text is None else table.require(given_text, parameter("text_column"))
    lang = "lang" if given_lang is None else table.require(given_lang, parameter("lang_column"))
    if text not in table.names and lang in table.names:
        raise InputError(
            f"{table.source} has a column {lang!r} but no column 'text': name it with "
            f"{parameter('text_column')}.{_usual_hint(table, options)} "
            f"Its columns: {listed(table.names, 20)}"
        )
    if text not in table.names:
        hint = _pattern_hint(table) or _languages_hint(table, options) or _usual_hint(table, options)
        raise InputError(
            f"{table.source} has no texts: the long form needs the columns 'lang' and 'text', the wide form "
            f"columns such as 'text_en'.{hint} Its columns: {listed(table.names, 20)}"
        )
    if lang not in table.names:
        raise InputError(
            f"{table.source} has a column {text!r} but no column 'lang' of languages: add it, "
            f"or name it with {parameter('lang_column')}.{_usual_hint(table, options)} "
            f"Its columns: {listed(table.names, 20)}"
        )
    return text, lang


def _wide_texts(table: SourceTable, options: ReadOptions) -> tuple[TextColumn, ...]:
    pattern = options.get("text_column") or "text_{lang}"
    if pattern.count("{lang}") != 1:
        raise InputError(f"{parameter('text_column', pattern)}: write {{lang}} once, as in 'name_{{lang}}'")
    found = _matches(table, pattern, SHORT_TAG)
    if pattern == LANGUAGE_ALONE:
        roles = _roles(table, options)
        found = [
            entry for entry in found if entry[2] not in roles and _is_language(table, entry[1], entry[2])
        ]
    elif not found and options.get("text_column") is not None:
        found = _matches(table, pattern, TAG)
    if not found:
        raise InputError(
            f"{table.source} has no column that matches "
            f"{parameter('text_column', pattern)}.{_pattern_hint(table)} Its columns: "
            f"{listed(table.names, 20)}"
        )
    for _, language, name in _matches(table, pattern, UNDERSCORED):
        table.reading.error(
            "language tag",
            f"{table.source}, column {name!r}: {language!r} is not a language tag: rename the column to "
            f"{name.replace(language, language.replace('_', '-'))!r}",
            examples=[repr(name)],
        )
    languages = list(dict.fromkeys(language for _, language, _ in found))
    for alike in differing_in_case(languages):
        table.reading.error("language case", f"{table.source}: {case_problem(alike)}", examples=alike)
    return tuple(
        TextColumn(name, language, rank)
        for language in languages
        for rank, (_, _, name) in enumerate(sorted(entry for entry in found if entry[1] == language), 1)
    )


def _matches(table: SourceTable, pattern: str, tag: re.Pattern[str]) -> list[tuple[int, str, str]]:
    """Return (number, language, column) of the columns that fit; the number is -1 where there is none."""
    before, after = pattern.split("{lang}")
    expression = re.compile(
        f"{re.escape(before)}(?P<lang>{tag.pattern}){re.escape(after)}(?:_(?P<number>[0-9]{{1,6}}))?"
    )
    fits = [(match, name) for name in table.names if (match := expression.fullmatch(name))]
    return [(int(match["number"] or -1), match["lang"], name) for match, name in fits]


def _roles(table: SourceTable, options: ReadOptions) -> set[str | None]:
    """Return the columns that are ids, images, items, clusters or splits, whatever language they spell."""
    names: tuple[_Role, ...] = ("id_column", "image_column", "item_column", "cluster_column")
    return {"split", *(options.get(name) or name.removesuffix("_column") for name in names)}


def _is_language(table: SourceTable, tag: str, name: str) -> bool:
    return name_of(tag) is not None and table.is_text(name)


def _given_or_usual(table: SourceTable, options: ReadOptions, option: _Role, *usual: str) -> str | None:
    if (given := options.get(option)) is not None:
        return table.require(given, parameter(option))
    return next((name for name in usual if name in table.names), None)


def _language_fields(names: list[str], languages: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Return stem → language → column for stems (`title_en`, `title_de`) that every language has."""
    first = f"_{languages[0]}" if len(languages) > 1 else None
    stems = [name.removesuffix(first) for name in names if first and name.endswith(first)]
    columns = {stem: {language: f"{stem}_{language}" for language in languages} for stem in stems}
    return {
        stem: by_language
        for stem, by_language in columns.items()
        if stem and stem not in names and {*names}.issuperset(by_language.values())
    }


def _usual_hint(table: SourceTable, options: ReadOptions) -> str:
    """Return the options that name columns called something else, where they can be guessed."""
    found = []
    for given, usual, option, others in (
        (options.get("lang_column"), "lang", "lang_column", _LIKE_LANG),
        (options.get("text_column"), "text", "text_column", _LIKE_TEXT),
    ):
        if given is None and usual not in table.names:
            like = [name for other in others for name in table.names if name.lower() == other]
            guess = next((name for name in like if table.is_text(name)), None) or nearest(usual, table.names)
            if guess is None:
                return ""  # half of a remedy is none
            found.append(parameter(option, guess))
    return f" Did you mean {', '.join(found)}?" if found else ""


def _pattern_hint(table: SourceTable) -> str:
    """Return a pattern for text columns, where at least two columns look like one: `name_en`, `name_de`."""
    languages: dict[str, set[str]] = {}
    for name in table.names:
        match = re.fullmatch(rf"(.+)_({SHORT_TAG.pattern})(_[0-9]+)?", name)
        if match and table.is_text(name):
            languages.setdefault(match[1], set()).add(match[2])
    stems = [stem for stem, found in languages.items() if len(found) > 1]
    return f" Did you mean {parameter('text_column', stems[0] + '_{lang}')}?" if stems else ""


def _languages_hint(table: SourceTable, options: ReadOptions) -> str:
    """Return the pattern for columns named by languages, where there are at least two: `en`, `de`."""
    roles = _roles(table, options)
    found = [entry for entry in _matches(table, LANGUAGE_ALONE, SHORT_TAG) if entry[2] not in roles]
    tags = {tag: name_of(tag) for _, tag, name in found if _is_language(table, tag, name)}
    if len(tags) < 2:
        return ""
    *some, last = tags.values()
    return (
        f" Did you mean {parameter('text_column', LANGUAGE_ALONE)}? The columns {listed(tags)} look like "
        f"texts in {', '.join(map(str, some))} and {last}."
    )
