"""From a table and the meaning of its columns to text rows, with every cell checked."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.columns import ColumnBase, Lookup, Strings, view
from xlingual.data.languages import case_problem, differing_in_case, regional_variants, tag_problem
from xlingual.data.reading.columns import ManifestColumns
from xlingual.data.reading.sources import images_in
from xlingual.data.reading.strings import blank, interleaved, numbered_ints, numbered_strings
from xlingual.data.reading.tables import SourceTable
from xlingual.data.reading.textrows import TextRows
from xlingual.data.reading.values import (
    check_unique,
    field_cells,
    label_cells,
    name_cells,
    number_cells,
    shown,
    split_cells,
    text_cells,
)
from xlingual.errors import InputError, parameter

MOST_LABELS = 50  # different values of a column that divides rows into parts


def build_rows(table: SourceTable, columns: ManifestColumns) -> TextRows:
    """Return the text rows of a table in either form; problems are reported to `table.reading`."""
    if table.n_rows == 0:
        raise InputError(f"{table.source} has no rows: give a manifest with at least one text")
    return _wide(table, columns) if columns.texts else _long(table, columns)


def empty_texts_warning(rows: TextRows) -> str | None:
    """Return one sentence on the texts without visible characters, None where there are none."""
    empty = np.flatnonzero(blank(rows.text))
    if not len(empty):
        return None
    return (
        f"{rows.source}: {len(empty)} of {len(rows)} texts are empty "
        f"(ids {shown(view(rows.ids, empty))}): fill them in or remove their rows"
    )


def doubled_language_warning(rows: TextRows) -> str | None:
    """Return one sentence on languages with and without a region (`en`, `en-US`) that share few items.

    They are two languages to every command. Those that have most items in common are meant to be two.
    """
    counts = np.bincount(rows.language, minlength=len(rows.languages))
    found = []
    for pair in regional_variants(rows.languages):
        codes = [rows.languages.index(tag) for tag in pair]
        one, other = (distinct_values(rows.item[rows.language == code]) for code in codes)
        shared = len(np.intersect1d(one, other, assume_unique=True))
        if 2 * shared < min(len(one), len(other)):
            first, second = (f"{tag!r} {counts[code]:,}" for tag, code in zip(pair, codes, strict=True))
            found.append(f"texts in {first}, in {second}, items with both {shared:,}")
    if not found:
        return None
    return (
        f"{rows.source}: a language with and without a region counts as two ({'; '.join(found)}): write one "
        "tag for both if they are meant to be one language"
    )


def table_splits(table: SourceTable, columns: ManifestColumns) -> Lookup[str] | None:
    """Return the split of each row of the table, "" where it has none; None without such a column."""
    return None if columns.split is None else split_cells(table, columns.split)


def _long(table: SourceTable, columns: ManifestColumns) -> TextRows:
    every_row = np.arange(table.n_rows)
    tags = name_cells(table, columns.lang, "language", "give each row a language tag such as 'en'")
    language, words = numbered_strings(tags)
    languages = tuple(words)
    _check_languages(table, columns.lang, language, languages)
    ids = _ids(table, columns)
    id_code, id_words = numbered_strings(ids)
    remedy = f"give each text of a language its own id ({parameter('id_column')} names the column)"
    keys, where = language * len(id_words) + id_code, table.where(column=columns.id)
    check_unique(keys, where, ids, every_row, remedy, table.reading)
    image, sources = images_in(table, columns.image, columns.several_images)
    item, item_ids = (
        _items_by_image(image, ids, id_code, Lookup(languages, language))
        if columns.item is None
        else numbered_strings(
            name_cells(table, columns.item, "item", "give each row its item, or leave the column out")
        )
    )
    return TextRows(
        ids=ids,
        languages=languages,
        language=language,
        text=text_cells(table, columns.text)[0],
        item=item,
        item_ids=item_ids,
        cluster=_clusters(table, columns, item),
        image=image,
        image_source=sources,
        fields={name: field_cells(table, column) for name, column in columns.fields.items()},
        split=table_splits(table, columns),
        table_row=every_row,
        n_table_rows=table.n_rows,
        source=table.source,
        folder=table.folder,
        wide=False,
        labels=_labels(table, columns, every_row),
        numbers=_numbers(table, columns, every_row),
    )


def _check_languages(table: SourceTable, column: str, language: Ints, languages: tuple[str, ...]) -> None:
    """Report tags that are no language tags, and tags that differ only in case."""
    for code, tag in enumerate(languages):
        if problem := tag_problem(tag):
            rows = np.flatnonzero(language == code)
            table.reading.error(
                "language tag", f"{table.where(int(rows[0]), column)}: {problem}", rows.tolist()
            )
    counts = np.bincount(language, minlength=len(languages))
    for alike in differing_in_case(languages):
        rare = sorted(alike, key=lambda tag: -counts[languages.index(tag)])[1:]
        rows = np.flatnonzero(np.isin(language, [languages.index(tag) for tag in rare]))
        counted = [f"{tag!r} in {counts[languages.index(tag)]} rows" for tag in alike]
        table.reading.error("language case", f"{table.source}: {case_problem(alike)}", rows.tolist(), counted)


def _wide(table: SourceTable, columns: ManifestColumns) -> TextRows:
    item_ids = _ids(table, columns)
    remedy = f"give each row its own id ({parameter('id_column')} names the column)"
    keys, where = numbered_strings(item_ids)[0], table.where(column=columns.id)
    unique = check_unique(keys, where, item_ids, np.arange(table.n_rows), remedy, table.reading)
    cells = [text_cells(table, column.name) for column in columns.texts]
    row, number = np.nonzero(~np.stack([missing for _, missing in cells], axis=1))  # row by row
    if not len(row):
        names = shown([column.name for column in columns.texts])
        raise InputError(f"{table.source} has no text in any row of the columns {names}: fill them in")
    present = {columns.texts[i].language for i in distinct_values(number).tolist()}
    languages = tuple(dict.fromkeys(c.language for c in columns.texts if c.language in present))
    of_column = [languages.index(c.language) if c.language in present else -1 for c in columns.texts]
    language = np.array(of_column, dtype=np.int64)[number]
    ids = _text_ids(item_ids, row, np.array([c.number for c in columns.texts], dtype=np.int64)[number])
    id_code, id_words = numbered_strings(ids)
    again = "do not end ids in '#2', '#3' …"
    if unique:
        check_unique(language * len(id_words) + id_code, table.source, ids, row, again, table.reading)
    image, sources = images_in(table, columns.image, columns.several_images)
    shows, used = numbered_ints(np.append(-1, image[row]))
    splits = table_splits(table, columns)
    return TextRows(
        ids=ids,
        languages=languages,
        language=language,
        text=interleaved([strings for strings, _ in cells], number, row),
        item=row,
        item_ids=item_ids,
        cluster=numbered_ints(_clusters(table, columns, np.arange(table.n_rows))[row])[0],
        image=shows[1:] - 1,
        image_source=view(sources, used[1:]),
        fields=_wide_fields(table, columns, row, Lookup(languages, language)),
        split=None if splits is None else splits.view(row),
        table_row=row,
        n_table_rows=table.n_rows,
        source=table.source,
        folder=table.folder,
        wide=True,
        labels=_labels(table, columns, row),
        numbers=_numbers(table, columns, row),
    )


def _ids(table: SourceTable, columns: ManifestColumns) -> Strings:
    if columns.id is None:
        return Strings.of(str(row + 1) for row in range(table.n_rows))
    return name_cells(table, columns.id, "id", "give each row an id, or leave the column out")


def _text_ids(item_ids: Strings, row: Ints, number: Ints) -> ColumnBase[str]:
    """Return the ids of text rows: that of the item, with "#2" … behind it for its further texts."""
    if (number == 1).all():
        return item_ids.view(row)
    pairs = zip(item_ids.view(row), number.tolist(), strict=True)
    return Strings.of(item_id if n == 1 else f"{item_id}#{n}" for item_id, n in pairs)


def _items_by_image(
    image: Ints, ids: Strings, id_code: Ints, tags: Lookup[str]
) -> tuple[Ints, ColumnBase[str]]:
    """Return the items of rows: equal images are one item, a row without an image is an item by itself."""
    item, _ = numbered_ints(np.where(image >= 0, image, -1 - np.arange(len(image))))
    first = np.unique(item, return_index=True)[1]
    if len(distinct_values(id_code[first])) < len(first):  # an id of two languages, and no column of items
        return item, Strings.of(map("{}:{}".format, tags.view(first), ids.view(first)))
    return item, ids.view(first)


def _clusters(table: SourceTable, columns: ManifestColumns, item: Ints) -> Ints:
    if columns.cluster is None:
        return item
    return numbered_strings(
        name_cells(table, columns.cluster, "cluster", "give each row its cluster, or leave the column out")
    )[0]


def _labels(table: SourceTable, columns: ManifestColumns, row: Ints) -> dict[str, Lookup[str | None]]:
    """Return the further columns that divide the rows into few parts, as text; None where a cell is empty.

    A column of free texts is none: a part has at least two rows of the table on average.
    """
    named = [*columns.fields.values(), *columns.codes, *([columns.split] if columns.split else [])]
    found = {name: label_cells(table, name, min(MOST_LABELS, table.n_rows // 2)) for name in named}
    return {name: label.view(row) for name, label in found.items() if label is not None}


def _numbers(table: SourceTable, columns: ManifestColumns, row: Ints) -> dict[str, Floats]:
    """Return the further columns of numbers; NaN where a cell is empty or not finite."""
    return {name: number_cells(table, name)[row] for name in columns.numbers}


def _wide_fields(
    table: SourceTable, columns: ManifestColumns, row: Ints, tags: Lookup[str]
) -> dict[str, ColumnBase[str]]:
    """Return the fields of text rows; `title_<language>` columns give the title in the row's language."""
    fields: dict[str, ColumnBase[str]] = {
        name: field_cells(table, column).view(row) for name, column in columns.fields.items()
    }
    for name, by_language in columns.language_fields.items():
        cells = [field_cells(table, by_language[language]) for language in tags.words]
        fields[name] = interleaved(cells, tags.codes, row)
    return fields
