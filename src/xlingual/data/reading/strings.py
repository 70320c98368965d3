"""Columns of strings, all at once: from Arrow or Python, which are blank, which are equal, their digest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.arrow import from_numpy, scalar, to_numpy
from xlingual.columns import ColumnBase, Lookup, Strings, content, offsets

if TYPE_CHECKING:
    import pyarrow as pa

# first bytes of the UTF-8 of every character that `str.isspace` knows, but for those below "!"
SPACE_BYTES = (0xC2, 0xE1, 0xE2, 0xE3)
_DIGESTED = 1 << 16  # rows whose names are joined at a time


def strings_of_arrow(column: pa.ChunkedArray) -> tuple[Strings, np.ndarray]:
    """Return an Arrow column of valid strings, "" for missing ones, and which are missing, bool [n]."""
    import pyarrow as pa

    wide = column.cast(pa.large_string())
    missing = [to_numpy(chunk.is_null()) for chunk in wide.chunks]
    chunks = [chunk.fill_null(scalar("", chunk.type)) if chunk.null_count else chunk for chunk in wide.chunks]
    return Strings(chunks), np.concatenate(missing) if missing else np.zeros(0, dtype=bool)


def blank(values: ColumnBase[str]) -> np.ndarray:
    """Return which strings have no visible characters, bool [n]."""
    found = map(_blank, values.blocks())  # type: ignore[attr-defined]
    return np.concatenate([np.zeros(0, dtype=bool), *found])


def _blank(chunk: pa.LargeStringArray) -> np.ndarray:

    ends = offsets(chunk)
    empty: np.ndarray = np.diff(ends) == 0
    if empty.all():
        return empty
    raw = np.frombuffer(chunk.buffers()[2], np.uint8)
    first = raw[np.minimum(ends[:-1], len(raw) - 1)]
    doubtful = np.flatnonzero(~empty & ((first <= 0x20) | np.isin(first, SPACE_BYTES)))
    for start in range(0, len(doubtful), _DIGESTED):
        rows = doubtful[start : start + _DIGESTED]
        empty[rows] = [not text.strip() for text in chunk.take(from_numpy(rows)).to_pylist()]
    return empty


def character_lengths(values: ColumnBase[str]) -> Ints:
    """Return how many characters each string has, int64 [n]."""
    import pyarrow.compute as pc

    blocks = values.blocks()  # type: ignore[attr-defined]
    counts = [to_numpy(pc.utf8_length(block)) for block in blocks]
    return np.concatenate(counts).astype(np.int64) if counts else np.empty(0, dtype=np.int64)


def numbered_strings(values: ColumnBase[str]) -> tuple[Ints, Strings]:
    """Return the number of each string by first appearance, int64 [n], and the different ones in order."""
    import pyarrow as pa

    blocks = list(values.blocks())  # type: ignore[attr-defined]
    encoded = pa.chunked_array(blocks, pa.large_string()).combine_chunks().dictionary_encode()
    codes: Ints = to_numpy(encoded.indices).astype(np.int64)
    return codes, Strings([encoded.dictionary])


def numbered_ints(values: Ints) -> tuple[Ints, Ints]:
    """Return the number of each whole number by first appearance, and the different ones in that order."""
    used, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[inverse.reshape(-1)], used[order]


def interleaved(columns: Sequence[Strings], number: Ints, row: Ints) -> Lookup[str]:
    """Return the column whose i-th string is that of row `row[i]` in column `number[i]`."""
    whole = Strings([chunk for column in columns for chunk in column.chunks])
    return Lookup(whole, number * (len(columns[0]) if columns else 0) + row)


def hash_column(hasher: Any, values: ColumnBase[str]) -> None:  # noqa: ANN401  (of hashlib)
    """Feed a column to a hash: how many strings, their lengths in bytes, their bytes."""
    hasher.update(np.array([len(values)], dtype="<i8").tobytes())
    hasher.update(values.byte_lengths().astype("<i8").tobytes())  # type: ignore[attr-defined]
    for block in values.blocks():  # type: ignore[attr-defined]
        hasher.update(content(block))


def few_words(values: Iterable[Any], most: int, word: Callable[[Any], str | None]) -> Lookup[Any] | None:
    """Return the column of `word(value)` (None: none) where there are at most so many different ones."""
    numbers: dict[str, int] = {}
    known: dict[Any, int] = {}
    blocks: list[Ints] = []
    cells = iter(values)
    while block := list(islice(cells, _DIGESTED)):
        keys = [cell if isinstance(cell, str) else (type(cell), cell) for cell in block]  # True is no 1
        for key, cell in zip(keys, block, strict=True):
            if key not in known:
                text = word(cell)
                known[key] = -1 if text is None else numbers.setdefault(text, len(numbers))
                if len(numbers) > most:
                    return None
        blocks.append(np.fromiter(map(known.__getitem__, keys), np.int64, len(keys)))
    return Lookup(list(numbers), np.concatenate(blocks)) if numbers else None
