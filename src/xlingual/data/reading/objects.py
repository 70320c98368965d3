"""Data that is in memory already, as a table: data frames, Arrow, datasets, lists of records.

Objects are known by what they offer, never by their library, and no library is imported for them: whoever
has a data frame has loaded it. What a library gives as Arrow is not copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.data.reading.features import with_names
from xlingual.data.reading.gathering import table_of_rows
from xlingual.data.reading.joining import as_splits
from xlingual.data.reading.problems import first_line
from xlingual.data.reading.tables import SourceTable, check_names, table_of_arrow
from xlingual.data.reading.values import described
from xlingual.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

TAKEN = (
    "a path, a pandas or polars data frame, an Arrow table, a Dataset or DatasetDict of "
    "Hugging Face, or a list of records such as [{'lang': 'en', 'text': 'a red shoe'}]"
)
_CAPSULES = ("__arrow_c_stream__", "__arrow_c_array__")
_INDEX = "__index_level_"  # how pandas names an index that has no name


def table_of_object(data: object, folder: Path | None) -> SourceTable:
    """Return the table of an object in memory; raise InputError where it is none that is known.

    A mapping of names to tables (a DatasetDict) is one table, with the names in a column `split`.
    """
    if isinstance(data, Mapping):
        return _of_mapping(data, folder)
    name = type(data).__name__
    if callable(getattr(data, "collect", None)) and name == "LazyFrame":
        data = data.collect()  # type: ignore[attr-defined]
    if _is_column(data):
        raise InputError(
            f"found a {name}, which is one column, where a table of texts is expected: give {TAKEN}, or "
            "columns by name, {'text_en': column}"
        )
    found = _arrow(data)
    if found is not None:
        return table_of_arrow(with_names(found), f"the {name}", folder)
    rows = _records(data)
    if rows is None:
        raise InputError(f"expected texts, found {described(data)}: give {TAKEN}")
    return table_of_rows(rows, "the given data" if isinstance(data, Sequence) else f"the {name}", folder)


def _of_mapping(data: Mapping[Any, Any], folder: Path | None) -> SourceTable:
    """Return the table of a mapping: of splits to tables, or of columns to their cells."""
    if data and all(_is_table(part) for part in data.values()):
        tables = {str(name): table_of_object(part, folder) for name, part in data.items()}
        return as_splits(tables, f"the {type(data).__name__}", folder)
    columns = {str(name): _cells(cells) for name, cells in data.items()}
    sizes = {name: len(cells) for name, cells in columns.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(
            f"the columns of the given mapping have different lengths ({sizes}): make them equal"
        )
    cells = zip(*columns.values(), strict=True)
    return table_of_rows([dict(zip(columns, row, strict=True)) for row in cells], "the given data", folder)


def _cells(cells: object) -> list[Any]:
    to_list = (
        getattr(cells, "tolist", None) or getattr(cells, "to_list", None) or getattr(cells, "to_pylist", None)
    )
    found = to_list() if callable(to_list) else cells
    if isinstance(found, Sequence) and not isinstance(found, (str, bytes)):
        return list(found)
    raise InputError(f"found {described(found)} where the cells of a column are expected: give {TAKEN}")


def _is_column(data: object) -> bool:
    """Return whether an object is a column, not of records: as pandas, polars, Arrow and numpy have them."""
    if any(hasattr(data, name) for name in ("columns", "column_names", "schema")):
        return False
    kind = getattr(data, "dtype", None) or (hasattr(data, "to_pylist") and getattr(data, "type", None))
    return bool(kind) and "struct" not in str(kind).lower()


def _is_table(part: object) -> bool:
    """Return whether an object is a whole table, and no column (which may give itself as Arrow, too)."""
    columns = getattr(part, "columns", None) is not None or getattr(part, "column_names", None) is not None
    is_stream = type(part).__name__ == "IterableDataset"
    rows = isinstance(part, Sequence) and bool(part) and all(isinstance(row, Mapping) for row in part)
    return is_stream or rows or (columns and _arrow_of(part) is not None)


def _arrow(data: object) -> pa.Table | None:
    """Return what an object is as an Arrow table; None where it is none or holds Python objects."""
    make = _arrow_of(data)
    if make is None or _holds_objects(data):
        return None
    import pyarrow as pa

    if hasattr(data, "iloc"):  # pandas allows a name twice, and names that are no strings
        names = [str(name) for name in data.columns]  # type: ignore[attr-defined]
        check_names(names, f"the {type(data).__name__}")
        if names != list(data.columns):  # type: ignore[attr-defined]
            make = _arrow_of(data.set_axis(names, axis=1)) or make  # type: ignore[attr-defined]
    try:
        found = make()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        if callable(getattr(data, "to_dict", None)):  # pandas, with images or cells of several types
            return None
        raise InputError(
            f"the {type(data).__name__} cannot be read ({first_line(error)}): give {TAKEN}"
        ) from error
    return _without_views(found.select([name for name in found.column_names if not name.startswith(_INDEX)]))


def _without_views(table: pa.Table) -> pa.Table:
    """Return a table whose categories are plain strings: Arrow cannot yet look up views in a dictionary."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) and pa.types.is_string_view(field.type.value_type):
            chunks = [
                pa.DictionaryArray.from_arrays(part.indices, part.dictionary.cast(pa.large_string()))
                for part in table.column(place).chunks
            ]
            table = table.set_column(place, field.name, pa.chunked_array(chunks))
    return table


def _arrow_of(data: object) -> Any:  # noqa: ANN401  (a function that returns a table)
    """Return a function that gives an object as an Arrow table; None where nothing does."""
    import pyarrow as pa

    formatted, to_table = getattr(data, "with_format", None), getattr(data, "to_table", None)
    if callable(formatted) and hasattr(data, "features") and hasattr(data, "__len__"):
        return lambda: formatted("arrow")[:]  # a Dataset, whose own rows may be chosen and in another order
    if any(hasattr(data, name) for name in _CAPSULES):
        return lambda: pa.table(data)
    if hasattr(data, "iloc") and hasattr(data, "dtypes") and hasattr(data, "columns"):
        return lambda: pa.Table.from_pandas(data)  # pandas before 2.2
    if callable(to_table) and hasattr(data, "schema"):
        return to_table  # datasets of pyarrow
    to_arrow = getattr(data, "to_arrow", None)
    return to_arrow if callable(to_arrow) else None


def _holds_objects(data: object) -> bool:
    """Return whether a polars frame has a column of Python objects: it gives their addresses as Arrow."""
    types = getattr(data, "dtypes", None)
    return hasattr(data, "to_dicts") and types is not None and any(str(kind) == "Object" for kind in types)


def _records(data: Any) -> list[Mapping[str, Any]] | None:  # noqa: ANN401
    """Return the rows of a list, a stream of records, or a data frame with objects; None for no rows."""
    if callable(getattr(data, "to_dicts", None)):  # polars
        return list(data.to_dicts())
    if callable(getattr(data, "to_dict", None)) and hasattr(data, "columns"):  # pandas
        named = any(name is not None for name in getattr(getattr(data, "index", None), "names", ()))
        records = (data.reset_index() if named else data).to_dict("records")
        return [{str(name): _present(cell) for name, cell in row.items()} for row in records]
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
        return None
    rows = list(data)
    return rows if all(isinstance(row, Mapping) for row in rows) else None


def _present(cell: Any) -> Any:  # noqa: ANN401
    """Return a cell of pandas, None where it says that there is no value."""
    missing = type(cell).__name__ in {"NAType", "NaTType"} or (isinstance(cell, float) and cell != cell)
    return None if missing else cell
