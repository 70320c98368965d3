"""Columns of vectors in tables: Parquet, Arrow, Lance, and what `save_to_disk` of datasets writes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import room_for
from xlingual.arrow import to_numpy
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.saved import saved_shards, saved_splits

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = (".parquet", ".arrow", ".feather", ".ipc")
LANCE = ".lance"
_STRINGS = ("string", "large_string", "string_view")
_NUMBERS = ("halffloat", "float", "double", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64")


def saved_parts(folder: Path) -> list[Path]:
    """Return the Arrow files of a folder that `save_to_disk` wrote; [] for another one.

    Raises InputError for a folder of splits, of which one has to be named, and where a part is missing.
    """
    if splits := saved_splits(folder):
        raise InputError(
            f"{folder} holds the splits {listed(splits)} of a data set: name one, as in "
            f"{next(iter(splits.values()))}"
        )
    return saved_shards(folder)


def vectors_of_table(path: Path, column: str | None) -> list[NDArray[Any]]:
    """Return the vectors of a column as arrays that follow each other, each [lines, d].

    Those of an Arrow file that is not compressed stay in it, mapped into memory; others are copied to memory,
    or where they are large to a file without a name. A row without a vector is NaN. The column may be left
    out where only one holds vectors. Raises InputError where there is none, or lengths differ.
    """
    return _vectors(path, column, stamp(path))


@lru_cache(maxsize=4)
def _vectors(path: Path, column: str | None, version: object) -> list[NDArray[Any]]:
    schema = _schema(path)
    name = _chosen(path, schema, column)
    where = f"{path}, column {name!r}"
    if path.suffix in TABLES[1:]:
        parts = [_array(chunk, where) for chunk in _chunks(path, name) if len(chunk)]
        _check_lengths(parts, where)
        return parts or [np.empty((0, 1), dtype=np.float32)]
    whole: NDArray[Any] | None = None
    done, total = 0, _n_rows(path)
    for chunk in _chunks(path, name):
        part = _array(chunk, where)
        if whole is None and len(part):
            whole = room_for(total, part.shape[1], part.dtype)
        if whole is not None and len(part):
            _check_lengths([whole, part], where)
            whole[done : done + len(part)] = part
            done += len(part)
    return [np.empty((0, 1), dtype=np.float32) if whole is None else whole]


def names_of_table(path: Path, column: str) -> pa.Array:
    """Return a column of names or numbers as strings [lines]; raise InputError where one is missing."""
    import pyarrow as pa

    schema = _schema(path)
    if column not in schema.names:
        raise InputError(_no_column(path, column, schema))
    whole = pa.chunked_array(list(_chunks(path, column)), schema.field(column).type).combine_chunks()
    return as_names(whole, f"{path}, column {column!r}")


def columns_of_names(path: Path) -> list[str]:
    """Return the columns of texts and of whole numbers."""
    import pyarrow as pa

    schema = _schema(path)
    kinds = {field.name: getattr(field.type, "value_type", field.type) for field in schema}
    lists = {field.name for field in schema if pa.types.is_nested(field.type)}
    return [
        name
        for name, kind in kinds.items()
        if name not in lists and (pa.types.is_integer(kind) or str(kind) in _STRINGS)
    ]


def first_names(path: Path, column: str) -> pa.Array:
    """Return the first piece of a column of names as strings."""
    return as_names(next(_chunks(path, column)), f"{path}, column {column!r}")


def as_names(values: pa.Array, where: str) -> pa.Array:
    """Return ids as strings: 7.0 names what 7 names."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.null_count:
        row = int(np.flatnonzero(to_numpy(values.is_null()))[0])
        raise InputError(
            f"{where}: row {row + 1} has no id ({values.null_count} in all): give each row its id"
        )
    try:
        if pa.types.is_floating(values.type):
            values = values.cast(pa.int64())
        return values.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"{where}: found the type {values.type}: ids are strings or whole numbers"
        ) from error


def _array(chunk: pa.Array, where: str) -> NDArray[Any]:
    """Return a piece of a column as an array [n, d], a view of it where that is possible."""
    import pyarrow as pa

    chunk.validate(full=True)  # offsets that lead anywhere would end the interpreter
    if isinstance(chunk, pa.ExtensionArray):
        chunk = chunk.storage
    missing = to_numpy(chunk.is_null())
    if str(chunk.type.value_type) == "uint8" and (missing.any() or chunk.flatten().null_count):
        raise InputError(
            f"{where}: vectors of bytes (uint8), some of them missing or with gaps: write the file without "
            "these rows"
        )
    if pa.types.is_fixed_size_list(chunk.type):
        size = chunk.type.list_size
        values = chunk.values.slice(chunk.offset * size, len(chunk) * size)
        found = _numbers(values, where).reshape(len(chunk), size)
    else:
        offsets = np.asarray(chunk.offsets)
        lengths = np.diff(offsets)[~missing]
        size = int(lengths[0]) if len(lengths) else 0
        if (lengths != size).any():
            row = int(np.flatnonzero(~missing)[np.flatnonzero(lengths != size)[0]])
            other = int(np.diff(offsets)[row])
            raise InputError(
                f"{where}: vectors of {size} and of {other} dimensions: make them with one model"
            )
        if missing.any():  # a row that is missing may still take room
            present = chunk.drop_null()
            numbers = _numbers(present.flatten(), where).reshape(len(present), size)
            found = np.full((len(chunk), size), np.nan, dtype=np.float32)
            found[~missing] = numbers
            return found
        values = chunk.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
        found = _numbers(values, where).reshape(len(chunk), size)
    if missing.any():
        found = found.astype(np.float32)
        found[missing] = np.nan
    return found


def _numbers(values: pa.Array, where: str) -> NDArray[Any]:
    import pyarrow as pa

    if values.null_count:
        values = values.cast(pa.float32())
    return to_numpy(values)


def _check_lengths(parts: list[NDArray[Any]], where: str) -> None:
    for part in parts[1:]:
        if part.shape[1] != parts[0].shape[1]:
            raise InputError(
                f"{where}: vectors of {parts[0].shape[1]} and of {part.shape[1]} dimensions: make them with "
                "one model"
            )


def _chosen(path: Path, schema: pa.Schema, column: str | None) -> str:
    """Return the column of vectors: the one given, or the only one that there is."""
    fitting = [field.name for field in schema if _is_vectors(field.type)]
    if column is None:
        if len(fitting) == 1:
            return str(fitting[0])
        found = (
            f"has {len(fitting)} columns of vectors ({listed(fitting)})"
            if fitting
            else "has no column of vectors"
        )
        remedy = (
            f"choose one with ?column={fitting[0]}" if fitting else f"its columns: {listed(schema.names, 20)}"
        )
        raise InputError(f"{path} {found}: {remedy}")
    if column not in schema.names:
        raise InputError(_no_column(path, column, schema))
    if column not in fitting:
        kind = schema.field(column).type
        texts = str(kind) in _STRINGS
        remedy = "turn the texts into lists of numbers" if texts else "give a column of lists of numbers"
        others = f"; columns of vectors: {listed(fitting)}" if fitting else ""
        raise InputError(f"{path}, column {column!r} holds {kind}, no vectors: {remedy}{others}")
    return column


def _no_column(path: Path, column: str, schema: pa.Schema) -> str:
    names = listed(schema.names, 20)
    return f"{path} has no column {column!r}.{did_you_mean(column, schema.names)} It has: {names}"


def _is_vectors(kind: pa.DataType) -> bool:
    """Return whether values of an Arrow type are lists of numbers."""
    import pyarrow as pa

    kind = getattr(kind, "storage_type", kind)
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return lists and str(kind.value_type) in _NUMBERS


def _schema(path: Path) -> pa.Schema:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if path.suffix == ".parquet":
            return pq.read_schema(path)
        return _lance(path).schema if path.suffix == LANCE else _arrow(path).schema
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _n_rows(path: Path) -> int:
    import pyarrow.parquet as pq

    return int(_lance(path).count_rows() if path.suffix == LANCE else pq.read_metadata(path).num_rows)


def _chunks(path: Path, column: str) -> Iterator[pa.Array]:
    """Yield a column piece by piece."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if path.suffix == ".parquet":
            with pq.ParquetFile(path) as file:
                for group in range(file.num_row_groups):
                    yield from file.read_row_group(group, columns=[column]).column(column).chunks
        elif path.suffix == LANCE:
            for batch in _lance(path).to_batches(columns=[column]):
                yield batch.column(0)
        else:
            yield from _arrow(path).column(column).chunks
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from error


def _arrow(path: Path) -> pa.Table:
    """Return the table of an Arrow file or stream, mapped into memory."""
    import pyarrow as pa

    source = pa.memory_map(str(path))
    try:
        return pa.ipc.open_file(source).read_all()
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source).read_all()


def _lance(path: Path) -> Any:  # noqa: ANN401
    try:
        import lance
    except ImportError as error:
        raise InputError(f"reading {path} needs the package pylance: pip install pylance") from error
    return lance.dataset(str(path))


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = " ".join(str(error).split())[:200]
    return InputError(f"{path} cannot be read ({reason or type(error).__name__}): write the file again")


def stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Return what changes when a file, or one in a folder, is written anew."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    stats = [(str(file), file.stat()) for file in files]
    return tuple((name, found.st_mtime_ns, found.st_size) for name, found in stats)
