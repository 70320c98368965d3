"""Files of vectors, opened without running code in them: arrays, and columns of Parquet and Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Rows
from xlingual.arrow import to_numpy
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.files import regular_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

TABLES = (".parquet", ".arrow", ".feather", ".ipc")
SUFFIXES = (".npy", ".safetensors", *TABLES)


def check_file(path: Path) -> None:
    """Raise InputError where there is no such file (naming the nearest one) or its suffix is not known."""
    if path.suffix not in SUFFIXES:
        raise InputError(
            f"{path}: a file of vectors ends in {listed(SUFFIXES)}, found {path.suffix!r}: save an array of "
            "numbers with numpy.save; a model is written st:NAME, hf:NAME or model:DIR"
        )
    if path.exists():
        regular_file(path, "a file of vectors")
        return
    folder = path.parent
    names = sorted(other.name for other in folder.glob("*") if other.suffix in SUFFIXES)
    hint = did_you_mean(path.name, names) or f" The folder {folder} has: {listed(names) or 'none'}"
    raise InputError(f"file of vectors {path} not found.{hint}; placeholders are {{lang}} and {{role}}")


def one_size(dims: Mapping[Any, int], remedy: str) -> int:
    """Give the number of dimensions of files of vectors; raise InputError where they do not share it."""
    first, dim = next(iter(dims.items()), ("", 0))
    for path, other in dims.items():
        if other != dim:
            raise InputError(
                f"{first} has {dim} dimensions but {path} has {other}: vectors of all languages must {remedy}"
            )
    return dim


def open_vectors(path: Path, column: str | None = None) -> NDArray[Any] | Rows:
    """Open the array of a file, [lines, d], of numbers; mapped into memory and not read, where that can be.

    `column` names one of a table. Raises InputError where the file is missing, damaged, a pickle, or not a
    table of numbers, and where it holds bytes without a sign, whose cosine means nothing.
    """
    check_file(path)
    if column is not None and path.suffix not in TABLES:
        raise InputError(f"{path}: the option column= is for {listed(TABLES)} files: leave it out")
    with _readable(path):
        if path.suffix == ".npy":
            parts = [np.load(path, mmap_mode="r", allow_pickle=False)]
        elif path.suffix == ".safetensors":
            parts = _tensors(path)
        else:
            stat = path.stat()
            parts = _column(path, column, (stat.st_mtime_ns, stat.st_size))
    for array in parts:
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub" or array.dtype == np.uint8:
            raise InputError(
                f"{path}: vectors must be numbers, found {getattr(array, 'dtype', 'an archive')} (a cosine "
                "of bytes means nothing): save float16 or float32"
            )
        if array.ndim != 2 or array.shape[1] == 0:
            raise InputError(f"{path}: expected a table with one vector per line, found shape {array.shape}")
    return parts[0] if len(parts) == 1 else Rows(parts)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what readers raise for damaged files, of many kinds, into one InputError."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        line = " ".join(str(error).split()) or type(error).__name__
        pickled = "pickle" in line or "Python objects" in line
        reason = "a pickle, which could run code" if pickled else line[:200]
        raise InputError(
            f"{path} is no plain table of numbers, or damaged ({reason}): save it as float16 or "
            "float32, with numpy.save for example"
        ) from error


def _tensors(path: Path) -> list[NDArray[Any]]:
    """Read the only table of a .safetensors file."""
    from safetensors.numpy import load_file

    tables = [array for array in load_file(path).values() if array.ndim == 2]
    if len(tables) != 1:
        raise InputError(f"{path} has {len(tables)} tables of numbers: write a file that has one")
    return tables


@lru_cache(maxsize=8)
def _column(path: Path, column: str | None, version: object) -> list[NDArray[Any]]:
    """Read the vectors of a column of a table as arrays that follow each other, each [lines, d].

    Those of an Arrow file stay in it, mapped into memory. A row without a vector is NaN. `version` differs
    when the file does.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    (schema, read), types = _table(path), pa.types
    kinds = {field.name: getattr(field.type, "storage_type", field.type) for field in schema}
    fitting = [
        name
        for name, kind in kinds.items()
        if (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))
        and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type))
        and kind.value_type not in (pa.uint8(), pa.uint64())
    ]
    column = fitting[0] if column is None and len(fitting) == 1 else column
    if column is None or column not in fitting:
        raise InputError(
            f"{path}, column {column!r}: it has {len(fitting)} columns of vectors ({listed(fitting)}) among "
            f"{listed(schema.names, 20) or 'none'}: choose one with ?column=NAME"
        )
    parts, dims = list[NDArray[Any]](), set[int]()
    for chunk in (chunk for chunk in read(column).chunks if len(chunk)):
        chunk.validate(full=True)  # offsets that lead anywhere would end the interpreter
        rows = chunk.storage if isinstance(chunk, pa.ExtensionArray) else chunk
        present = rows.drop_null() if rows.null_count else rows
        dims.update(pc.unique(pc.list_value_length(present)).to_pylist())
        if len(dims) > 1:
            raise InputError(
                f"{path}, column {column!r}: vectors of several dimensions "
                f"({listed(map(str, sorted(dims)))}): make them with one model"
            )
        values = present.flatten()
        values = values.cast(pa.float32()) if values.null_count else values
        numbers = to_numpy(values).reshape(len(present), next(iter(dims), 0))
        if rows.null_count:
            whole = np.full((len(rows), numbers.shape[1]), np.nan, dtype=np.float32)
            whole[~to_numpy(rows.is_null())] = numbers
            numbers = whole
        parts.append(numbers)
    return parts or [np.empty((0, 1), dtype=np.float32)]


def ids_of(path: Path, column: str) -> pa.Array:
    """Read the ids in a column of a table as strings [lines]; raise InputError where two are equal."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if path.suffix not in TABLES:
        raise InputError(f"{path}: the option id= is for {listed(TABLES)} files: leave it out")
    where = f"{path}, column {column!r}"
    with _readable(path):
        schema, read = _table(path)
        if column not in schema.names:
            hint = did_you_mean(column, schema.names)
            raise InputError(f"{path} has no column {column!r}.{hint} It has: {listed(schema.names, 20)}")
        ids = read(column).combine_chunks()
        ids = ids.dictionary_decode() if pa.types.is_dictionary(ids.type) else ids
        ids = ids.cast(pa.int64()) if pa.types.is_floating(ids.type) else ids  # 7.0 names what 7 does
        ids = ids.cast(pa.large_string())
    counts = pc.value_counts(ids)
    several = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
    if ids.null_count or len(several):
        bad = None if ids.null_count else several[0].as_py()
        lines = np.flatnonzero(to_numpy(ids.is_null() if bad is None else pc.equal(ids, bad)))[:2] + 1
        raise InputError(
            f"{where}: no id, or the same id {bad!r}, in lines {listed(map(str, lines))}: give each line an "
            "id of its own, and each language a file, with {lang} in its name"
        )
    return ids


def _table(path: Path) -> tuple[pa.Schema, Callable[[str], pa.ChunkedArray]]:
    """Open a table: its columns, and what reads one; an Arrow file or stream is mapped into memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        return file.schema_arrow, lambda name: file.read(columns=[name]).column(name)
    source = pa.memory_map(str(path))
    try:
        table = pa.ipc.open_file(source).read_all()
    except pa.ArrowInvalid:
        source.seek(0)
        table = pa.ipc.open_stream(source).read_all()
    return table.schema, table.column
