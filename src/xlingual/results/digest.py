"""The result digest: one line that says which numbers a result holds, wherever and whenever it was made.

It is the SHA-256 of the findings as JSON in one canonical form and, of an evaluation, of the values of
`per_query.parquet`. What only says how they were found (`BESIDE`) does not count: equal numbers, made in
another folder, with other threads or by another version, have equal digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

# keys of a file that say how its numbers were found
BESIDE = frozenset(
    {
        *("request", "provenance", "run", "files"),
        *("timings", "costs", "diagnostics", "warnings"),
    }
)
_PIECE = 1 << 16  # rows that are hashed at once; whole bytes of their bits
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
    import pyarrow as pa

    hasher = hashlib.sha256()
    for name in sorted(table.column_names):
        column = table.column(name)
        hasher.update(json.dumps([name, len(column)]).encode())
        _add_validity(hasher, column)
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        add = _add_numbers if pa.types.is_integer(kind) or pa.types.is_floating(kind) else _add_words
        add(hasher, column)
    return hasher.digest()


def _pieces(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Yield the values of a column, nulls left out, in pieces that stay in the processor's cache."""
    import pyarrow as pa

    for start in range(0, len(column), _PIECE):
        piece = column.slice(start, _PIECE)
        if pa.types.is_dictionary(piece.type):
            piece = piece.cast(piece.type.value_type)
        yield piece.combine_chunks().drop_null()


def _add_validity(hasher: hashlib._Hash, column: pa.ChunkedArray) -> None:
    """Add a bit for each value: whether it is there."""
    import numpy as np
    import pyarrow.compute as pc

    for start in range(0, len(column), _PIECE):  # whole bytes
        piece = column.slice(start, _PIECE)
        valid = pc.is_valid(piece).to_numpy() if piece.null_count else np.ones(len(piece), dtype=bool)
        hasher.update(np.packbits(valid).tobytes())


def _add_numbers(hasher: hashlib._Hash, column: pa.ChunkedArray) -> None:
    import pyarrow as pa

    for piece in _pieces(column):
        kind = "<i8" if pa.types.is_integer(piece.type) else "<f8"
        hasher.update((piece.to_numpy(zero_copy_only=False).astype(kind, copy=False) + 0).tobytes())


def _add_words(hasher: hashlib._Hash, column: pa.ChunkedArray) -> None:
    """Add the lengths of all texts, then the texts."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    for piece in _pieces(column):
        hasher.update(np.asarray(pc.binary_length(piece.cast(pa.large_string()))).astype("<i8").tobytes())
    for piece in _pieces(column):
        words = piece.cast(pa.large_string())
        start, ends = words.offset, np.frombuffer(words.buffers()[1], dtype="<i8")
        if len(words):
            hasher.update(memoryview(words.buffers()[2])[ends[start] : ends[start + len(words)]])


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
