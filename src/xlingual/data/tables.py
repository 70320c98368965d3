"""Tables: named columns before their meaning is known, and the problems that are found in them.

A column is an Arrow array where it can be, and a list where its cells are of several types. Arrow columns are
validated in full: offsets of a damaged file that lead anywhere would end the interpreter when followed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.arrow import from_strings, to_numpy
from xlingual.columns import Lookup, Strings
from xlingual.data.rows import is_missing, numbered
from xlingual.errors import InputError, did_you_mean, listed, warn

if TYPE_CHECKING:
    import pyarrow as pa

Key = TypeVar("Key", bound=Hashable)
Severity = Literal["error", "warning", "note"]
Kind = Literal["text", "code", "number", "other"]  # strings; whole numbers or truths; other numbers


@dataclass(frozen=True)
class Problem:
    """One kind of problem of a file, wherever it occurs."""

    severity: Severity
    kind: str  # a short name that does not change, for programs
    sentence: str  # one line: where, what was found (the first time), what to do
    rows: Sequence[int] = ()  # 0-based rows of the table that cannot be used
    examples: Sequence[str] = ()

    @property
    def times(self) -> int:
        """How often it occurs."""
        return max(1, len(self.rows))


class Problems(list[Problem]):
    """The problems of a file; where not gathered, the first error is raised, others are warned of."""

    def __init__(self, *, gathered: bool) -> None:
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
        folder: Path | None,
        n_rows: int,
        types: Mapping[str, pa.DataType | None],
        read: Callable[[str], pa.ChunkedArray | list[Any]],
        problems: Problems | None = None,
    ) -> None:
        self.source, self.folder, self.n_rows = source, folder, n_rows  # images lie in `folder`
        self.names, self._types, self._read = tuple(types), types, read
        self.problems = Problems(gathered=False) if problems is None else problems
        self._columns: dict[str, pa.ChunkedArray | list[Any]] = {}
        self._kinds: dict[str, Kind] = {}

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
        types = dict(zip(schema.names, schema.types, strict=True))
        classes = {name: words for name, words in _classes(schema).items() if name in types}
        classes = {name: words for name, words in classes.items() if pa.types.is_integer(types[name])}

        def column(name: str) -> pa.ChunkedArray:
            cells = _sound(read(name), source, name)
            if name not in classes:
                return cells
            words = [*classes[name], None]
            places = (place if place is not None else -1 for place in cells.to_pylist())  # -1: none
            texts = [words[place] if 0 <= place < len(words) else None for place in places]
            return pa.chunked_array([from_strings(texts, pa.large_string())])

        types |= dict.fromkeys(classes, pa.large_string())
        return cls(source, folder, n_rows, types, column, problems)

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
        if name not in self._kinds:
            self._kinds[name] = _kind(self._types[name] or self.column(name)) if name else "other"
        return self._kinds[name]

    def column(self, name: str) -> pa.ChunkedArray | list[Any]:
        """Return a column, which is read once."""
        if name not in self._columns:
            self._columns[name] = self._read(name)
        return self._columns[name]

    def load(self, name: str) -> list[Any]:
        """Return a column as Python values."""
        column = self.column(name)
        try:
            return column if isinstance(column, list) else list(column.to_pylist())
        except Exception as error:  # dates before the year 1, unknown time zones, of damaged files: any kind
            raise InputError(
                f"{self.source}, column {name!r} cannot be read ({first_line(error, 100)}): write it again"
            ) from error

    def texts(self, name: str) -> Strings:
        """Return a column of texts, "" where one is missing; anything but a string is a problem."""
        if self.kind(name) == "text" and not isinstance(column := self.column(name), list):
            return Strings.of_arrow(column)
        expected = "a text is expected: write it as a string, or rename the column if it holds no texts"
        return self._strings(name, "no text", f"where {expected}", lambda cell: None)

    def scalars(self, name: str, what: str, remedy: str) -> Strings:
        """Return a column of scalars that name something, as strings; a missing one or a list is a problem.

        `what` and `remedy` complete the sentences of the problems: "id", "give each row one".
        """
        kind, column = self.kind(name), self.column(name)
        is_whole = kind == "code" and str(self._types[name]) != "bool"
        if not isinstance(column, list) and (kind == "text" or is_whole):
            strings = Strings.of_arrow(column)
        else:
            strings = self._strings(name, f"no {what}", f"as {what}: give a string or a number", _name)
        empty = np.flatnonzero(strings.blank()).tolist()
        if empty:
            sentence = f"{self.where(empty[0], name)}: empty {what}{and_more(empty)}: {remedy}"
            self.problems.add(f"empty {what}", sentence, empty)
            nameless = {row: f"nameless-{row + 1}" for row in empty}  # a language tag, too; not used
            return Strings.of(nameless.get(row, text) for row, text in enumerate(strings))
        return strings

    def _strings(self, name: str, kind: str, expected: str, convert: Callable[[Any], str | None]) -> Strings:
        """Return the cells of a column as strings; `convert` gives None for one that is a problem."""
        cells = self.load(name)
        texts = [
            cell if isinstance(cell, str) else "" if is_missing(cell) else convert(cell) for cell in cells
        ]
        if None in texts:
            odd = [row for row, text in enumerate(texts) if text is None]
            examples = [f"row {row + 1}: {described(cells[row])}" for row in odd[:3]]
            sentence = f"{self.where(odd[0], name)}: found {described(cells[odd[0]])} {expected}"
            self.problems.add(kind, sentence, odd, examples)
        try:
            return Strings.of(texts)
        except UnicodeEncodeError:
            rows = [row for row, text in enumerate(texts) if text and not encodes(text)]
        self.problems.add(
            "half a character",
            f"{self.where(rows[0], name)}: half of a surrogate pair (\\ud800 … \\udfff) is no character: "
            "remove it, or write the pair or the character itself",
            rows,
        )
        return Strings.of((text or "").encode(errors="replace").decode() for text in texts)

    def words(self, name: str, most: int, empty: str | None = None) -> Lookup[Any] | None:
        """Return a column as words, `empty` for a missing cell; None for no words, or more than `most`."""
        column = self.column(name)
        if self.kind(name) == "text" and not isinstance(column, list):
            codes, words = Strings.of_arrow(column).numbered()
            values: Sequence[Any] = words if len(words) <= most + 64 else ()  # some may be blank
        else:
            cells = self.load(name)
            if odd := [row for row, cell in enumerate(cells) if not isinstance(cell, Hashable)]:
                place = f"{self.where(odd[0], name)}: found {described(cells[odd[0]])}"
                self.problems.add(f"no {name}", f"{place}: give a string or a number", odd)
                cells = [cell if isinstance(cell, Hashable) else None for cell in cells]
            codes, keys = numbered((type(cell), cell) for cell in cells)  # True is no 1
            values = [cell for _, cell in keys]
        numbers: dict[str, int] = {}
        spelt = (empty if is_missing(value) else str(value) for value in values)
        places = [-1 if word is None else numbers.setdefault(word, len(numbers)) for word in spelt]
        if not numbers or len(numbers) > most:
            return None
        return Lookup(list(numbers), np.array(places, dtype=np.int64)[codes])

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers, NaN where a cell is missing or not finite."""
        column = self.column(name)
        if isinstance(column, list):
            values = np.array([_float(cell) for cell in column], dtype=np.float64)
        else:
            import pyarrow as pa

            values = to_numpy(column.cast(pa.float64()))
        return np.where(np.isfinite(values), values, np.nan)

    def check_unique(self, keys: Ints, where: str, names: Sequence[str], rows: Ints, remedy: str) -> bool:
        """Report a problem that names both rows where two keys are equal; `rows` are those of the table."""
        if len(distinct_values(keys)) == len(keys):
            return True
        first = np.unique(keys, return_index=True, return_inverse=True)
        earlier = first[1][first[2].reshape(-1)]
        again = np.flatnonzero(earlier != np.arange(len(keys))).tolist()
        pairs = [(int(rows[earlier[place]]) + 1, int(rows[place]) + 1, names[place]) for place in again[:3]]
        more = f" ({len(again) - 1} more rows repeat an id)" if len(again) > 1 else ""
        one, other, name = pairs[0]
        self.problems.add(
            "same id",
            f"{where}: rows {one} and {other} have the same id {name!r:.80}{more}: {remedy}",
            rows[again].tolist(),
            [f"rows {one} and {other}: {name!r:.60}" for one, other, name in pairs],
        )
        return False


def columns_of_records(rows: Sequence[Mapping[str, Any]], source: str) -> dict[str, Any]:
    """Return the columns of rows, a cell that a row lacks as None: strings as Arrow, others as lists."""
    import pyarrow as pa

    odd = next((place for place, row in enumerate(rows) if not isinstance(row, Mapping)), None)
    if odd is not None:
        raise InputError(
            f"{source}, row {odd + 1}: expected a mapping of columns to values, found {rows[odd]!r:.60}"
        )
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        cells = [row.get(name) for row in rows]
        columns[str(name)] = cells
        if {*map(type, cells)} <= {str, type(None)}:
            with suppress(UnicodeEncodeError):  # half a surrogate pair: a problem where the column is used
                columns[str(name)] = pa.chunked_array([from_strings(cells, pa.large_string())])
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
    types = {name: first._types[name] for name in first.names}
    for name in first.names:
        if {table.kind(name) for table in tables} != {first.kind(name)}:
            types[name] = None

    def read(name: str) -> Any:  # noqa: ANN401
        return concatenated([table.column(name) for table in tables])

    return Table(source, folder, sum(table.n_rows for table in tables), types, read, problems)


def concatenated(columns: Sequence[Any]) -> pa.ChunkedArray | list[Any]:
    """Return several columns, one after the other: of Arrow where all are, or are missing, of one type."""
    import pyarrow as pa

    empty = [isinstance(column, list) and not any(cell is not None for cell in column) for column in columns]
    types = {column.type for column in columns if not isinstance(column, list)}
    if any(isinstance(column, list) and not e for column, e in zip(columns, empty, strict=True)) or not types:
        every = (column if isinstance(column, list) else column.to_pylist() for column in columns)
        return [cell for column in every for cell in column]
    kind = next(iter(types)) if len(types) == 1 else pa.large_string()
    parts = [
        pa.nulls(len(c), kind) if isinstance(c, list) else c.cast(kind).combine_chunks() for c in columns
    ]
    return pa.chunked_array(parts, kind)


def _kind(column: Any) -> Kind:  # noqa: ANN401  (an Arrow type, or a list of cells)
    """Return what a column holds besides missing cells."""
    import pyarrow as pa

    if isinstance(column, list):
        types = {type(cell) for cell in column} - {type(None)}
        for kind, allowed in (("text", str), ("code", int), ("number", (int, float))):
            if types and all(issubclass(each, allowed) for each in types):
                return kind  # type: ignore[return-value]
        return "other"
    column = column.value_type if pa.types.is_dictionary(column) else column
    if str(column) in {"string", "large_string", "string_view", "null"}:
        return "text"
    if pa.types.is_integer(column) or pa.types.is_boolean(column):
        return "code"
    return "number" if pa.types.is_floating(column) or pa.types.is_decimal(column) else "other"


def _sound(column: pa.ChunkedArray, source: str, name: str) -> pa.ChunkedArray:
    """Return a column, validated in full; raise InputError where it is damaged."""
    import pyarrow as pa

    try:
        column.validate(full=True)
        return column
    except pa.ArrowException as error:
        reason = first_line(error)
        if "UTF8" in reason:
            raise InputError(
                f"{source}, column {name!r} holds text that is not UTF-8: write it again as UTF-8"
            ) from error
        raise InputError(
            f"{source}, column {name!r} cannot be read ({reason}): write the file again"
        ) from error


def _classes(schema: pa.Schema) -> dict[str, list[str]]:
    """Return the names of the classes of each column that has some, as Hugging Face datasets writes them."""
    try:
        features: Any = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        return {
            column: [str(name) for name in feature["names"]]
            for column, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
        }
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {}


def check_names(names: Sequence[str], source: str) -> None:
    """Raise InputError where two columns have the same name."""
    doubled = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if doubled:
        raise InputError(
            f"{source} has more than one column {listed(map(repr, doubled), 5)}: rename all but one"
        )


def _name(cell: Any) -> str | None:  # noqa: ANN401
    """Return a scalar as a string; None for a list, a mapping, bytes or an array, which can be no name.

    Whole numbers become floats in many tools once a column has a gap: 7.0 names what 7 names.
    """
    is_many = isinstance(cell, (bytes, bytearray, list, tuple, dict, set)) or hasattr(
        cell, "__array_interface__"
    )
    if is_many and getattr(cell, "shape", None) != ():  # which is that of a numpy number
        return None
    return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell)


def _float(cell: Any) -> float:  # noqa: ANN401
    """Return a cell as a number; NaN where it is missing, or a whole number beyond all floats."""
    try:
        return np.nan if cell is None else float(cell)
    except OverflowError:
        return np.nan


def encodes(text: str) -> bool:
    """Return whether a text can be UTF-8: half a surrogate pair, which JSON can spell, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def described(value: Any) -> str:  # noqa: ANN401
    """Return what a value is, for an error: "the number 12", "a list"."""
    match value:
        case bool():
            return f"the truth value {value}"
        case int() | float():
            return f"the number {value}"
        case bytes() | bytearray():
            return f"{len(value)} bytes"
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
