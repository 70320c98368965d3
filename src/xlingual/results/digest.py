"""The result digest: one line that says which numbers a result holds, wherever and whenever it was made.

It is the SHA-256 of the findings as JSON in one canonical form and, of an evaluation, of the values of
`per_query.parquet`. What only says how they were found (`BESIDE`) does not count: equal numbers, made in
another folder, with other threads or by another version, have equal digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xlingual.arrow import to_numpy

if TYPE_CHECKING:
    import pyarrow as pa

# keys of a file that say how its numbers were found
BESIDE = frozenset(
    {
        *("request", "provenance", "run", "files"),
        *("timings", "costs", "diagnostics", "warnings"),
    }
)
TIMES = frozenset({"seconds", "created"})  # keys anywhere in it that say when, or how long


def digest_of(found: Any, per_query: pa.Table | None = None) -> str:  # noqa: ANN401  (see below)
    """Return the result digest, 64 hexadecimal digits.

    `found` is a record (`Results`, a `Comparison` …) or what its file holds as a mapping; the table of an
    evaluation's queries is then given beside it.
    """
    content = found if isinstance(found, Mapping) else found.to_dict()
    table = per_query if per_query is not None else getattr(found, "per_query", None)
    text = json.dumps(findings_of(content), sort_keys=True, separators=(",", ":"), allow_nan=False)
    hasher = hashlib.sha256(text.encode())
    if table is not None:
        hasher.update(table_digest(table))
    return hasher.hexdigest()


def findings_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a file's content counts: its numbers, not how they were found."""
    return {name: _canonical(value) for name, value in content.items() if name not in BESIDE}


def table_digest(table: pa.Table) -> bytes:
    """Return a hash of the names and values of a table's columns; how they are stored does not count."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    hasher = hashlib.sha256()
    for name in sorted(table.column_names):
        column = table.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        hasher.update(json.dumps([name, len(array)]).encode())
        hasher.update(np.packbits(to_numpy(pc.is_valid(array))).tobytes())
        array = array.drop_null()
        if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
            kind = "<i8" if pa.types.is_integer(array.type) else "<f8"
            hasher.update((to_numpy(array).astype(kind) + 0).tobytes())
            continue
        words = array.cast(pa.large_string())
        lengths = to_numpy(pc.binary_length(words)).astype("<i8")
        start, ends = words.offset, np.frombuffer(words.buffers()[1], dtype="<i8")
        hasher.update(lengths.tobytes())
        if len(words):
            hasher.update(memoryview(words.buffers()[2])[ends[start] : ends[start + len(words)]])
    return hasher.digest()


def _canonical(value: Any) -> Any:  # noqa: ANN401  (what JSON holds)
    """Return a value without times; a whole number is one number, however it is written."""
    match value:
        case Mapping():
            return {str(name): _canonical(part) for name, part in value.items() if name not in TIMES}
        case list() | tuple():
            return [_canonical(part) for part in value]
        case float() if value.is_integer():
            return int(value)
    return value
