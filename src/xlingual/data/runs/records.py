"""Lines of runs that are records: JSON lines, Parquet, ranx' JSON, and mappings in memory."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.runs.lines import RunLines, ranks_of
from xlingual.errors import InputError, listed

if TYPE_CHECKING:
    import pyarrow as pa

LATENCY = ("latency_ms", "took_ms", "took")  # milliseconds
# what a column is → the names that it has in the files of others, the first found being taken
_COLUMNS = {
    "query": ("query_id", "query", "query-id", "qid", "q_id", "topic"),
    "candidate": (
        *("candidate_id", "candidate", "doc_id", "docid", "docno", "document_id", "corpus_id", "corpus-id"),
        *("passage_id", "pid", "id", "_id"),
    ),
    "score": ("score", "_score", "similarity", "sim"),
    "rank": ("rank", "position"),
    "latency": LATENCY,
}
_RESULTS = ("results", "hits", "candidates", "documents", "docs")


def parquet_lines(path: Path) -> RunLines:
    """Return the lines of a Parquet file: columns of queries, candidates, and scores or ranks."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        names = parquet.read_schema(path).names
        columns = _columns_of(path, names)
        table = parquet.read_table(path, columns=list(columns.values()))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: is no Parquet file: {' '.join(str(error).split())[:200]}") from None
    return _lines(path, {name: table[found].combine_chunks() for name, found in columns.items()})


def json_lines(path: Path, raw: bytes) -> RunLines:
    """Return the lines of JSON objects: one for each result, or one for each query with its results."""
    import pyarrow as pa

    rows = list(_objects(path, raw))
    if rows and (results := _named(_RESULTS, rows[0])) is not None:
        rows = list(_of_queries(path, rows, results))
    names = list(rows[0]) if rows else []
    values: dict[str, Any] = {
        name: [row.get(found) for row in rows] for name, found in _columns_of(path, names).items()
    }
    for name in ("query", "candidate"):
        strings = [None if value is None else str(value) for value in values[name]]
        try:
            values[name] = pa.array(strings, pa.string())
        except UnicodeEncodeError as error:
            raise InputError(f"{path}: {error.object!r:.60} is no name: it is not valid Unicode") from None
    return _lines(path, values)


def lines_of_mapping(source: str, found: Mapping[Any, Any]) -> RunLines:
    """Return the lines of {query: {candidate: score}} or {query: [candidate, …]}, best first.

    Lists have ranks alone; where one query has a list, ranks count for all.
    """
    import pyarrow as pa

    query: list[str] = []
    candidate: list[str] = []
    score: list[float] = []
    ranked = any(isinstance(results, list | tuple) for results in found.values())
    for name, results in found.items():
        if isinstance(results, str) or not isinstance(results, Mapping | list | tuple):
            raise InputError(
                f"{source}: the results of query {name!r} are {results!r:.60}: expected {{candidate: score}} "
                "or a list of candidates, best first"
            )
        query += [str(name)] * len(results)
        candidate += map(str, results)
        if not isinstance(results, Mapping):
            score += range(1, len(results) + 1)
        else:
            score += ranks_of(numbers(source, [*results.values()])) if ranked else results.values()
    value = numbers(source, score)
    columns = pa.array(query, pa.string()), pa.array(candidate, pa.string())
    return RunLines(*columns, None, value) if ranked else RunLines(*columns, value)


def _named(known: tuple[str, ...], names: Container[str]) -> str | None:
    return next((name for name in known if name in names), None)


def _columns_of(path: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the name that each kind of column has in the file; raise InputError where one is missing."""
    columns = {what: found for what, known in _COLUMNS.items() if (found := _named(known, names)) is not None}
    for what in ("query", "candidate"):
        if what not in columns:
            raise InputError(
                f"{path}: no column names the {what}: expected {listed(_COLUMNS[what])}; found "
                f"{listed(names, 20)}"
            )
    if "score" not in columns and "rank" not in columns:
        raise InputError(f"{path}: has neither score nor rank; found {listed(names, 20)}")
    return columns


def _lines(path: Path, columns: Mapping[str, Any]) -> RunLines:
    score, rank = (
        numbers(str(path), columns[name]) if name in columns else None for name in ("score", "rank")
    )
    query = _strings(path, columns["query"])
    found = _latency(str(path), query, columns["latency"]) if "latency" in columns else {}
    return RunLines(query, _strings(path, columns["candidate"]), score, rank, found)


def _latency(source: str, query: pa.Array, column: Any) -> dict[str, float]:  # noqa: ANN401
    """Return the latency of each query that has one; a query's lines say the same."""
    values = numbers(source, column)
    known = np.flatnonzero(~np.isnan(values))
    return latencies(source, zip(query.take(known).to_pylist(), values[known].tolist(), strict=True))


def latencies(source: str, found: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return query → milliseconds; raise InputError where one is no time."""
    known = {str(query): float(value) for query, value in found}
    for query, value in known.items():
        if not 0 <= value < float("inf"):
            raise InputError(
                f"{source}: the latency of query {query!r} is {value:g}: expected milliseconds, 0 or more"
            )
    return known


def _strings(path: Path, column: pa.Array) -> pa.Array:
    import pyarrow as pa

    plain = pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)
    try:
        return column if plain else column.cast(pa.string())
    except pa.ArrowException:
        raise InputError(
            f"{path}: a column of ids holds {column.type}: expected strings or numbers"
        ) from None


def numbers(source: str, values: Any) -> Floats:  # noqa: ANN401  (a list, or an array of Arrow)
    """Return scores, ranks or latencies, NaN for none; raise InputError where one is no number."""
    try:
        if not isinstance(values, list):
            values = values.to_numpy(zero_copy_only=False)
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or found.shape != (len(values),):
        odd = next((v for v in values if not isinstance(v, int | float)), "a number too large")
        raise InputError(f"{source}: {odd!r:.60} stands for a score or a rank: expected a number") from None
    return found


def _objects(path: Path, raw: bytes) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(raw.splitlines(), start=1):
        if line.strip():
            try:
                found = json.loads(line)
            except ValueError as error:
                raise InputError(f"{path}: line {number} is no JSON: {error}") from None
            if not isinstance(found, dict):
                raise InputError(f"{path}: line {number}: expected an object, found {line[:60]!r}")
            yield found


def _of_queries(path: Path, rows: list[dict[str, Any]], results: str) -> Iterator[dict[str, Any]]:
    """Yield a record for each result of objects that hold the results of one query each."""
    seen: set[str] = set()
    for number, row in enumerate(rows, start=1):
        query = _named(_COLUMNS["query"], row)
        if query is None or not isinstance(row.get(results), list):
            raise InputError(
                f"{path}: object {number} has no {'query' if query is None else results}: expected "
                f'{{"query_id": …, "{results}": [{{"id": …, "score": …}}, …]}}'
            )
        if str(row[query]) in seen:
            raise InputError(
                f"{path}: object {number} is of query {row[query]!r:.60}, as is one above: keep one"
            )
        seen.add(str(row[query]))
        took = {name: row[name] for name in LATENCY if name in row}
        for place, result in enumerate(row[results], start=1):
            own = result if isinstance(result, dict) else {"id": result}
            at = {} if _named(_COLUMNS["score"], own) else {"rank": place}
            yield {"query_id": row[query], **took, **at, **own}
