"""What came of an export: the rows of the manifest, and every change with its reason."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from xlingual.files import atomic_file, make_folder

REPEATED, RENAMED, NO_ID = "repeated row: dropped", "id in use: made unique", "no id: the row's number"
EMPTY, NO_LANGUAGE, UNKNOWN, UNREADABLE = (
    "no text: dropped",
    "no language: dropped",
    "unknown language: dropped",
    "row cannot be read: dropped",
)
TAG = "language tag"
OWN = ("id", "lang", "text", "image", "image_url", "item", "cluster", "split")


class Change(NamedTuple):
    """One cell, or one row, that is not as it was."""

    row: int  # from 1, without the header
    column: str
    what: str  # the kinds of changes, with "; " between
    before: str
    after: str


@dataclass
class Imported:
    """What came of an export."""

    source: str
    columns: dict[str, str]  # what each column was taken for
    n_rows: int
    texts: Counter[str] = field(default_factory=Counter)  # by language
    n_urls: int = 0  # images that are URLs, of which no file is there
    changes: list[Change] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list, repr=False)

    def counts(self) -> dict[str, list[Change]]:
        """Return the changes of each kind, the most frequent first."""
        found: dict[str, list[Change]] = {}
        for change in self.changes:
            for kind in change.what.split("; "):
                found.setdefault(kind, []).append(change)
        return dict(sorted(found.items(), key=lambda entry: -len(entry[1])))


def write_imported(made: Imported, out: Path) -> None:
    """Write the manifest and the list of changes beside it, both or neither."""
    make_folder(out.parent)
    with atomic_file(out) as manifest, atomic_file(changes_path(out)) as listing:
        write_rows(manifest, made.rows)
        with listing.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(Change._fields)
            made.changes.sort(key=lambda change: change.row)
            lines.writerows(made.changes)


def changes_path(out: Path) -> Path:
    """Return the path of the list of changes of a manifest."""
    return out.with_name(f"{out.stem}.changes.csv")


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as Parquet; columns of several types become text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = dict.fromkeys(name for row in rows for name in row)
    arrays = {}
    for name in names:
        cells = [row.get(name) for row in rows]
        if name in OWN and all(cell is None for cell in cells):
            continue
        try:
            arrays[name] = pa.array(cells, pa.string() if name in OWN else None)
        except (pa.ArrowException, TypeError, OverflowError):
            arrays[name] = pa.array(
                [
                    cell if cell is None or isinstance(cell, str) else json.dumps(cell, default=str)
                    for cell in cells
                ]
            )
    pq.write_table(pa.table(arrays), path, compression="zstd")
