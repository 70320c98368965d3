"""Objects in memory as tables: data frames, Arrow, data sets, lists of records, mappings of columns.

Objects are known by what they offer, never by their library, and no library is imported for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xlingual.data.tables import (
    Problems,
    Table,
    check_names,
    columns_of_records,
    described,
    first_line,
    joined,
)
from xlingual.errors import InputError

TAKEN = (
    "a path, a pandas or polars data frame, an Arrow table, a Dataset or DatasetDict of "
    "Hugging Face, or a list of records such as [{'lang': 'en', 'text': 'a red shoe'}]"
)


def table_of(data: Any, folder: Path | None, problems: Problems | None = None) -> Table:  # noqa: ANN401
    """Return the table of an object in memory; raise InputError where it is of no such kind.

    A mapping of names to tables (a DatasetDict) is one table, with the names in a column `split`.
    """
    import pyarrow as pa

    name = type(data).__name__
    problems = Problems() if problems is None else problems
    if isinstance(data, Mapping):
        return _of_mapping(data, folder, problems)
    if name == "LazyFrame":
        data = data.collect()
    is_frame, rows = hasattr(data, "columns"), None
    try:
        if is_frame and any(str(kind) == "Object" for kind in getattr(data, "dtypes", ())):
            rows = data.to_dicts()  # polars would give addresses of its Python objects
        elif hasattr(data, "features") and hasattr(data, "with_format") and hasattr(data, "__len__"):
            data = data.with_format("arrow")[:]  # a Dataset, whose rows may be chosen and in another order
        elif is_frame and hasattr(data, "iloc"):
            data = _of_pandas(data)
        if hasattr(data, "columns") or hasattr(data, "schema"):
            streams = any(hasattr(data, f"__arrow_c_{way}__") for way in ("stream", "array"))
            if streams and rows is None:
                table = data if isinstance(data, pa.Table) else pa.table(data)
                read = table.column
                return Table.of_schema(f"the {name}", folder, len(table), table.schema, read, problems)
    except pa.ArrowException as error:
        raise InputError(f"the {name} cannot be read ({first_line(error)}): give {TAKEN}") from error
    if rows is None and isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        rows = list(data)
    if rows is None or not all(isinstance(row, Mapping) for row in rows):
        raise InputError(
            f"expected a table of texts, found {described(data)}: give {TAKEN}, or columns by name"
        )
    source = "the given data" if isinstance(data, Sequence) else f"the {name}"
    return Table.of_columns(source, folder, columns_of_records(rows, source), problems)


def _of_pandas(frame: Any) -> Any:  # noqa: ANN401
    """Return a frame of pandas as an Arrow table; as records where cells are images or of several types."""
    import pyarrow as pa

    names = [str(column) for column in frame.columns]  # pandas allows a name twice, and numbers
    check_names(names, f"the {type(frame).__name__}")
    frame = frame if names == list(frame.columns) else frame.set_axis(names, axis=1)
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except pa.ArrowException:
        cells = frame.astype(object)
        return cells.where(cells.notna(), None).to_dict("records")


def _of_mapping(data: Mapping[Any, Any], folder: Path | None, problems: Problems) -> Table:
    """Return the table of a mapping: of splits to tables, or of columns to their cells."""
    source = "the given data"
    if data and all(_is_table(part) for part in data.values()):
        tables = []
        for split, part in data.items():
            table = table_of(part, folder, problems)
            columns = {name: table.column(name) for name in table.names}
            columns |= columns_of_records([{"split": str(split)}] * table.n_rows, source)
            where = f"the {type(data).__name__}, split {str(split)!r}"
            tables.append(Table.of_columns(where, folder, columns, problems))
        return joined(tables, f"the {type(data).__name__}", folder, problems)
    columns = {}
    for name, cells in data.items():
        convert = next(
            (getattr(cells, way) for way in ("tolist", "to_list", "to_pylist") if hasattr(cells, way)), None
        )
        columns[str(name)] = cells if convert is None else convert()
        if not isinstance(columns[str(name)], Sequence) or isinstance(columns[str(name)], (str, bytes)):
            raise InputError(
                f"column {name!r} is {described(cells)}, expected the cells of a column: give {TAKEN}"
            )
    if len({len(cells) for cells in columns.values()}) > 1:
        sizes = {name: len(cells) for name, cells in columns.items()}
        raise InputError(
            f"the columns of the given mapping have different lengths ({sizes}): make them equal"
        )
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return Table.of_columns(source, folder, columns_of_records(rows, source), problems)


def _is_table(part: object) -> bool:
    """Return whether an object is a whole table, and no column (which may give itself as Arrow, too)."""
    if isinstance(part, Sequence) and part:
        return all(isinstance(row, Mapping) for row in part)
    columns = any(getattr(part, name, None) is not None for name in ("columns", "column_names"))
    return type(part).__name__ == "IterableDataset" or (columns and not isinstance(part, Mapping))
