"""The list of failures: every query that failed with its texts, for a colleague and a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.errors import InputError, parameter
from xlingual.files import atomic_file, make_folder
from xlingual.inspection.encoder import Looked
from xlingual.visible import csv_text

if TYPE_CHECKING:
    import pyarrow as pa

KINDS_OF_FILE = (".csv", ".parquet")
SHOWN = 3  # nearest texts of a query
DECIMALS = 5  # of scores, as results keep them


def failures_of(looked: Sequence[Looked]) -> pa.Table:
    """Return the queries of the first samples that failed, of each encoder the worst first.

    A line has the query (language, id, text, path of its image), its value, the rank of the answer (of the
    query's own image, or of its own item's text), the kind of error, the weak slices that hold it, the
    answer's text where there is one, and the nearest texts with their scores. Of a pool there is a line for
    each answer that is missed, and its nearest texts are the first wrong candidates.
    """
    import pyarrow as pa

    text, whole, number = pa.string(), pa.int64(), pa.float64()
    nearest = [
        (f"{name}_{place}", kind)
        for place in range(1, SHOWN + 1)
        for name, kind in (("retrieved_id", text), ("retrieved_text", text), ("score", number))
    ]
    schema = pa.schema(
        [(name, text) for name in ("encoder", "source", "target", "query", "text", "image", "item")]
        + [("value", number), ("rank", whole), ("kind", text), ("slices", text)]
        + [("answer_id", text), ("answer", text)]
        + nearest
        + [("retrieved_image", text)]
    )
    return pa.Table.from_pylist([line for one in looked for line in _lines(one)], schema=schema)


def _lines(one: Looked) -> Iterator[dict[str, Any]]:
    asked, data = one.asked, one.data
    slices = [(name, set(rows.tolist())) for name, rows in one.slices]
    for line in one.lines().tolist():
        row = int(asked.row[line])
        source, target = asked.pairs[asked.pair[line]]
        above = int(asked.above[line])
        answer = int(one.served.answer[line])
        found = {
            "encoder": one.encoder,
            "source": source,
            "target": target,
            "query": data.ids[row],
            "text": data.text[row],
            "image": one.image_path(row),
            "item": data.item_ids[data.item[row]],
            "value": float(asked.value[line]),
            "rank": above + 1 if above >= 0 else None,
            "kind": one.served.kinds[one.kind[line]],
            "slices": "; ".join(name for name, rows in slices if row in rows),
            "answer_id": None if answer < 0 else data.ids[answer],
            "answer": None if answer < 0 else data.text[answer],
        }
        rows = one.nearest_of(line)[:SHOWN]
        for number, (other, score) in enumerate(rows, 1):
            found |= {
                f"retrieved_id_{number}": data.ids[other],
                f"retrieved_text_{number}": data.text[other],
                f"score_{number}": None if score is None else round(score, DECIMALS),
            }
        yield found | ({"retrieved_image": one.image_path(rows[0][0])} if rows else {})


def check_failures_file(path: Path) -> None:
    """Raise InputError where a list of failures cannot be written to a file of this name."""
    if path.suffix.lower() not in KINDS_OF_FILE:
        raise InputError(
            f"{parameter('failures', str(path))}: expected a name that ends in {', '.join(KINDS_OF_FILE)}"
        )
    if path.is_dir():
        raise InputError(f"{parameter('failures', str(path))} is a folder: name a file")


def write_failures(table: pa.Table, path: Path) -> None:
    """Write a list of failures as CSV or Parquet; a crash leaves the old file.

    In CSV what a spreadsheet could take for a formula is text.
    """
    check_failures_file(path)
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, temporary, compression="zstd")
        else:
            _write_csv(table, temporary)


def _write_csv(table: pa.Table, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8-sig") as file:  # spreadsheets need the mark
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        for batch in table.to_batches(10_000):
            for row in batch.to_pylist():
                writer.writerow([csv_text(cell) if isinstance(cell, str) else cell for cell in row.values()])
