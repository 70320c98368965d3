"""The values of a history as one table, a row for each record, encoder and language pair: CSV or Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.errors import InputError, parameter
from xlingual.files import atomic_file, make_folder
from xlingual.results.history import Trend
from xlingual.visible import csv_text

if TYPE_CHECKING:
    import pyarrow as pa

_TEXTS = (
    *("date", "label", "revision", "version", "digest", "task", "measure", "data", "encoder"),
    *("source", "target", "gate", "outcome", "note"),
)
_WHOLE = ("record", "since", "n_queries")


def check_export(path: Path) -> None:
    """Raise InputError where a table cannot be written to a path."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{parameter('export', str(path))}: name a file that ends in .csv or .parquet")
    if path.is_dir():
        raise InputError(f"{parameter('export', str(path))} is a folder: name a file")


def write_export(found: Trend, path: Path) -> None:
    """Write the values of a history; a crash leaves the old file. CSV has no formulas."""
    check_export(path)
    rows = list(_rows(found))
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(_table(rows), temporary, compression="zstd")
            return
        with temporary.open("w", newline="", encoding="utf-8-sig") as file:
            writer = csv.writer(file)
            writer.writerow(rows[0])
            for row in rows:
                writer.writerow([csv_text(cell) if isinstance(cell, str) else cell for cell in row.values()])


def _rows(found: Trend) -> Iterator[dict[str, Any]]:
    for series in found.series:
        records = {one.id: one for one in series.records}
        for line in series.lines:
            for point in line.points:
                record, change = records[point.record], point.change
                gates = [one.outcome for one in record.gates if one.encoder == line.encoder]
                ci, of_change = point.ci, change and change.ci
                yield {
                    "record": record.id,
                    "date": record.date,
                    "label": record.label,
                    "revision": record.revision,
                    "version": record.version,
                    "digest": record.digest,
                    "task": series.task,
                    "measure": series.measure,
                    "data": series.data,
                    "encoder": line.encoder,
                    "source": line.source,
                    "target": line.target,
                    "value": point.value,
                    "ci_low": ci and ci.low,
                    "ci_high": ci and ci.high,
                    "gate": gates[-1] if gates else None,
                    "since": change and change.since,
                    "difference": change and change.difference,
                    "difference_low": of_change and of_change.low,
                    "difference_high": of_change and of_change.high,
                    "p": change and change.p,
                    "p_adjusted": change and change.p_adjusted,
                    "n_queries": change and change.n_queries,
                    "outcome": change and change.outcome,
                    "note": change and change.note,
                }


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    import pyarrow as pa

    types = dict.fromkeys(_TEXTS, pa.string()) | dict.fromkeys(_WHOLE, pa.int64())
    schema = pa.schema([(name, types.get(name, pa.float64())) for name in rows[0]])
    return pa.Table.from_pylist(rows, schema)
