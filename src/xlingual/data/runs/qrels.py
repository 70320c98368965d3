"""Judgements of query and candidate pairs (qrels), from files and from memory; tables of their queries."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.reading.records import read_records
from xlingual.data.reading.values import is_missing
from xlingual.data.runs.formats import read_bytes
from xlingual.data.runs.lines import encoded
from xlingual.data.runs.trec import qrels_lines
from xlingual.errors import InputError, listed
from xlingual.files import regular_file
from xlingual.results.provenance import note_file

if TYPE_CHECKING:
    import pyarrow as pa

Column: TypeAlias = dict[str, str]  # by query
QrelsLike: TypeAlias = "Qrels | str | Path | Mapping[str, Mapping[str, int]]"
QUERIES, CLUSTER = ("query", "query_id", "query-id", "qid", "id"), "cluster"
# of the queries that `data sample` writes: they divide nothing, or as the names do
_WORDS = ("text", "lang")
_COLUMNS = ("query-id", "corpus-id", "score")  # of BEIR and MTEB


@dataclass(frozen=True, eq=False, repr=False)
class Qrels:
    """The grades of p pairs, each judged once; a grade of 0 or below says irrelevant."""

    source: str  # the file, for messages
    queries: Sequence[str]  # names
    candidates: Sequence[str]
    query: Ints  # [p] index into `queries`
    candidate: Ints  # [p] index into `candidates`
    grade: Ints  # [p]

    @classmethod
    def of(cls, given: Any) -> Qrels:  # noqa: ANN401  (`QrelsLike`, or an object of ranx)
        """Return judgements of a file, of {query: {candidate: grade}}, or of ranx' Qrels."""
        if isinstance(given, cls):
            return given
        if isinstance(given, str | os.PathLike):
            return cls.read(Path(given))
        if not isinstance(given, Mapping) and callable(getattr(given, "to_dict", None)):
            given = given.to_dict()
        if not isinstance(given, Mapping) or not all(isinstance(own, Mapping) for own in given.values()):
            raise InputError(
                f"judgements are a file, or {{query: {{candidate: grade}}}}; found a {type(given).__name__}"
            )
        rows = [(str(q), str(c), grade) for q, own in given.items() for c, grade in own.items()]
        return cls._of_rows("qrels", rows)

    @classmethod
    def read(cls, path: str | Path) -> Qrels:
        """Read TREC's "query 0 candidate grade", BEIR's "query candidate grade", JSON lines or Parquet.

        Compressed with gzip or not. Raises InputError naming the first line that is broken.
        """
        path = Path(path)
        name = regular_file(path, "file of judgements").name.lower().removesuffix(".gz")
        note_file("qrels", path)
        if name.endswith((".parquet", ".pq", ".jsonl", ".ndjson")):
            rows = [tuple(row.get(column) for column in _COLUMNS) for _, row in read_records(path, _COLUMNS)]
            return cls._of_rows(str(path), rows)
        table = qrels_lines(path, read_bytes(path))
        return cls._of_columns(str(path), table["query"], table["candidate"], table["grade"].to_numpy())

    @classmethod
    def _of_rows(cls, source: str, rows: Sequence[Sequence[Any]]) -> Qrels:
        import pyarrow as pa

        for number, row in enumerate(rows, start=1):
            if any(cell is None for cell in row) or not _is_whole(row[2]):
                raise InputError(
                    f"{source}: judgement {number} is {tuple(row)!r:.120}: expected a query, a candidate and "
                    f"a whole number (columns {', '.join(_COLUMNS)})"
                )
        query, candidate = ([str(row[place]) for row in rows] for place in (0, 1))
        grades = np.array([int(row[2]) for row in rows], dtype=np.int64)
        return cls._of_columns(source, pa.array(query, pa.string()), pa.array(candidate, pa.string()), grades)

    @classmethod
    def _of_columns(cls, source: str, query: pa.Array, candidate: pa.Array, grade: Ints) -> Qrels:
        if not len(grade):
            raise InputError(f"{source}: holds no judgements")
        (query, queries), (candidate, candidates) = encoded(query), encoded(candidate)
        pair = query * len(candidates) + candidate
        _, kept, place = np.unique(pair, return_index=True, return_inverse=True)
        if (other := np.flatnonzero(grade != grade[kept][place])).size:
            row = int(other[0])
            raise InputError(
                f"{source}: {queries[query[row]]!r} and {candidates[candidate[row]]!r} are judged "
                f"{grade[kept][place][row]} and {grade[row]}: keep one"
            )
        kept.sort()
        return cls(source, queries, candidates, query[kept], candidate[kept], grade[kept])

    def __len__(self) -> int:
        return len(self.query)

    def __repr__(self) -> str:
        return f"Qrels({self.source}: {len(self.queries):,} queries, {len(self):,} judgements)"


def _is_whole(value: Any) -> bool:  # noqa: ANN401  (a cell)
    try:
        return not isinstance(value, bool) and float(value).is_integer()
    except (TypeError, ValueError):
        return False


def query_table(path: Path) -> tuple[Column, dict[str, Column]]:
    """Return the cluster of each query, and the further columns of a table of queries.

    Raises InputError where there is no column `query` (query_id, qid, id), one stands there twice, or none.
    """
    note_file("query table", path)
    clusters: Column = {}
    labels: dict[str, Column] = {}
    seen: set[str] = set()
    for where, row in read_records(path):
        own = next((name for name in QUERIES if name in row), QUERIES[0])
        query = row.get(own)
        if is_missing(query):
            raise InputError(
                f"{where}: no {own!r} (columns: {listed(map(str, row))}): give each row the name of a query"
            )
        if str(query) in seen:
            raise InputError(f"{where}: {str(query)!r} stands twice: give each query one row")
        seen.add(str(query))
        for name, value in row.items():
            if name != own and name not in _WORDS and not is_missing(value):
                column = clusters if name == CLUSTER else labels.setdefault(str(name), {})
                column[str(query)] = str(value)
    if not seen:
        raise InputError(f"{path}: holds no rows: give each query one, with its name in a column 'query'")
    return clusters, labels
