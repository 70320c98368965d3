"""The cells of a column, checked: texts, and scalars that name something (ids, items, languages)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from xlingual.arrays import distinct_values
from xlingual.data.reading.tables import Table
from xlingual.errors import InputError, listed

if TYPE_CHECKING:
    from xlingual.records import Ints

Key = TypeVar("Key", bound=Hashable)


def texts_in(table: Table, name: str) -> list[str | None]:
    """Return a column of texts; None where one is missing. Raise InputError for anything but a string."""
    values = table.load(name)
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, str) and not _is_nan(value):
            raise InputError(
                f"{table.where(row, name)}: found {described(value)} where a text is expected: "
                "write it as a string, or rename the column if it holds no texts"
            )
    texts = [value if isinstance(value, str) else None for value in values]
    _check_unicode(table, name, texts)
    return texts


def names_in(table: Table, name: str, what: str, remedy: str) -> list[str]:
    """Return a column of scalars as strings; raise InputError where one is missing or a list.

    `what` and `remedy` complete the sentences of the errors: "id", "give each row one".
    """
    values = table.load(name)
    empty = [row for row, value in enumerate(values) if is_missing(value)]
    if empty:
        raise empty_names(table, name, empty, what, remedy)
    for row, value in enumerate(values):
        if isinstance(value, (bytes, bytearray, list, tuple, dict, set)) or hasattr(
            value, "__array_interface__"
        ):
            if getattr(value, "shape", None) == ():  # a numpy number
                continue
            raise InputError(
                f"{table.where(row, name)}: found {described(value)} as {what}: give a string or a number"
            )
    # Whole numbers become floats in many tools once a column has a gap: 7.0 names what 7 names.
    names = [str(int(v) if isinstance(v, float) and v.is_integer() else v) for v in values]
    _check_unicode(table, name, names)
    return names


def empty_names(table: Table, name: str, rows: Sequence[int], what: str, remedy: str) -> InputError:
    """Return the error for rows that lack a name."""
    more = f" (and {len(rows) - 1} more rows)" if len(rows) > 1 else ""
    return InputError(f"{table.where(rows[0], name)}: empty {what}{more}: {remedy}")


def numbered(values: Iterable[Key]) -> tuple[Ints, list[Key]]:
    """Return the number of each value by first appearance, and the different values in that order."""
    import numpy as np

    numbers: dict[Key, int] = {}
    codes = [numbers.setdefault(value, len(numbers)) for value in values]
    return np.array(codes, dtype=np.int64), list(numbers)


def check_unique(
    keys: Sequence[Hashable] | Ints, where: str, names: Sequence[str], rows: Ints, remedy: str
) -> None:
    """Raise InputError naming both rows where two keys are equal; `rows` are 0-based rows of the table."""
    import numpy as np

    if isinstance(keys, np.ndarray):
        if len(distinct_values(keys)) == len(keys):
            return
        keys = keys.tolist()
    if len(set(keys)) == len(keys):
        return
    seen: dict[Hashable, int] = {}
    doubles = []
    for position, key in enumerate(keys):
        first = seen.setdefault(key, position)
        if first != position:
            doubles.append((first, position))
    first, second = doubles[0]
    more = f" ({len(doubles) - 1} more rows repeat an id)" if len(doubles) > 1 else ""
    raise InputError(
        f"{where}: rows {rows[first] + 1} and {rows[second] + 1} have the same id {names[second]!r:.80}"
        f"{more}: {remedy}"
    )


def is_missing(value: Any) -> bool:  # noqa: ANN401
    """Return whether a cell is empty: None, NaN or a string without visible characters."""
    return value is None or _is_nan(value) or (isinstance(value, str) and not value.strip())


def described(value: Any) -> str:  # noqa: ANN401
    """Return what a value is, for an error: "the number 12", "a list"."""
    if isinstance(value, bool):
        return f"the truth value {value}"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, (bytes, bytearray)):
        return f"{len(value)} bytes"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, str):
        return "a string"
    if value is None:
        return "null"
    return "a mapping" if isinstance(value, dict) else f"a value of type {type(value).__name__}"


def shown(values: Sequence[object], most: int = 3) -> str:
    """Return the first few values, quoted, and how many more there are."""
    first = listed(f"{value!r:.60}" for value in values[:most])
    rest = len(values) - most
    return f"{first} and {rest} more" if rest > 0 else first


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and value != value


def _check_unicode(table: Table, name: str, texts: Sequence[str | None]) -> None:
    """Raise InputError for half a surrogate pair, which JSON can spell but no file can hold as UTF-8."""
    try:
        "".join(text for text in texts if text).encode()
    except UnicodeEncodeError:
        row = next(row for row, text in enumerate(texts) if text and not _encodes(text))
        raise InputError(
            f"{table.where(row, name)}: half of a surrogate pair (\\ud800 … \\udfff) is no character: "
            "remove it, or write the pair or the character itself"
        ) from None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
