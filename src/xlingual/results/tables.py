"""The tables beside `results.json`: their columns, and reading them with every check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from xlingual.errors import InputError
from xlingual.results.files import open_part

if TYPE_CHECKING:
    import pyarrow as pa

PER_QUERY, EXAMPLES = "per_query", "examples"
# of all that rank: the largest hubs; of a multilingual pool: the picture of the space, how often each
# candidate is found, worst questions; of textual similarity: the scored pairs; of language pairs: the nearest
# targets of each query (of a pool too: the nearest candidates); of a pool: where each answer stands
TABLES = ("points", "hubs", "occurrences", "worst", "pairs", "neighbours", "answers")
LABEL_PREFIX = "by."  # columns of PER_QUERY that divide queries into slices
_WITH_TEXTS = (EXAMPLES, "hubs", "worst", "neighbours", "answers")  # may be left out where results are shared

Kind: TypeAlias = Literal["text", "whole", "number", "bytes", "boolean"]


def _of(kind: Kind, *names: str) -> dict[str, Kind]:
    return dict.fromkeys(names, kind)


_NAMES = _of("text", "task", "encoder", "source", "target")
COLUMNS: Mapping[str, Mapping[str, Kind]] = {
    PER_QUERY: _NAMES
    | _of("text", "measure", "query", "item", "retrieved")
    | _of("whole", "seed", "cluster", "retrieved_cluster", "above", "tied")
    | _of("number", "value"),
    EXAMPLES: _NAMES
    | _of("text", "kind", "query_id", "query_text", "retrieved_id", "retrieved_text")
    | _of("whole", "seed", "position", "above", "tied", "pool")
    | _of("bytes", "query_picture", "retrieved_picture")
    | _of("number", "value", "similarity"),
    "points": _of("text", "encoder", "language", "role") | _of("number", "x", "y"),
    "hubs": _of("text", "encoder", "id", "language", "text") | _of("number", "count", "expected"),
    "occurrences": _of("text", "encoder", "id", "language") | _of("number", "count"),
    "worst": _of("text", "encoder", "question_id", "question_language", "question", "kind")
    | _of("text", "candidate_id", "candidate_language", "candidate")
    | _of("number", "value", "place"),
    "pairs": _of("text", "encoder", "target", "pair") | _of("number", "score", "cosine"),
    "neighbours": _NAMES
    | _of("text", "query", "neighbour")
    | _of("whole", "seed", "above", "tied")
    | _of("number", "score"),
    "answers": _NAMES | _of("text", "query", "answer") | _of("whole", "seed", "above", "tied"),
}
_OF_SOME: Mapping[str, Mapping[str, Kind]] = {  # columns that not every task has
    "hubs": _of("text", "task", "source", "target", "found_by")
    | _of("whole", "seed", "relevant_to")
    | _of("number", "errors")
    | _of("bytes", "picture"),
    "worst": _of("number", "rank_of_best") | _of("boolean", "relevant"),
    "points": _of("text", "text_id"),
    "pairs": _of("text", "source") | _of("whole", "cluster"),
}
_NULLABLE = {  # columns that need not have a value in each row
    PER_QUERY: {"item", "retrieved", "retrieved_cluster", "above", "tied"},
    EXAMPLES: {"query_text", "retrieved_text", "query_picture", "retrieved_picture", "similarity", "value"},
    "hubs": {"relevant_to", "text", "errors", "found_by", "picture"},
    "worst": {"rank_of_best", "relevant", "candidate", "place"},
    "neighbours": {"score"},
    "answers": {"above", "tied"},
}
_WORDS: Mapping[Kind, str] = {
    "text": "text",
    "whole": "whole numbers",
    "number": "numbers",
    "bytes": "bytes",
    "boolean": "true and false",
}


def file_of(table: str) -> str:
    """Return the file's name of a table."""
    return f"{table}.parquet"


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet."""
    import pyarrow.parquet as pq

    pq.write_table(table, path.absolute(), compression="zstd")  # a relative path may look like an address


def read_tables(folder: Path, digests: Mapping[str, str]) -> dict[str, pa.Table]:
    """Return the tables of a folder of results by name, the one of queries at least.

    Only tables whose SHA-256 the folder lists are read, and they must be unchanged; one with texts may be
    missing. Raises InputError where a table is missing, of another result, or damaged.
    """
    found = {}
    for name in COLUMNS:
        file = file_of(name)
        if file not in digests and name != PER_QUERY:
            continue  # left by another run
        try:
            found[name] = _read(folder / file, name, digests.get(file, ""))
        except FileNotFoundError as error:
            if name not in _WITH_TEXTS:
                raise InputError(
                    f"{folder / file} is missing: copy the whole folder of results, or run it again"
                ) from error
    return found


def _read(path: Path, name: str, digest: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    remedy = "copy the folder of results again, or run it again"
    try:
        with open_part(path, digest) as file:
            table = pq.ParquetFile(file).read()
        table.validate(full=True)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is damaged: {remedy}") from error
    columns = {**COLUMNS[name], **_OF_SOME.get(name, {})}
    labels = [
        column for column in table.schema.names if name == PER_QUERY and column.startswith(LABEL_PREFIX)
    ]
    columns |= _of("text", *labels)
    for column, kind in columns.items():
        if table.schema.names.count(column) > 1:
            raise InputError(f"{path} has two columns {column!r}: {remedy}")
        if column in table.schema.names:
            place = table.schema.names.index(column)
            checked = _checked(
                path, table, column, kind, column in labels or column in _NULLABLE.get(name, ())
            )
            table = table.set_column(place, column, checked)
        elif column in COLUMNS[name] and len(table):
            raise InputError(f"{path} has no column {column!r}: {remedy}")
    return table


def _checked(path: Path, table: pa.Table, name: str, kind: Kind, nullable: bool) -> pa.ChunkedArray:
    """Return a column as the program writes it; raise InputError where it holds something else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(name)
    wrong = f"{path}: the column {name!r} must hold {_WORDS[kind]}, found"
    if not nullable and column.null_count:
        raise InputError(f"{wrong} {column.null_count} rows without a value: run it again")
    if pa.types.is_null(column.type):
        return column.cast(_type(kind))
    if not _holds(kind, column.type):
        raise InputError(f"{wrong} {column.type}: run it again")
    if kind == "text":
        return column
    try:
        if not pa.types.is_floating(column.type):  # numbers keep their precision
            column = column.cast(_type(kind))
    except pa.ArrowInvalid as error:
        raise InputError(f"{wrong} one that is too large: run it again") from error
    if kind == "number" and pc.all(pc.is_finite(column)).as_py() is False:
        raise InputError(f"{wrong} one that is not finite: run it again")
    return column


def _holds(kind: Kind, found: pa.DataType) -> bool:
    """Tell whether a column of a type holds values of a kind."""
    from pyarrow import types

    checks = {
        "text": (types.is_string, types.is_large_string),
        "whole": (types.is_integer,),
        "number": (types.is_integer, types.is_floating),
        "bytes": (types.is_binary, types.is_large_binary),
        "boolean": (types.is_boolean,),
    }
    inner = found.value_type if kind == "text" and types.is_dictionary(found) else found
    return any(check(inner) for check in checks[kind])


def _type(kind: Kind) -> pa.DataType:
    import pyarrow as pa

    types = {"text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "bytes": pa.binary()}
    return types.get(kind, pa.bool_())
