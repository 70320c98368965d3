"""Files as tables: Parquet, Arrow, JSON lines and arrays, CSV and TSV, or a folder of the files of one table.

Columns of Parquet and Arrow files are read when they are asked for. Arrow reads text files that are regular;
Python reads the others line by line, to say what is wrong where.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.data.tables import (
    Problems,
    Table,
    check_names,
    columns_of_records,
    concatenated,
    described,
    first_line,
    joined,
)
from xlingual.errors import InputError, listed, nearest, parameter, why
from xlingual.files import regular_file
from xlingual.results.provenance import note_file

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER_NAMES = tuple(f"metadata.{ending}" for ending in ("jsonl", "csv", "parquet")) + tuple(
    f"manifest.{ending}" for ending in ("parquet", "jsonl", "ndjson", "json", "csv", "tsv")
)
_ARROW = (".arrow", ".feather", ".ipc")
_JSON = (".jsonl", ".ndjson", ".json")
_DELIMITED = {".csv": ",", ".tsv": "\t"}
ENDINGS = (".parquet", *_ARROW, *_JSON, *_DELIMITED)  # those of text files also with .gz behind them
_MOST_BYTES = 1 << 28  # of a .gz file, unpacked
_BLOCK = 1 << 14  # rows of JSON that are Python objects at a time
_NESTED = 500  # brackets in a line of JSON; Arrow's reader of it runs out of stack at some ten thousand
_LARGEST = 2**53  # whole numbers from here on are not exact as floats


def read_table(
    path: str | Path,
    problems: Problems | None = None,
    *,
    separator: str | None = None,
    encoding: str | None = None,
) -> tuple[Table, Path]:
    """Return the table of a file, or of a folder, and the file: `path` itself, or the one in the folder.

    A folder holds one of `FOLDER_NAMES`, or the files of one table, in the order of their numbers and names;
    then the folder stands for its file. Raises InputError for what cannot be read.
    """
    path, problems = Path(path), Problems() if problems is None else problems
    files = _files_in(path) if os.path.isdir(path) else [path]
    tables = [read_file(file, problems, separator, encoding) for file in files]
    for file in files:
        note_file("manifest", file)
    if len(files) == 1:
        return tables[0], files[0]
    return joined(tables, str(path), path, problems), path


def _files_in(folder: Path) -> list[Path]:
    """Return the file or files of one table in a folder."""
    named = [folder / name for name in FOLDER_NAMES if (folder / name).is_file()]
    endings = {*ENDINGS} - {".json"}  # which describes a data set more often than it is one
    files = named or [file for file in folder.iterdir() if _ending(file) in endings and file.is_file()]
    stems = {file.name.partition(".")[0] for file in files}
    if not files or stems & {"questions", "candidates", "corpus", "queries"}:
        raise InputError(
            f"{folder} holds no manifest: looked for {listed(FOLDER_NAMES)}, and for files of one table; "
            "name the file to read (questions and candidates, BEIR and MTEB: xlingual evaluate "
            "multilingual-pool)"
        )
    if len(named) > 1 or len({_ending(file) for file in files}) > 1:
        raise InputError(
            f"{folder} holds {listed(sorted(file.name for file in files))}: name the one to read"
        )
    counts = {int(match[1]) for file in files if (match := re.search(r"-of-(\d+)\.", file.name))}
    if counts and counts != {len(files)}:
        raise InputError(
            f"{folder} holds {len(files)} files of a table in {max(counts)}: put all of them there"
        )
    return sorted(files, key=lambda file: [(len(part), part) for part in re.split(r"(\d+)", file.name)])


def _ending(path: Path) -> str:
    """Return the ending of a file's name that tells its format."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def no_such_file(path: Path) -> InputError:
    """Return the error for a path where nothing is, with the name of a file that may be meant."""
    stems: dict[str, str] = {}  # endings do not count, since many files share one
    with suppress(OSError, ValueError):
        stems = {other.stem: other.name for other in sorted(path.parent.iterdir(), reverse=True)}
    near = nearest(path.stem, stems)
    hint = f". Did you mean {stems[near]!r}?" if near is not None else ""
    address = ", not an address: download it" if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(path)) else ""
    return InputError(f"{str(path)!r:.300}: no such file or folder; give a manifest to read{address}{hint}")


def read_file(
    path: Path, problems: Problems | None = None, separator: str | None = None, encoding: str | None = None
) -> Table:
    """Return the table of one file in the format that its ending names."""
    problems = Problems() if problems is None else problems
    try:
        os.stat(path)
    except (OSError, ValueError) as error:
        raise no_such_file(path) from error
    regular_file(path, "a manifest")
    ending, is_packed = _ending(path), path.name.lower().endswith(".gz")
    if ending not in ENDINGS or (is_packed and ending in (".parquet", *_ARROW)):
        raise InputError(
            f"{path}: a manifest ends in {listed(ENDINGS, 20)}, not in {path.suffix!r}: "
            "convert it (a spreadsheet: save it as CSV UTF-8), or give the folder that holds it"
        )
    if ending == ".parquet" or ending in _ARROW:
        return _read_binary(path, problems, is_parquet=ending == ".parquet")
    raw = read_text(path, encoding)
    if ending in _JSON:
        columns = _json_columns(raw, path, problems)
    else:
        columns = _delimited_columns(raw, path, _mark(separator or _DELIMITED[ending]), problems)
    return Table.of_columns(str(path), path.parent, columns, problems)


def _read_binary(path: Path, problems: Problems, *, is_parquet: bool) -> Table:
    """Open a Parquet or Arrow file (IPC, Feather, stream), whose columns are read when they are needed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if is_parquet:
            file = pq.ParquetFile(path)
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
        else:
            source = pa.memory_map(str(path))
            try:
                table = pa.ipc.open_file(source).read_all()
            except pa.ArrowInvalid:
                source.seek(0)
                table = pa.ipc.open_stream(source).read_all()
            return Table.of_schema(str(path), path.parent, len(table), table.schema, table.column, problems)
    except Exception as error:  # the libraries raise errors of many kinds for damaged files
        kind = "a Parquet" if is_parquet else "an Arrow"
        raise InputError(f"{path} is not {kind} file ({first_line(error)}): write it again") from error

    def read(name: str) -> pa.ChunkedArray:
        try:
            column = file.read(columns=[name]).column(name)
            if len(column) != n_rows:
                raise ValueError(f"{len(column)} of {n_rows} rows")
            return column
        except Exception as error:
            reason = first_line(error)
            raise InputError(
                f"{path}, column {name!r} cannot be read ({reason}): write the file again"
            ) from error

    return Table.of_schema(str(path), path.parent, n_rows, schema, read, problems)


def read_text(path: Path, encoding: str | None = None) -> bytes:
    """Return the content of a text file as UTF-8 without a byte order mark; unpacked where it ends in .gz."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {why(error)}") from error
    if path.suffix.lower() == ".gz":
        raw = _unpacked(raw, path)
    try:
        if encoding is not None and codecs.lookup(encoding).name != "utf-8":
            raw = raw.decode(encoding).encode()
        raw.decode()
    except LookupError as error:  # no encoding, or none of texts
        raise InputError(
            f"{parameter('encoding', str(encoding)[:40])}: no such encoding: give one such as utf-8, utf-16, "
            "cp1252 or gb18030"
        ) from error
    except UnicodeError as error:
        line = raw.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise InputError(
            f"{path}, line {line} is not {encoding or 'UTF-8'} text: convert the file to UTF-8 "
            f"(iconv -f cp1252 -t utf-8), or give its encoding, such as {parameter('encoding', 'cp1252')}"
        ) from error
    return raw.removeprefix(codecs.BOM_UTF8)


def _unpacked(raw: bytes, path: Path) -> bytes:
    """Return the content of a .gz file, which may be several packed one behind the other."""
    whole = b""
    try:
        while raw:
            unpacker = zlib.decompressobj(wbits=31)
            whole += unpacker.decompress(raw, _MOST_BYTES + 1 - len(whole))
            if len(whole) > _MOST_BYTES:
                raise InputError(f"{path} has more than {_MOST_BYTES >> 20} MiB unpacked: unpack it first")
            if not unpacker.eof:
                raise zlib.error("its end is missing")
            raw = unpacker.unused_data
    except zlib.error as error:
        raise InputError(f"{path} is no whole .gz file ({error}): pack or download it again") from error
    return whole


def _json_columns(raw: bytes, path: Path, problems: Problems) -> dict[str, Any]:
    """Return the columns of JSON lines, or of a JSON array of objects."""
    if raw.lstrip()[:1] == b"[":
        try:
            return columns_of_records(json.loads(raw), str(path))
        except (ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{path} is not JSON ({first_line(error)}): mend it") from error
    table = _json_table(raw)
    if table is not None:
        return dict(zip(table.column_names, table.columns, strict=True))
    blocks = [columns_of_records(rows, str(path)) for rows in _json_rows(raw, path, problems)]
    sizes = [len(next(iter(block.values()), ())) for block in blocks]
    return {
        name: concatenated([b.get(name, [None] * size) for b, size in zip(blocks, sizes, strict=True)])
        for name in dict.fromkeys(name for block in blocks for name in block)
    }


def _json_table(raw: bytes) -> pa.Table | None:
    """Return JSON lines as Arrow reads them; None where it refuses them, or would change a value.

    It takes dates for times, rounds large numbers, ends the interpreter at a line `null` or deep nesting, and
    passes over what stands between two objects.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.json

    data = np.frombuffer(raw, np.uint8)
    starts = np.append(0, np.flatnonzero(data == ord("\n")) + 1)
    starts = starts[starts < len(data)]
    brackets = np.flatnonzero((data == ord("{")) | (data == ord("[")))
    nested = np.diff(np.searchsorted(brackets, np.append(starts, len(data)))).max(initial=0)
    if not len(starts) or (data[starts] != ord("{")).any() or nested > _NESTED:
        return None
    reading = pyarrow.json.ReadOptions(block_size=1 << 24)
    dates: list[str] = []
    try:
        for _ in range(2):
            schema = pa.schema([(name, pa.large_string()) for name in dates]) if dates else None
            parsing = pyarrow.json.ParseOptions(explicit_schema=schema)
            table = pyarrow.json.read_json(pa.BufferReader(raw), reading, parsing)
            dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
            if not dates:
                break
    except pa.ArrowException:
        return None
    floats = [column for column in table.columns if pa.types.is_floating(column.type)]
    large = any((pc.max(pc.abs(column)).as_py() or 0) >= _LARGEST for column in floats)
    return None if large or dates or len(table) != len(starts) else table


def _json_rows(raw: bytes, path: Path, problems: Problems) -> Iterator[list[dict[str, Any]]]:
    """Yield the objects of JSON lines in blocks; {} stands for a line that holds none, which is a problem."""
    rows: list[dict[str, Any]] = []
    bad, examples, count = [], [], 0
    for number, line in enumerate(io.BytesIO(raw), 1):  # strings of JSON may hold other line ends than \n
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            reason = f": expected an object such as {{…}}, found {described(row)}: write one per line"
        except (ValueError, RecursionError) as error:
            row, reason = None, f" is not JSON ({getattr(error, 'msg', first_line(error))}): mend the line"
        if not isinstance(row, dict):
            bad.append(count)
            examples.append(f"line {number}{reason}")
            if not problems.gathered:
                break
        count += 1
        rows.append(row if isinstance(row, dict) else {})
        if len(rows) == _BLOCK:
            yield rows
            rows = []
    if bad:
        problems.add("not JSON", f"{path}, {examples[0]}", bad, examples[:3])
    yield rows


def _mark(name: str) -> str:
    """Return the character that an option calls the separator."""
    marks = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
    mark = marks.get(name.strip().lower(), name)
    if len(mark) != 1 or mark.isalnum() or mark in "\"'\r\n\0 ":
        raise InputError(
            f"{parameter('separator', name[:40])}: say one character such as ';', ',' or '|', or tab"
        )
    return mark


def _delimited_columns(raw: bytes, path: Path, mark: str, problems: Problems) -> dict[str, Any]:
    """Return the columns of a text file with a header; every cell stays the string that it is."""
    import pyarrow as pa
    import pyarrow.csv

    lines = list(io.TextIOWrapper(io.BytesIO(raw[: 1 << 20]), encoding="utf-8", errors="replace", newline=""))
    number, header = next(delimited(lines, mark), (1, []))
    if isinstance(header, csv.Error):
        raise InputError(f"{path}, line {number}: {header}: {_MEND_QUOTES}")
    if len(header) == 1 and (other := next((m for m in ";\t," if m in header[0] and m != mark), "")):
        raise InputError(
            f"{path}: the columns seem to be separated by {other!r}, not by {mark!r}: say "
            f"{parameter('separator', 'tab' if other == chr(9) else other)}, or rename the file "
            "(.csv: commas, .tsv: tabs)"
        )
    check_names(header, str(path))
    table, places = None, [str(place) for place in range(len(header))]
    if _has_regular_quotes(raw, mark):
        with suppress(pa.ArrowException):  # rows of other widths: told below
            table = pyarrow.csv.read_csv(
                pa.BufferReader(raw),
                pyarrow.csv.ReadOptions(column_names=places, block_size=1 << 24),
                pyarrow.csv.ParseOptions(delimiter=mark, newlines_in_values=b'"' in raw),
                pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(places, pa.large_string())),
            )
    if table is not None and not (mark == "\t" and b'"' in raw and any(map(_swallows, table.columns))):
        return {name: table.column(place).slice(1) for place, name in enumerate(header)}
    rows = [dict(zip(places, row, strict=True)) for row in _delimited_rows(raw, path, mark, problems)]
    columns = columns_of_records(rows, str(path))
    empty = pa.chunked_array([pa.nulls(0, pa.large_string())])
    return {name: columns.get(place, empty) for name, place in zip(header, places, strict=True)}


_MEND_QUOTES = "mend the quotes there, or use JSONL or Parquet"


def _has_regular_quotes(raw: bytes, mark: str) -> bool:
    """Return whether every quotation mark begins or ends a cell or is doubled: then all readers agree."""
    if not mark.isascii():
        return False
    data = np.frombuffer(b"\n" + raw + b"\n", np.uint8)
    quotes = np.flatnonzero(data == ord('"'))
    edges = np.array([ord(mark), *b'\r\n"'], dtype=np.uint8)
    outside = np.isin(data[quotes[::2] - 1], edges).all() and np.isin(data[quotes[1::2] + 1], edges).all()
    return len(quotes) % 2 == 0 and bool(outside)


def _swallows(column: pa.ChunkedArray) -> bool:
    """Return whether a cell holds a tab and a line end, as behind a stray quotation mark."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(column, "\t[^\n]*\n|\n[^\t]*\t")).as_py())


def _delimited_rows(raw: bytes, path: Path, mark: str, problems: Problems) -> Iterator[list[str]]:
    """Yield the rows of a file; those of another width than the header are cut or filled up: a problem."""
    bad: dict[str, list[tuple[int, str]]] = {"quotes": [], "row width": []}
    lines, width = list(io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")), 0
    for number, (line, cells) in enumerate(delimited(lines, mark)):
        row = [] if isinstance(cells, csv.Error) else cells
        width = width or len(row)
        if isinstance(cells, csv.Error):
            bad["quotes"].append((number - 1, f"line {line}: {cells}: {_MEND_QUOTES}"))
        elif len(row) != width:
            words = f"row {number} (line {line}): {len(row)} fields where the header has {width}: "
            bad["row width"].append(
                (number - 1, f"{words}quote texts that hold {mark!r}, quotes or line ends")
            )
        if len(row) != width and not problems.gathered:
            break
        if number:
            yield (row + [""] * width)[:width]
    for kind, cases in bad.items():
        if cases:
            rows, examples = zip(*cases, strict=True)
            problems.add(kind, f"{path}, {examples[0]}", rows, examples[:3])


def delimited(lines: list[str], mark: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    r"""Yield (number of the line in which a row begins, its cells); the error where its quotes are wrong.

    A quote that is not closed would take in all that follows, so only the line that it is in is given up.
    With tabs between, the same holds for a cell with a tab and a line end. Empty lines are passed over.

    >>> [row for _, row in delimited(['a,"b\n', "c,d\n"], ",")]
    [Error('unexpected end of data'), ['c', 'd']]
    """
    start = 0
    while start < len(lines):
        reader = csv.reader((lines[n] for n in range(start, len(lines))), delimiter=mark, strict=True)
        end = 0
        try:
            for row in reader:
                if mark == "\t" and any("\t" in cell and "\n" in cell for cell in row):
                    raise csv.Error("a cell of several lines begins with a quotation mark and holds a tab")
                if row:
                    yield start + end + 1, row
                end = reader.line_num
            return
        except csv.Error as error:
            yield start + end + 1, error
            start += end + 1
