"""Gathering the rows of a text format into columns, block by block, so that few cells are Python objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.arrow import from_strings
from xlingual.data.reading.problems import STRICT, Reading
from xlingual.data.reading.tables import SourceTable, check_names
from xlingual.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1 << 15  # rows gathered before they are put away
_PLAIN = (str, int, float, bool, type(None))  # cells that are kept; lists and mappings are read again


class Gathered:
    """Columns of rows that arrive in blocks: strings as Arrow arrays, other plain values as lists.

    A column that holds lists or mappings (vectors, images in bytes) is not kept: `again` yields its cells
    from the file when it is asked for.
    """

    def __init__(self, again: Callable[[str], Iterator[Any]] | None = None) -> None:
        self.n_rows = 0
        self._again = again
        self._blocks: dict[str, list[pa.LargeStringArray | list[Any] | None]] = {}
        self._kinds: defaultdict[str, set[type]] = defaultdict(set)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order in which they came."""
        return tuple(self._blocks)

    def add(self, columns: Mapping[str, Sequence[Any]], count: int) -> None:
        """Take the cells of `count` further rows; a column that is not among them is missing there."""
        for name in columns:
            self._blocks.setdefault(name, [_nothing(self.n_rows)] if self.n_rows else [])
        for name, blocks in self._blocks.items():
            cells = columns.get(name)
            if cells is None:
                blocks.append(_nothing(count))
                continue
            kinds = set(map(type, cells))
            self._kinds[name] |= kinds - {type(None)}
            blocks.append(_put_away(cells, kinds, self._again is not None))
        self.n_rows += count

    def take(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take further rows as mappings; a key that a row lacks is missing there."""
        names = dict.fromkeys(name for row in rows for name in row)
        self.add({str(name): [row.get(name) for row in rows] for name in names}, len(rows))

    def take_lines(self, lines: Sequence[Sequence[Any]]) -> None:
        """Take further rows of cells, whose columns are named by their places: a name may stand twice."""
        columns = zip(*lines, strict=True)
        self.add({str(place): column for place, column in enumerate(columns)}, len(lines))

    def load(self, name: str) -> list[Any]:
        """Return a column as Python values."""
        blocks = self._blocks[name]
        if any(block is None for block in blocks) and self._again is not None:
            return list(self._again(name))
        whole = (
            block if isinstance(block, list) else block.to_pylist() for block in blocks if block is not None
        )
        return list(chain.from_iterable(whole))

    def arrow(self, name: str) -> pa.ChunkedArray | None:
        """Return a column of strings, None where it holds anything else."""
        import pyarrow as pa

        blocks = self._blocks[name]
        if any(block is None or isinstance(block, list) for block in blocks):
            return None
        return pa.chunked_array(blocks, pa.large_string())

    def holds(self, name: str, kinds: type | tuple[type, ...]) -> bool:
        """Return whether a column holds values of some kinds, and nothing else but missing ones."""
        found = self._kinds[name]
        return bool(found) and all(issubclass(kind, kinds) for kind in found)


def table_of(gathered: Gathered, source: str, folder: Path | None, reading: Reading = STRICT) -> SourceTable:
    """Return the table of columns that were gathered by their names."""
    check_names(gathered.names, source)
    return SourceTable(
        source,
        folder,
        gathered.names,
        gathered.n_rows,
        gathered.load,
        is_text=lambda name: gathered.holds(name, str),
        is_code=lambda name: gathered.holds(name, (int, bool)),
        is_number=lambda name: gathered.holds(name, (int, float)),
        arrow=gathered.arrow,
        reading=reading,
    )


def table_of_rows(rows: Sequence[Mapping[str, Any]], source: str, folder: Path | None) -> SourceTable:
    """Return a table of mappings; a key that a row lacks is a missing value."""
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise InputError(
                f"{source}, row {number}: expected a mapping of columns to values, found {row!r:.60}"
            )
    gathered = Gathered()
    gathered.take(rows)
    return table_of(gathered, source, folder)


def table_of_strings(gathered: Gathered, header: Sequence[str], path: Path, reading: Reading) -> SourceTable:
    """Return the table of columns that were gathered by their places, "0", "1" …, and their names."""
    check_names(header, str(path))
    place = {name: str(number) for number, name in enumerate(header)}
    return SourceTable(
        str(path),
        path.parent,
        tuple(header),
        gathered.n_rows,
        load=lambda name: gathered.load(place[name]) if gathered.n_rows else [],
        is_text=lambda name: bool(name),  # a column without a name is an index that another tool wrote
        arrow=lambda name: gathered.arrow(place[name]) if gathered.n_rows else None,
        reading=reading,
    )


def _put_away(
    cells: Sequence[Any], kinds: set[type], may_drop: bool
) -> pa.LargeStringArray | list[Any] | None:
    import pyarrow as pa

    if kinds <= {str, type(None)}:
        try:
            return from_strings(cells, pa.large_string())
        except UnicodeEncodeError:  # half a surrogate pair: refused where the column is used
            return list(cells)
    return list(cells) if kinds <= set(_PLAIN) or not may_drop else None


def _nothing(count: int) -> pa.LargeStringArray:
    import pyarrow as pa

    return pa.nulls(count, pa.large_string())
