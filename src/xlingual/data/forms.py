"""The two forms of a manifest's table: a row for each text, or a row for each item; and what columns mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.columns import Lookup, StringColumn, Strings, numbered_ints, view
from xlingual.data.images import images_in
from xlingual.data.languages import TAG, case_problem, check_tags, differing_in_case, tag_problem, usual_tag
from xlingual.data.tables import Table
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.languages import name_of

MOST_LABELS = 50  # different values of a column that divides rows into parts
_IN_NAMES = r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*|[a-z]{2,3}_(?:[A-Z][a-z]{3}|[A-Z]{2})"  # tags, and eng_Latn
_TextColumn = tuple[str, str, int]  # column, language, number from 1 of the language's texts


class ReadOptions(TypedDict, total=False):
    """Options of `Manifest.read`: which columns mean what, and which rows to take."""

    text_column: str | None  # a column, or a pattern with {lang} for the wide form
    image_column: str | None
    item_column: str | None
    id_column: str | None
    lang_column: str | None
    cluster_column: str | None
    split: str | None  # rows with this name in the column `split`
    rows: str | None  # "A:B": rows from A on, counted from 0, without B
    drop_shared_images: int | None  # leave out rows whose image, or near-equal ones, more items show


def parts_of(table: Table, options: ReadOptions) -> dict[str, Any]:
    """Find the parts of the manifest of a table: the columns of `Manifest`, by name."""
    for name in options:
        if name not in ReadOptions.__annotations__:
            near = did_you_mean(name, ReadOptions.__annotations__)
            raise TypeError(f"unexpected option {name!r}{near and '.' + near}")
    if not table.columns or not table.n_rows:
        reason = "rows" if table.columns else "texts: it is empty"
        raise InputError(f"{table.source} has no {reason}: give a manifest with at least one text")
    columns = _text_columns(table, options)
    id_column, cluster_column = _role(table, options, "id"), _role(table, options, "cluster")
    item_column = None if columns else _role(table, options, "item")
    is_folder = Path(table.source).name.startswith("metadata.")  # as in an image folder of Hugging Face
    image_column = _role(table, options, "image", *(("file_name", "image") if is_folder else ("image",)))
    used = {id_column, cluster_column, item_column, image_column, *(name for name, *_ in columns)}
    if id_column is None:
        names = Strings.of(str(row + 1) for row in range(table.n_rows))
    else:
        names = table.scalars(id_column, "id", "give each row an id, or leave the column out")
    ids: StringColumn = names
    fields: dict[str, StringColumn] = {}
    if columns:
        row, language, languages, text, ids = _unpivoted(table, columns, names, id_column)
        fields, titles = _language_fields(table, columns, used, languages, language, row)
        used |= titles
    else:
        row = np.arange(table.n_rows)
        text_column, lang_column = (_role(table, options, name) or name for name in ("text", "lang"))
        used |= {text_column, lang_column}
        language, languages = _languages(table, lang_column)
        text = table.texts(text_column)
        remedy = f"give each text of a language its own id ({parameter('id_column')} names the column)"
        _check_ids(table, ids, language, row, table.where(column=id_column), remedy)
    image, sources = images_in(table, image_column)
    shows, used_images = numbered_ints(np.append(-1, image[row]))
    if columns:
        item, item_ids = row, names
    elif item_column is not None:
        remedy = "give each row its item, or leave the column out"
        item, item_ids = table.scalars(item_column, "item", remedy).numbered()
    else:  # equal images are one item, a row without an image is one
        item = numbered_ints(np.where(image >= 0, image, -1 - np.arange(len(image))))[0]
        first = np.unique(item, return_index=True)[1]
        item_ids = Strings(names.arrow(first))
        if len(item_ids.numbered()[1]) < len(item_ids):  # an id of two languages
            pairs = zip(language[first].tolist(), item_ids, strict=True)
            item_ids = Strings.of(f"{languages[code]}:{name}" for code, name in pairs)
    cluster = item
    if cluster_column is not None:
        remedy = "give each row its cluster, or leave the column out"
        cluster = table.scalars(cluster_column, "cluster", remedy).numbered()[0][row]
    others = {name: table.kind(name) for name in table.names if name and name not in used and name != "split"}
    texts = [name for name, kind in others.items() if kind == "text"]
    codes = [name for name, kind in others.items() if kind == "code"]
    most = min(MOST_LABELS, table.n_rows // 2)  # a part has at least two rows of the table on average
    labels = {name: table.words(name, most) for name in (*texts, *codes, "split") if name in table.columns}
    numbers = {name: table.numbers(name) for name, kind in others.items() if kind in ("code", "number")}
    splits = splits_of(table)
    return {
        "ids": ids,
        "languages": languages,
        "language": language,
        "text": text,
        "item": item,
        "item_ids": item_ids,
        "cluster": numbered_ints(cluster)[0],
        "image": shows[1:] - 1,
        "image_source": view(sources, used_images[1:]) if columns else sources,
        "fields": {name: table.texts(name).view(row) for name in texts} | fields,
        "split": None if splits is None else splits.view(row),
        "table_row": row,
        "n_table_rows": table.n_rows,
        "source": table.source,
        "folder": table.folder,
        "wide": bool(columns),
        "labels": {name: words.view(row) for name, words in labels.items() if words is not None},
        "numbers": {name: values[row] for name, values in numbers.items()},
    }


def splits_of(table: Table) -> Lookup[str] | None:
    """Give the split of each row of the table, "" where it has none; None without such a column."""
    return table.words("split", table.n_rows, empty="") if "split" in table.columns else None


def _role(table: Table, options: ReadOptions, name: str, *usual: str) -> str | None:
    """Find the column that an option names, or that has a usual name."""
    option = options.get(f"{name}_column")
    if option is not None:
        return table.require(str(option), parameter(f"{name}_column"))
    return next((column for column in usual or (name,) if column in table.columns), None)


def _text_columns(table: Table, options: ReadOptions) -> list[_TextColumn]:
    """Find the columns of texts of the wide form, none for the long form.

    The form is wide where the text column is a pattern with {lang}; else long where a column of texts or
    languages is named, or the table has both `lang` and `text`; else wide where there are columns
    `text_<language>`.
    """
    text, lang, item = (options.get(f"{name}_column") for name in ("text", "lang", "item"))
    is_pattern = text is not None and "{lang}" in str(text)
    pattern = str(text) if is_pattern else "text_{lang}"
    if pattern.count("{lang}") != 1:
        raise InputError(f"{parameter('text_column', pattern)}: write {{lang}} once, as in 'name_{{lang}}'")
    has = {name: (options.get(f"{name}_column") or name) in table.columns for name in ("lang", "text")}
    if not is_pattern and (text is not None or lang is not None or all(has.values())):
        columns = []
    else:
        columns = _fitting(table, pattern, options)
    if is_pattern and not columns:
        where = f"{table.source} has no column that matches {parameter('text_column', pattern)}"
        raise InputError(f"{where}: its columns are {listed(table.columns, 20)}")
    if not columns and not all(has.values()) and (text is None or lang is None):
        missing = [options.get(f"{name}_column") or name for name, there in has.items() if not there]
        raise InputError(
            f"{table.source} has no column {' and no column '.join(map(repr, missing))}: the long form "
            f"needs columns of texts and of languages ({parameter('text_column')}, "
            f"{parameter('lang_column')}), the wide form one of texts for each language "
            f"({parameter('text_column', 'name_{lang}')}). Its columns: {listed(table.columns, 20)}"
        )
    for value, option in ((lang, "lang_column"), (item, "item_column")):
        if columns and value is not None:
            raise InputError(
                f"{parameter(option, str(value))} does not go with the wide form of {table.source}, where "
                "columns name the language and each row is an item: leave it out, or use "
                f"{parameter('cluster_column')} for rows that belong together"
            )
    usual = _usual_tags(table, [tag for _, tag, _ in columns])
    check_tags(dict.fromkeys(usual.values()), table.source)
    return [
        (name, language, rank)
        for language in dict.fromkeys(usual.values())
        for rank, (*_, name) in enumerate(sorted(n for n in columns if usual[n[1]] == language), 1)
    ]


def _fitting(table: Table, pattern: str, options: ReadOptions) -> list[tuple[int, str, str]]:
    """List (number, language, column) of the columns that fit; the number is -1 where there is none."""
    before, after = map(re.escape, pattern.split("{lang}"))
    roles = {"split", *(options.get(f"{name}_column") or name for name in ("id", "image", "cluster"))}
    for tag in (_IN_NAMES, TAG.pattern):  # longer words only where a pattern is named
        expression = re.compile(f"{before}(?P<lang>{tag}){after}(?:_(?P<number>[0-9]{{1,6}}))?")
        matches = [(match, name) for name in table.columns if (match := expression.fullmatch(name))]
        fitting = [(int(match["number"] or -1), match["lang"], name) for match, name in matches]
        if pattern == "{lang}":  # columns named by their language: id may be Indonesian, too
            fitting = [(n, tag, name) for n, tag, name in fitting if name not in roles and name_of(tag)]
        if fitting or options.get("text_column") is None:
            break
    return fitting


def _usual_tags(table: Table, words: Sequence[str]) -> dict[str, str]:
    """Find the tag of each word for a language; note those of other programs, such as eng_Latn."""
    usual = {word: usual_tag(word) for word in words}
    if pairs := [f"{word} as {tag}" for word, tag in usual.items() if word != tag]:
        sentence = f"{table.source}: languages are read as their usual tags: {listed(pairs)}"
        table.problems.add("language code", sentence, severity="note")
    return usual


def _unpivoted(
    table: Table, columns: Sequence[_TextColumn], names: Strings, id_column: str | None
) -> tuple[Ints, Ints, tuple[str, ...], StringColumn, StringColumn]:
    """Give rows of the table, languages (codes, tags), texts and ids of all texts, row by row."""
    every, where = np.arange(table.n_rows), table.where(column=id_column)
    remedy = f"give each row its own id ({parameter('id_column')} names the column)"
    is_unique = _check_ids(table, names, np.zeros(table.n_rows, dtype=np.int64), every, where, remedy)
    cells = [table.texts(name) for name, *_ in columns]
    row, place = np.nonzero(~np.stack([strings.blank() for strings in cells], axis=1))
    if not len(row):
        listing = listed(repr(name) for name, *_ in columns)
        raise InputError(f"{table.source} has no text in any row of the columns {listing}: fill them in")
    tags = {columns[code][1] for code in distinct_values(place).tolist()}
    languages = tuple(tag for tag in dict.fromkeys(tag for _, tag, _ in columns) if tag in tags)
    codes = [languages.index(tag) if tag in tags else -1 for _, tag, _ in columns]
    language = np.array(codes, dtype=np.int64)[place]
    ids: StringColumn = names.view(row)
    number = np.array([number for *_, number in columns], dtype=np.int64)[place]
    if (number > 1).any():  # "#2" … stands behind the ids of the further texts of a language
        pairs = zip(ids, number.tolist(), strict=True)
        ids = Strings.of(name if n == 1 else f"{name}#{n}" for name, n in pairs)
        if is_unique:
            _check_ids(table, ids, language, row, table.source, "do not end ids in '#2', '#3' …")
    return row, language, languages, _interleaved(cells, place, row), ids


def _check_ids(table: Table, ids: StringColumn, language: Ints, rows: Ints, where: str, remedy: str) -> bool:
    """Report ids that two texts of a language share."""
    code, words = ids.numbered()
    return table.check_unique(language * len(words) + code, where, ids, rows, remedy)


def _interleaved(columns: Sequence[Strings], number: Ints, row: Ints) -> Lookup[str]:
    """Make the column whose i-th string is that of row `row[i]` in column `number[i]`."""
    import pyarrow as pa

    whole = Strings(pa.concat_arrays([column.array for column in columns]))
    return Lookup(whole, number * len(columns[0]) + row)


def _language_fields(
    table: Table,
    columns: Sequence[_TextColumn],
    used: set[str | None],
    languages: Sequence[str],
    language: Ints,
    row: Ints,
) -> tuple[dict[str, StringColumn], set[str]]:
    """Find the fields (`title_en`, `title_de`: `title`) that every language has, and their columns."""
    spelt = {tag: {tag, name.removeprefix("text_")} for name, tag, number in columns if number == 1}
    free = [n for n in table.names if n and n not in used and n != "split" and table.kind(n) == "text"]
    stems: dict[str, dict[str, str]] = {}
    for name in free:
        for tag, endings in spelt.items():
            for ending in endings:
                if name.endswith(f"_{ending}") and name != f"_{ending}":
                    stems.setdefault(name.removesuffix(f"_{ending}"), {})[tag] = name
    whole = {
        stem: by_tag for stem, by_tag in stems.items() if len(by_tag) == len(spelt) > 1 and stem not in free
    }
    fields: dict[str, StringColumn] = {
        stem: _interleaved([table.texts(by_tag[tag]) for tag in languages], language, row)
        for stem, by_tag in whole.items()
    }
    return fields, {name for by_tag in whole.values() for name in by_tag.values()}


def _languages(table: Table, column: str) -> tuple[Ints, tuple[str, ...]]:
    """Read the language of each row, and the tags; what is no tag is a problem."""
    cells = table.scalars(column, "language", "give each row a language tag such as 'en'")
    code, words = cells.numbered()
    usual = _usual_tags(table, words)
    languages = tuple(dict.fromkeys(usual.values()))
    language = np.array([languages.index(tag) for tag in usual.values()], dtype=np.int64)[code]
    for number, tag in enumerate(languages):
        if problem := tag_problem(tag):
            rows = np.flatnonzero(language == number).tolist()
            table.problems.add("language tag", f"{table.where(rows[0], column)}: {problem}", rows)
    counts = np.bincount(language, minlength=len(languages))
    for alike in differing_in_case(languages):
        rare = sorted((languages.index(tag) for tag in alike), key=lambda code: -counts[code])[1:]
        rows = np.flatnonzero(np.isin(language, rare)).tolist()
        table.problems.add("language case", f"{table.source}: {case_problem(alike)}", rows)
    return language, languages
