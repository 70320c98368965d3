"""Tables: named columns before their meaning is known, and the problems of a file.

A column is an Arrow array where it can be, and a list where its cells are of several types.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.arrow import from_strings, to_numpy
from xlingual.columns import Lookup, Strings
from xlingual.data.rows import is_missing
from xlingual.errors import InputError, did_you_mean, listed, warn

if TYPE_CHECKING:
    import pyarrow as pa

Severity = Literal["error", "warning", "note"]
Kind = Literal["text", "code", "number", "other"]  # strings; whole numbers or truths; other numbers


@dataclass(frozen=True)
class Problem:
    """One kind of problem of a file, wherever it occurs."""

    severity: Severity
    kind: str  # a short name that does not change, for programs
    sentence: str  # one line: where, what it is (the first time), what to do
    rows: Sequence[int] = ()  # 0-based rows of the table that cannot be used
    examples: Sequence[str] = ()


class Problems(list[Problem]):
    """The problems of a file; where not gathered, the first error is raised, others are warned of."""

    def __init__(self, *, gathered: bool = False) -> None:
        super().__init__()
        self.gathered = gathered

    def add(
        self,
        kind: str,
        sentence: str,
        rows: Sequence[int] = (),
        examples: Sequence[str] = (),
        severity: Severity = "error",
    ) -> None:
        """Gather a problem, or raise or warn of it."""
        if self.gathered:
            self.append(Problem(severity, kind, sentence, rows, examples))
        elif severity == "error":
            raise InputError(sentence)
        else:
            warn(sentence)


class Table:
    """Named columns of equal length; `read` gives one of the Arrow type that `types` says (None: a list)."""

    def __init__(
        self,
        source: str,
        folder: Path | None,  # images lie in it
        n_rows: int,
        types: Mapping[str, pa.DataType | None],
        read: Callable[[str], pa.ChunkedArray | list[Any]],
        problems: Problems | None = None,
    ) -> None:
        self.source, self.folder, self.n_rows = source, folder, n_rows
        self.names, self._types, self._read = tuple(types), dict(types), read
        self.problems = Problems() if problems is None else problems
        self._columns: dict[str, pa.ChunkedArray | list[Any]] = {}
        self._classes: dict[str, list[str | None]] = {}

    @classmethod
    def of_columns(
        cls,
        source: str,
        folder: Path | None,
        columns: Mapping[str, pa.ChunkedArray | list[Any]],
        problems: Problems | None = None,
    ) -> Table:
        """Return the table of columns in memory."""
        types = {name: getattr(column, "type", None) for name, column in columns.items()}
        n_rows = len(next(iter(columns.values()), ()))
        return cls(source, folder, n_rows, types, columns.__getitem__, problems)

    @classmethod
    def of_schema(
        cls,
        source: str,
        folder: Path | None,
        n_rows: int,
        schema: pa.Schema,
        read: Callable[[str], pa.ChunkedArray],
        problems: Problems | None = None,
    ) -> Table:
        """Return the table of a schema; numbers of classes (Hugging Face datasets) become their names."""
        import pyarrow as pa

        check_names(schema.names, source)
        table = cls(
            source, folder, n_rows, dict(zip(schema.names, schema.types, strict=True)), read, problems
        )
        with suppress(KeyError, TypeError, ValueError, AttributeError, RecursionError):
            features: Any = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
            for name, feature in features.items():
                if pa.types.is_integer(table._types[name]) and feature["_type"] == "ClassLabel":
                    table._classes[name] = [*map(str, feature["names"]), None]
                    table._types[name] = pa.large_string()
        return table

    def where(self, row: int | None = None, column: str | None = None) -> str:
        """Return "file, row 3, column 'text'" for the 0-based row."""
        at = "" if row is None else f", row {row + 1}"
        return f"{self.source}{at}" + ("" if column is None else f", column {column!r}")

    def require(self, name: str, option: str = "") -> str:
        """Return the name; raise InputError where there is no such column."""
        if name not in self.names:
            raise InputError(
                f"{self.source} has no column {name!r}{option and f' ({option})'}."
                f"{did_you_mean(name, self.names)} Its columns: {listed(self.names, 20)}"
            )
        return name

    def kind(self, name: str) -> Kind:
        """Return what a column holds besides missing cells; the type of an Arrow column tells it."""
        import pyarrow as pa

        kind: Any = self._types[name]  # which is false of a struct without fields
        kind = self.column(name) if kind is None else kind
        if isinstance(kind, list):
            types = {type(cell) for cell in kind} - {type(None)}
            return next(
                (k for k, t in _TYPES.items() if types and all(issubclass(c, t) for c in types)), "other"
            )
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if str(kind) in ("string", "large_string", "string_view", "null"):
            return "text"
        if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            return "code"
        return "number" if pa.types.is_floating(kind) or pa.types.is_decimal(kind) else "other"

    def column(self, name: str) -> pa.ChunkedArray | list[Any]:
        """Return a column, which is read once.

        Arrow columns are validated in full: offsets of a damaged file may lead anywhere in memory.
        """
        if name not in self._columns:
            column = self._read(name)
            if not isinstance(column, list):
                self._sound(name, column.validate, full=True)
            if names := self._classes.get(name):
                places = (-1 if place is None else place for place in column.to_pylist())  # type: ignore[union-attr]
                words = [names[place] if 0 <= place < len(names) else None for place in places]
                column = _large_strings(words)
            self._columns[name] = column
        return self._columns[name]

    def load(self, name: str) -> list[Any]:
        """Return a column as Python values."""
        column = self.column(name)
        return column if isinstance(column, list) else list(self._sound(name, column.to_pylist))

    def _sound(self, name: str, read: Callable[..., Any], **options: bool) -> Any:  # noqa: ANN401
        """Return what a library reads of a column; raise InputError where it cannot."""
        try:
            return read(**options)
        except Exception as error:  # for dates before the year 1, unknown time zones, damage: any kind
            text = " that is text but not UTF-8" if "UTF8" in str(error) else f" ({first_line(error, 100)})"
            raise InputError(
                f"{self.where(column=name)} cannot be read{text}: write the file again"
            ) from error

    def texts(self, name: str) -> Strings:
        """Return a column of texts, "" where one is missing; anything but a string is a problem."""
        if self.kind(name) == "text" and not isinstance(column := self.column(name), list):
            return Strings.of_arrow(column)
        return self._strings(name, "text", "write each text as a string", lambda cell: None)

    def scalars(self, name: str, what: str, remedy: str) -> Strings:
        """Return a column of scalars that name something, as strings; a missing one or a list is a problem.

        `what` and `remedy` complete the sentences of the problems: "id", "give each row one".
        """
        column = self.column(name)
        if not isinstance(column, list) and self._is_spelt(name):
            strings = Strings.of_arrow(column)
        else:
            strings = self._strings(name, what, "give a string or a number", _name)
        empty = np.flatnonzero(strings.blank()).tolist()
        if not empty:
            return strings
        self.problems.add(
            f"empty {what}", f"{self.where(empty[0], name)}: empty {what}{and_more(empty)}: {remedy}", empty
        )
        nameless = {row: f"nameless-{row + 1}" for row in empty}  # a language tag, too; not used
        return Strings.of(nameless.get(row, text) for row, text in enumerate(strings))

    def _is_spelt(self, name: str) -> bool:
        """Return whether Arrow spells the cells of a column as Python does: strings and whole numbers."""
        return self.kind(name) in ("text", "code") and str(self._types[name]) != "bool"

    def _strings(self, name: str, what: str, remedy: str, convert: Callable[[Any], str | None]) -> Strings:
        """Return the cells of a column as strings; `convert` gives None for one that is a problem."""
        cells = self.load(name)
        texts = [
            cell if isinstance(cell, str) else "" if is_missing(cell) else convert(cell) for cell in cells
        ]
        if odd := [row for row, text in enumerate(texts) if text is None]:
            cases = [f"row {row + 1}: {described(cells[row])}" for row in odd[:3]]
            sentence = f"found {described(cells[odd[0]])} where a {what} is expected: {remedy}"
            self.problems.add(f"no {what}", f"{self.where(odd[0], name)}: {sentence}", odd, cases)
        try:
            return Strings.of(texts)
        except UnicodeEncodeError:
            whole = [(text or "").encode(errors="replace").decode() for text in texts]
        rows = [row for row, text in enumerate(texts) if (text or "") != whole[row]]
        sentence = "half of a surrogate pair (\\ud800 … \\udfff) is no character: write the whole character"
        self.problems.add("half a character", f"{self.where(rows[0], name)}: {sentence}", rows)
        return Strings.of(whole)

    def words(self, name: str, most: int, empty: str | None = None) -> Lookup[Any] | None:
        """Return a column as words, `empty` for a missing cell; None for no words, or more than `most`."""
        column = self.column(name)
        if not isinstance(column, list) and self._is_spelt(name):
            codes, cells = Strings.of_arrow(column).numbered()
            if len(cells) > most + 64:  # some may be blank
                return None
        else:
            codes, cells = np.arange(self.n_rows), self.load(name)  # type: ignore[assignment]
        numbers: dict[str, int] = {}
        spelt = (empty if is_missing(c) else str(c).encode(errors="replace").decode() for c in cells)
        places = [-1 if word is None else numbers.setdefault(word, len(numbers)) for word in spelt]
        return Lookup([*numbers], np.array(places)[codes]) if 0 < len(numbers) <= most else None

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers, NaN where a cell is missing or not finite."""
        column = self.column(name)
        if isinstance(column, list):
            values = np.array([_float(cell) for cell in column], dtype=np.float64)
        else:
            values = to_numpy(column.cast("float64"))
        return np.where(np.isfinite(values), values, np.nan)

    def check_unique(self, keys: Ints, where: str, names: Sequence[str], rows: Ints, remedy: str) -> bool:
        """Report a problem that names both rows where two keys are equal; `rows` are those of the table."""
        _, first, code = np.unique(keys, return_index=True, return_inverse=True)
        earlier = first[code.reshape(-1)]
        again = np.flatnonzero(earlier != np.arange(len(keys))).tolist()
        if not again:
            return True
        cases = [
            f"rows {rows[earlier[place]] + 1} and {rows[place] + 1} have the same id {names[place]!r:.80}"
            for place in again[:3]
        ]
        sentence = f"{where}: {cases[0]}{and_more(again)}: {remedy}"
        self.problems.add("same id", sentence, rows[again].tolist(), cases)
        return False


_TYPES: dict[Kind, Any] = {"text": str, "code": int, "number": (int, float)}


def columns_of_records(rows: Sequence[Mapping[str, Any]], source: str) -> dict[str, Any]:
    """Return the columns of rows, a cell that a row lacks as None: strings as Arrow, others as lists."""
    odd = next((place for place, row in enumerate(rows) if not isinstance(row, Mapping)), None)
    if odd is not None:
        expected = "expected a mapping of columns to values, such as {…}"
        raise InputError(f"{source}, row {odd + 1}: {expected}, found {described(rows[odd])}")
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        cells = [row.get(name) for row in rows]
        columns[str(name)] = cells
        if {*map(type, cells)} <= {str, type(None)}:
            with suppress(UnicodeEncodeError):  # half a surrogate pair: a problem where the column is used
                columns[str(name)] = _large_strings(cells)
    return columns or ({"": [None] * len(rows)} if rows else {})


def joined(tables: Sequence[Table], source: str, folder: Path | None, problems: Problems) -> Table:
    """Return the rows of all tables, one table after the other; they must have the same columns."""
    first = tables[0]
    for table in tables:
        if {*table.names} != {*first.names}:
            raise InputError(
                f"{table.source} and {Path(first.source).name} have different columns "
                f"({listed(sorted({*table.names} ^ {*first.names}))} only in one of them): "
                "write all parts of one table with the same columns"
            )
    same = [name for name in first.names if len({table.kind(name) for table in tables}) == 1]
    types = {name: first._types[name] if name in same else None for name in first.names}

    def read(name: str) -> Any:  # noqa: ANN401
        return concatenated([table.column(name) for table in tables])

    return Table(source, folder, sum(table.n_rows for table in tables), types, read, problems)


def concatenated(columns: Sequence[Any]) -> pa.ChunkedArray | list[Any]:
    """Return several columns, one after the other: of Arrow where all are of one type, or missing."""
    import pyarrow as pa

    types = {column.type for column in columns if not isinstance(column, list)}
    filled = any(isinstance(column, list) and any(c is not None for c in column) for column in columns)
    if filled or not types:
        lists = (column if isinstance(column, list) else column.to_pylist() for column in columns)
        return [cell for column in lists for cell in column]
    kind = next(iter(types)) if len(types) == 1 else pa.large_string()
    parts = [pa.chunked_array([pa.nulls(len(c), kind)]) if isinstance(c, list) else c for c in columns]
    return pa.chunked_array([chunk for part in parts for chunk in part.cast(kind).chunks], kind)


def check_names(names: Sequence[str], source: str) -> None:
    """Raise InputError where two columns have the same name."""
    doubled = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if doubled:
        raise InputError(
            f"{source} has more than one column {listed(map(repr, doubled), 5)}: rename all but one"
        )


def _large_strings(cells: Sequence[str | None]) -> pa.ChunkedArray:
    """Return strings as an Arrow column."""
    import pyarrow as pa

    return pa.chunked_array([from_strings(cells, pa.large_string())])


def _name(cell: Any) -> str | None:  # noqa: ANN401
    """Return a scalar as a string, 7.0 as 7; None for a list, a mapping, bytes or an array."""
    many = isinstance(cell, (bytes, bytearray, list, tuple, dict, set)) or hasattr(
        cell, "__array_interface__"
    )
    if many and getattr(cell, "shape", None) != ():  # which is that of a numpy number
        return None
    return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell)


def _float(cell: Any) -> float:  # noqa: ANN401
    """Return a cell as a number; NaN where it is missing, or a whole number beyond all floats."""
    try:
        return np.nan if cell is None else float(cell)
    except OverflowError:
        return np.nan


def described(value: Any) -> str:  # noqa: ANN401
    """Return what a value is, for an error: "the number 12", "a list"."""
    if isinstance(value, bool | int | float):
        return f"the {'truth value' if isinstance(value, bool) else 'number'} {value!s:.40}"
    names = {list: "a list", tuple: "a list", str: "a string", dict: "a mapping", type(None): "null"}
    return names.get(type(value), f"a value of type {type(value).__name__}")


def shown(values: Sequence[object], most: int = 3) -> str:
    """Return the first few values, quoted, and how many more there are."""
    first = listed(f"{value!r:.60}" for value in values[:most])
    return f"{first} and {len(values) - most} more" if len(values) > most else first


def and_more(rows: Sized, what: str = "rows") -> str:
    """Return " (and 3 more rows)" where there is more than one."""
    return f" (and {len(rows) - 1} more {what})" if len(rows) > 1 else ""


def first_line(error: Exception, most: int = 200) -> str:
    """Return the first line of a library's error message, cut to `most` characters."""
    return next(iter(str(error).splitlines()), "")[:most] or type(error).__name__
