"""The two forms of a manifest's table: a row for each text, or a row for each item; and what columns mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.columns import Lookup, StringColumn, Strings, numbered_ints, view
from xlingual.data.images import images_in
from xlingual.data.languages import (
    SHORT_TAG,
    TAG,
    UNDERSCORED,
    case_problem,
    differing_in_case,
    tag_problem,
    usual_tag,
)
from xlingual.data.tables import Table, shown
from xlingual.errors import InputError, did_you_mean, listed, nearest, parameter
from xlingual.languages import name_of

MOST_LABELS = 50  # different values of a column that divides rows into parts
# what columns of languages and of texts are often called, the likeliest first
_LIKE = {
    "lang": ("language", "lang", "langs", "lang_code", "language_code", "locale", "lng", "language_tag"),
    "text": (
        *("text", "texts", "title", "caption", "sentence", "description", "name", "body", "content"),
        *("question", "query", "document", "review", "summary", "label"),
    ),
}


class ReadOptions(TypedDict, total=False):
    """Options of `Manifest.read`: which columns mean what, and which rows to take."""

    text_column: str | None  # a column, or a pattern with {lang} for the wide form
    image_column: str | None
    item_column: str | None
    id_column: str | None
    lang_column: str | None
    cluster_column: str | None
    separator: str | None  # between the columns of a text file; commas in .csv, tabs in .tsv
    encoding: str | None  # of a text file; UTF-8
    split: str | None  # rows with this name in the column `split`
    rows: str | None  # "A:B": rows from A on, counted from 0, without B
    images: Literal["first", "mean"] | None  # which of several images of a row: the mean is of unit vectors
    drop_shared_images: int | None  # leave out rows whose image more items than that show


def parts_of(table: Table, options: ReadOptions) -> dict[str, Any]:
    """Return the parts of the manifest of a table: the columns of `Manifest`, by name."""
    _check_options(options)
    if not table.names or not table.n_rows:
        reason = "rows" if table.names else "texts: it is empty"
        raise InputError(f"{table.source} has no {reason}: give a manifest with at least one text")
    return _wide(table, options) if _is_wide(table, options) else _long(table, options)


def _check_options(options: ReadOptions) -> None:
    for name in options:
        if name not in ReadOptions.__annotations__:
            near = did_you_mean(name, ReadOptions.__annotations__)
            raise TypeError(f"unexpected option {name!r}{near and '.' + near}")
    if (images := options.get("images")) not in (None, "first", "mean"):
        raise InputError(f"{parameter('images', images)}: expected first or mean")
    if (most := options.get("drop_shared_images")) is not None and most < 1:
        raise InputError(f"{parameter('drop_shared_images', str(most))}: expected a whole number from 1 on")


def splits_of(table: Table) -> Lookup[str] | None:
    """Return the split of each row of the table, "" where it has none; None without such a column."""
    if "split" not in table.names:
        return None
    splits = table.words("split", table.n_rows, empty="")
    return splits if splits is not None else Lookup([""], np.zeros(table.n_rows, dtype=np.int64))


def _role(table: Table, options: ReadOptions, name: str, *usual: str) -> str | None:
    """Return the column that an option names, or that has a usual name."""
    option = options.get(f"{name}_column")
    if option is not None:
        return table.require(str(option), parameter(f"{name}_column"))
    return next((column for column in usual or (name,) if column in table.names), None)


def _ids(table: Table, column: str | None) -> Strings:
    if column is None:
        return Strings.of(str(row + 1) for row in range(table.n_rows))
    return table.scalars(column, "id", "give each row an id, or leave the column out")


def _shared_columns(table: Table, options: ReadOptions, used: set[str | None], rows: Ints) -> dict[str, Any]:
    """Return fields, labels, numbers and the split of the rows of the table [n], as parts of a manifest."""
    others = [name for name in table.names if name not in used and name]
    texts = [name for name in others if name != "split" and table.kind(name) == "text"]
    codes = [name for name in others if name != "split" and table.kind(name) == "code"]
    most = min(MOST_LABELS, table.n_rows // 2)  # a part has at least two rows of the table on average
    labels = {name: table.words(name, most) for name in (*texts, *codes, "split") if name in table.names}
    splits = splits_of(table)
    return {
        "fields": {name: table.texts(name).view(rows) for name in texts},
        "labels": {name: words.view(rows) for name, words in labels.items() if words is not None},
        "numbers": {
            name: table.numbers(name)[rows]
            for name in others
            if name != "split" and table.kind(name) in ("code", "number")
        },
        "split": None if splits is None else splits.view(rows),
        "table_row": rows,
        "n_table_rows": table.n_rows,
        "source": table.source,
        "folder": table.folder,
    }


def _image_column(table: Table, options: ReadOptions) -> str | None:
    is_folder = Path(table.source).name.startswith("metadata.")  # as in an image folder of Hugging Face
    return _role(table, options, "image", *(("file_name", "image") if is_folder else ("image",)))


def _clusters(table: Table, column: str | None, item: Ints) -> Ints:
    if column is None:
        return item
    remedy = "give each row its cluster, or leave the column out"
    return table.scalars(column, "cluster", remedy).numbered()[0]


def _long(table: Table, options: ReadOptions) -> dict[str, Any]:
    """Return the parts of a table with a row for each text."""
    text, lang = _long_columns(table, options)
    id_column, item_column = _role(table, options, "id"), _role(table, options, "item")
    cluster, picture = _role(table, options, "cluster"), _image_column(table, options)
    language, languages = _languages(table, lang)
    ids = _ids(table, id_column)
    id_code, id_words = ids.numbered()
    remedy, where = "give each text of a language its own id", table.where(column=id_column)
    rows, keys = np.arange(table.n_rows), language * len(id_words) + id_code
    table.check_unique(keys, where, ids, rows, f"{remedy} ({parameter('id_column')} names the column)")
    image, sources = images_in(table, picture, options.get("images"))
    if item_column is not None:
        remedy = "give each row its item, or leave the column out"
        item, item_ids = table.scalars(item_column, "item", remedy).numbered()
    else:  # equal images are one item, a row without an image is an item by itself
        item, first = numbered_ints(np.where(image >= 0, image, -1 - rows))
        first = np.unique(item, return_index=True)[1]
        item_ids = Strings(ids.arrow(first))
        if len(distinct_values(id_code[first])) < len(first):  # an id of two languages
            pairs = zip(language[first].tolist(), item_ids, strict=True)
            item_ids = Strings.of(f"{languages[code]}:{name}" for code, name in pairs)
    used = {text, lang, id_column, item_column, cluster, picture}
    return dict(
        ids=ids,
        languages=languages,
        language=language,
        text=table.texts(text),
        item=item,
        item_ids=item_ids,
        cluster=_clusters(table, cluster, item),
        image=image,
        image_source=sources,
        wide=False,
        **_shared_columns(table, options, used, rows),
    )


def _languages(table: Table, column: str) -> tuple[Ints, tuple[str, ...]]:
    """Return the language of each row, and the tags; what is no tag is a problem."""
    cells = table.scalars(column, "language", "give each row a language tag such as 'en'")
    code, words = cells.numbered()
    tags = [usual_tag(word) for word in words]
    _note_tags(table, {word: tag for word, tag in zip(words, tags, strict=True) if word != tag})
    languages = tuple(dict.fromkeys(tags))
    language = np.array([languages.index(tag) for tag in tags], dtype=np.int64)[code]
    for number, tag in enumerate(languages):
        if problem := tag_problem(tag):
            rows = np.flatnonzero(language == number).tolist()
            table.problems.add("language tag", f"{table.where(rows[0], column)}: {problem}", rows)
    counts = np.bincount(language, minlength=len(languages))
    for alike in differing_in_case(languages):
        rare = sorted(alike, key=lambda tag: -counts[languages.index(tag)])[1:]
        rows = np.flatnonzero(np.isin(language, [languages.index(tag) for tag in rare])).tolist()
        examples = [f"{tag!r} in {counts[languages.index(tag)]} rows" for tag in alike]
        table.problems.add("language case", f"{table.source}: {case_problem(alike)}", rows, examples)
    return language, languages


def _note_tags(table: Table, renamed: Mapping[str, str]) -> None:
    """Note tags of other programs, such as eng_Latn, that are read as another."""
    if renamed:
        pairs = [f"{word} as {tag}" for word, tag in renamed.items()]
        sentence = f"{table.source}: languages are read as their usual tags: {listed(pairs)}"
        table.problems.add("language code", sentence, severity="note")


def _wide(table: Table, options: ReadOptions) -> dict[str, Any]:
    """Return the parts of a table with a row for each item."""
    columns = _wide_columns(table, options)
    id_column, cluster = _role(table, options, "id"), _role(table, options, "cluster")
    picture = _image_column(table, options)
    item_ids = _ids(table, id_column)
    remedy = f"give each row its own id ({parameter('id_column')} names the column)"
    item_code = item_ids.numbered()[0]
    every = np.arange(table.n_rows)
    is_unique = table.check_unique(item_code, table.where(column=id_column), item_ids, every, remedy)
    cells = [table.texts(name) for name, *_ in columns]
    row, column = np.nonzero(~np.stack([strings.blank() for strings in cells], axis=1))  # row by row
    if not len(row):
        names = shown([name for name, *_ in columns])
        raise InputError(f"{table.source} has no text in any row of the columns {names}: fill them in")
    there = set(distinct_values(column).tolist())
    languages = tuple(dict.fromkeys(tag for place, (_, tag, _) in enumerate(columns) if place in there))
    of_column = [languages.index(tag) if tag in languages else -1 for _, tag, _ in columns]
    language = np.array(of_column, dtype=np.int64)[column]
    number = np.array([number for *_, number in columns], dtype=np.int64)[column]
    ids: StringColumn = item_ids.view(row)
    if (number > 1).any():  # "#2" … stands behind the ids of the further texts of a language
        pairs = zip(ids, number.tolist(), strict=True)
        ids = Strings.of(name if n == 1 else f"{name}#{n}" for name, n in pairs)
        id_code, id_words = ids.numbered()
        if is_unique:
            keys = language * len(id_words) + id_code
            table.check_unique(keys, table.source, ids, row, "do not end ids in '#2', '#3' …")
    image, sources = images_in(table, picture, options.get("images"))
    shows, used_images = numbered_ints(np.append(-1, image[row]))
    by_stem = _language_fields(table, columns, {picture, cluster, id_column})
    used = {id_column, cluster, picture, *(name for name, *_ in columns)}
    used |= {name for by_tag in by_stem.values() for name in by_tag.values()}
    shared = _shared_columns(table, options, used, row)
    for stem, by_tag in by_stem.items():  # the title in the row's language
        titles = [table.texts(by_tag[tag]) for tag in languages]
        shared["fields"][stem] = _interleaved(titles, language, row)
    return dict(
        ids=ids,
        languages=languages,
        language=language,
        text=_interleaved(cells, column, row),
        item=row,
        item_ids=item_ids,
        cluster=numbered_ints(_clusters(table, cluster, every)[row])[0],
        image=shows[1:] - 1,
        image_source=view(sources, used_images[1:]),
        wide=True,
        **shared,
    )


def _interleaved(columns: Sequence[Strings], number: Ints, row: Ints) -> Lookup[str]:
    """Return the column whose i-th string is that of row `row[i]` in column `number[i]`."""
    import pyarrow as pa

    whole = Strings(pa.concat_arrays([column.array for column in columns]))
    return Lookup(whole, number * len(columns[0]) + row)


def _is_wide(table: Table, options: ReadOptions) -> bool:
    """Return whether a table has a row for each item.

    It does where the text column is a pattern with {lang}; not where a text column without {lang} or a
    language column is given, or the table has both `lang` and `text`; else where there are columns
    `text_<language>`.
    """
    text, lang, item = (options.get(f"{name}_column") for name in ("text", "lang", "item"))
    if text is not None and "{lang}" in str(text):
        for value, option in ((lang, "lang_column"), (item, "item_column")):
            if value is not None:
                raise InputError(
                    f"{parameter(option, str(value))} does not go with "
                    f"{parameter('text_column', str(text))}: in the wide form the columns name the language "
                    "and each row is an item; leave one of the two out"
                )
        return True
    if text is not None or lang is not None or {"lang", "text"} <= set(table.names):
        return False
    wide = bool(_matches(table, "text_{lang}", f"{SHORT_TAG.pattern}|{UNDERSCORED.pattern}"))
    if wide and item is not None:
        raise InputError(
            f"{table.source} is in the wide form, where each row is an item: leave "
            f"{parameter('item_column')} out, or use {parameter('cluster_column')} for rows that "
            "belong together"
        )
    return wide


def _long_columns(table: Table, options: ReadOptions) -> tuple[str, str]:
    """Return the columns of texts and of languages; raise InputError, with a guess, where one is missing."""
    text, lang = _role(table, options, "text") or "text", _role(table, options, "lang") or "lang"
    missing = [name for name in (text, lang) if name not in table.names]
    if not missing:
        return text, lang
    columns = f"Its columns: {listed(table.names, 20)}"
    if len(missing) == 2:
        hint = _pattern_hint(table, options) or _usual_hint(table, missing)
        raise InputError(
            f"{table.source} has no texts: the long form needs the columns 'lang' and 'text', the wide form "
            f"columns such as 'text_en'.{hint} {columns}"
        )
    has = lang if missing == [text] else text
    raise InputError(
        f"{table.source} has a column {has!r} but no column {missing[0]!r}: add it, or name it with "
        f"{parameter(f'{missing[0]}_column')}.{_usual_hint(table, missing)} {columns}"
    )


def _usual_hint(table: Table, missing: Sequence[str]) -> str:
    """Return the options that name columns called something else, where all can be guessed."""
    guesses = []
    for name in missing:
        like = [column for usual in _LIKE[name] for column in table.names if column.lower() == usual]
        texts = (column for column in like if table.kind(column) == "text")
        if (guess := next(texts, None) or nearest(name, table.names)) is None:
            return ""  # half of a remedy is none
        guesses.append(parameter(f"{name}_column", guess))
    return f" Did you mean {', '.join(guesses)}?"


def _pattern_hint(table: Table, options: ReadOptions) -> str:
    """Return a pattern where at least two columns look like one: `name_en`, `name_de`; or `en`, `de`."""
    languages: dict[str, dict[str, None]] = {}
    for name in table.names:
        match = re.fullmatch(rf"(.+_)?({SHORT_TAG.pattern})(_[0-9]+)?", name)
        if match and table.kind(name) == "text" and (match[1] or name_of(match[2])) and match[2] != "id":
            languages.setdefault(f"{match[1] or ''}{{lang}}", {})[match[2]] = None
    pattern = next((pattern for pattern, tags in languages.items() if len(tags) > 1), None)
    return f" Did you mean {parameter('text_column', pattern)}?" if pattern else ""


def _wide_columns(table: Table, options: ReadOptions) -> list[tuple[str, str, int]]:
    """Return (column, language, number from 1 of the language's texts) of the text columns."""
    pattern = options.get("text_column") or "text_{lang}"
    if pattern.count("{lang}") != 1:
        raise InputError(f"{parameter('text_column', pattern)}: write {{lang}} once, as in 'name_{{lang}}'")
    matches = _matches(table, pattern, f"{SHORT_TAG.pattern}|{UNDERSCORED.pattern}")
    if pattern == "{lang}":  # columns named by their language: id may be Indonesian, too
        roles = {"split", *(options.get(f"{name}_column") or name for name in ("id", "image", "cluster"))}
        matches = [(n, tag, name) for n, tag, name in matches if name not in roles and name_of(tag)]
    elif not matches and options.get("text_column") is not None:
        matches = _matches(table, pattern, TAG.pattern)
    if not matches:
        raise InputError(
            f"{table.source} has no column that matches {parameter('text_column', pattern)}."
            f"{_pattern_hint(table, options)} Its columns: {listed(table.names, 20)}"
        )
    renamed = {tag: usual_tag(tag) for _, tag, _ in matches}
    _note_tags(table, {tag: usual for tag, usual in renamed.items() if tag != usual})
    languages = list(dict.fromkeys(renamed.values()))
    for alike in differing_in_case(languages):
        table.problems.add("language case", f"{table.source}: {case_problem(alike)}", examples=alike)
    return [
        (name, language, rank)
        for language in languages
        for rank, (*_, name) in enumerate(sorted(each for each in matches if renamed[each[1]] == language), 1)
    ]


def _matches(table: Table, pattern: str, tag: str) -> list[tuple[int, str, str]]:
    """Return (number, language, column) of the columns that fit; the number is -1 where there is none."""
    before, after = map(re.escape, pattern.split("{lang}"))
    expression = re.compile(f"{before}(?P<lang>{tag}){after}(?:_(?P<number>[0-9]{{1,6}}))?")
    fits = [(match, name) for name in table.names if (match := expression.fullmatch(name))]
    return [(int(match["number"] or -1), match["lang"], name) for match, name in fits]


def _language_fields(
    table: Table, columns: Sequence[tuple[str, str, int]], used: set[str | None]
) -> dict[str, dict[str, str]]:
    """Return stem → language → column for stems (`title_en`, `title_de`) that every language has."""
    spelt = {tag: name.removeprefix("text_") for name, tag, number in reversed(columns)}
    texts = {name for name, *_ in columns}
    names = [
        n for n in table.names if n not in used | texts and n != "split" and n and table.kind(n) == "text"
    ]
    tags = list(dict.fromkeys(tag for _, tag, _ in columns))
    if len(tags) < 2:
        return {}
    spellings = {tag: (tag, spelt[tag]) for tag in tags}
    fields: dict[str, dict[str, str]] = {}
    for stem in [n.removesuffix(f"_{s}") for n in names for s in spellings[tags[0]] if n.endswith(f"_{s}")]:
        by_tag = {t: f"{stem}_{s}" for t in tags for s in reversed(spellings[t]) if f"{stem}_{s}" in names}
        if stem and stem not in names and len(by_tag) == len(tags):
            fields[stem] = by_tag
    return fields
