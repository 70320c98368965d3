"""Arrow arrays from numpy arrays and Python values, and back, without the pandas that pyarrow would import.

`pa.array`, `pa.scalar` and `to_numpy` import pandas wherever it is installed, to see whether a value is
one of pandas: half a second of a start. The functions here give the same arrays from the bytes alone.
Both packages are imported inside the functions, so that this module costs nothing to import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


def to_numpy(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return the values [n] of a column of numbers or truths.

    As in pyarrow, a missing number is NaN, and whole numbers are float64 where one is missing. Raises
    TypeError for other values, and for missing truths.
    """
    import numpy as np
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        parts = [pa.nulls(0, column.type), *column.chunks]
        column = parts[1] if len(parts) == 2 else pa.concat_arrays(parts)
    kind = column.type
    if pa.types.is_boolean(kind) and not column.null_count:
        return to_numpy(column.cast(pa.uint8())).astype(bool)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        missing = f", {column.null_count} of them missing" if column.null_count else ""
        raise TypeError(
            f"a column of type {kind}{missing}: expected numbers, or truths none of which is missing"
        )
    dtype = np.dtype(kind.to_pandas_dtype())
    if not len(column):  # it may have no bytes
        return np.empty(0, dtype=dtype)
    values: NDArray[Any] = np.frombuffer(
        column.buffers()[1], dtype, len(column), column.offset * dtype.itemsize
    )
    if not column.null_count:
        return values
    known = to_numpy(column.is_valid())
    return np.where(known, values, np.array(np.nan, dtype if dtype.kind == "f" else np.float64))


def from_numpy(
    values: NDArray[Any], kind: pa.DataType | None = None, mask: NDArray[Any] | None = None
) -> pa.Array:
    """Return the Arrow array of numbers or truths [n], null where `mask` [n] is true.

    It has the type `kind`; without one, the type of the values. Raises ArrowInvalid for a
    value that the type cannot hold.
    """
    import numpy as np
    import pyarrow as pa

    if values.dtype == np.bool_:  # Arrow keeps truths as bits
        return from_numpy(values.astype(np.uint8), kind or pa.bool_(), mask)
    plain = np.ascontiguousarray(values)
    valid = None if mask is None else _validity(mask)
    own = pa.from_numpy_dtype(plain.dtype)
    array = pa.Array.from_buffers(own, len(plain), [valid, pa.py_buffer(plain)])
    return array if kind is None or kind == own else array.cast(kind)


def from_strings(values: Sequence[str | None], kind: pa.DataType) -> pa.Array:
    """Return the Arrow array of strings, of type string or large_string; None is null.

    Raises UnicodeEncodeError for half a surrogate pair.
    """
    import pyarrow as pa

    builder = pa.lib.StringBuilder()
    try:
        builder.append_values(values)
        return builder.finish().cast(kind)
    except pa.ArrowCapacityError:  # more than 2 GiB
        encoded = [None if value is None else value.encode() for value in values]
        return _joined(encoded, pa.large_string(), kind)


def _joined(values: Sequence[bytes | None], wide: pa.DataType, kind: pa.DataType) -> pa.Array:
    """Return the array of bytes in the type `kind`, made in the type `wide`, whose offsets have 64 bits."""
    import numpy as np
    import pyarrow as pa

    raw = [value or b"" for value in values]
    ends = np.zeros(len(raw) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)), out=ends[1:])
    valid = _validity(np.array([value is None for value in values])) if None in values else None
    buffers = [valid, pa.py_buffer(ends), pa.py_buffer(b"".join(raw))]
    return pa.Array.from_buffers(wide, len(raw), buffers).cast(kind)


def _validity(missing: NDArray[Any]) -> pa.Buffer | None:
    """Return the bits that say which values are there; None where all are."""
    import numpy as np
    import pyarrow as pa

    return pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None


def from_values(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return the Arrow array of Python values; None is null.

    Strings, bytes, numbers, truths, and lists and structs of them are made here, values of other types by
    `pa.array`, which imports pandas.
    """
    import numpy as np
    import pyarrow as pa

    types = pa.types
    if types.is_string(kind) or types.is_large_string(kind):
        return from_strings(values, kind)
    if types.is_binary(kind):
        return _joined(values, pa.large_binary(), kind)
    missing = np.array([value is None for value in values], dtype=bool)
    if types.is_struct(kind):
        given = [{} if value is None else value for value in values]
        parts = [from_values([value.get(field.name) for value in given], field.type) for field in kind]
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=from_numpy(missing))
    if types.is_list(kind) and not missing.any():
        ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
        inner = from_values([cell for value in values for cell in value], kind.value_type)
        return pa.ListArray.from_arrays(from_numpy(ends), inner, type=kind)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return from_numpy(np.array([0 if value is None else value for value in values]), kind, missing)
    return pa.array(values, kind)


def scalar(value: Any, kind: pa.DataType) -> pa.Scalar:  # noqa: ANN401  (a Python value)
    """Return a value as one of Arrow."""
    return from_values([value], kind)[0]


def table_of(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return the table of rows; a cell that a row has not is null."""
    import pyarrow as pa

    columns = [from_values([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)
