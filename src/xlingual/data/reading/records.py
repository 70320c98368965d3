"""Rows of the files that corpora are published in: JSON lines, TSV and CSV (also .gz), and Parquet."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from xlingual.data.reading.formats import read_parquet
from xlingual.data.reading.problems import first_line
from xlingual.errors import InputError, why

_LONGEST = 1 << 26  # characters of a cell
ENDINGS = (".jsonl", ".jsonl.gz", ".parquet", ".tsv", ".tsv.gz", ".csv", ".csv.gz")


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield (number, line) of a text file in UTF-8, which may be compressed; line ends are left out.

    Only "\n" ends a line. Raises InputError where the file cannot be read.
    """
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                yield number, text.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number} is not UTF-8 text: download the file again") from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"{path} is no whole .gz file ({error}): download it again") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {why(error)}") from error


def read_records(path: Path, columns: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, record) for every row; the place is "file, line 3", for errors.

    With `columns` a Parquet file is read in these columns only, those of them that it has.
    """
    if path.suffix == ".parquet":
        yield from _parquet(path, columns)
        return
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        yield from _delimited(path, "," if ".csv" in path.name else "\t")
        return
    for number, line in read_lines(path):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where} is not JSON ({first_line(error)}): mend the line") from error
        if not isinstance(row, dict):
            raise InputError(f"{where}: expected a JSON object such as {{…}}: write one per line")
        yield where, row


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    table = read_parquet(path)
    names = [name for name in table.names if not columns or name in columns]
    cells = [table.load(name) for name in names]
    for number, row in enumerate(zip(*cells, strict=True), 1):
        yield f"{path}, row {number}", dict(zip(names, row, strict=True))


def _delimited(path: Path, mark: str) -> Iterator[tuple[str, dict[str, Any]]]:
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
