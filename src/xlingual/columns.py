"""Columns of millions of strings: kept as bytes, in memory or in a mapped file, until they are asked for.

A column behaves as a list of Python strings that cannot be changed; `pick` takes many rows at once. pyarrow
is imported inside the functions, since much is done without it.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeVar, overload

import numpy as np

from xlingual.arrays import Ints
from xlingual.arrow import from_numpy, from_strings

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
BLOCK = 1 << 14  # rows that are Python objects at the same time, where all are gone through


class ColumnBase(Sequence[T], Generic[T]):
    """The base of columns: they are equal to lists of the same values, and slices are columns."""

    def pick(self, rows: Ints) -> list[T]:
        """Return the values of the rows."""
        raise NotImplementedError

    def view(self, rows: Ints) -> Lookup[T]:
        """Return the column of the rows [m], which copies no value."""
        return Lookup(self, rows)

    def _one(self, row: int) -> T:
        raise NotImplementedError

    @overload
    def __getitem__(self, row: SupportsIndex) -> T: ...

    @overload
    def __getitem__(self, row: slice) -> Lookup[T]: ...

    def __getitem__(self, row: SupportsIndex | slice) -> T | Lookup[T]:
        if isinstance(row, slice):
            return self.view(np.arange(*row.indices(len(self))))
        place = int(row)
        place += len(self) if place < 0 else 0
        if not 0 <= place < len(self):
            raise IndexError("no such row")
        return self._one(place)

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
    """n strings in Arrow arrays, none of them missing."""

    def __init__(self, chunks: Sequence[pa.LargeStringArray]) -> None:
        self.chunks = [chunk for chunk in chunks if len(chunk)]
        self._starts = list(accumulate(map(len, self.chunks), initial=0))

    @classmethod
    def of(cls, values: Iterable[str]) -> Strings:
        """Return the column of some strings; raises UnicodeEncodeError for half a surrogate pair."""
        import pyarrow as pa

        rows = values if isinstance(values, list) else list(values)
        size = 4 * BLOCK
        blocks = (rows[start : start + size] for start in range(0, len(rows), size))
        return cls([from_strings(block, pa.large_string()) for block in blocks])

    def __len__(self) -> int:
        return self._starts[-1]

    def _one(self, row: int) -> str:
        place = bisect_right(self._starts, row) - 1
        found: str = self.chunks[place][row - self._starts[place]].as_py()
        return found

    def pick(self, rows: Ints) -> list[str]:
        """Return the values of the rows."""
        found: list[str] = self.arrow(rows).to_pylist()
        return found

    def arrow(self, rows: Ints) -> pa.LargeStringArray:
        """Return the strings of the rows as one Arrow array."""
        import pyarrow as pa

        if not len(rows):
            return pa.nulls(0, pa.large_string())
        place = np.searchsorted(self._starts, rows, side="right") - 1
        first, last = int(place.min()), int(place.max())
        if first == last:
            return _taken(self.chunks[first], rows - self._starts[first])
        order = np.argsort(place, kind="stable")
        ends = np.flatnonzero(np.diff(place[order])) + 1
        parts = [
            _taken(self.chunks[place[part[0]]], rows[part] - self._starts[place[part[0]]])
            for part in np.split(order, ends)
        ]
        back = np.empty(len(rows), dtype=np.int64)
        back[order] = np.arange(len(rows))
        return pa.concat_arrays(parts).take(from_numpy(back))

    def blocks(self) -> Iterator[pa.LargeStringArray]:
        """Yield the strings in order, some at a time."""
        yield from self.chunks

    def byte_lengths(self) -> Ints:
        """Return the length of each string as UTF-8, int64 [n]."""
        if not self.chunks:
            return np.empty(0, dtype=np.int64)
        return np.concatenate([np.diff(offsets(chunk)) for chunk in self.chunks])


class Lookup(ColumnBase[T]):
    """The values `words[codes[i]]`; None where a code is negative."""

    words: Sequence[T]
    codes: Ints

    def __init__(self, words: Sequence[T], codes: Ints) -> None:
        inner: Any = words
        if isinstance(inner, Lookup):
            words, codes = inner.words, _through(inner.codes, codes)
        self.words, self.codes = words, codes

    def __len__(self) -> int:
        return len(self.codes)

    def _one(self, row: int) -> T:
        code = int(self.codes[row])
        return self.words[code] if code >= 0 else None  # type: ignore[return-value]

    def pick(self, rows: Ints) -> list[T]:
        """Return the values of the rows."""
        codes = self.codes[rows]
        if not isinstance(self.words, ColumnBase):
            words = self.words
            return [words[code] if code >= 0 else None for code in codes.tolist()]  # type: ignore[misc]
        known = codes >= 0
        if known.all():
            return self.words.pick(codes)
        found = iter(self.words.pick(codes[known]))
        return [next(found) if there else None for there in known.tolist()]  # type: ignore[misc]

    def blocks(self) -> Iterator[pa.LargeStringArray]:
        """Yield the strings in order, some at a time."""
        import pyarrow as pa

        for start in range(0, len(self), 4 * BLOCK):
            codes = self.codes[start : start + 4 * BLOCK]
            if isinstance(self.words, Strings):
                yield self.words.arrow(codes)
            else:
                yield from_strings([self.words[code] for code in codes.tolist()], pa.large_string())

    def byte_lengths(self) -> Ints:
        """Return the length of each string as UTF-8, int64 [n]."""
        words = self.words if isinstance(self.words, Strings) else Strings.of(list(self.words))  # type: ignore[arg-type]
        return words.byte_lengths()[self.codes] if len(words) else np.empty(0, dtype=np.int64)


class Paths(ColumnBase[Path]):
    """n paths within a folder, kept as strings; without a folder they are taken as they are."""

    def __init__(self, folder: Path | None, names: Strings) -> None:
        self.folder, self.names = folder, names

    def __len__(self) -> int:
        return len(self.names)

    def _one(self, row: int) -> Path:
        return self._path(self.names[row])

    def pick(self, rows: Ints) -> list[Path]:
        """Return the paths of the rows."""
        return [self._path(name) for name in self.names.pick(rows)]

    def _path(self, name: str) -> Path:
        return Path(name) if self.folder is None else self.folder / name


def shown_paths(sources: Sequence[Any]) -> Iterator[str]:
    """Yield str(path) for each path of a sequence; of a column of paths, none becomes a Path for that."""
    base, codes = (sources.words, sources.codes) if isinstance(sources, Lookup) else (sources, None)
    if not isinstance(base, Paths):
        yield from map(str, sources)
        return
    folder = "" if base.folder is None or str(base.folder) == "." else str(base.folder)
    names = base.names if codes is None else base.names.view(codes)
    yield from (os.path.join(folder, name) for name in names)


def pick(values: Sequence[T], rows: Ints) -> list[T]:
    """Return the values of the rows, of a column or of any sequence."""
    if isinstance(values, ColumnBase):
        return values.pick(rows)
    return [values[row] for row in rows.tolist()]


def view(values: Sequence[T], rows: Ints) -> Lookup[T]:
    """Return the column of the rows of a column or of any sequence, which copies no value."""
    return Lookup(values, rows)


def plain(values: Sequence[T]) -> Sequence[T]:
    """Return the values as a list where they are a column; any other sequence stays as it is."""
    return list(values) if isinstance(values, ColumnBase) else values


def coded(values: Sequence[str]) -> tuple[Ints, list[str]]:
    """Return (codes [n], words): the number of each value by first appearance, and the different values."""
    if isinstance(values, Lookup) and not isinstance(values.words, ColumnBase):
        used, first, codes = np.unique(values.codes, return_index=True, return_inverse=True)
        names = [values.words[code] for code in used.tolist()]
        if len(set(names)) == len(names):
            order = np.argsort(first)
            place = np.empty(len(order), dtype=np.int64)
            place[order] = np.arange(len(order))
            return place[codes.reshape(-1)], [names[i] for i in order.tolist()]
    numbers: dict[str, int] = {}
    found = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.int64, len(values))
    return found, list(numbers)


def _through(inner: Ints, codes: Ints) -> Ints:
    """Return inner[codes]; a code below 0 stays one."""
    if not len(inner):
        return codes
    return inner[codes] if not len(codes) or codes.min() >= 0 else np.where(codes < 0, codes, inner[codes])


def offsets(chunk: pa.LargeStringArray) -> Any:  # noqa: ANN401  (int64 [n + 1])
    """Return where the bytes of each string begin in the third buffer of a chunk, and where the last ends."""
    return np.frombuffer(chunk.buffers()[1], np.int64, len(chunk) + 1, 8 * chunk.offset)


def content(chunk: pa.LargeStringArray) -> memoryview:
    """Return the bytes of all strings of a chunk, one behind the other."""
    if not len(chunk) or chunk.buffers()[2] is None:
        return memoryview(b"")
    ends = offsets(chunk)
    return memoryview(chunk.buffers()[2])[int(ends[0]) : int(ends[-1])]


def _taken(chunk: pa.LargeStringArray, rows: Ints) -> pa.LargeStringArray:
    """Return rows of a chunk, without a copy where they follow each other."""
    if rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all():
        return chunk.slice(int(rows[0]), len(rows))
    return chunk.take(from_numpy(rows))
