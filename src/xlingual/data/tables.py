"""Tables of texts before the meaning of their columns is known, and the problems of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Sized
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

    @property
    def bad_rows(self) -> set[int]:
        """The rows of the table that have an error."""
        return {row for problem in self if problem.severity == "error" for row in problem.rows}


@dataclass
class Table:
    """Named columns of n rows: Arrow arrays, or lists of cells that are no scalars (images of Pillow …)."""

    source: str  # for messages
    folder: Path | None  # images lie in it
    columns: dict[str, pa.ChunkedArray | list[Any]]
    n_rows: int
    problems: Problems

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def where(self, row: int | None = None, column: str | None = None) -> str:
        """Say "file, row 3, column 'text'" for the 0-based row."""
        at = "" if row is None else f", row {row + 1}"
        return f"{self.source}{at}" + ("" if column is None else f", column {column!r}")

    def require(self, name: str, option: str = "") -> str:
        """Check that there is such a column; raise InputError where there is none."""
        if name not in self.columns:
            raise InputError(
                f"{self.source} has no column {name!r}{option and f' ({option})'}."
                f"{did_you_mean(name, self.columns)} Its columns: {listed(self.columns, 20)}"
            )
        return name

    def kind(self, name: str) -> Kind:
        """Say what a column holds besides missing cells."""
        column = self.columns[name]
        return "other" if isinstance(column, list) else kind_of(column.type)

    def cells(self, name: str) -> list[Any]:
        """Take a column as Python values."""
        column = self.columns[name]
        try:
            return column if isinstance(column, list) else column.to_pylist()
        except Exception as error:  # dates before the year 1, unknown time zones, damage: of any kind
            raise InputError(f"{self.where(column=name)} cannot be read ({first_line(error)})") from error

    def texts(self, name: str) -> Strings:
        """Take a column of texts, "" where one is missing; raise InputError for one of anything else."""
        column = self.columns[name]
        if isinstance(column, list) or kind_of(column.type) != "text":
            row, cell = self._example(name)
            found = f"found {described(cell)} where a text is expected"
            raise InputError(f"{self.where(row, name)}: {found}: write each text as a string")
        return Strings.of_arrow(column)

    def scalars(self, name: str, what: str, remedy: str) -> Strings:
        """Take a column of scalars that name something, as strings; a missing one is a problem.

        `what` and `remedy` complete the sentences of the problems: "id", "give each row one".
        """
        import pyarrow as pa

        column = self.columns[name]
        if isinstance(column, list) or kind_of(column.type) == "other":
            row, cell = self._example(name)
            found = f"found {described(cell)} where a {what} is expected"
            raise InputError(f"{self.where(row, name)}: {found}: give a string or a number")
        if pa.types.is_floating(column.type):
            cells = (None if value is None or value != value else value for value in self.cells(name))
            names = [None if c is None else str(int(c) if float(c).is_integer() else c) for c in cells]
            column = pa.chunked_array([from_strings(names, pa.large_string())])
        strings = Strings.of_arrow(column)
        if (blank := strings.blank()).any():
            bad = self.problems.bad_rows
            nameless = np.flatnonzero(blank).tolist()
            if empty := [row for row in nameless if row not in bad]:
                sentence = f"{self.where(empty[0], name)}: empty {what}{and_more(empty)}: {remedy}"
                self.problems.add(f"empty {what}", sentence, empty)
            filled = {row: f"nameless-{row + 1}" for row in nameless}  # a language tag, too; not used
            strings = Strings.of(filled.get(row, text) for row, text in enumerate(strings))
        return strings

    def _example(self, name: str) -> tuple[int, Any]:
        """Find the first cell of a column that is not missing."""
        return next(
            ((row, cell) for row, cell in enumerate(self.cells(name)) if not is_missing(cell)), (0, None)
        )

    def words(self, name: str, most: int, empty: str | None = None) -> Lookup[Any] | None:
        """Take a column as words, `empty` for a missing cell; None for no words, or more than `most`."""
        import pyarrow as pa

        column = self.columns[name]
        if isinstance(column, list):
            return None
        if str(column.type) == "bool":
            names = [None if cell is None else str(cell) for cell in column.to_pylist()]
            column = pa.chunked_array([from_strings(names, pa.large_string())])
        codes, cells = Strings.of_arrow(column).numbered()
        if len(cells) > most + 64:  # some may be blank
            return None
        numbers: dict[str, int] = {}
        spelt = (empty if is_missing(cell) else cell for cell in cells)
        places = [-1 if word is None else numbers.setdefault(word, len(numbers)) for word in spelt]
        return Lookup([*numbers], np.array(places)[codes]) if 0 < len(numbers) <= most else None

    def numbers(self, name: str) -> Floats:
        """Take a column of numbers, NaN where a cell is missing or not finite."""
        values = to_numpy(self.columns[name].cast("float64", safe=False))  # type: ignore[union-attr]
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


def kind_of(type: pa.DataType) -> Kind:
    """Say what an Arrow type holds."""
    import pyarrow as pa

    type = type.value_type if pa.types.is_dictionary(type) else type
    if str(type) in ("string", "large_string", "string_view", "null"):
        return "text"
    if pa.types.is_integer(type) or pa.types.is_boolean(type):
        return "code"
    return "number" if pa.types.is_floating(type) or pa.types.is_decimal(type) else "other"


def check_names(names: Sequence[str], source: str) -> None:
    """Raise InputError where two columns have the same name."""
    doubled = sorted(name for name, count in Counter(names).items() if name and count > 1)
    if doubled:
        raise InputError(
            f"{source} has more than one column {listed(map(repr, doubled), 5)}: rename all but one"
        )


def described(value: Any) -> str:  # noqa: ANN401
    """Say what a value is, for an error: "the number 12", "a list"."""
    if isinstance(value, bool | int | float):
        return f"the {'truth value' if isinstance(value, bool) else 'number'} {value!s:.40}"
    names = {list: "a list", tuple: "a list", str: "a string", dict: "a mapping", type(None): "null"}
    return names.get(type(value), f"a value of type {type(value).__name__}")


def shown(values: Sequence[object], most: int = 3) -> str:
    """Quote the first few values, and say how many more there are."""
    first = listed(f"{value!r:.60}" for value in values[:most])
    return f"{first} and {len(values) - most} more" if len(values) > most else first


def and_more(rows: Sized, what: str = "rows") -> str:
    """Say " (and 3 more rows)" where there is more than one."""
    return f" (and {len(rows) - 1} more {what})" if len(rows) > 1 else ""


def first_line(error: Exception, most: int = 200) -> str:
    """Take the first line of a library's error message, cut to `most` characters."""
    return next(iter(str(error).splitlines()), "")[:most] or type(error).__name__
