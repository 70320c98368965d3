"""The cells of a column, checked: texts, and scalars that name something (ids, items, languages)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Sized
from typing import Any, SupportsFloat, TypeVar

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.columns import Lookup, Strings
from xlingual.data.reading.problems import STRICT, Reading
from xlingual.data.reading.strings import blank, few_words, strings_of_arrow
from xlingual.data.reading.tables import SourceTable
from xlingual.errors import listed

Key = TypeVar("Key", bound=Hashable)


def texts_in(table: SourceTable, name: str) -> list[str | None]:
    """Return a column of texts; None where one is missing. Reports an error for anything but a string."""
    values = table.load(name)
    odd = [
        row
        for row, value in enumerate(values)
        if value is not None and not isinstance(value, str) and not _is_nan(value)
    ]
    if odd:
        table.reading.error(
            "no text",
            f"{table.where(odd[0], name)}: found {described(values[odd[0]])} where a text is expected: "
            "write it as a string, or rename the column if it holds no texts",
            odd,
            [f"row {row + 1}: {described(values[row])}" for row in odd[:3]],
        )
    return _unicode(table, name, [value if isinstance(value, str) else None for value in values])


def names_in(table: SourceTable, name: str, what: str, remedy: str) -> list[str]:
    """Return a column of scalars as strings; reports an error where one is missing or a list.

    `what` and `remedy` complete the sentences of the errors: "id", "give each row one".
    """
    values = table.load(name)
    empty = [row for row, value in enumerate(values) if is_missing(value)]
    if empty:
        sentence = f"{table.where(empty[0], name)}: empty {what}{and_more(empty)}: {remedy}"
        table.reading.error(f"empty {what}", sentence, empty)
    odd = [row for row, value in enumerate(values) if is_many(value)]
    if odd:
        table.reading.error(
            f"no {what}",
            f"{table.where(odd[0], name)}: found {described(values[odd[0]])} as {what}: give a string or a "
            "number",
            odd,
        )
    # Whole numbers become floats in many tools once a column has a gap: 7.0 names what 7 names.
    names = [str(int(v) if isinstance(v, float) and v.is_integer() else v) for v in values]
    for row in (*empty, *odd):  # while problems are gathered; such a row is not used
        names[row] = f"nameless-{row + 1}"  # a language tag, too
    return [text or "" for text in _unicode(table, name, names)]


def is_many(value: Any) -> bool:  # noqa: ANN401
    """Return whether a cell holds a list, a mapping, bytes or an array: nothing that can be a name."""
    several = isinstance(value, (bytes, bytearray, list, tuple, dict, set)) or hasattr(
        value, "__array_interface__"
    )
    return several and getattr(value, "shape", None) != ()  # which is that of a numpy number


def numbered(values: Iterable[Key]) -> tuple[Ints, list[Key]]:
    """Return the number of each value by first appearance, and the different values in that order."""
    numbers: dict[Key, int] = {}
    codes = [numbers.setdefault(value, len(numbers)) for value in values]
    return np.array(codes, dtype=np.int64), list(numbers)


def check_unique(
    keys: Sequence[Hashable] | Ints,
    where: str,
    names: Sequence[str],
    rows: Ints,
    remedy: str,
    reading: Reading = STRICT,
) -> bool:
    """Report an error that names both rows where two keys are equal; `rows` are 0-based rows of the table."""
    if len(distinct_values(keys) if isinstance(keys, np.ndarray) else set(keys)) == len(keys):
        return True
    seen: dict[Hashable, int] = {}
    places = [(seen.setdefault(key, position), position) for position, key in enumerate(keys)]
    doubles = [(first, position) for first, position in places if first != position]
    first, second = doubles[0]
    more = f" ({len(doubles) - 1} more rows repeat an id)" if len(doubles) > 1 else ""
    reading.error(
        "same id",
        f"{where}: rows {rows[first] + 1} and {rows[second] + 1} have the same id {names[second]!r:.80}"
        f"{more}: {remedy}",
        [int(rows[again]) for _, again in doubles],
        [f"rows {rows[one] + 1} and {rows[other] + 1}: {names[other]!r:.60}" for one, other in doubles[:3]],
    )
    return False


def is_missing(value: Any) -> bool:  # noqa: ANN401
    """Return whether a cell is empty: None, NaN or a string without visible characters."""
    return value is None or _is_nan(value) or (isinstance(value, str) and not value.strip())


def described(value: Any) -> str:  # noqa: ANN401
    """Return what a value is, for an error: "the number 12", "a list"."""
    match value:
        case bool():
            return f"the truth value {value}"
        case int() | float():
            return f"the number {value}"
        case bytes() | bytearray():
            return f"{len(value)} bytes"
        case list() | tuple():
            return "a list"
        case str():
            return "a string"
        case None:
            return "null"
        case dict():
            return "a mapping"
    return f"a value of type {type(value).__name__}"


def shown(values: Sequence[object], most: int = 3) -> str:
    """Return the first few values, quoted, and how many more there are."""
    first = listed(f"{value!r:.60}" for value in values[:most])
    return f"{first} and {len(values) - most} more" if len(values) > most else first


def and_more(found: Sized, what: str = "rows") -> str:
    """Return " (and 3 more rows)" where more than one was found."""
    return f" (and {len(found) - 1} more {what})" if len(found) > 1 else ""


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and value != value


def _unicode(table: SourceTable, name: str, texts: list[Any]) -> list[Any]:
    """Return the texts; reports an error for half a surrogate pair, which JSON can spell but UTF-8 cannot."""
    if encodes("".join(text for text in texts if text)):
        return texts
    rows = [row for row, text in enumerate(texts) if text and not encodes(text)]
    table.reading.error(
        "half a character",
        f"{table.where(rows[0], name)}: half of a surrogate pair (\\ud800 … \\udfff) is no character: "
        "remove it, or write the pair or the character itself",
        rows,
    )
    return [text.encode(errors="replace").decode() if text else text for text in texts]


def encodes(text: str) -> bool:
    """Return whether a text can be UTF-8: half a surrogate pair, which JSON can spell, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def text_cells(table: SourceTable, name: str) -> tuple[Strings, np.ndarray]:
    """Return a column of texts, "" where one is missing, and which have no visible characters, bool [n].

    Raises InputError for anything but a string.
    """
    strings = arrow_cells(table, name)
    if strings is None:
        strings = Strings.of([text or "" for text in texts_in(table, name)])
    return strings, blank(strings)


def name_cells(table: SourceTable, name: str, what: str, remedy: str) -> Strings:
    """Return a column of scalars as strings; see `names_in`."""
    strings = arrow_cells(table, name)
    if strings is None or blank(strings).any():
        return Strings.of(names_in(table, name, what, remedy))
    return strings


def split_cells(table: SourceTable, name: str) -> Lookup[str]:
    """Return the split of each row of the table, "" where it has none."""
    found = few_words(_cells(table, name), table.n_rows, lambda cell: "" if is_missing(cell) else str(cell))
    return found if found is not None else Lookup([""], np.zeros(table.n_rows, dtype=np.int64))


def label_cells(table: SourceTable, name: str, most: int) -> Lookup[str | None] | None:
    """Return a column as words, None where a cell is empty; None for no words, or more than `most`."""
    return few_words(_cells(table, name), most, lambda cell: None if is_missing(cell) else str(cell))


def number_cells(table: SourceTable, name: str) -> Floats:
    """Return a column of numbers, NaN where a cell is empty or not finite."""
    numbers = np.array([_number(cell) for cell in table.load(name)], dtype=np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _number(cell: SupportsFloat | None) -> float:
    """Return a cell as a number; NaN where it is empty, or a whole number beyond all floats."""
    try:
        return np.nan if cell is None else float(cell)
    except OverflowError:
        return np.nan


def field_cells(table: SourceTable, name: str) -> Strings:
    """Return a further column of texts, "" where one is missing."""
    return text_cells(table, name)[0]


def arrow_cells(table: SourceTable, name: str) -> Strings | None:
    """Return a column of strings, "" for missing ones; None where it is to be loaded as Python values."""
    column = table.arrow(name)
    return None if column is None else strings_of_arrow(column)[0]


def _cells(table: SourceTable, name: str) -> Iterable[object]:
    """Return the cells of a column; missing strings may be "". Tells an error where one is a list."""
    strings = arrow_cells(table, name)
    if strings is not None:
        return strings
    cells = table.load(name)
    odd = [row for row, cell in enumerate(cells) if is_many(cell)]
    if odd:
        table.reading.error(
            f"no {name}",
            f"{table.where(odd[0], name)}: found {described(cells[odd[0]])}: give a string or a number",
            odd,
        )
    return [None if is_many(cell) else cell for cell in cells] if odd else cells
