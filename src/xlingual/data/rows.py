"""Rows of files as dictionaries (JSON lines, TSV, CSV and Parquet), lines of texts, and single cells."""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from xlingual.arrays import Ints
from xlingual.errors import InputError, listed, why
from xlingual.files import regular_file

Key = TypeVar("Key", bound=Hashable)
Row = dict[str, Any]

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet", ".tsv", ".tsv.gz", ".csv", ".csv.gz")
_MOST_BYTES = 1 << 28  # of a compressed file, unpacked
_LONGEST = 1 << 26  # characters of a cell
_STRAY = "a cell of several lines begins with a quotation mark and holds a tab"


def read_bytes(path: Path, what: str = "the file") -> bytes:
    """Read a file, decompressed (gzip, LZ4) and without a byte order mark."""
    try:
        return unpacked(regular_file(path, what).read_bytes(), path).removeprefix(codecs.BOM_UTF8)
    except InputError:
        raise
    except (zlib.error, EOFError, OSError, ValueError) as error:
        reason = why(error) if isinstance(error, OSError) else error
        raise InputError(f"{path} cannot be read ({reason}): write or download it again") from None


def unpacked(raw: bytes, path: Path) -> bytes:
    """Decompress bytes that begin as gzip or LZ4 frames do."""
    if raw.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=BytesIO(raw)) as file:
            content = file.read(_MOST_BYTES + 1)
    elif raw.startswith(b"\x04\x22\x4d\x18"):
        import pyarrow as pa

        with pa.CompressedInputStream(pa.BufferReader(raw), "lz4") as stream:
            content = bytes(stream.read(_MOST_BYTES + 1))
    else:
        return raw
    if len(content) > _MOST_BYTES:
        raise InputError(f"{path} has more than {_MOST_BYTES >> 20} MiB unpacked: unpack it first")
    return content


def read_text(path: Path, what: str = "the file") -> str:
    """Read a UTF-8 text file, which may be compressed."""
    raw = read_bytes(path, what)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line} is not UTF-8 text: convert the file to UTF-8 (iconv -f cp1252 -t utf-8)"
        ) from None


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield (number, line) of a UTF-8 text file, which may be compressed; only "\n" ends a line."""
    text = read_text(path)
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        yield number, line.removesuffix("\r")


def read_rows(path: Path, columns: Sequence[str] = ()) -> Iterator[tuple[str, Row]]:
    """Yield (place, row) of every row; the place is "FILE, line 3", for errors.

    With `columns`, a Parquet file is read in those of them that it has.
    """
    if path.suffix in (".parquet", ".pq"):
        table, number = read_parquet(path, columns), 0
        for batch in table.to_batches():
            for row in batch.to_pylist():
                number += 1
                yield f"{path}, row {number}", row
    elif mark := {".csv": ",", ".tsv": "\t"}.get(Path(path.name.removesuffix(".gz")).suffix):
        header: list[str] | None = None
        for line, cells in delimited(read_text(path), mark):
            if isinstance(cells, csv.Error):
                raise InputError(f"{path}, line {line}: {cells}: mend the quotes there")
            header = cells if header is None else header
            if len(cells) != len(header):
                raise InputError(
                    f"{path}, line {line}: {len(cells)} fields where the header has {len(header)}: mend it"
                )
            if cells is not header:
                yield f"{path}, line {line}", dict(zip(header, cells, strict=True))
    else:
        for number, raw in enumerate(read_bytes(path).split(b"\n"), 1):
            if raw.strip():
                yield f"{path}, line {number}", parsed_row(raw, f"{path}, line {number}")


def parsed_row(text: bytes, where: str) -> Row:
    """Parse the object in a line of JSON."""
    row = parsed(text, where)
    if not isinstance(row, dict):
        raise InputError(
            f"{where}: expected a JSON object such as {{…}}, found {row!r:.60}: write one per line"
        )
    return row


def parsed(text: bytes, where: str) -> Any:  # noqa: ANN401  (what JSON holds)
    """Parse JSON; raises InputError where it is none, or spells half a surrogate pair."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass  # NaN and infinities, which Python's reader takes, or an error that it names
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] or type(error).__name__
        if isinstance(error, UnicodeEncodeError):
            reason = "half of a surrogate pair (\\ud800 … \\udfff) is no character"
        raise InputError(f"{where} is not JSON ({reason}): mend it") from None


def read_parquet(path: Path, columns: Sequence[str] = ()) -> Any:  # noqa: ANN401  (of Arrow)
    """Read a Parquet file, in those of the columns that it has; by default all but those of vectors."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(regular_file(path, "a table"))
        inner = {field.name: getattr(field.type, "value_type", pa.null()) for field in schema}
        vectors = {n for n, t in inner.items() if pa.types.is_floating(t)}
        names = [name for name in schema.names if (name in columns if columns else name not in vectors)]
        table = parquet.read_table(path, columns=names)
        table.validate(full=True)  # offsets of a damaged file may lead anywhere in memory
        return table
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path} is no Parquet file that can be read ({reason}): write it again") from None


def delimited(text: str, mark: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    r"""Yield (number of the line in which a row begins, its cells); the error where its quotes are wrong.

    A quote that is not closed would take in all that follows, so only the line that it is in is given up.
    With tabs between, the same holds for a cell with a tab and a line end. Empty lines are passed over.

    >>> [row for _, row in delimited('a,"b\nc,d\n', ",")]
    [Error('unexpected end of data'), ['c', 'd']]
    """
    lines, start = list(StringIO(text, newline="")), 0
    usual = csv.field_size_limit(_LONGEST)  # tables of Wikipedia have cells of many pages
    try:
        while start < len(lines):
            reader = csv.reader((lines[n] for n in range(start, len(lines))), delimiter=mark, strict=True)
            end = 0
            try:
                for row in reader:
                    if mark == "\t" and any("\t" in cell and "\n" in cell for cell in row):
                        raise csv.Error(_STRAY)
                    if row:
                        yield start + end + 1, row
                    end = reader.line_num
                return
            except csv.Error as error:
                yield start + end + 1, error
                start += end + 1
    finally:
        csv.field_size_limit(usual)


def numbered(values: Iterable[Key]) -> tuple[Ints, list[Key]]:
    """Encode each value by first appearance, and list the different values in that order."""
    numbers: dict[Key, int] = {}
    codes = [numbers.setdefault(value, len(numbers)) for value in values]
    return np.array(codes, dtype=np.int64), list(numbers)


def is_missing(value: object) -> bool:
    """Whether a cell is empty: None, NaN or a string without visible characters."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and value != value)


def name_of(row: Row, column: str, where: str) -> str:
    """Take a cell that names something as a string: 7.0 names what 7 names."""
    value = row.get(column)
    if is_missing(value) or isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(
            f"{where}, column {column!r}: found {value!r:.60} where a name is expected: give one"
        )
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def text_of(row: Row, column: str, where: str) -> str:
    """Take a cell that is a text; "" where it is missing."""
    value = row.get(column)
    if value is None or value != value:
        return ""
    if not isinstance(value, str):
        raise InputError(
            f"{where}, column {column!r}: found {value!r:.60} where a text is expected: write it as a string"
        )
    return value


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
