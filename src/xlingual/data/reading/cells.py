"""The columns of a manifest's table as columns of strings, checked: texts, and names of things."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from xlingual.columns import Lookup, Strings
from xlingual.data.reading.strings import blank, few_words, strings_of_arrow
from xlingual.data.reading.tables import Table
from xlingual.data.reading.values import (
    described,
    is_many,
    is_missing,
    nameless,
    names_in,
    tell_empty_names,
    texts_in,
)


def text_cells(table: Table, name: str) -> tuple[Strings, np.ndarray]:
    """Return a column of texts, "" where one is missing, and which have no visible characters, bool [n].

    Raises InputError for anything but a string.
    """
    strings = arrow_cells(table, name)
    if strings is None:
        strings = Strings.of([text or "" for text in texts_in(table, name)])
    return strings, blank(strings)


def name_cells(table: Table, name: str, what: str, remedy: str) -> Strings:
    """Return a column of scalars as strings; see `names_in`."""
    strings = arrow_cells(table, name)
    if strings is None:
        return Strings.of(names_in(table, name, what, remedy))
    empty = np.flatnonzero(blank(strings))
    if not len(empty):
        return strings
    tell_empty_names(table, name, empty.tolist(), what, remedy)
    names = list(strings)
    for row in empty.tolist():
        names[row] = nameless(row)
    return Strings.of(names)


def split_cells(table: Table, name: str) -> Lookup[str]:
    """Return the split of each row of the table, "" where it has none."""
    found = few_words(_cells(table, name), table.n_rows, lambda cell: "" if is_missing(cell) else str(cell))
    return found if found is not None else Lookup([""], np.zeros(table.n_rows, dtype=np.int64))


def label_cells(table: Table, name: str, most: int) -> Lookup[str | None] | None:
    """Return a column as words, None where a cell is empty; None for no words, or more than `most`."""
    return few_words(_cells(table, name), most, lambda cell: None if is_missing(cell) else str(cell))


def field_cells(table: Table, name: str) -> Strings:
    """Return a further column of texts, "" where one is missing."""
    return text_cells(table, name)[0]


def arrow_cells(table: Table, name: str) -> Strings | None:
    """Return a column of strings, "" for missing ones; None where it is to be loaded as Python values."""
    column = table.arrow(name)
    return None if column is None else strings_of_arrow(column)[0]


def _cells(table: Table, name: str) -> Iterable[object]:
    """Return the cells of a column; missing strings may be "". Tells an error where one is a list."""
    strings = arrow_cells(table, name)
    if strings is not None:
        return strings
    cells = table.load(name)
    odd = [row for row, cell in enumerate(cells) if is_many(cell)]
    if odd:
        found = described(cells[odd[0]])
        table.how.error(
            f"no {name}", f"{table.where(odd[0], name)}: found {found}: give a string or a number", odd
        )
        for row in odd:
            cells[row] = None
    return cells
