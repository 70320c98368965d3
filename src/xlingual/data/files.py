"""Files as tables: Parquet, Arrow, JSON lines and arrays, CSV and TSV, or a folder of the files of one table.

Columns of Parquet and Arrow files are read when they are asked for. Text files are read as a whole where they
are regular, and by Python line by line where not, to say what is wrong where.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrow import from_strings
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
_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_MOST_BYTES = 1 << 30  # of a .gz file, unpacked
_BLOCK = 1 << 22  # bytes of JSON that are Python objects at a time


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
    path, problems = Path(path), Problems(gathered=False) if problems is None else problems
    files = _files_of(path)
    tables = [read_file(file, problems, separator, encoding) for file in files]
    for file in files:
        note_file("manifest", file)
    if len(files) == 1:
        return tables[0], files[0]
    return joined(tables, str(path), path, problems), path


def _files_of(path: Path) -> list[Path]:
    """Return the file that a path is, or the file or files of one table in the folder that it is."""
    if not os.path.isdir(path):
        if not os.path.exists(path):
            raise no_such_file(path)
        return [regular_file(path, "a manifest")]
    named = [path / name for name in FOLDER_NAMES if (path / name).is_file()]
    if len(named) > 1:
        raise InputError(f"{path} holds {listed(file.name for file in named)}: name the one to read")
    if named:
        return named
    if what := _pool_in(path):
        raise InputError(
            f"{path} is {what}, no manifest: xlingual data describe {path} counts what it "
            f"holds, xlingual evaluate multilingual-pool {path} … evaluates encoders on it"
        )
    endings = {*ENDINGS} - {".json"}  # which describes a data set more often than it is one
    files = [file for file in path.iterdir() if _ending(file) in endings and file.is_file()]
    if not files:
        raise InputError(
            f"{path} holds no manifest: looked for {listed(FOLDER_NAMES)}, and for files of one table; "
            "name the file to read"
        )
    if len(endings := {_ending(file) for file in files}) > 1:
        raise InputError(f"{path} holds files of several formats ({listed(sorted(endings))}): name the one")
    counts = {int(match[1]) for file in files if (match := re.search(r"-of-(\d+)\.", file.name))}
    if counts and counts != {len(files)}:
        raise InputError(
            f"{path} holds {len(files)} files of a table in {max(counts)}: put all of them there"
        )
    in_order = [[int(part) if part.isdigit() else part for part in re.split(r"(\d+)", f.name)] for f in files]
    return [file for _, file in sorted(zip(in_order, files, strict=True), key=lambda pair: pair[0])]


def _ending(path: Path) -> str:
    """Return the ending of a file's name that tells its format."""
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def _pool_in(folder: Path) -> str:
    """Return what kind of multilingual pool a folder looks like; "" where it looks like none."""
    names = {"questions.parquet", "questions.jsonl", "candidates.parquet", "candidates.jsonl"}
    if any((folder / name).is_file() for name in names):
        return "a multilingual pool"
    for place in (folder, *(part for part in folder.iterdir() if part.is_dir())):
        with suppress(OSError):  # of a folder in it that may not be read
            stems = {file.name.partition(".")[0].rpartition("-")[2] for file in place.iterdir()}
            if "corpus" in stems and stems & {"queries", "query", "qrels"}:
                return "a retrieval folder of BEIR or MTEB, which is a multilingual pool"
    return ""


def no_such_file(path: Path) -> InputError:
    """Return the error for a path where nothing is, with the name of a file that may have been meant."""
    name = str(path)
    try:
        os.stat(path)
    except (OSError, ValueError) as error:
        if "\0" in name or len(os.fsencode(name)) > 255:
            reason = getattr(error, "strerror", None) or "it holds a zero byte"
            return InputError(f"{name!r:.80} is no path to a manifest ({reason}): give the path of a file")
    if address := re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", name):
        return InputError(f"{name} is an address ({address[1]}:): download the file and name it")
    stems: dict[str, str] = {}  # endings do not count, since many files share one
    with suppress(OSError):
        for other in sorted(path.parent.iterdir()):
            stems.setdefault(other.stem, other.name)
    near = nearest(path.stem, stems)
    hint = f". Did you mean {stems[near]!r}?" if near is not None else ""
    return InputError(f"{path}: no such file or folder; give a manifest to read{hint}")


def read_file(
    path: Path, problems: Problems | None = None, separator: str | None = None, encoding: str | None = None
) -> Table:
    """Return the table of one file in the format that its ending names."""
    problems = Problems(gathered=False) if problems is None else problems
    ending, is_packed = _ending(path), path.name.lower().endswith(".gz")
    if ending not in ENDINGS or (is_packed and ending in (".parquet", *_ARROW)):
        raise InputError(
            f"{path}: a manifest ends in {listed(ENDINGS, 20)}, not in {path.suffix!r}: "
            "convert it (a spreadsheet: save it as CSV UTF-8), or give the folder that holds it"
        )
    try:
        if ending == ".parquet":
            return _read_parquet(path, problems)
        if ending in _ARROW:
            return _read_arrow(path, problems)
        raw = read_text(path, encoding)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {why(error)}") from error
    if ending in _JSON:
        columns = _json_columns(raw, path, problems)
    else:
        mark = _DELIMITED[ending] if separator is None else _separator(separator)
        columns = _delimited_columns(raw, path, mark, problems)
    return Table.of_columns(str(path), path.parent, columns, problems)


def _read_parquet(path: Path, problems: Problems) -> Table:
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    except Exception as error:  # the library raises errors of many kinds for damaged files
        raise InputError(f"{path} is not a Parquet file ({first_line(error)}): write it again") from error

    def read(name: str) -> pa.ChunkedArray:
        try:
            column = file.read(columns=[name]).column(name)
        except Exception as error:
            raise InputError(
                f"{path}, column {name!r} cannot be read ({first_line(error)}): write the file again"
            ) from error
        if len(column) != n_rows:
            raise InputError(
                f"{path}, column {name!r} has {len(column)} of {n_rows} rows: write the file again"
            )
        return column

    return Table.of_schema(str(path), path.parent, n_rows, schema, read, problems)


def _read_arrow(path: Path, problems: Problems) -> Table:
    """Map an Arrow file (IPC, Feather) or stream into memory: columns that are not needed are never read."""
    import pyarrow as pa

    try:
        source = pa.memory_map(str(path))
        try:
            table = pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            table = pa.ipc.open_stream(source).read_all()
    except Exception as error:
        raise InputError(f"{path} is not an Arrow file ({first_line(error)}): write it again") from error
    return Table.of_schema(str(path), path.parent, len(table), table.schema, table.column, problems)


def read_text(path: Path, encoding: str | None = None) -> bytes:
    """Return the content of a text file as UTF-8 without a byte order mark; unpacked where it ends in .gz."""
    raw = path.read_bytes()
    if path.suffix.lower() == ".gz":
        try:
            unpacker = zlib.decompressobj(wbits=31)
            raw, packed = unpacker.decompress(raw, _MOST_BYTES), raw
            while unpacker.eof and unpacker.unused_data:  # several packed one behind the other
                packed, unpacker = unpacker.unused_data, zlib.decompressobj(wbits=31)
                raw += unpacker.decompress(packed, _MOST_BYTES - len(raw))
        except zlib.error as error:
            raise InputError(f"{path} is no .gz file ({error}): pack or download it again") from error
        if unpacker.unconsumed_tail:
            raise InputError(f"{path} has more than {_MOST_BYTES >> 30} GiB unpacked: unpack it first")
        if not unpacker.eof:
            raise InputError(f"{path} is no whole .gz file: pack or download it again")
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


def _json_columns(raw: bytes, path: Path, problems: Problems) -> dict[str, Any]:
    """Return the columns of JSON lines, or of a JSON array of objects.

    msgspec decodes them block by block; where it refuses one, the json module says in which line. (Arrow's
    own reader takes dates for times, rounds large numbers, and ends the interpreter at a line `null`.)
    """
    import msgspec

    if raw.lstrip()[:1] == b"[":
        return columns_of_records(_array(raw, path), str(path))
    decode, blocks, start = msgspec.json.Decoder().decode_lines, [], 0
    try:
        while start < len(raw):
            end = raw.find(b"\n", start + _BLOCK) + 1 or len(raw)
            rows = decode(raw[start:end])
            if not all(type(row) is dict for row in rows):
                raise ValueError
            blocks.append(columns_of_records(rows, str(path)))
            start = end
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return columns_of_records(_json_rows(raw, path, problems), str(path))
    names = dict.fromkeys(name for block in blocks for name in block)
    sizes = [len(next(iter(block.values()), ())) for block in blocks]
    if len(blocks) == 1:
        return blocks[0]
    parts = {
        name: [block.get(name, [None] * size) for block, size in zip(blocks, sizes, strict=True)]
        for name in names
    }
    return {name: concatenated(columns) for name, columns in parts.items()}


def _array(raw: bytes, path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON array."""
    try:
        rows = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({first_line(error)}): mend it") from error
    odd = next((place for place, row in enumerate(rows) if not isinstance(row, dict)), None)
    if odd is not None:
        raise InputError(
            f"{path}, row {odd + 1}: expected an object such as {{…}}, found {described(rows[odd])}"
        )
    return list(rows)


def _json_rows(raw: bytes, path: Path, problems: Problems) -> list[dict[str, Any]]:
    """Return the objects of JSON lines; {} stands for a line that holds none, which is a problem."""
    rows: list[dict[str, Any]] = []
    bad: list[tuple[int, str]] = []
    for number, line in enumerate(raw.decode().split("\n"), 1):  # JSON strings may hold other line ends
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            reason = f": expected an object such as {{…}}, found {described(row)}: write one per line"
        except (ValueError, RecursionError) as error:
            row, reason = None, f" is not JSON ({getattr(error, 'msg', first_line(error))}): mend the line"
        if not isinstance(row, dict):
            bad.append((len(rows), f"line {number}{reason}"))
            if not problems.gathered:
                break
        rows.append(row if isinstance(row, dict) else {})
    if bad:
        examples = [sentence for _, sentence in bad[:3]]
        problems.add("not JSON", f"{path}, {examples[0]}", [row for row, _ in bad], examples)
    return rows


def _separator(name: str) -> str:
    mark = _SEPARATORS.get(name.strip().lower(), name)
    if len(mark) != 1 or mark.isalnum() or mark in "\"'\r\n\0 ":
        raise InputError(
            f"{parameter('separator', name[:40])}: say one character such as ';', ',' or '|', or tab"
        )
    return mark


def _delimited_columns(raw: bytes, path: Path, mark: str, problems: Problems) -> dict[str, Any]:
    """Return the columns of a text file with a header; every cell stays the string that it is."""
    import pyarrow as pa
    import pyarrow.csv

    lines = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")
    number, header = next(delimited(lines, mark), (1, []))
    if isinstance(header, csv.Error):
        raise InputError(_wrong_quotes(path, number, header))
    marks = [other for other in (";", "\t", ",") if len(header) == 1 and other in header[0] and other != mark]
    if marks:
        raise InputError(
            f"{path}: the columns seem to be separated by {marks[0]!r}, not by {mark!r}: say "
            f"{parameter('separator', 'tab' if marks[0] == chr(9) else marks[0])}, or rename the file "
            "(.csv: commas, .tsv: tabs)"
        )
    check_names(header, str(path))
    table = None
    if _has_regular_quotes(raw, mark):
        places = [str(place) for place in range(len(header))]
        with suppress(pa.ArrowException):  # rows of other widths: told below
            table = pyarrow.csv.read_csv(
                pa.BufferReader(raw),
                pyarrow.csv.ReadOptions(column_names=places, block_size=1 << 24),
                pyarrow.csv.ParseOptions(delimiter=mark, newlines_in_values=b'"' in raw),
                pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(places, pa.large_string())),
            )
    if table is not None and not (mark == "\t" and b'"' in raw and any(map(_swallows, table.columns))):
        return {name: table.column(place).slice(1) for place, name in enumerate(header)}
    rows = list(_delimited_rows(raw, path, len(header), mark, problems))
    cells = zip(*rows, strict=True) if rows else [()] * len(header)
    return {
        name: pa.chunked_array([from_strings(column, pa.large_string())])
        for name, column in zip(header, cells, strict=True)
    }


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
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(column, "\t[^\n]*\n|\n[^\t]*\t")).as_py())


def _delimited_rows(raw: bytes, path: Path, width: int, mark: str, problems: Problems) -> Iterator[list[str]]:
    """Yield the rows of a file; those of another width than the header are cut or filled up: a problem.

    A row whose quotes are wrong is a problem, and empty.
    """
    bad: dict[str, list[tuple[int, str]]] = {"quotes": [], "row width": []}
    lines = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")
    for number, (line, row) in enumerate(delimited(lines, mark)):
        if isinstance(row, csv.Error):
            bad["quotes"].append((number - 1, _wrong_quotes(path, line, row)))
            row = []
        elif len(row) != width:
            bad["row width"].append((number - 1, f"row {number} (line {line}): {len(row)} fields"))
        if len(row) != width and not problems.gathered:
            break
        if number:
            yield (row + [""] * width)[:width]
    what = {",": "commas", ";": "semicolons", "\t": "tabs"}.get(mark, repr(mark))
    remedy = f"where the header has {width}: quote texts that hold {what}, quotes or line ends"
    for kind, cases in bad.items():
        if cases:
            first = cases[0][1] if kind == "quotes" else f"{path}, {cases[0][1]} {remedy}"
            problems.add(kind, first, [row for row, _ in cases], [example for _, example in cases[:3]])


def _wrong_quotes(path: Path, line: int, error: csv.Error) -> str:
    return f"{path}, line {line}: {error}: mend the quotes there, or use JSONL or Parquet"


def delimited(lines: Iterable[str], mark: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    r"""Yield (number of the line in which a row begins, its cells); the error where its quotes are wrong.

    A quote that is not closed would take in all that follows, so only the line that it is in is given up.
    With tabs between, the same holds for a cell with a tab and a line end. Empty lines are passed over.

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
            if mark == "\t" and any("\t" in cell and "\n" in cell for cell in row):
                raise csv.Error(f"a cell of {len(taken)} lines begins with a quotation mark and holds a tab")
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
