"""Reading a history: its records, and the results of each as if they were just evaluated."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from xlingual.comparison.history.blocks import read_block
from xlingual.results import Results
from xlingual.results.conventions import remarks
from xlingual.results.document import remedy
from xlingual.results.evaluation import ResultsFile
from xlingual.results.history import Gated, Recorded
from xlingual.results.tables import LABEL_PREFIX
from xlingual.results.views import tagged
from xlingual.typed import convert

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = ("task", "encoder", "source", "target", "measure")
_FIELDS = ("id", "digest", "date", "label", "revision", "version", "note")


def recorded(db: sqlite3.Connection, only: int | None = None) -> list[Recorded]:
    """Return the records, the oldest first, those of one date as they were recorded; or only one of them."""
    gates: dict[int, list[Gated]] = {}
    for number, *gate in db.execute("SELECT record, encoder, task, measure, outcome FROM gate ORDER BY id"):
        gates.setdefault(number, []).append(Gated(*gate))
    rows = db.execute(
        "SELECT id, digest, date, label, revision, version, remark FROM record WHERE ? IS NULL OR id = ? "
        "ORDER BY date, id",
        [only, only],
    )
    return [Recorded(**dict(zip(_FIELDS, row, strict=True)), gates=gates.get(row[0], [])) for row in rows]


def stored_document(db: sqlite3.Connection, record: int) -> dict[str, Any]:
    """Return what `results.json` held."""
    (document,) = db.execute("SELECT document FROM record WHERE id = ?", [record]).fetchone()
    return dict(read_block(db, document))


def stored_results(
    db: sqlite3.Connection, record: int, where: str, task: str | None = None, measure: str | None = None
) -> Results:
    """Return the results of a record: numbers and the values of their queries, no texts.

    With a task or a measure, only the values of its queries are read.
    """
    content = stored_document(db, record)
    rows = {name: [tagged(row) for row in content[name]] for name in ("results", "summary")}
    found = convert(content | rows, ResultsFile, where=where, remedy=remedy("xlingual evaluate"))
    table = _per_query(db, record, task, measure)
    beside = {name: content[name] for name in ("warnings", "encoders", "request", "run") if name in content}
    made = Results(found.results, found.summary, table, **beside)
    made.remarks = remarks(made.entries, table)
    return made


def _per_query(db: sqlite3.Connection, record: int, task: str | None, measure: str | None) -> pa.Table:
    """Return the table of the values of the queries of a record."""
    import pyarrow as pa

    columns = f"{', '.join(_KEY)}, seed, queries, answers, retrieved"
    found = db.execute(
        f"SELECT {columns} FROM number WHERE record = ?1 AND answers IS NOT NULL "
        "AND (?2 IS NULL OR task = ?2) AND (?3 IS NULL OR measure = ?3)",
        [record, task, measure],
    ).fetchall()
    digests = {
        digest for *_, queries, answers, retrieved in found for digest in (queries, answers, retrieved)
    }
    blocks: dict[str | None, Any] = {digest: read_block(db, digest) for digest in digests if digest}
    labels = list(dict.fromkeys(name for row in found for name in blocks[row[-3]]["labels"]))
    whole: dict[str, list[Any]] = {name: [] for name in (*_KEY, "seed", "query", "cluster", "value")}
    whole |= {name: [] for name in ("retrieved_cluster", *(f"{LABEL_PREFIX}{label}" for label in labels))}
    for *key, seed, queries, answers, retrieved in found:
        asked, values = blocks[queries], blocks[answers]
        n = len(values)
        for name, word in zip((*_KEY, "seed"), (*key, seed), strict=True):
            whole[name] += [word] * n
        whole["query"] += asked["query"]
        whole["cluster"] += asked["cluster"]
        whole["value"] += values
        whole["retrieved_cluster"] += [None] * n if retrieved is None else blocks[retrieved]
        for label in labels:
            whole[f"{LABEL_PREFIX}{label}"] += asked["labels"].get(label, [None] * n)
    types = dict.fromkeys(("seed", "cluster", "retrieved_cluster"), pa.int64()) | {"value": pa.float64()}
    table = pa.table({name: pa.array(cells, types.get(name, pa.string())) for name, cells in whole.items()})
    return table.append_column("retrieved", pa.nulls(len(table), pa.string()))
