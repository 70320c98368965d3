"""One reader for each file format of a manifest: Parquet, Arrow, JSON lines, CSV and TSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.data.reading.gathering import ROWS, Gathered, table_of
from xlingual.data.reading.tables import (
    Table,
    arrow_is_code,
    arrow_is_text,
    arrow_values,
    check_names,
    table_of_arrow,
)
from xlingual.data.reading.values import described
from xlingual.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(path: Path) -> Table:
    """Read the schema of a Parquet file; columns are read when asked for, others never."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a Parquet file ({_first_line(error)}): write it again") from error
    check_names(schema.names, str(path))

    def column(name: str) -> pa.ChunkedArray:
        try:
            with pq.ParquetFile(path) as file:
                return file.read(columns=[name]).column(name)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise InputError(
                f"{path}, column {name!r} cannot be read ({_first_line(error)}): write the file again"
            ) from error

    return Table(
        str(path),
        path.parent,
        tuple(schema.names),
        n_rows,
        load=lambda name: arrow_values(column(name), str(path), name),
        is_text=lambda name: arrow_is_text(schema.field(name).type),
        image_folder=_is_image_folder(path),
        is_code=lambda name: arrow_is_code(schema.field(name).type),
        arrow=lambda name: column(name) if arrow_is_text(schema.field(name).type) else None,
    )


def read_arrow(path: Path) -> Table:
    """Map an Arrow file (IPC, Feather) or stream into memory: what is not asked for is never read."""
    import pyarrow as pa

    try:
        source = pa.memory_map(str(path))
        try:
            table = pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            table = pa.ipc.open_stream(source).read_all()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not an Arrow file ({_first_line(error)}): write it again") from error
    return table_of_arrow(table, str(path), path.parent, image_folder=_is_image_folder(path))


def read_jsonl(path: Path) -> Table:
    """Read one JSON object per line; empty lines are passed over."""
    gathered = Gathered(lambda name: (row.get(name) for row in _json_rows(path)))
    rows = _json_rows(path)
    while block := list(islice(rows, ROWS)):
        names = dict.fromkeys(name for row in block for name in row)
        gathered.add({name: [row.get(name) for row in block] for name in names}, len(block))
    return table_of(gathered, path, image_folder=_is_image_folder(path))


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file; raise InputError for the first line that holds none."""
    count = 0
    # Only "\n" ends a line: JSON strings may hold other separators, such as U+2028, as they are.
    with path.open(encoding="utf-8-sig", newline="\n") as handle:
        for number, ended in enumerate(_decoded_lines(handle, path), 1):
            line = ended.removesuffix("\n")
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                _refuse_one_value(path, count)
                reason = _first_line(error)
                if isinstance(error, json.JSONDecodeError):  # which counts lines within this one
                    reason = f"{error.msg}, character {error.colno}"
                raise InputError(f"{path}, line {number} is not JSON ({reason}): mend the line") from error
            if not isinstance(row, dict):
                _refuse_one_value(path, count)
                raise InputError(
                    f'{path}, line {number}: expected an object like {{"id": …}}, found {described(row)}: '
                    "write one JSON object per line"
                )
            count += 1
            yield row


def _refuse_one_value(path: Path, count: int) -> None:
    """Raise InputError where a file, of which no line could be read, is one JSON value, or is not UTF-8."""
    content = _decoded(path)
    try:
        whole = None if count else json.loads(content)
    except (ValueError, RecursionError):
        return
    if isinstance(whole, (list, dict)):
        kind = "a list" if isinstance(whole, list) else "one object over several lines"
        raise InputError(f"{path}: expected one JSON object per line; this file holds {kind}: write it again")


def read_csv(path: Path) -> Table:
    """Read comma-separated values with a header; every value stays the string it is."""
    return _read_delimited(path, ",", "commas")


def read_tsv(path: Path) -> Table:
    """Read tab-separated values with a header, quoted like CSV."""
    return _read_delimited(path, "\t", "tabs")


READERS: dict[str, Callable[[Path], Table]] = {
    ".parquet": read_parquet,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".csv": read_csv,
    ".tsv": read_tsv,
}


def _read_delimited(path: Path, delimiter: str, words: str) -> Table:
    gathered = Gathered()
    header: list[str] = []
    with path.open(encoding="utf-8-sig", newline="") as handle:
        reader = csv.reader(_decoded_lines(handle, path), delimiter=delimiter, strict=True)
        try:
            header = next(reader, [])
            rows = _delimited_rows(reader, path, len(header), words)
            while block := list(islice(rows, ROWS)):
                names = map(str, range(len(header)))  # of the header, more than one may be of one name
                gathered.add(dict(zip(names, zip(*block, strict=True), strict=True)), len(block))
        except csv.Error as error:
            _decoded(path)
            raise InputError(
                f"{path}, line {reader.line_num}: {error}: mend the quotes there, or use JSONL or Parquet"
            ) from error
    _check_header(path, header, words)
    place = {name: str(number) for number, name in enumerate(header)}
    return Table(
        str(path),
        path.parent,
        tuple(header),
        gathered.n_rows,
        load=lambda name: gathered.load(place[name]) if gathered.n_rows else [],
        is_text=lambda name: bool(name),  # a column without a name is an index that another tool wrote
        image_folder=_is_image_folder(path),
        arrow=lambda name: gathered.arrow(place[name]) if gathered.n_rows else None,
    )


def _delimited_rows(reader: Any, path: Path, width: int, words: str) -> Iterator[list[str]]:  # noqa: ANN401
    """Yield the rows that a reader of the csv module finds; raise InputError for one of another width."""
    for number, row in enumerate(filter(None, reader), 1):  # an empty line is no row
        if len(row) != width:
            _decoded(path)
            raise InputError(
                f"{path}, row {number} (line {reader.line_num}): {len(row)} fields "
                f"where the header has {width}: "
                f"quote texts that hold {words}, quotes or line ends"
            )
        yield row


def _check_header(path: Path, header: list[str], words: str) -> None:
    check_names(header, str(path))
    if len(header) == 1:
        others = [mark for mark in (";", "\t", ",") if mark in header[0]]
        if others:
            raise InputError(
                f"{path}: the columns seem to be separated by {others[0]!r}: separate them by {words}, or "
                "rename the file (.csv: commas, .tsv: tabs)"
            )


def _decoded_lines(handle: Iterator[str], path: Path) -> Iterator[str]:
    """Yield the lines of a file; raise InputError where it is not UTF-8."""
    try:
        yield from handle
    except UnicodeDecodeError:
        _decoded(path)
        raise


def _decoded(path: Path) -> str:
    """Return the text of a file; raise InputError, naming the line, where it is not UTF-8.

    Of several faults of a file this is the one that is told, wherever it is.
    """
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line} is not UTF-8 text: save the file as UTF-8") from error


def _is_image_folder(path: Path) -> bool:
    return path.stem == "metadata"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]
