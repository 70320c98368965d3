"""Objects in memory as tables: data frames, Arrow, data sets, lists of records, mappings of columns.

Objects are known by what they offer, never by their library, and no library is imported for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.arrow import from_strings
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

if TYPE_CHECKING:
    import pyarrow as pa

TAKEN = (
    "a path, a pandas or polars data frame, an Arrow table, a Dataset or DatasetDict of "
    "Hugging Face, or a list of records such as [{'lang': 'en', 'text': 'a red shoe'}]"
)


def table_of(data: Any, folder: Path | None, problems: Problems | None = None) -> Table:  # noqa: ANN401
    """Return the table of an object in memory; raise InputError where it is none that is known.

    Objects are known by what they offer, never by their library, and no library is imported for them. A
    mapping of names to tables (a DatasetDict) is one table, with the names in a column `split`.
    """
    name = type(data).__name__
    problems = Problems(gathered=False) if problems is None else problems
    if isinstance(data, Mapping):
        return _of_mapping(data, folder, problems)
    if callable(getattr(data, "collect", None)) and name == "LazyFrame":
        data = data.collect()
    table = _arrow_of(data)
    if table is not None:
        return Table.of_schema(f"the {name}", folder, len(table), table.schema, table.column, problems)
    rows: Any = None
    if callable(getattr(data, "to_dicts", None)):  # polars
        rows = data.to_dicts()
    elif callable(getattr(data, "to_dict", None)) and hasattr(data, "columns"):  # pandas
        is_named = any(name is not None for name in getattr(getattr(data, "index", None), "names", ()))
        frame = (data.reset_index() if is_named else data).astype(object)
        rows = frame.where(frame.notna(), None).rename(columns=str).to_dict("records")
    elif isinstance(data, Iterable) and not isinstance(data, (str, bytes)) and not _is_column(data):
        rows = list(data)
    if rows is None or not all(isinstance(row, Mapping) for row in rows):
        raise InputError(
            f"expected a table of texts, found {described(data)}: give {TAKEN}, or columns by name, "
            "{'text_en': column}"
        )
    source = "the given data" if isinstance(data, Sequence) else f"the {name}"
    return Table.of_columns(source, folder, columns_of_records(rows, source), problems)


def _of_mapping(data: Mapping[Any, Any], folder: Path | None, problems: Problems) -> Table:
    """Return the table of a mapping: of splits to tables, or of columns to their cells."""
    import pyarrow as pa

    if data and all(_is_table(part) for part in data.values()):
        tables = []
        for split, part in data.items():
            table = table_of(part, folder, problems)
            column = {name: table.column(name) for name in table.names if name != "split"}
            column["split"] = pa.chunked_array([from_strings([str(split)] * table.n_rows, pa.large_string())])
            source = f"the {type(data).__name__}, split {str(split)!r}"
            tables.append(Table.of_columns(source, folder, column, problems))
        return joined(tables, f"the {type(data).__name__}", folder, problems)
    columns = {str(name): _cells(cells) for name, cells in data.items()}
    sizes = {name: len(cells) for name, cells in columns.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(
            f"the columns of the given mapping have different lengths ({sizes}): make them equal"
        )
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    source = "the given data"
    return Table.of_columns(source, folder, columns_of_records(rows, source), problems)


def _cells(cells: Any) -> list[Any]:  # noqa: ANN401
    names = ("tolist", "to_list", "to_pylist")
    convert = next((getattr(cells, name) for name in names if callable(getattr(cells, name, None))), None)
    values = cells if convert is None else convert()
    if isinstance(values, Sequence) and not isinstance(values, (str, bytes)):
        return list(values)
    raise InputError(f"found {described(values)} where the cells of a column are expected: give {TAKEN}")


def _is_column(data: object) -> bool:
    """Return whether an object is a column, not of records: as pandas, polars, Arrow and numpy have them."""
    if any(hasattr(data, name) for name in ("columns", "column_names", "schema")):
        return False
    kind = getattr(data, "dtype", None) or (hasattr(data, "to_pylist") and getattr(data, "type", None))
    return bool(kind) and "struct" not in str(kind).lower()


def _is_table(part: object) -> bool:
    """Return whether an object is a whole table, and no column (which may give itself as Arrow, too)."""
    columns = getattr(part, "columns", None) is not None or getattr(part, "column_names", None) is not None
    rows = isinstance(part, Sequence) and bool(part) and all(isinstance(row, Mapping) for row in part)
    return type(part).__name__ == "IterableDataset" or rows or (columns and not isinstance(part, Mapping))


def _arrow_of(data: Any) -> pa.Table | None:  # noqa: ANN401
    """Return an object as an Arrow table; None where it is none, or has cells that Arrow does not know."""
    import pyarrow as pa

    name, is_pandas = type(data).__name__, hasattr(data, "iloc") and hasattr(data, "columns")
    if _is_column(data) or any(str(kind) == "Object" for kind in getattr(data, "dtypes", ())):
        return None  # polars gives addresses of Python objects
    try:
        if (
            hasattr(data, "features")
            and callable(getattr(data, "with_format", None))
            and hasattr(data, "__len__")
        ):
            table = data.with_format("arrow")[:]  # a Dataset, whose rows may be chosen and in another order
        elif is_pandas:
            names = [str(column) for column in data.columns]  # pandas allows a name twice, and numbers
            check_names(names, f"the {name}")
            frame = data if names == list(data.columns) else data.set_axis(names, axis=1)
            table = pa.Table.from_pandas(frame)
        elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
            table = pa.table(data)
        else:
            convert = next(
                (getattr(data, way) for way in ("to_table", "to_arrow") if hasattr(data, way)), None
            )
            if convert is None or not (hasattr(data, "schema") or hasattr(data, "columns")):
                return None
            table = convert()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        if is_pandas:  # images, or cells of several types
            return None
        raise InputError(f"the {name} cannot be read ({first_line(error)}): give {TAKEN}") from error
    return table.select([name for name in table.column_names if not name.startswith("__index_level_")])
