"""From a table and the meaning of its columns to text rows, with every cell checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xlingual.data.languages import check_tags, tag_problem
from xlingual.data.reading.columns import Columns
from xlingual.data.reading.sources import pictures_in
from xlingual.data.reading.tables import Table
from xlingual.data.reading.textrows import TextRows
from xlingual.data.reading.values import check_unique, is_missing, names_in, numbered, shown, texts_in
from xlingual.errors import InputError

if TYPE_CHECKING:
    from xlingual.records import Ints


MOST_LABELS = 50  # different values of a column that divides rows into parts


def build_rows(table: Table, columns: Columns) -> TextRows:
    """Return the text rows of a table in either form; raise InputError for the first thing wrong."""
    if table.n_rows == 0:
        raise InputError(f"{table.source} has no rows: give a manifest with at least one text")
    return _wide(table, columns) if columns.wide else _long(table, columns)


def empty_texts_warning(rows: TextRows) -> str | None:
    """Return one sentence on the texts without visible characters, None where there are none."""
    empty = [row for row, text in enumerate(rows.text) if not text.strip()]
    if not empty:
        return None
    return (
        f"{rows.source}: {len(empty)} of {len(rows)} texts are empty "
        f"(ids {shown([rows.ids[row] for row in empty])}): fill them in or remove their rows"
    )


def table_splits(table: Table, columns: Columns) -> list[str] | None:
    """Return the split of each row of the table, "" where it has none; None without such a column."""
    if columns.split is None:
        return None
    return ["" if is_missing(value) else str(value) for value in table.load(columns.split)]


def _long(table: Table, columns: Columns) -> TextRows:
    every_row = np.arange(table.n_rows)
    tags = names_in(table, columns.lang, "language", "give each row a language tag such as 'en'")
    language, languages = numbered(tags)
    for code, tag in enumerate(languages):
        if problem := tag_problem(tag):
            row = int(np.flatnonzero(language == code)[0])
            raise InputError(f"{table.where(row, columns.lang)}: {problem}")
    check_tags(languages, table.source)
    ids = _ids(table, columns)
    remedy = "give each text of a language its own id (--id-column names the column)"
    where = table.where(column=columns.id)
    check_unique(list(zip(tags, ids, strict=True)), where, ids, every_row, remedy)
    picture, sources = pictures_in(table, columns.image)
    if columns.item is not None:
        item, item_ids = numbered(
            names_in(table, columns.item, "item", "give each row its item, or leave the column out")
        )
    else:
        item, item_ids = _items_by_picture(picture, ids, tags)
    return TextRows(
        ids=ids,
        languages=tuple(languages),
        language=language,
        text=[text or "" for text in texts_in(table, columns.text)],
        item=item,
        item_ids=item_ids,
        cluster=_clusters(table, columns, item),
        picture=picture,
        picture_source=sources,
        fields={name: _field(table, column) for name, column in columns.fields.items()},
        split=table_splits(table, columns),
        table_row=every_row,
        n_table_rows=table.n_rows,
        source=table.source,
        folder=table.folder,
        wide=False,
        labels=_labels(table, columns, every_row),
    )


def _wide(table: Table, columns: Columns) -> TextRows:
    item_ids = _ids(table, columns)
    remedy = "give each row its own id (--id-column names the column)"
    check_unique(item_ids, table.where(column=columns.id), item_ids, np.arange(table.n_rows), remedy)
    cells = [texts_in(table, column.name) for column in columns.texts]
    places = [
        (row, number)
        for row, texts in enumerate(zip(*cells, strict=True))
        for number, text in enumerate(texts)
        if not is_missing(text)
    ]
    if not places:
        names = shown([column.name for column in columns.texts])
        raise InputError(f"{table.source} has no text in any row of the columns {names}: fill them in")
    row = np.array([row for row, _ in places], dtype=np.int64)
    tags = [columns.texts[number].language for _, number in places]
    present = set(tags)
    languages = list(dict.fromkeys(c.language for c in columns.texts if c.language in present))
    ids = [_text_id(item_ids[r], columns.texts[number].number) for r, number in places]
    check_unique(list(zip(tags, ids, strict=True)), table.source, ids, row, "do not end ids in '#2', '#3' …")
    picture, sources = pictures_in(table, columns.image)
    used, numbers = numbered([-1, *picture[row].tolist()])
    splits = table_splits(table, columns)
    return TextRows(
        ids=ids,
        languages=tuple(languages),
        language=np.array([languages.index(tag) for tag in tags], dtype=np.int64),
        text=[cells[number][r] or "" for r, number in places],
        item=row,
        item_ids=item_ids,
        cluster=numbered(_clusters(table, columns, np.arange(table.n_rows))[row].tolist())[0],
        picture=used[1:] - 1,
        picture_source=[sources[number] for number in numbers[1:]],
        fields=_wide_fields(table, columns, row, tags),
        split=None if splits is None else [splits[r] for r in row],
        table_row=row,
        n_table_rows=table.n_rows,
        source=table.source,
        folder=table.folder,
        wide=True,
        labels=_labels(table, columns, row),
    )


def _ids(table: Table, columns: Columns) -> list[str]:
    if columns.id is None:
        return [str(row + 1) for row in range(table.n_rows)]
    return names_in(table, columns.id, "id", "give each row an id, or leave the column out")


def _text_id(item_id: str, number: int) -> str:
    return item_id if number == 1 else f"{item_id}#{number}"


def _items_by_picture(picture: Ints, ids: Sequence[str], tags: Sequence[str]) -> tuple[Ints, list[str]]:
    """Return the items of rows: equal pictures are one item, a row without a picture is one of its own."""
    keys = [number if number >= 0 else -1 - row for row, number in enumerate(picture.tolist())]
    item, _ = numbered(keys)
    first = np.unique(item, return_index=True)[1].tolist()
    names = [ids[row] for row in first]
    if len(set(names)) < len(names):  # the same id in two languages, not told to be one item
        names = [f"{tags[row]}:{ids[row]}" for row in first]
    return item, names


def _clusters(table: Table, columns: Columns, item: Ints) -> Ints:
    if columns.cluster is None:
        return item
    return numbered(
        names_in(table, columns.cluster, "cluster", "give each row its cluster, or leave the column out")
    )[0]


def _field(table: Table, column: str) -> list[str]:
    return [text or "" for text in texts_in(table, column)]


def _labels(table: Table, columns: Columns, row: Ints) -> dict[str, list[str | None]]:
    """Return the further columns that divide the rows into few parts, as text; None where a cell is empty.

    A column of free texts is none: a part has at least two rows of the table on average.
    """
    found = {}
    named = [*columns.fields.values(), *columns.codes, *([columns.split] if columns.split else [])]
    for name in named:
        values = [None if is_missing(value) else str(value) for value in table.load(name)]
        if 0 < len(set(values) - {None}) <= min(MOST_LABELS, table.n_rows // 2):
            found[name] = [values[r] for r in row]
    return found


def _wide_fields(table: Table, columns: Columns, row: Ints, tags: Sequence[str]) -> dict[str, list[str]]:
    """Return the fields of text rows; `title_<language>` columns give the title in the row's language."""
    fields = {}
    for name, column in columns.fields.items():
        values = _field(table, column)
        fields[name] = [values[r] for r in row]
    for name, by_language in columns.language_fields.items():
        cells = {language: _field(table, column) for language, column in by_language.items()}
        fields[name] = [cells[tag][r] for tag, r in zip(tags, row, strict=True)]
    return fields
