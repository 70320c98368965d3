"""Tables: the columns of a manifest file, before their meaning is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.data.reading.problems import STRICT, Reading, first_line
from xlingual.errors import InputError, did_you_mean, listed

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class SourceTable:
    """Named columns of equal length; a column is loaded when it is asked for."""

    source: str  # the file, for messages
    folder: Path | None  # images are relative to it; None: their paths are taken as they are
    names: tuple[str, ...]
    n_rows: int
    load: Callable[[str], list[Any]]
    is_text: Callable[[str], bool]  # does the column hold strings, and nothing else but missing values?
    is_code: Callable[[str], bool] = lambda name: False  # whole numbers or truth values, or missing values?
    is_number: Callable[[str], bool] = lambda name: False  # numbers of any kind, or missing values?
    # the column as Arrow strings, which need no Python object each; None where it holds anything else
    arrow: Callable[[str], pa.ChunkedArray | None] = lambda name: None
    reading: Reading = STRICT  # gathers problems, or raises

    def where(self, row: int | None = None, column: str | None = None) -> str:
        """Return "file, row 3, column 'text'" for the 0-based row."""
        at = "" if row is None else f", row {row + 1}"
        return f"{self.source}{at}" + ("" if column is None else f", column {column!r}")

    def require(self, name: str, option: str = "") -> str:
        """Return the name; raise InputError where there is no such column."""
        if name not in self.names:
            raise InputError(
                f"{self.source} has no column {name!r}{option and f' ({option})'}."
                f"{did_you_mean(name, self.names)} "
                f"Its columns: {listed(self.names, 20)}"
            )
        return name


def table_of_arrow(
    table: pa.Table,
    source: str,
    folder: Path | None,
    reading: Reading = STRICT,
) -> SourceTable:
    """Return a table over an Arrow table; a column is validated in full before its values are touched."""
    columns = dict(zip(table.schema.names, table.columns, strict=True))
    column = cache(lambda name: sound(columns[name], source, name))
    return table_of_schema(table.schema, table.num_rows, column, source, folder, reading)


def table_of_schema(
    schema: pa.Schema,
    n_rows: int,
    column: Callable[[str], pa.ChunkedArray],
    source: str,
    folder: Path | None,
    reading: Reading,
) -> SourceTable:
    """Return a table of a schema; `column` gives a sound column when it is asked for."""
    check_names(schema.names, source)
    types = dict(zip(schema.names, schema.types, strict=True))
    return SourceTable(
        source,
        folder,
        tuple(schema.names),
        n_rows,
        load=lambda name: _arrow_values(column(name), source, name),
        is_text=lambda name: _is_text(types[name]),
        is_code=lambda name: _is_code(types[name]),
        is_number=lambda name: _is_number(types[name]),
        arrow=lambda name: column(name) if _is_text(types[name]) else None,
        reading=reading,
    )


def sound(column: pa.ChunkedArray, source: str, name: str) -> pa.ChunkedArray:
    """Return a column, validated in full; raise InputError where it is damaged.

    Offsets of a damaged file that lead anywhere would end the interpreter when they are followed.
    """
    import pyarrow as pa

    try:
        column.validate(full=True)
        return column
    except pa.ArrowException as error:
        reason = first_line(error)
        if "UTF8" in reason:
            raise _refused_bytes(source, name) from error
        raise InputError(
            f"{source}, column {name!r} cannot be read ({reason}): write the file again"
        ) from error


def _arrow_values(column: pa.ChunkedArray, source: str, name: str) -> list[Any]:
    """Return a column as Python values; raise InputError where one has none in Python."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError as error:
        raise _refused_bytes(source, name) from error
    except Exception as error:  # dates before the year 1, unknown time zones, of damaged files: any kind
        raise InputError(
            f"{source}, column {name!r} cannot be read ({str(error)[:100]}): write the file again"
        ) from error


def _refused_bytes(source: str, name: str) -> InputError:
    """Return the error for a column whose strings are not UTF-8."""
    return InputError(f"{source}, column {name!r} holds text that is not UTF-8: write it again as UTF-8")


def _is_text(kind: pa.DataType) -> bool:
    """Return whether values of this Arrow type are strings (or all missing)."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return str(kind) in {"string", "large_string", "string_view", "null"}


def _is_code(kind: pa.DataType) -> bool:
    """Return whether values of this Arrow type are whole numbers or truth values."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def _is_number(kind: pa.DataType) -> bool:
    """Return whether values of this Arrow type are numbers."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def check_names(names: Sequence[str], source: str) -> None:
    """Raise InputError where two columns have the same name."""
    doubled = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if doubled:
        raise InputError(
            f"{source} has more than one column {listed(map(repr, doubled), 5)}: rename all but one"
        )
