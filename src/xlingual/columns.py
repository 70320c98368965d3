"""Columns of millions of strings: kept as bytes, in memory or in a mapped file, until they are asked for.

A column behaves as a list of Python strings that cannot be changed; `pick` takes many rows at once. pyarrow
is imported inside the functions, since much is done without it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np

from xlingual.arrays import Ints
from xlingual.arrow import from_numpy, from_strings, scalar, to_numpy

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
BLOCK = 1 << 14  # rows that are Python objects at the same time, where all are gone through
# a character that is seen: neither white space (as `str.isspace` has it) nor of zero width
_SEEN = r"[^\t-\r\x1c-\x20\x85\p{Z}\p{Cf}]"


class ColumnBase(Sequence[T], Generic[T]):
    """The base of columns: they are equal to lists of the same values, and slices are columns."""

    def pick(self, rows: Ints) -> list[T]:
        """Return the values of the rows."""
        raise NotImplementedError

    def view(self, rows: Ints) -> Lookup[T]:
        """Return the column of the rows [m], which copies no value."""
        return Lookup(self, rows)

    @overload
    def __getitem__(self, row: SupportsIndex) -> T: ...

    @overload
    def __getitem__(self, row: slice) -> Lookup[T]: ...

    def __getitem__(self, row: SupportsIndex | slice) -> T | Lookup[T]:
        if isinstance(row, slice):
            return self.view(np.arange(*row.indices(len(self))))
        place = range(len(self))[row]  # raises IndexError
        return self.pick(np.array([place]))[0]

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self), BLOCK):
            yield from self.pick(np.arange(start, min(start + BLOCK, len(self))))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, tuple, ColumnBase)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        more = ", …" if len(self) > 3 else ""
        return f"[{', '.join(repr(value) for value in self[:3])}{more}]"


class Strings(ColumnBase[str]):
    """n strings in an Arrow array of type large_string, none of them missing."""

    def __init__(self, array: pa.LargeStringArray) -> None:
        self.array = array

    @classmethod
    def of(cls, values: Iterable[str | None]) -> Strings:
        """Return a column, "" for None; raises UnicodeEncodeError for half a surrogate pair."""
        import pyarrow as pa

        return cls(from_strings([value or "" for value in values], pa.large_string()))

    @classmethod
    def of_arrow(cls, column: pa.ChunkedArray) -> Strings:
        """Return a column of Arrow that holds strings, "" for missing ones."""
        import pyarrow as pa

        if pa.types.is_dictionary(column.type):  # polars' words are views of strings
            column = column.cast(pa.dictionary(pa.int64(), pa.large_string()))
        chunks = column.cast(pa.large_string()).chunks
        whole = chunks[0] if len(chunks) == 1 else pa.concat_arrays([pa.nulls(0, pa.large_string()), *chunks])
        return cls(whole.fill_null(scalar("", whole.type)) if whole.null_count else whole)

    def __len__(self) -> int:
        return len(self.array)

    def pick(self, rows: Ints) -> list[str]:
        """Return the values of the rows."""
        return list(self.arrow(rows).to_pylist())

    def arrow(self, rows: Ints) -> pa.LargeStringArray:
        """Return the strings of the rows as one Arrow array, without a copy where they follow each other."""
        if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all():
            return self.array.slice(int(rows[0]), len(rows))
        return self.array.take(from_numpy(np.asarray(rows, dtype=np.int64)))

    def blocks(self) -> Iterator[pa.LargeStringArray]:
        """Yield the strings in order, some at a time."""
        yield self.array

    def byte_lengths(self) -> Ints:
        """Return the length of each string as UTF-8, int64 [n]."""
        lengths: Ints = np.diff(_offsets(self.array))
        return lengths

    def blank(self) -> np.ndarray:
        """Return which strings have no visible character (white space, zero width), bool [n]."""
        import pyarrow.compute as pc

        return ~to_numpy(pc.match_substring_regex(self.array, _SEEN))

    def numbered(self) -> tuple[Ints, Strings]:
        """Return the number of each string by first appearance, int64 [n], and the different ones."""
        encoded = self.array.dictionary_encode()
        return to_numpy(encoded.indices).astype(np.int64), Strings(encoded.dictionary)


class Lookup(ColumnBase[T]):
    """The values `words[codes[i]]`; None where a code is negative."""

    words: Sequence[T]
    codes: Ints

    def __init__(self, words: Sequence[T], codes: Ints) -> None:
        inner: Any = words
        if isinstance(inner, Lookup):
            places = inner.codes[codes] if len(inner.codes) else codes
            words, codes = inner.words, np.where(codes < 0, codes, places)
        self.words, self.codes = words, codes

    def __len__(self) -> int:
        return len(self.codes)

    def pick(self, rows: Ints) -> list[T]:
        """Return the values of the rows."""
        codes = self.codes[rows]
        if not isinstance(self.words, ColumnBase):
            words = self.words
            return [words[code] if code >= 0 else None for code in codes.tolist()]  # type: ignore[misc]
        values = iter(self.words.pick(codes[codes >= 0]))
        return [next(values) if code >= 0 else None for code in codes.tolist()]  # type: ignore[misc]

    def blocks(self) -> Iterator[pa.LargeStringArray]:
        """Yield the strings in order, some at a time."""
        words = self._strings()
        for start in range(0, len(self), 4 * BLOCK):
            yield words.arrow(self.codes[start : start + 4 * BLOCK])

    def byte_lengths(self) -> Ints:
        """Return the length of each string as UTF-8, int64 [n]."""
        return self._strings().byte_lengths()[self.codes] if len(self) else np.empty(0, dtype=np.int64)

    def blank(self) -> np.ndarray:
        """Return which strings have no visible character, bool [n]."""
        return self._strings().blank()[self.codes] if len(self) else np.zeros(0, dtype=bool)

    def numbered(self) -> tuple[Ints, Strings]:
        """Return the number of each string by first appearance, int64 [n], and the different ones."""
        return Strings(self._strings().arrow(self.codes)).numbered()

    def _strings(self) -> Strings:
        words: Any = self.words
        return words if isinstance(words, Strings) else Strings.of(words)


StringColumn: TypeAlias = Strings | Lookup[str]


class Paths(ColumnBase[Path]):
    """n paths within a folder, kept as strings; without a folder they are taken as they are."""

    def __init__(self, folder: Path | None, names: Strings) -> None:
        self.folder, self.names = folder, names

    def __len__(self) -> int:
        return len(self.names)

    def pick(self, rows: Ints) -> list[Path]:
        """Return the paths of the rows."""
        return [Path(name) if self.folder is None else self.folder / name for name in self.names.pick(rows)]


def paths_of(sources: Sequence[Any]) -> tuple[Path | None, ColumnBase[str]] | None:
    """Return the folder and the names of a column of paths; None where a sequence is no such column."""
    base, codes = (sources.words, sources.codes) if isinstance(sources, Lookup) else (sources, None)
    if not isinstance(base, Paths):
        return None
    return base.folder, base.names if codes is None else base.names.view(codes)


def shown_paths(sources: Sequence[Any]) -> Iterator[str]:
    """Yield str(path) for each path of a sequence; of a column of paths, none becomes a Path for that."""
    column = paths_of(sources)
    if column is None:
        yield from map(str, sources)
    else:
        folder = "" if column[0] is None or str(column[0]) == "." else str(column[0])
        yield from (os.path.join(folder, name) for name in column[1])


def view(values: Sequence[T], rows: Ints) -> Lookup[T]:
    """Return the column of the rows of a column or of any sequence, which copies no value."""
    return Lookup(values, rows)


def pick(values: Sequence[T], rows: Ints) -> list[T]:
    """Return the values of the rows, of a column or of any sequence."""
    return values.pick(rows) if isinstance(values, ColumnBase) else [values[row] for row in rows.tolist()]


def coded(values: Sequence[str]) -> tuple[Ints, list[str]]:
    """Return (codes [n], words): the number of each value by first appearance, and the different values."""
    if isinstance(values, Lookup) and not isinstance(values.words, ColumnBase):
        codes, used = numbered_ints(values.codes)
        words = [values.words[code] for code in used.tolist()]
        if len(set(words)) == len(words):
            return codes, words
    numbers: dict[str, int] = {}
    every = (numbers.setdefault(value, len(numbers)) for value in values)
    return np.fromiter(every, np.int64, len(values)), list(numbers)


def numbered_ints(values: Ints) -> tuple[Ints, Ints]:
    """Return the number of each whole number by first appearance, and the different ones in that order."""
    import pyarrow as pa

    encoded: Any = from_numpy(np.asarray(values, dtype=np.int64)).dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return to_numpy(encoded.indices).astype(np.int64), to_numpy(encoded.dictionary)


def position_in_group(group: Ints) -> Ints:
    """Return how many earlier rows are of the same group (a code from 0), int64 [n]."""
    counts = np.bincount(group)
    order = np.argsort(group, kind="stable")
    position = np.empty(len(group), dtype=np.int64)
    position[order] = np.arange(len(group)) - (np.cumsum(counts) - counts)[group[order]]
    return position


def hash_column(hasher: Any, values: StringColumn) -> None:  # noqa: ANN401  (of hashlib)
    """Feed a column to a hash: how many strings, their lengths in bytes, their bytes."""
    hasher.update(np.array([len(values)], dtype="<i8").tobytes())
    hasher.update(values.byte_lengths().astype("<i8").tobytes())
    for block in values.blocks():
        content = block.buffers()[2]
        if len(block) and content is not None:
            ends = _offsets(block)
            hasher.update(memoryview(content)[int(ends[0]) : int(ends[-1])])


def _offsets(chunk: pa.LargeStringArray) -> Any:  # noqa: ANN401  (int64 [n + 1])
    """Return where the bytes of each string begin in the third buffer of a chunk, and where the last ends."""
    if not len(chunk):
        return np.zeros(1, dtype=np.int64)
    return np.frombuffer(chunk.buffers()[1], np.int64, len(chunk) + 1, 8 * chunk.offset)
