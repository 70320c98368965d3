"""Runs of search engines straight from their files, with judgements and no data: evaluated, then compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from xlingual.data.reading.records import read_records
from xlingual.data.reading.values import is_missing
from xlingual.errors import InputError, listed
from xlingual.evaluation.retrieval import runs_against_qrels
from xlingual.evaluation.run import Progress
from xlingual.results import Results

Column: TypeAlias = dict[str, str]  # by query

QUERIES, CLUSTER = ("query", "query_id", "query-id", "qid", "id"), "cluster"
_WORDS = ("text", "lang")  # of the queries that `data sample` writes: they divide nothing, or as the names do


def judged_runs(
    qrels: Path,
    files: Sequence[str],
    *,
    measures: Sequence[str] = (),
    relevant_from: int = 1,
    ties: str = "expected",
    queries: Path | None = None,
    progress: Progress | None = None,
) -> Results:
    """Return the results of runs, each [NAME=]FILE, against judgements.

    `queries` is a table of the queries: which are dependent (`cluster`), and what else divides them.
    """
    clusters, labels = query_table(queries) if queries is not None else ({}, {})
    return runs_against_qrels(
        qrels,
        list(files),
        measures=measures or ("nDCG@10",),
        relevant_from=relevant_from,
        ties=ties,
        clusters=clusters,
        labels=labels,
        progress=progress,
    )


def query_table(path: Path) -> tuple[Column, dict[str, Column]]:
    """Return the cluster of each query, and the further columns of a table of queries.

    Raises InputError where there is no column `query` (query_id, qid, id), one stands there twice, or none.
    """
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
