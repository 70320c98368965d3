"""Sources of tables of texts: files, and objects in memory.

Files are Parquet, Arrow, JSON lines and arrays, CSV and TSV (these also .gz), or a folder of the files of one
table. Objects are data frames, Arrow tables, data sets, lists of records and mappings of columns; they are
known by what they offer, never by their library, and no library is imported for them.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from xlingual.arrow import from_numpy, from_strings
from xlingual.data.rows import delimited, parsed, parsed_row, read_bytes, read_parquet, read_text
from xlingual.data.tables import Problems, Table, check_names, described, first_line, kind_of
from xlingual.errors import InputError, listed, nearest
from xlingual.files import regular_file
from xlingual.results.provenance import note_file

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER_NAMES = tuple(f"metadata.{ending}" for ending in ("jsonl", "csv", "parquet")) + tuple(
    f"manifest.{ending}" for ending in ("parquet", "jsonl", "csv", "tsv")
)
_ARROW, _JSON, _MARKS = (".arrow", ".feather"), (".jsonl", ".json"), {".csv": ",", ".tsv": "\t"}
ENDINGS = (".parquet", *_ARROW, *_JSON, *_MARKS)  # those of text files also with .gz behind them
TAKEN = (
    "a path, a pandas or polars data frame, an Arrow table, a Dataset or DatasetDict of "
    "Hugging Face, or a list of records such as [{'lang': 'en', 'text': 'a red shoe'}]"
)


def read_table(path: str | Path, problems: Problems | None = None) -> tuple[Table, Path]:
    """Read the table of a file, or of a folder; also the file: `path` itself, or the one in the folder.

    A folder holds one of `FOLDER_NAMES`, or the files of one table, in the order of their numbers and names;
    then the folder stands for its file. Raises InputError for what cannot be read.
    """
    path, problems = Path(path), Problems() if problems is None else problems
    files = _files_in(path) if os.path.isdir(path) else [path]
    tables = []
    for file in files:
        tables.append(_read_file(file, problems))
        note_file("manifest", file)
    return (tables[0], files[0]) if len(files) == 1 else (_joined(tables, str(path), path), path)


def _files_in(folder: Path) -> list[Path]:
    """Find the file or files of one table in a folder."""
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
        names = listed(sorted(file.name for file in files))
        raise InputError(f"{folder} holds {names}: name the one to read")
    counts = {int(match[1]) for file in files if (match := re.search(r"-of-(\d+)\.", file.name))}
    if counts and counts != {len(files)}:
        raise InputError(
            f"{folder} holds {len(files)} files of a table in {max(counts)}: put all of them there"
        )
    return sorted(files, key=lambda file: [(len(part), part) for part in re.split(r"(\d+)", file.name)])


def _ending(path: Path) -> str:
    """Find the ending of a file's name that tells its format."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def no_such_file(path: Path) -> InputError:
    """Word the error for a path where nothing is, with the name of a file that may be meant."""
    stems: dict[str, str] = {}  # endings do not count, since many files share one
    with suppress(OSError, ValueError):
        stems = {other.stem: other.name for other in sorted(path.parent.iterdir(), reverse=True)}
    near = nearest(path.stem, stems)
    hint = f". Did you mean {stems[near]!r}?" if near is not None else ""
    address = ", not an address: download it" if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(path)) else ""
    return InputError(f"{str(path)!r:.300}: no such file or folder; give a manifest to read{address}{hint}")


def _read_file(path: Path, problems: Problems) -> Table:
    """Read one file in the format that its ending names."""
    import pyarrow as pa

    try:
        os.stat(path)
    except (OSError, ValueError) as error:
        raise no_such_file(path) from error
    ending, is_packed = _ending(regular_file(path, "a manifest")), path.name.lower().endswith(".gz")
    if ending not in ENDINGS or (is_packed and ending in (".parquet", *_ARROW)):
        raise InputError(
            f"{path}: a manifest ends in {listed(ENDINGS, 20)}, not in {path.suffix!r}: "
            "convert it (a spreadsheet: save it as CSV UTF-8), or give the folder that holds it"
        )
    if ending == ".parquet":
        return table_of_arrow(read_parquet(path), str(path), path.parent, problems)
    if ending in _ARROW:
        try:
            source = pa.memory_map(str(path))
            try:
                table = pa.ipc.open_file(source).read_all()
            except pa.ArrowInvalid:
                source.seek(0)
                table = pa.ipc.open_stream(source).read_all()
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(f"{path} is not an Arrow file ({first_line(error)}): write it again") from error
        return table_of_arrow(table, str(path), path.parent, problems)
    if ending in _JSON:
        columns = columns_of(_json_rows(path, problems), str(path))
    else:
        columns = _delimited_columns(path, _MARKS[ending], problems)
    return _table(str(path), path.parent, columns, problems)


def _table(source: str, folder: Path | None, columns: dict[str, Any], problems: Problems) -> Table:
    return Table(source, folder, columns, len(next(iter(columns.values()), ())), problems)


def table_of_arrow(table: pa.Table, source: str, folder: Path | None, problems: Problems) -> Table:
    """Take an Arrow table."""
    import pyarrow as pa

    try:
        table.validate(full=True)  # offsets of a damaged file may lead anywhere in memory
        names = table.column_names
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"{source} cannot be read ({first_line(error)}): write it again") from error
    check_names(names, source)
    return _table(source, folder, dict(zip(names, table.columns, strict=True)), problems)


def _json_rows(path: Path, problems: Problems) -> list[dict[str, Any]]:
    """Read the objects of JSON lines, or of an array; {} stands for a line that holds none, a problem."""
    import msgspec

    raw = read_bytes(path, "a manifest")
    if raw.lstrip()[:1] == b"[":
        rows: list[Any] = parsed(raw, str(path))
        odd = next((row for row, cell in enumerate(rows) if not isinstance(cell, dict)), None)
        if odd is not None:
            expected = "expected an object such as {…}"
            raise InputError(f"{path}, row {odd + 1}: {expected}, found {described(rows[odd])}")
        return rows
    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        rows = msgspec.json.Decoder().decode_lines(raw)
        if all(isinstance(row, dict) for row in rows):
            return rows
    rows, bad, examples = [], [], []
    for number, line in enumerate(raw.split(b"\n"), 1):
        if line.strip():
            try:
                rows.append(parsed_row(line, f"{path}, line {number}"))
            except InputError as error:
                bad.append(len(rows))
                examples.append(str(error))
                rows.append({})
                if not problems.gathered:
                    break
    if bad:
        problems.add("not JSON", examples[0], bad, examples[:3])
    return rows


def _delimited_columns(path: Path, mark: str, problems: Problems) -> dict[str, Any]:
    """Read the columns of a text file with a header; every cell stays the string that it is.

    Where the header has none of the usual marks, semicolons or tabs divide. Rows of another width than the
    header are cut or filled up, a problem.
    """
    import pyarrow as pa

    text = read_text(path, "a manifest")
    first = text.partition("\n")[0]
    mark = next((other for other in (mark, ";", "\t", ",") if other in first), mark)
    if '"' not in first and (regular := _regular_columns(text, mark)) is not None:
        names = first.rstrip("\r").split(mark)
        check_names(names, str(path))
        if len(names) == len(regular):
            return {name: column.slice(1) for name, column in zip(names, regular, strict=True)}
    header: list[str] = []
    rows: list[list[str]] = []
    bad: dict[str, list[tuple[int, str]]] = {"quotes": [], "row width": []}
    for line, cells in delimited(text, mark):
        if isinstance(cells, csv.Error):
            if not header:
                raise InputError(f"{path}, line {line}: {cells}: mend the quotes there")
            remedy = "mend the quotes there, or use JSONL or Parquet"
            bad["quotes"].append((len(rows), f"line {line}: {cells}: {remedy}"))
            cells = []
        elif not header:
            header = cells
            check_names(header, str(path))
            continue
        elif len(cells) != len(header):
            words = (
                f"row {len(rows) + 1} (line {line}): {len(cells)} fields where the header has {len(header)}"
            )
            remedy = f"quote texts that hold {mark!r}, quotes or line ends"
            bad["row width"].append((len(rows), f"{words}: {remedy}"))
        if len(cells) != len(header):
            cells = (cells + [""] * len(header))[: len(header)]
            if not problems.gathered:
                break
        rows.append(cells)
    for kind, cases in bad.items():
        if cases:
            places, examples = zip(*cases, strict=True)
            problems.add(kind, f"{path}, {examples[0]}", places, examples[:3])
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return {
        name: pa.chunked_array([from_strings(column, pa.large_string())])
        for name, column in zip(header, columns, strict=True)
    }


def _regular_columns(text: str, mark: str) -> list[pa.ChunkedArray] | None:
    """Read the columns of a regular file by Arrow, the header among them; None where a row is not.

    Every quotation mark begins or ends a cell or is doubled: then all readers agree.
    """
    import pyarrow as pa
    import pyarrow.csv

    raw = text.encode()
    data = np.frombuffer(b"\n" + raw + b"\n", np.uint8)
    quotes, edges = np.flatnonzero(data == ord('"')), np.frombuffer(f'{mark}\r\n"'.encode(), np.uint8)
    outside = np.append(data[quotes[::2] - 1], data[quotes[1::2] + 1])
    if len(quotes) % 2 or not np.isin(outside, edges).all() or (mark == "\t" and len(quotes)):
        return None
    places = [str(place) for place in range(text.partition("\n")[0].count(mark) + 1)]
    with suppress(pa.ArrowException):
        table = pyarrow.csv.read_csv(
            pa.BufferReader(raw),
            pyarrow.csv.ReadOptions(column_names=places, block_size=1 << 24),
            pyarrow.csv.ParseOptions(delimiter=mark, newlines_in_values=bool(len(quotes))),
            pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(places, pa.large_string())),
        )
        return list(table.columns)
    return None


# --- objects in memory


def table_of(data: Any, folder: Path | None, problems: Problems | None = None) -> Table:  # noqa: ANN401
    """Read an object in memory; raise InputError where it is no table.

    A mapping of names to tables (a DatasetDict) is one table, with the names in a column `split`.
    """
    import pyarrow as pa

    source, problems = f"the {type(data).__name__}", Problems() if problems is None else problems
    if isinstance(data, Mapping) and data and all(map(_is_table, data.values())):
        tables = []
        for split, part in data.items():
            table = table_of(part, folder, problems)
            table.source = f"{source}, split {str(split)!r}"
            table.columns |= columns_of([{"split": str(split)}] * table.n_rows, source)
            tables.append(table)
        return _joined(tables, source, folder)
    if isinstance(data, Mapping):
        columns = {str(name): _cells(name, cells) for name, cells in data.items()}
        if len({len(cells) for cells in columns.values()}) > 1:
            sizes = {name: len(cells) for name, cells in columns.items()}
            raise InputError(f"the columns of the given mapping have different lengths ({sizes}): mend them")
        source = "the given data"
        made = {name: column_of(cells, source, name) for name, cells in columns.items()}
        return _table(source, folder, made, problems)
    if type(data).__name__ == "LazyFrame":
        data = data.collect()
    try:
        if hasattr(data, "columns") and any(str(t) == "Object" for t in getattr(data, "dtypes", ())):
            data = data.to_dicts()  # polars would give addresses of its Python objects
        elif hasattr(data, "features") and hasattr(data, "with_format") and hasattr(data, "__len__"):
            data = _of_dataset(data)
        elif hasattr(data, "columns") and hasattr(data, "iloc"):
            data = _of_pandas(data)
        if any(hasattr(data, f"__arrow_c_{way}__") for way in ("stream", "array")):
            table = data if isinstance(data, pa.Table) else pa.table(data)
            return table_of_arrow(table, source, folder, problems)
    except pa.ArrowException as error:
        raise InputError(f"{source} cannot be read ({first_line(error)}): give {TAKEN}") from error
    rows = list(data) if isinstance(data, Iterable) and not isinstance(data, (str, bytes)) else None
    if rows is None or not all(isinstance(row, Mapping) for row in rows):
        raise InputError(f"expected a table of texts, found {described(data)}: give {TAKEN}")
    source = "the given data" if isinstance(data, Sequence) else source
    return _table(source, folder, columns_of(rows, source), problems)


def _of_dataset(data: Any) -> Any:  # noqa: ANN401  (a Dataset of Hugging Face)
    """Take the rows, which may be chosen and reordered, as an Arrow table; a ClassLabel is its name."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = data.with_format("arrow")[:]
    for place, name in enumerate(table.column_names):
        if (words := getattr(data.features[name], "names", None)) is not None:
            code = pc.if_else(pc.less(table[name], 0), None, table[name])
            table = table.set_column(place, name, pc.take(pa.array(words), code))
    return table


def _of_pandas(frame: Any) -> Any:  # noqa: ANN401
    """Take a frame of pandas as an Arrow table; as records where cells are images or of several types."""
    import pyarrow as pa

    names = [str(column) for column in frame.columns]  # pandas allows a name twice, and numbers
    check_names(names, f"the {type(frame).__name__}")
    frame = frame if names == list(frame.columns) else frame.set_axis(names, axis=1)
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except pa.ArrowException:
        cells = frame.astype(object)
        return cells.where(cells.notna(), None).to_dict("records")


def _cells(name: object, cells: Any) -> Sequence[Any]:  # noqa: ANN401
    """Take the cells of a column in a mapping: a list, an array, a series."""
    for way in ("tolist", "to_list", "to_pylist"):
        if hasattr(cells, way):
            cells = getattr(cells, way)()
    if not isinstance(cells, Sequence) or isinstance(cells, (str, bytes)):
        raise InputError(
            f"column {name!r} is {described(cells)}, expected the cells of a column: give {TAKEN}"
        )
    return cells


def _is_table(part: object) -> bool:
    """Whether an object is a whole table, and no column (which may give itself as Arrow, too)."""
    if isinstance(part, Sequence) and part:
        return all(isinstance(row, Mapping) for row in part)
    columns = any(getattr(part, name, None) is not None for name in ("columns", "column_names"))
    return type(part).__name__ == "IterableDataset" or (columns and not isinstance(part, Mapping))


def columns_of(rows: Sequence[Mapping[Any, Any]], source: str) -> dict[str, Any]:
    """Make the columns of rows, a cell that a row lacks as None."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {str(name): column_of([row.get(name) for row in rows], source, str(name)) for name in names}
    return columns or ({"": [None] * len(rows)} if rows else {})


def column_of(cells: Sequence[Any], source: str, name: str) -> pa.ChunkedArray | list[Any]:
    """Make a column of cells: an Arrow array of scalars; as strings where some are strings; else a list."""
    import pyarrow as pa

    kinds = {*map(type, cells)} - {type(None)}
    if not kinds <= {str}:
        cells = [*map(_plain, cells)]
        kinds = {*map(type, cells)} - {type(None)}
    if kinds and kinds <= {int, float, bool}:
        with suppress(OverflowError, pa.ArrowInvalid):
            values = np.array([0 if cell is None else cell for cell in cells])
            if values.dtype != object:
                mask = np.array([cell is None for cell in cells])
                return pa.chunked_array([from_numpy(values, mask=mask)])
    if not kinds <= {str, int, float, bool}:
        return [str(cell) if type(cell) in (int, float, bool) else cell for cell in cells]
    try:
        if kinds != {str}:
            cells = [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells]
            cells = [cell if cell is None or isinstance(cell, str) else str(cell) for cell in cells]
        return pa.chunked_array([from_strings(cells, pa.large_string())])
    except UnicodeEncodeError as error:
        row = next(row for row, cell in enumerate(cells) if cell == error.object)
        raise InputError(
            f"{source}, row {row + 1}, column {name!r}: half of a surrogate pair (\\ud800 … \\udfff) is no "
            "character: write the whole character"
        ) from None


def _plain(cell: Any) -> Any:  # noqa: ANN401
    """Take a number of numpy as one of Python, a date or a decimal as a string, and NaN as None."""
    cell = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(cell, float) and cell != cell:
        return None
    return str(cell) if isinstance(cell, Decimal | date | UUID) else cell


def _joined(tables: Sequence[Table], source: str, folder: Path | None) -> Table:
    """Join the rows of all tables, one table after the other; they must have the same columns."""
    import pyarrow as pa

    first, columns = tables[0], dict[str, Any]()
    for table in tables:
        if {*table.columns} != {*first.columns}:
            odd = listed(sorted({*table.columns} ^ {*first.columns}))
            raise InputError(
                f"{table.source} and {Path(first.source).name} have different columns ({odd} only in one of "
                "them): write all parts of one table with the same columns"
            )
    for name in first.columns:
        parts = [table.columns[name] for table in tables]
        types = {"list" if isinstance(part, list) else part.type for part in parts} - {pa.null()}
        if "list" in types or len({kind_of(kind) for kind in types}) > 1:
            cells = [part if isinstance(part, list) else part.to_pylist() for part in parts]
            columns[name] = column_of([cell for part in cells for cell in part], source, name)
        else:
            kind = types.pop() if len(types) == 1 else pa.large_string()
            cast = (part.cast(kind) for part in parts if not isinstance(part, list))
            columns[name] = pa.chunked_array([chunk for part in cast for chunk in part.chunks], kind)
    return Table(source, folder, columns, sum(table.n_rows for table in tables), first.problems)
