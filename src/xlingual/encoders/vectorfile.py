"""Files of vectors, opened without running code in them: arrays, and columns of Parquet and Arrow tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Rows, room_for
from xlingual.arrow import to_numpy
from xlingual.errors import InputError, did_you_mean, listed, nearest
from xlingual.files import regular_file
from xlingual.results.provenance import note_file, sha256_of

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = (".parquet", ".arrow", ".feather", ".ipc")
SUFFIXES = (".npy", ".safetensors", *TABLES)
_NUMBERS = ("halffloat", "float", "double", "int8", "int16", "uint16", "int32", "uint32", "int64")


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
    if hint := placeholder_hint(str(path)):
        raise InputError(f"file of vectors {path} not found.{hint}")
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


def file_digest(path: Path) -> bytes:
    """Return a hash of all bytes of a file."""
    found = sha256_of(path)
    note_file("vectors", path, found)
    return bytes.fromhex(found)


def one_size(dims: Mapping[Path, int], remedy: str) -> int:
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
    found = re.search(r"\{(?!lang\}|role\}|field\})\w*\}", path)
    if found is None:
        return ""
    near = nearest(found[0][1:-1], ["lang", "role", "field"])
    remedy = (
        ": write {lang} where the language of a text is to stand, "
        "{role} where questions or candidates, and {field} where the name of one of its columns"
    )
    return f" {found[0]} is no placeholder" + (f". Did you mean {{{near}}}?" if near else remedy)


def open_vectors(path: Path, options: VectorOptions = VectorOptions()) -> NDArray[Any] | Rows:
    """Return the array of a file, [lines, d], of numbers; mapped into memory and not read, where that can be.

    Raises InputError where the file is missing, damaged, a pickle, or not a table of numbers, and where it
    holds bytes without a sign, whose cosine means nothing.
    """
    check_file(path)
    for name, suffixes in (("key", (".safetensors",)), ("column", TABLES), ("id", TABLES)):
        if getattr(options, name) is not None and path.suffix not in suffixes:
            raise InputError(f"{path}: the option {name}= is for {listed(suffixes)} files; leave it out")
    if path.suffix in TABLES:
        stat = path.stat()
        parts = _column_of_vectors(path, options.column, (stat.st_mtime_ns, stat.st_size))
        parts = [_checked(part, path) for part in parts]
        return parts[0] if len(parts) == 1 else Rows(parts)
    array = _open_safetensors(path, options.key) if path.suffix == ".safetensors" else _open_npy(path)
    return _checked(array, path)


def ids_of(path: Path, column: str) -> pa.Array:
    """Return the ids in a column of a table as strings [lines]; raise InputError where two are equal."""
    import pyarrow as pa
    import pyarrow.compute as pc

    schema, where = _schema(path), f"{path}, column {column!r}"
    if column not in schema.names:
        raise InputError(_no_column(path, column, schema))
    names = pa.chunked_array(list(_chunks(path, column)), schema.field(column).type).combine_chunks()
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


def _checked(array: NDArray[Any], path: Path) -> NDArray[Any]:
    """Return an array that is a table of numbers; raise InputError for any other."""
    if array.dtype.kind not in "fiub":
        raise InputError(
            f"{path}: vectors must be numbers, found the type {array.dtype}: save float16 or float32"
        )
    if array.ndim != 2 or array.shape[1] == 0:
        shape = "×".join(map(str, array.shape)) or "a single number"
        raise InputError(f"{path}: expected a table with one vector per line, found the shape {shape}")
    if array.dtype == np.uint8:
        raise InputError(
            f"{path}: holds bytes (uint8), and a cosine of bytes means nothing: save numbers as float16 or "
            "float32"
        )
    return array


def _open_npy(path: Path) -> NDArray[Any]:
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


def _open_safetensors(path: Path, key: str | None) -> NDArray[Any]:
    """Return a tensor of a file, the only table in it where no key is given."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as handle:
            shapes = {name: handle.get_slice(name).get_shape() for name in handle.keys()}  # noqa: SIM118
            if key is not None and key not in shapes:
                raise InputError(
                    f"{path} has no tensor {key!r}.{did_you_mean(key, shapes)} It has: {listed(shapes)}"
                )
            tables = [name for name, shape in shapes.items() if len(shape) == 2]
            if key is None and len(tables) != 1:
                raise InputError(
                    f"{path}: expected one 2-d tensor, found {len(tables)} among {listed(shapes) or 'none'}; "
                    "choose one with ?key=NAME"
                )
            return np.asarray(handle.get_tensor(key or tables[0]))
    except (SafetensorError, OSError, TypeError, AttributeError) as error:  # the last two: bfloat16 in numpy
        raise InputError(
            f"{path} cannot be read ({_line(error)}): save it again as float16 or float32"
        ) from error


@lru_cache(maxsize=4)
def _column_of_vectors(path: Path, column: str | None, version: object) -> list[NDArray[Any]]:
    """Return the vectors of a column as arrays that follow each other, each [lines, d].

    Those of an Arrow file stay in it, mapped into memory; those of Parquet are copied to memory, or where
    they are large to a file without a name. A row without a vector is NaN. `version` differs when the file
    does.
    """
    import pyarrow.parquet as pq

    name = _chosen(path, _schema(path), column)
    where, whole, done = f"{path}, column {name!r}", None, 0
    parts: list[NDArray[Any]] = []
    for chunk in (chunk for chunk in _chunks(path, name) if len(chunk)):
        part = _array(chunk, where)
        first = part if not parts and whole is None else parts[0] if parts else whole
        if first is not None and part.shape[1] != first.shape[1]:
            raise InputError(
                f"{where}: vectors of {first.shape[1]} and of {part.shape[1]} dimensions: make them with one "
                "model"
            )
        if path.suffix != ".parquet":
            parts.append(part)
            continue
        if whole is None:
            whole = room_for(int(pq.read_metadata(path).num_rows), part.shape[1], part.dtype)
        whole[done : done + len(part)] = part
        done += len(part)
    return parts if parts else [np.empty((0, 1), dtype=np.float32) if whole is None else whole]


def _array(chunk: pa.Array, where: str) -> NDArray[Any]:
    """Return a piece of a column as an array [n, d], a view of it where that is possible."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chunk.validate(full=True)  # offsets that lead anywhere would end the interpreter
    if isinstance(chunk, pa.ExtensionArray):
        chunk = chunk.storage
    present = chunk.drop_null() if chunk.null_count else chunk
    lengths = pc.unique(pc.list_value_length(present)).to_pylist()
    if len(lengths) > 1:
        raise InputError(
            f"{where}: vectors of {lengths[0]} and of {lengths[1]} dimensions: make them with one model"
        )
    values = present.flatten()
    values = values.cast(pa.float32()) if values.null_count else values
    numbers = to_numpy(values).reshape(len(present), *lengths[:1] or (0,))
    if not chunk.null_count:
        return numbers
    rows = np.full((len(chunk), numbers.shape[1]), np.nan, dtype=np.float32)
    rows[~to_numpy(chunk.is_null())] = numbers
    return rows


def _chosen(path: Path, schema: pa.Schema, column: str | None) -> str:
    """Return the column of vectors: the one given, or the only one that there is."""
    fitting = [field.name for field in schema if _is_vectors(field.type)]
    if column is None and len(fitting) == 1:
        return str(fitting[0])
    if column in fitting:
        return str(column)
    if column is None:
        remedy = (
            f"choose one with ?column={fitting[0]}" if fitting else f"its columns: {listed(schema.names, 20)}"
        )
        raise InputError(f"{path} has {len(fitting)} columns of vectors ({listed(fitting)}): {remedy}")
    if column not in schema.names:
        raise InputError(_no_column(path, column, schema))
    raise InputError(
        f"{path}, column {column!r} holds {schema.field(column).type}: expected lists of numbers"
        + (f"; columns of vectors: {listed(fitting)}" if fitting else "")
    )


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
        return pq.read_schema(path) if path.suffix == ".parquet" else _arrow(path).schema
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _chunks(path: Path, column: str) -> Iterator[pa.Array]:
    """Yield a column piece by piece."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if path.suffix == ".parquet":
            with pq.ParquetFile(path) as file:
                for group in range(file.num_row_groups):
                    yield from file.read_row_group(group, columns=[column]).column(column).chunks
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


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(f"{path} cannot be read ({_line(error)[:200]}): write the file again")


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
