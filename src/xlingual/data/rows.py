"""Rows of tables as dictionaries: JSON lines, TSV and CSV (also .gz), and Parquet.

Pools, judgements and published corpora are read by rows. Manifests, which may be large, are read by columns.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from xlingual.arrays import Ints
from xlingual.errors import InputError, listed, why
from xlingual.files import regular_file

Key = TypeVar("Key", bound=Hashable)
Row = dict[str, Any]

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet", ".tsv", ".tsv.gz", ".csv", ".csv.gz")
_LONGEST = 1 << 26  # characters of a cell


def read_bytes(path: Path, what: str = "the file") -> bytes:
    """Read a file, decompressed (gzip, LZ4) and without a byte order mark."""
    try:
        return unpacked(regular_file(path, what).read_bytes()).removeprefix(codecs.BOM_UTF8)
    except InputError:
        raise
    except (zlib.error, EOFError, OSError, ValueError) as error:
        reason = why(error) if isinstance(error, OSError) else error
        raise InputError(f"{path} cannot be read ({reason}): write or download it again") from None


def unpacked(raw: bytes) -> bytes:
    """Decompress bytes that begin as gzip or LZ4 frames do."""
    if raw.startswith(b"\x1f\x8b"):
        return gzip.decompress(raw)
    if not raw.startswith(b"\x04\x22\x4d\x18"):
        return raw
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(raw), "lz4") as stream:
        return bytes(stream.read())


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield (number, line) of a UTF-8 text file, which may be gzipped; only "\n" ends a line."""
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                yield number, text.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number} is not UTF-8 text: save or download it again") from error
    except (OSError, zlib.error, EOFError) as error:
        reason = why(error) if isinstance(error, OSError) else error
        raise InputError(f"{path} cannot be read ({reason}): download it again") from error


def read_rows(path: Path, columns: Sequence[str] = ()) -> Iterator[tuple[str, Row]]:
    """Yield (place, row) of every row; the place is "FILE, line 3", for errors.

    With `columns`, a Parquet file is read in those of them that it has.
    """
    regular_file(path, "a table")
    if path.suffix in (".parquet", ".pq"):
        number = 0
        for batch in read_table(path, columns).to_batches():
            try:
                rows = batch.to_pylist()
            except UnicodeDecodeError:
                raise InputError(f"{path}: a text after row {number} is not UTF-8: write it again") from None
            for row in rows:
                number += 1
                yield f"{path}, row {number}", row
    elif ".csv" in path.name or ".tsv" in path.name:
        yield from _delimited_rows(path, "," if ".csv" in path.name else "\t")
    else:
        for number, line in read_lines(path):
            if line.strip():
                yield f"{path}, line {number}", parsed_row(line, f"{path}, line {number}")


def parsed_row(text: str | bytes, where: str) -> Row:
    """Return the object in a line of JSON."""
    row = parsed(text, where)
    if not isinstance(row, dict):
        raise InputError(f"{where}: expected a JSON object such as {{…}}: write one per line")
    return row


def parsed(text: str | bytes, where: str) -> Any:  # noqa: ANN401  (what JSON holds)
    """Parse JSON; raises InputError where it is none, or spells half a surrogate pair."""
    try:
        value = json.loads(text)
        if (b"\\u" if isinstance(text, bytes) else "\\u") in text:  # type: ignore[operator]
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] or type(error).__name__
        if isinstance(error, UnicodeEncodeError):
            reason = "half of a surrogate pair (\\ud800 … \\udfff) is no character"
        raise InputError(f"{where} is not JSON ({reason}): mend it") from None


def read_table(path: Path, columns: Sequence[str] = ()) -> Any:  # noqa: ANN401  (of Arrow)
    """Read a Parquet file, in those of the columns that it has (by default all)."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        names = parquet.read_schema(path).names
        return parquet.read_table(path, columns=[name for name in names if not columns or name in columns])
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path} is no Parquet file that can be read: {reason}") from None


def _delimited_rows(path: Path, mark: str) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a file with a header; its cells may be quoted, and hold line ends."""
    usual = csv.field_size_limit(_LONGEST)  # tables of Wikipedia have cells of many pages
    try:
        reader = csv.reader((f"{line}\n" for _, line in read_lines(path)), delimiter=mark)
        header = next(reader, [])
        for row in filter(None, reader):
            where = f"{path}, line {reader.line_num}"
            if len(row) != len(header):
                raise InputError(
                    f"{where}: {len(row)} fields where the header has {len(header)}: mend the line"
                )
            yield where, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise InputError(f"{path}: {error}: mend the quotes there") from error
    finally:
        csv.field_size_limit(usual)


def numbered(values: Iterable[Key]) -> tuple[Ints, list[Key]]:
    """Return the number of each value by first appearance, and the different values in that order."""
    numbers: dict[Key, int] = {}
    codes = [numbers.setdefault(value, len(numbers)) for value in values]
    return np.array(codes, dtype=np.int64), list(numbers)


def is_missing(value: object) -> bool:
    """Whether a cell is empty: None, NaN or a string without visible characters."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and value != value)


def name_of(row: Row, column: str, where: str, default: str | None = None) -> str:
    """Return a cell that names something, as a string: 7.0 names what 7 names."""
    value = row.get(column)
    if is_missing(value) and default is not None:
        return default
    if is_missing(value) or isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _unexpected(value, column, where, "name")
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def text_of(row: Row, column: str, where: str) -> str:
    """Return a cell that is a text; "" where it is missing."""
    value = row.get(column)
    if value is None or value != value:
        return ""
    if not isinstance(value, str):
        raise _unexpected(value, column, where, "text")
    return value


def _unexpected(value: object, column: str, where: str, what: str) -> InputError:
    """Return the error for a cell of another type."""
    return InputError(
        f"{where}, column {column!r}: found {value!r:.60} where a {what} is expected: write it as a string"
    )


def require(names: Iterable[str], columns: Sequence[str], source: str | Path) -> None:
    """Raise InputError where a table lacks one of the columns."""
    names = list(names)
    if missing := [column for column in columns if column not in names]:
        has = listed(map(str, names), 20) or "none"
        raise InputError(f"{source} has no column {missing[0]!r}: it has {has}; name one so")


def is_number(text: str) -> bool:
    """Decide whether a cell holds a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
