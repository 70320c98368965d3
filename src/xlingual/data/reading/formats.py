"""One reader for each file format of a manifest: Parquet, JSON lines, CSV and TSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xlingual.data.reading.tables import (
    Table,
    arrow_is_code,
    arrow_is_text,
    arrow_values,
    check_names,
    table_of_rows,
)
from xlingual.data.reading.values import described
from xlingual.errors import InputError


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

    def load(name: str) -> list[Any]:
        try:
            with pq.ParquetFile(path) as file:
                column = file.read(columns=[name]).column(name)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise InputError(
                f"{path}, column {name!r} cannot be read ({_first_line(error)}): write the file again"
            ) from error
        return arrow_values(column, str(path), name)

    return Table(
        str(path),
        path.parent,
        tuple(schema.names),
        n_rows,
        load,
        is_text=lambda name: arrow_is_text(schema.field(name).type),
        image_folder=_is_image_folder(path),
        is_code=lambda name: arrow_is_code(schema.field(name).type),
    )


def read_jsonl(path: Path) -> Table:
    """Read one JSON object per line; empty lines are passed over."""
    rows: list[Any] = []
    # Only "\n" ends a line: JSON strings may hold other separators, such as U+2028, as they are.
    content = _decoded(path)
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            _refuse_one_value(path, content, rows)
            reason = _first_line(error)
            if isinstance(error, json.JSONDecodeError):  # which counts lines within this one
                reason = f"{error.msg}, character {error.colno}"
            raise InputError(f"{path}, line {number} is not JSON ({reason}): mend the line") from error
        if not isinstance(row, dict):
            _refuse_one_value(path, content, rows)
            raise InputError(
                f'{path}, line {number}: expected an object like {{"id": …}}, found {described(row)}: '
                "write one JSON object per line"
            )
        rows.append(row)
    return table_of_rows(rows, str(path), path.parent, image_folder=_is_image_folder(path))


def _refuse_one_value(path: Path, content: str, rows: list[Any]) -> None:
    """Raise InputError where a file, of which no line could be read, is one JSON value."""
    try:
        whole = None if rows else json.loads(content)
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
    reader = csv.reader(io.StringIO(_decoded(path), newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        header = next(reader, [])
        for row in reader:
            if not row:  # an empty line
                continue
            if len(row) != len(header):
                raise InputError(
                    f"{path}, row {len(rows) + 1} (line {reader.line_num}): {len(row)} fields "
                    f"where the header has {len(header)}: "
                    f"quote texts that hold {words}, quotes or line ends"
                )
            rows.append(row)
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num}: {error}: mend the quotes there, or use JSONL or Parquet"
        ) from error
    _check_header(path, header, words)
    columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    return Table(
        str(path),
        path.parent,
        tuple(header),
        len(rows),
        load=lambda name: columns.get(name, []),
        is_text=lambda name: bool(name),  # a column without a name is an index that another tool wrote
        image_folder=_is_image_folder(path),
    )


def _check_header(path: Path, header: list[str], words: str) -> None:
    check_names(header, str(path))
    if len(header) == 1:
        others = [mark for mark in (";", "\t", ",") if mark in header[0]]
        if others:
            raise InputError(
                f"{path}: the columns seem to be separated by {others[0]!r}: separate them by {words}, or "
                "rename the file (.csv: commas, .tsv: tabs)"
            )


def _decoded(path: Path) -> str:
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
