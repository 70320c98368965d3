"""One reader for each file format of a manifest: Parquet, Arrow, JSON lines, CSV and TSV."""

from __future__ import annotations

import codecs
import csv
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from xlingual.data.reading.features import with_names
from xlingual.data.reading.gathering import ROWS, Gathered, table_of, table_of_strings
from xlingual.data.reading.problems import STRICT, Reading, first_line
from xlingual.data.reading.tables import (
    SourceTable,
    sound,
    table_of_arrow,
    table_of_schema,
)
from xlingual.data.reading.values import described
from xlingual.errors import InputError, parameter

if TYPE_CHECKING:
    import pyarrow as pa

_MANY_COLUMNS = 1_000
_UTF8 = "utf-8-sig"  # with or without a byte order mark
_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


@contextmanager
def _opened(path: Path, format_name: str) -> Iterator[None]:
    """Turn whatever the Arrow library raises for a damaged file, which is of many kinds, into one error."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path} is not {format_name} file ({first_line(error)}): write it again") from error


@contextmanager
def _opened_text(path: Path, encoding: str | None, newline: str) -> Iterator[TextIO]:
    """Open a text file; where its bytes are not text of the encoding, the error names the first such line."""
    try:
        file = path.open(encoding=encoding or _UTF8, newline=newline)
    except (LookupError, ValueError):
        raise InputError(
            f"{parameter('encoding', str(encoding)[:40])}: no such encoding: give one such as utf-8, utf-16, "
            "cp1252 or gb18030"
        ) from None
    with file:
        try:
            yield file
        except UnicodeError as error:
            raise InputError(
                f"{path}, line {_undecodable_line(path, encoding)} is not {encoding or 'UTF-8'} text: "
                f"convert the file to UTF-8, or give its encoding, such as {parameter('encoding', 'cp1252')}"
            ) from error


def _undecodable_line(path: Path, encoding: str | None) -> int:
    """Return the number of the first line with bytes that an encoding does not know."""
    data = path.read_bytes()
    try:
        codecs.decode(data, encoding or "utf-8")
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 1


def read_parquet(path: Path, reading: Reading = STRICT) -> SourceTable:
    """Read the schema of a Parquet file; columns are read when asked for, others never."""
    import pyarrow.parquet as pq

    with _opened(path, "a Parquet"), pq.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        metadata = file.metadata
    # Of very many columns the file stays open: opening it for each of them would cost their square.
    many = pq.ParquetFile(path, metadata=metadata) if len(schema) > _MANY_COLUMNS else None

    def column(name: str) -> pa.ChunkedArray:
        try:
            with nullcontext(many) if many else pq.ParquetFile(path, metadata=metadata) as file:
                found = file.read(columns=[name]).column(name)
        except Exception as error:  # of many kinds, where a file is damaged
            raise InputError(
                f"{path}, column {name!r} cannot be read ({first_line(error)}): write the file again"
            ) from error
        if len(found) != n_rows:
            raise InputError(
                f"{path}, column {name!r} has {len(found)} of {n_rows} rows: write the file again"
            )
        return sound(found, str(path), name)

    return table_of_schema(schema, n_rows, column, str(path), path.parent, reading)


def read_arrow(path: Path, reading: Reading = STRICT) -> SourceTable:
    """Map an Arrow file (IPC, Feather) or stream into memory: columns that are not needed are never read."""
    import pyarrow as pa

    with _opened(path, "an Arrow"):
        source = pa.memory_map(str(path))
        try:
            table = pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            table = pa.ipc.open_stream(source).read_all()
        return table_of_arrow(with_names(table), str(path), path.parent, reading)


def read_jsonl(path: Path, reading: Reading = STRICT) -> SourceTable:
    """Read one JSON object per line; empty lines are passed over."""
    bad: list[tuple[int, str]] = []

    def refuse(row: int, sentence: str) -> None:
        if reading.problems is None:
            raise InputError(sentence)
        bad.append((row, sentence))

    def again(name: str) -> Iterator[Any]:
        return (row.get(name) for row in _json_rows(path, reading.encoding, lambda row, sentence: None))

    gathered = Gathered(again)
    rows = _json_rows(path, reading.encoding, refuse)
    while block := list(islice(rows, ROWS)):
        gathered.take(block)
    if bad:
        examples = [sentence.split(", ", 1)[-1] for _, sentence in bad[:3]]
        reading.error("not JSON", bad[0][1], [row for row, _ in bad], examples)
    return table_of(gathered, str(path), path.parent, reading)


def _json_rows(
    path: Path, encoding: str | None, refuse: Callable[[int, str], None]
) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file; `refuse` is called for lines that hold none, and {} stands for them."""
    count, decode = 0, json.JSONDecoder().raw_decode
    # Only "\n" ends a line: JSON strings may hold other separators, such as U+2028, as they are.
    with _opened_text(path, encoding, "\n") as handle:
        for number, ended in enumerate(handle, 1):
            line = ended.removesuffix("\n")
            if not line.strip():
                continue
            try:
                row, end = decode(line)
            except (ValueError, RecursionError):
                end = 0
            if end == len(line) and isinstance(row, dict):  # as nearly all lines are, and the fastest way
                count += 1
                yield row
                continue
            problem = None
            try:
                row = json.loads(line)
                if not isinstance(row, dict):
                    problem = (
                        f': expected an object like {{"id": …}}, found {described(row)}: write one JSON '
                        "object per line"
                    )
            except json.JSONDecodeError as error:  # which counts lines within this one
                problem = f" is not JSON ({error.msg}, character {error.colno}): mend the line"
            except (ValueError, RecursionError) as error:
                problem = f" is not JSON ({first_line(error)}): mend the line"
            if problem is not None:
                _refuse_one_value(path, encoding, count)
                refuse(count, f"{path}, line {number}{problem}")
                row = {}
            count += 1
            yield row


def _refuse_one_value(path: Path, encoding: str | None, count: int) -> None:
    """Raise InputError where a file without a readable line is one JSON value."""
    try:
        whole = None if count else json.loads(path.read_text(encoding or _UTF8))
    except (ValueError, RecursionError):
        return
    if isinstance(whole, (list, dict)):
        kind = "a list" if isinstance(whole, list) else "one object over several lines"
        raise InputError(f"{path}: expected one JSON object per line; this file holds {kind}: write it again")


def read_csv(path: Path, reading: Reading = STRICT) -> SourceTable:
    """Read comma-separated values with a header; every value stays the string it is."""
    return _read_delimited(path, ",", reading)


def read_tsv(path: Path, reading: Reading = STRICT) -> SourceTable:
    """Read tab-separated values with a header, quoted like CSV."""
    return _read_delimited(path, "\t", reading)


READERS: dict[str, Callable[..., SourceTable]] = {
    ".parquet": read_parquet,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".csv": read_csv,
    ".tsv": read_tsv,
}


def _read_delimited(path: Path, usual: str, reading: Reading) -> SourceTable:
    separator = usual if reading.separator is None else _separator(reading.separator)
    gathered = Gathered()
    with _opened_text(path, reading.encoding, "") as handle:
        found = delimited(handle, separator)
        number, header = next(found, (1, []))
        if isinstance(header, csv.Error):
            raise InputError(_wrong_quotes(path, number, header))
        rows = _delimited_rows(found, path, len(header), separator, reading)
        while block := list(islice(rows, ROWS)):
            gathered.take_lines(block)
    _check_header(path, header, separator)
    return table_of_strings(gathered, header, path, reading)


def _separator(name: str) -> str:
    mark = _SEPARATORS.get(name.strip().lower(), name)
    if len(mark) != 1 or mark.isalnum() or mark in "\"'\r\n\0 ":
        raise InputError(
            f"{parameter('separator', name[:40])}: say one character such as ';', ',' or '|', or tab"
        )
    return mark


def _delimited_rows(
    found: Iterator[tuple[int, list[str] | csv.Error]],
    path: Path,
    width: int,
    separator: str,
    reading: Reading,
) -> Iterator[list[str]]:
    """Yield the rows of a file; those of another width than the header are cut or filled up, and reported.

    A row whose quotes are wrong is reported, and empty.
    """
    bad: dict[str, list[int]] = {"row width": [], "quotes": []}
    examples: dict[str, list[str]] = {"row width": [], "quotes": []}
    for number, (line, row) in enumerate(found, 1):
        if isinstance(row, csv.Error):
            examples["quotes"].append(_wrong_quotes(path, line, row))
            bad["quotes"].append(number - 1)
            row = []
        elif len(row) != width:
            examples["row width"].append(f"row {number} (line {line}): {len(row)} fields")
            bad["row width"].append(number - 1)
        if len(row) != width:
            if reading.problems is None:
                break
            row = (row + [""] * width)[:width]
        yield row
    what = {",": "commas", ";": "semicolons", "\t": "tabs"}.get(separator, repr(separator))
    sentences = {
        "quotes": "{}",
        "row width": f"{path}, {{}} where the header has {width}: quote texts that hold {what}, quotes or "
        "line ends",
    }
    for kind, sentence in sentences.items():
        if bad[kind]:
            reading.error(kind, sentence.format(examples[kind][0]), bad[kind], examples[kind][:3])


def _wrong_quotes(path: Path, line: int, error: csv.Error) -> str:
    return f"{path}, line {line}: {error}: mend the quotes there, or use JSONL or Parquet"


def _check_header(path: Path, header: list[str], separator: str) -> None:
    marks = (mark for mark in (";", "\t", ",") if mark in header[0] and mark != separator)
    other = next(marks, None) if len(header) == 1 else None
    if other:
        raise InputError(
            f"{path}: the columns seem to be separated by {other!r}, not by {separator!r}: say "
            f"{parameter('separator', 'tab' if other == chr(9) else other)}, or rename the file "
            "(.csv: commas, .tsv: tabs)"
        )


def delimited(lines: Iterable[str], mark: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    r"""Yield (number of the line in which a row begins, its cells); the error where its quotes are wrong.

    A quote that is not closed would take in all that follows, so only the line that it is in is given up.
    Empty lines are passed over.

    >>> [row for _, row in delimited(['a,"b\n', "c,d\n"], ",")]
    [Error('unexpected end of data'), ['c', 'd']]
    """
    unread, again, taken = iter(lines), deque[str](), list[str]()

    def source() -> Iterator[str]:
        while (line := again.popleft() if again else next(unread, None)) is not None:
            taken.append(line)
            yield line

    number, reader = 1, csv.reader(source(), delimiter=mark, strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            again.extendleft(reversed(taken[1:]))
            del taken[1:]
            reader = csv.reader(source(), delimiter=mark, strict=True)
            yield number, error
        else:
            if row:
                yield number, row
        number += len(taken)
        taken.clear()
