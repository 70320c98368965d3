"""Judgements of query and candidate pairs (qrels), from files and from memory; tables of their queries."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.rows import is_missing, read_rows
from xlingual.data.runs.files import columns_of_mapping, read_judgements
from xlingual.data.runs.search_run import encoded
from xlingual.errors import InputError, listed
from xlingual.results.provenance import note_file

Column: TypeAlias = dict[str, str]  # by query
QrelsLike: TypeAlias = "Qrels | str | Path | Mapping[str, Mapping[str, int]]"
QUERIES, CLUSTER = ("query", "query_id", "query-id", "qid", "id"), "cluster"
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
    def of(cls, judgements: Any) -> Qrels:  # noqa: ANN401  (`QrelsLike`, or an object of ranx)
        """Return the judgements of a file, of {query: {candidate: grade}}, or of ranx' Qrels."""
        if isinstance(judgements, cls):
            return judgements
        if isinstance(judgements, str | os.PathLike):
            source, columns = str(judgements), read_judgements(Path(judgements))
        else:
            if not isinstance(judgements, Mapping) and callable(getattr(judgements, "to_dict", None)):
                judgements = judgements.to_dict()
            if not isinstance(judgements, Mapping) or not all(
                isinstance(grades, Mapping) for grades in judgements.values()
            ):
                raise InputError(
                    "judgements are a file, or {query: {candidate: grade}}; found a "
                    f"{type(judgements).__name__}"
                )
            source, columns = "qrels", columns_of_mapping("qrels", judgements)
        query_names, candidate_names, grades = columns
        if not len(grades):
            raise InputError(f"{source}: holds no judgements")
        missing = (names.is_null().to_numpy(zero_copy_only=False) for names in columns[:2])
        odd = np.logical_or(*missing) | ~(np.isfinite(grades) & (grades % 1 == 0))
        odd |= np.abs(grades) > LARGEST
        if odd.any():
            row = int(np.argmax(odd))
            judgement = query_names[row].as_py(), candidate_names[row].as_py(), float(grades[row])
            raise InputError(
                f"{source}: judgement {row + 1} is {judgement!r:.120}: expected a query, a candidate and "
                "a whole number of at most 2^53 as grade"
            )
        (query, queries), (candidate, candidates) = encoded(query_names), encoded(candidate_names)
        pair, whole = query * len(candidates) + candidate, grades.astype(np.int64)
        _, first, place = np.unique(pair, return_index=True, return_inverse=True)
        if (other := np.flatnonzero(whole != whole[first][place])).size:
            row = int(other[0])
            raise InputError(
                f"{source}: {queries[query[row]]!r} and {candidates[candidate[row]]!r} are judged "
                f"{whole[first][place][row]} and {whole[row]}: keep one"
            )
        first.sort()
        return cls(source, queries, candidates, query[first], candidate[first], whole[first])

    def __len__(self) -> int:
        return len(self.query)

    def __repr__(self) -> str:
        return f"Qrels({self.source}: {len(self.queries):,} queries, {len(self):,} judgements)"


def query_table(path: Path) -> tuple[Column, dict[str, Column]]:
    """Return the cluster of each query, and the further columns of a table of queries.

    `text` and `lang`, which `data sample` writes, divide no queries. Raises InputError where there is no
    column `query` (query_id, qid, id), one stands there twice, or none.
    """
    note_file("query table", path)
    columns: dict[str, Column] = {CLUSTER: {}}
    queries: set[str] = set()
    for where, row in read_rows(path):
        column = next((name for name in QUERIES if name in row), QUERIES[0])
        query = str(row.get(column))
        if is_missing(row.get(column)) or query in queries:
            raise InputError(
                f"{where}: {f'{query!r} stands twice' if query in queries else f'no {column!r}'} (columns: "
                f"{listed(map(str, row))}): give each row the name of a query, and each query one row"
            )
        queries.add(query)
        for name, value in row.items():
            if name not in (column, "text", "lang") and not is_missing(value):
                columns.setdefault(str(name), {})[query] = str(value)
    if not queries:
        raise InputError(f"{path}: holds no rows: give each query one, with its name in a column 'query'")
    return columns.pop(CLUSTER), columns
