"""Tables: what a manifest file holds, before it is known what its columns mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.data.reading.problems import AT_ONCE, Reading
from xlingual.errors import InputError, did_you_mean, listed

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Table:
    """Named columns of equal length; a column is loaded when it is asked for."""

    source: str  # the file, for messages
    folder: Path | None  # pictures are relative to it; None: their paths are taken as they are
    names: tuple[str, ...]
    n_rows: int
    load: Callable[[str], list[Any]]
    is_text: Callable[[str], bool]  # does the column hold strings, and nothing else but missing values?
    image_folder: bool = False  # pictures are named by `file_name`, as in a Hugging Face image folder
    is_code: Callable[[str], bool] = lambda name: False  # whole numbers or truth values, or missing values?
    # the column as Arrow strings, which need no Python object each; None where it holds anything else
    arrow: Callable[[str], pa.ChunkedArray | None] = lambda name: None
    how: Reading = AT_ONCE  # which gathers what is wrong, or raises

    def where(self, row: int | None = None, column: str | None = None) -> str:
        """Return "file, row 3, column 'text'" for the 0-based row."""
        parts = [self.source]
        parts += [f"row {row + 1}"] if row is not None else []
        parts += [f"column {column!r}"] if column is not None else []
        return ", ".join(parts)

    def require(self, name: str, option: str = "") -> str:
        """Return the name; raise InputError where there is no such column."""
        if name not in self.names:
            raise InputError(
                f"{self.source} has no column {name!r}{option and f' ({option})'}."
                f"{did_you_mean(name, self.names)} "
                f"Its columns: {listed(self.names, 20)}"
            )
        return name


def table_of_rows(
    rows: Sequence[Mapping[str, Any]],
    source: str,
    folder: Path | None,
    *,
    image_folder: bool = False,
) -> Table:
    """Return a table of mappings; a key that a row lacks is a missing value."""
    names: dict[str, None] = {}
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise InputError(
                f"{source}, row {number}: expected a mapping of columns to values, found {row!r:.60}"
            )
        names.update(dict.fromkeys(row))

    def load(name: str) -> list[Any]:
        return [row.get(name) for row in rows]

    def holds(name: str, kinds: type | tuple[type, ...]) -> bool:
        found = {type(value) for value in load(name)} - {type(None)}
        return bool(found) and all(issubclass(kind, kinds) for kind in found)

    return Table(
        source,
        folder,
        tuple(str(name) for name in names),
        len(rows),
        load,
        is_text=lambda name: holds(name, str),
        image_folder=image_folder,
        is_code=lambda name: holds(name, (int, bool)),
    )


def table_of_arrow(
    table: pa.Table,
    source: str,
    folder: Path | None,
    *,
    image_folder: bool = False,
    how: Reading | None = None,
) -> Table:
    """Return a table over an Arrow table; a column is validated in full before its values are touched."""
    names = tuple(table.schema.names)
    check_names(names, source)
    columns = dict(zip(names, table.columns, strict=True))

    checked: set[str] = set()

    def column(name: str) -> pa.ChunkedArray:
        if name not in checked:
            check_sound(columns[name], source, name)
            checked.add(name)
        return columns[name]

    return Table(
        source,
        folder,
        names,
        table.num_rows,
        load=lambda name: arrow_values(column(name), source, name),
        is_text=lambda name: arrow_is_text(columns[name].type),
        is_code=lambda name: arrow_is_code(columns[name].type),
        image_folder=image_folder,
        arrow=lambda name: column(name) if arrow_is_text(columns[name].type) else None,
        how=how or AT_ONCE,
    )


def check_sound(column: pa.ChunkedArray, source: str, name: str) -> None:
    """Validate a column in full; raise InputError where it is damaged.

    Offsets of a damaged file that lead anywhere would end the interpreter when they are followed.
    """
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowException as error:
        reason = next(iter(str(error).splitlines()), "")[:200]
        if "UTF8" in reason:
            raise refused_bytes(source, name) from error
        raise InputError(
            f"{source}, column {name!r} cannot be read ({reason}): write the file again"
        ) from error


def arrow_values(column: pa.ChunkedArray, source: str, name: str) -> list[Any]:
    """Return a column as Python values; raise InputError where one has none in Python."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError as error:
        raise refused_bytes(source, name) from error
    except Exception as error:  # dates before the year 1, unknown time zones, of damaged files: any kind
        raise InputError(
            f"{source}, column {name!r} cannot be read ({str(error)[:100]}): write the file again"
        ) from error


def refused_bytes(source: str, name: str) -> InputError:
    """Return the error for a column whose strings are not UTF-8."""
    return InputError(f"{source}, column {name!r} holds text that is not UTF-8: write it again as UTF-8")


def arrow_is_text(kind: pa.DataType) -> bool:
    """Return whether values of this Arrow type are strings (or all missing)."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return str(kind) in {"string", "large_string", "string_view", "null"}


def arrow_is_code(kind: pa.DataType) -> bool:
    """Return whether values of this Arrow type are whole numbers or truth values."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def check_names(names: Sequence[str], source: str) -> None:
    """Raise InputError where two columns have the same name."""
    if len(set(names)) == len(names):
        return
    counts = Counter(names)
    doubled = sorted(name for name, count in counts.items() if name and count > 1)
    if doubled:
        named = listed(map(repr, doubled), 5)
        raise InputError(f"{source} has more than one column {named}: rename all but one")
