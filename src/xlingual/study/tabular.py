"""Ratings as a table, CSV or Parquet: one row for each rating."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xlingual.errors import InputError, listed
from xlingual.files import atomic_file, make_folder, regular_file
from xlingual.study.records import Rating, StudyKey
from xlingual.visible import csv_text, from_csv_text

COLUMNS = ("rater", "query", "suggestion", "occasion", "score", "at", "seconds")
KEY_COLUMNS = ("systems", "ranks", "control")  # further ones, where the key is given
FORMATS = (".csv", ".parquet")


def check_format(path: Path) -> None:
    """Raise InputError where the name of a file does not say its format."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: the name must end in {' or '.join(FORMATS)}, which says the format")


def write_ratings(path: Path, ratings: Sequence[Rating], key: StudyKey | None = None) -> None:
    """Write ratings, with the systems that made each suggestion where the key is given.

    `systems` has their names and `ranks` the places in their lists, joined by ";" in the same order;
    `control` is the score that is expected of a control. Raises InputError for an unknown format.
    """
    check_format(path)
    rows = [_row(rating, key) for rating in ratings]
    columns = COLUMNS if key is None else (*COLUMNS, *KEY_COLUMNS)
    write = _write_csv if path.suffix.lower() == ".csv" else _write_parquet
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        write(temporary, columns, rows)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table of ratings; further columns are passed over.

    Raises InputError where it cannot be read, or a column is missing.
    """
    check_format(path)
    if path.exists():
        regular_file(path, "a table of ratings")
    try:
        rows, found = _read_csv(path) if path.suffix.lower() == ".csv" else _read_parquet(path)
    except (OSError, ValueError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise InputError(
            f"{path} cannot be read ({reason}): give what xlingual study export wrote"
        ) from error
    missing = [name for name in COLUMNS if name not in found and name not in ("at", "seconds")]
    if missing:
        raise InputError(
            f"{path}: no column {missing[0]!r}; found {listed(found) or 'none'}: expected {listed(COLUMNS)}"
        )
    return rows


def _row(rating: Rating, key: StudyKey | None) -> dict[str, Any]:
    row = asdict(rating)
    if key is None:
        return row
    made = key.credits.get(rating.suggestion, ())
    systems, ranks = (";".join(str(getattr(credit, name)) for credit in made) for name in ("system", "rank"))
    return row | {"systems": systems, "ranks": ranks, "control": key.controls.get(rating.suggestion)}


def _write_csv(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: csv_text(v) if isinstance(v, str) else v for k, v in row.items()})


def _write_parquet(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    numbers = {"occasion": pa.int64(), "score": pa.int64(), "control": pa.int64(), "seconds": pa.float64()}
    schema = pa.schema([(name, numbers.get(name, pa.string())) for name in columns])
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), path)


def _read_csv(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        rows = [{k: from_csv_text(v) if isinstance(v, str) else v for k, v in row.items()} for row in reader]
        return rows, list(reader.fieldnames or [])


def _read_parquet(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(path).read()
    return table.to_pylist(), table.column_names
