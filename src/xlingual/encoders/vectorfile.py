"""Files of vectors, opened without running code in them: arrays, and columns of Parquet and Arrow tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Rows
from xlingual.arrow import to_numpy
from xlingual.errors import InputError, did_you_mean, listed, nearest
from xlingual.files import regular_file

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = (".parquet", ".arrow", ".feather", ".ipc")
SUFFIXES = (".npy", ".safetensors", *TABLES)
NUMBERS = ("halffloat", "float", "double", "int8", "int16", "uint16", "int32", "uint32", "int64")


@dataclass(frozen=True)
class VectorOptions:
    """Which vectors of a file, and how they belong to the data."""

    key: str | None = None  # name of a tensor in a .safetensors file
    column: str | None = None  # of vectors, in a table
    id: str | None = None  # column of ids, by which lines belong to texts or items; None: by their order

    @property
    def stated(self) -> str:
        """The options that change vectors, as an identity has them."""
        named = {name: getattr(self, name) for name in ("key", "column", "id")}
        options = [f"{name}={quote(value)}" for name, value in named.items() if value is not None]
        return f"?{'&'.join(options)}" if options else ""


def check_file(path: Path) -> None:
    """Raise InputError where there is no such file (naming the nearest one) or its suffix is not known."""
    if path.suffix not in SUFFIXES:
        raise InputError(
            f"{path}: a file of vectors ends in {listed(SUFFIXES)}, found {path.suffix!r}: save an array of "
            "numbers with numpy.save"
        )
    if path.is_file():
        regular_file(path, "a file of vectors")
        return
    hint = placeholder_hint(str(path))
    if not hint:
        beside = [name for name in names_beside(path, "file of vectors") if name.endswith(SUFFIXES)]
        hint = did_you_mean(path.name, beside) or (f" The folder has: {listed(beside)}" if beside else "")
    raise InputError(f"file of vectors {path} not found.{hint}")


def names_beside(path: Path, what: str) -> list[str]:
    """Return the names of the files beside one that is not there; InputError where it never can be."""
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a {what} in it")
    if path.exists():
        regular_file(path, f"a {what}")
    if not path.parent.is_dir():
        raise InputError(f"{what} {path} not found: there is no folder {path.parent}")
    return sorted(other.name for other in path.parent.iterdir() if other.is_file())


def one_size(dims: Mapping[Any, int], remedy: str) -> int:
    """Return the number of dimensions of files of vectors; InputError where they do not share it."""
    first, dim = next(iter(dims.items()), ("", 0))
    for path, other in dims.items():
        if other != dim:
            raise InputError(
                f"{first} has {dim} dimensions but {path} has {other}: vectors of all languages must {remedy}"
            )
    return dim


def placeholder_hint(path: str) -> str:
    """Return what to write instead of a placeholder that is none, such as `{language}`; "" without one."""
    placeholder = re.search(r"\{(?!lang\}|role\}|field\})\w*\}", path)
    if placeholder is None:
        return ""
    near = nearest(placeholder[0][1:-1], ["lang", "role", "field"])
    remedy = (
        ": write {lang} where the language of a text is to stand, {role} where questions or candidates, and "
        "{field} where the name of one of its columns"
    )
    return f" {placeholder[0]} is no placeholder" + (f". Did you mean {{{near}}}?" if near else remedy)


def open_vectors(path: Path, options: VectorOptions = VectorOptions()) -> NDArray[Any] | Rows:
    """Return the array of a file, [lines, d], of numbers; mapped into memory and not read, where that can be.

    Raises InputError where the file is missing, damaged, a pickle, or not a table of numbers, and where it
    holds bytes without a sign, whose cosine means nothing.
    """
    check_file(path)
    for name, suffixes in (("key", (".safetensors",)), ("column", TABLES), ("id", TABLES)):
        if getattr(options, name) is not None and path.suffix not in suffixes:
            raise InputError(f"{path}: the option {name}= is for {listed(suffixes)} files; leave it out")
    if path.suffix == ".npy":
        parts = [_array(path)]
    elif path.suffix == ".safetensors":
        parts = [_tensor(path, options.key)]
    else:
        stat = path.stat()
        parts = _column(path, options.column, (stat.st_mtime_ns, stat.st_size))
    for array in parts:
        if array.dtype.kind not in "fiub" or array.dtype == np.uint8:
            raise InputError(
                f"{path}: vectors must be numbers, found the type {array.dtype} (a cosine of bytes means "
                "nothing): save float16 or float32"
            )
        if array.ndim != 2 or array.shape[1] == 0:
            shape = "×".join(map(str, array.shape)) or "a single number"
            raise InputError(f"{path}: expected a table with one vector per line, found the shape {shape}")
    return parts[0] if len(parts) == 1 else Rows(parts)


def _array(path: Path) -> NDArray[Any]:
    """Return the array of a .npy file, mapped into memory."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy raises errors of many kinds for damaged heads
        pickled = "pickle" in str(error) or "Python objects" in str(error)
        reason = "a pickle, which could run code" if pickled else _line(error)
        raise InputError(
            f"{path} is no plain array of numbers, or damaged ({reason}): save it with numpy.save"
        ) from error
    if not isinstance(array, np.ndarray):
        raise InputError(f"{path} is an archive of arrays: save one array with numpy.save")
    return array


def _tensor(path: Path, key: str | None) -> NDArray[Any]:
    """Return a tensor of a .safetensors file, without a key the only table in it."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as handle:
            shapes = {name: handle.get_slice(name).get_shape() for name in handle.keys()}  # noqa: SIM118
            tables = [name for name, shape in shapes.items() if len(shape) == 2]
            if key in shapes or (key is None and len(tables) == 1):
                return np.asarray(handle.get_tensor(key or tables[0]))
    except (SafetensorError, OSError, TypeError, AttributeError) as error:  # the last two: bfloat16 in numpy
        raise _unreadable(path, error, "save it again as float16 or float32") from error
    problem = (
        f"{len(tables)} 2-d tensors" if key is None else f"no tensor {key!r}.{did_you_mean(key, shapes)}"
    )
    raise InputError(f"{path} has {problem} among {listed(shapes) or 'none'}: choose one with ?key=NAME")


@lru_cache(maxsize=4)
def _column(path: Path, column: str | None, version: object) -> list[NDArray[Any]]:
    """Return the vectors of a column of a table as arrays that follow each other, each [lines, d].

    Those of an Arrow file stay in it, mapped into memory. A row without a vector is NaN. `version` differs
    when the file does.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    schema = _table(path, None).schema
    fitting = [field.name for field in schema if _holds_vectors(field.type)]
    column = fitting[0] if column is None and len(fitting) == 1 else column
    if column not in fitting:
        problem = f"has {len(fitting)} columns of vectors ({listed(fitting)})"
        if column is not None and column in schema.names:
            problem = f"column {column!r} holds {schema.field(column).type}, and no lists of numbers"
        elif column is not None:
            problem = f"has no column {column!r}.{did_you_mean(column, schema.names)}"
        remedy = f"choose one with ?column={fitting[0]}" if fitting else f"it has: {listed(schema.names, 20)}"
        raise InputError(f"{path} {problem}: {remedy}")
    parts, dims = list[NDArray[Any]](), set[int]()
    for chunk in (chunk for chunk in _table(path, column).column(column).chunks if len(chunk)):
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
    """Return the ids in a column of a table as strings [lines]; raise InputError where two are equal."""
    import pyarrow as pa
    import pyarrow.compute as pc

    schema, where = _table(path, None).schema, f"{path}, column {column!r}"
    if column not in schema.names:
        hint = did_you_mean(column, schema.names)
        raise InputError(f"{path} has no column {column!r}.{hint} It has: {listed(schema.names, 20)}")
    names = _table(path, column).column(column).combine_chunks()
    if pa.types.is_dictionary(names.type):
        names = names.dictionary_decode()
    if names.null_count:
        row = int(np.flatnonzero(to_numpy(names.is_null()))[0])
        raise InputError(
            f"{where}: row {row + 1} has no id ({names.null_count} in all): give each row its id"
        )
    try:
        if pa.types.is_floating(names.type):  # 7.0 names what 7 names
            names = names.cast(pa.int64())
        names = names.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{where}: found the type {names.type}: ids are strings or whole numbers") from error
    if len(pc.unique(names)) < len(names):
        counts = pc.value_counts(names)
        first = counts.filter(pc.greater(counts.field("counts"), 1))[0]["values"].as_py()
        lines = np.flatnonzero(to_numpy(pc.equal(names, first)))[:2] + 1
        raise InputError(
            f"{where}: lines {lines[0]} and {lines[1]} have the same id {first!r}: keep one vector of each, "
            "and give each language a file, with {lang} in its name"
        )
    return names


def _holds_vectors(kind: pa.DataType) -> bool:
    """Return whether values of an Arrow type are lists of numbers."""
    import pyarrow as pa

    kind = getattr(kind, "storage_type", kind)
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return lists and str(kind.value_type) in NUMBERS


def _table(path: Path, column: str | None) -> pa.Table:
    """Return a column of a table, or a table without rows; of an Arrow file or stream, mapped into memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if path.suffix == ".parquet":
            if column is None:
                return pq.read_schema(path).empty_table()
            return pq.ParquetFile(path).read(columns=[column])
        source = pa.memory_map(str(path))
        try:
            return pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source).read_all()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, error, "write the file again") from error


def _unreadable(path: Path, error: Exception, remedy: str) -> InputError:
    return InputError(f"{path} cannot be read ({_line(error)[:200]}): {remedy}")


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
