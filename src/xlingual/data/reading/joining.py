"""Several tables as one: the shards of a table, and the splits of a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.arrow import scalar
from xlingual.data.reading.problems import STRICT, Reading
from xlingual.data.reading.tables import SourceTable
from xlingual.errors import InputError, listed

if TYPE_CHECKING:
    import pyarrow as pa

SPLIT = "split"


def joined(
    tables: Sequence[SourceTable], source: str, folder: Path | None, reading: Reading = STRICT
) -> SourceTable:
    """Return the rows of all tables, one table after the other; images lie in `folder`.

    Raises InputError where the tables have different columns.
    """
    first = tables[0]
    for table in tables:
        if set(table.names) != set(first.names):
            raise InputError(
                f"{table.source} and {Path(first.source).name} have different columns "
                f"({listed(sorted({*table.names} ^ {*first.names}))} only in one of them): "
                "write all shards of one table with the same columns"
            )

    def arrow(name: str) -> pa.ChunkedArray | None:
        import pyarrow as pa

        parts = [table.arrow(name) for table in tables]
        if any(part is None for part in parts):
            return None
        return pa.chunked_array(
            [chunk for part in parts if part is not None for chunk in part.cast(pa.large_string()).chunks],
            pa.large_string(),
        )

    return SourceTable(
        source,
        folder,
        first.names,
        sum(table.n_rows for table in tables),
        load=lambda name: [cell for table in tables for cell in table.load(name)],
        is_text=lambda name: all(table.is_text(name) for table in tables),
        is_code=lambda name: all(table.is_code(name) for table in tables),
        is_number=lambda name: all(table.is_number(name) for table in tables),
        arrow=arrow,
        reading=reading,
    )


def as_splits(
    tables: Mapping[str, SourceTable], source: str, folder: Path | None, reading: Reading = STRICT
) -> SourceTable:
    """Return the rows of all splits, with the name of each row's split in the column `split`."""
    named = [
        replace(_with_split(table, name), source=f"{source}, split {name!r}")
        for name, table in tables.items()
    ]
    return joined(named, source, folder, reading)


def _with_split(table: SourceTable, split: str) -> SourceTable:
    """Return a table with a column `split` that has one value in all rows, in place of one of its own."""

    def load(name: str) -> list[Any]:
        return [split] * table.n_rows if name == SPLIT else table.load(name)

    def arrow(name: str) -> pa.ChunkedArray | None:
        import pyarrow as pa

        if name != SPLIT:
            return table.arrow(name)
        return pa.chunked_array([pa.repeat(scalar(split, pa.large_string()), table.n_rows)])

    return replace(
        table,
        names=tuple(dict.fromkeys((*table.names, SPLIT))),
        load=load,
        is_text=lambda name: name == SPLIT or table.is_text(name),
        is_code=lambda name: name != SPLIT and table.is_code(name),
        is_number=lambda name: name != SPLIT and table.is_number(name),
        arrow=arrow,
    )
