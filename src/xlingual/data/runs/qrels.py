"""Judgements of query and candidate pairs (qrels), from files and from memory; tables of their queries."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.rows import is_missing, read_rows
from xlingual.data.runs.files import columns_of_mapping, read_judgements
from xlingual.data.runs.search_run import encoded
from xlingual.errors import InputError, listed
from xlingual.results.provenance import note_file

Column: TypeAlias = dict[str, str]  # by query
QrelsLike: TypeAlias = "Qrels | str | Path | Mapping[str, Mapping[str, int]]"
QUERIES, CLUSTER = ("query", "query_id", "query-id", "qid", "id"), "cluster"
# of the queries that `data sample` writes: they divide nothing, or as the names do
_WORDS = ("text", "lang")
LARGEST = 2**53  # a grade: beyond it, not every whole number is a float


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
        return cls._of_columns("qrels", *columns_of_mapping("qrels", given))

    @classmethod
    def read(cls, path: str | Path) -> Qrels:
        """Read judgements of TREC, BEIR or ranx, JSON lines or a table; see reference/runs."""
        return cls._of_columns(str(path), *read_judgements(Path(path)))

    @classmethod
    def _of_columns(cls, source: str, query: Any, candidate: Any, grade: Floats) -> Qrels:  # noqa: ANN401
        if not len(grade):
            raise InputError(f"{source}: holds no judgements")
        missing = (column.is_null().to_numpy(zero_copy_only=False) for column in (query, candidate))
        odd = np.logical_or(*missing) | ~(np.isfinite(grade) & (grade % 1 == 0))
        odd |= np.abs(grade) > LARGEST
        if odd.any():
            row = int(np.argmax(odd))
            judgement = query[row].as_py(), candidate[row].as_py(), float(grade[row])
            raise InputError(
                f"{source}: judgement {row + 1} is {judgement!r:.120}: expected a query, a candidate and "
                "a whole number of at most 2^53 as grade"
            )
        (query, queries), (candidate, candidates) = encoded(query), encoded(candidate)
        pair, whole = query * len(candidates) + candidate, grade.astype(np.int64)
        _, kept, place = np.unique(pair, return_index=True, return_inverse=True)
        if (other := np.flatnonzero(whole != whole[kept][place])).size:
            row = int(other[0])
            raise InputError(
                f"{source}: {queries[query[row]]!r} and {candidates[candidate[row]]!r} are judged "
                f"{whole[kept][place][row]} and {whole[row]}: keep one"
            )
        kept.sort()
        return cls(source, queries, candidates, query[kept], candidate[kept], whole[kept])

    def __len__(self) -> int:
        return len(self.query)

    def __repr__(self) -> str:
        return f"Qrels({self.source}: {len(self.queries):,} queries, {len(self):,} judgements)"


def query_table(path: Path) -> tuple[Column, dict[str, Column]]:
    """Return the cluster of each query, and the further columns of a table of queries.

    Raises InputError where there is no column `query` (query_id, qid, id), one stands there twice, or none.
    """
    note_file("query table", path)
    clusters: Column = {}
    labels: dict[str, Column] = {}
    seen: set[str] = set()
    for where, row in read_rows(path):
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
