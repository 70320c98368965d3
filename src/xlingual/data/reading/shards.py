"""Tables in several files: shards such as `train-00000-of-00004.parquet`, read as one table."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.data.reading.problems import Reading
from xlingual.data.reading.tables import Table
from xlingual.errors import InputError, listed

if TYPE_CHECKING:
    import pyarrow as pa

Reader = Callable[[Path], Table]
_NAME = re.compile(r"(?P<stem>.*?)[-_.]?(?P<number>[0-9]+)(?:-of-(?P<count>[0-9]+))?")
ENDINGS = (".parquet", ".arrow", ".feather", ".ipc")


def shards_in(folder: Path) -> list[Path]:
    """Return the numbered Parquet or Arrow files of a folder, in the order of their numbers; [] for none.

    Raises InputError where they are of several tables, or one of them is missing.
    """
    return _in_order(sorted(path for path in folder.iterdir() if path.is_file()), str(folder))


def shards_like(pattern: str) -> list[Path]:
    """Return the numbered files that a pattern with `*` matches; see `shards_in`."""
    return _in_order(sorted(Path(path) for path in glob.glob(pattern) if Path(path).is_file()), pattern)


def joined(paths: Sequence[Path], source: str, folder: Path, reader: Reader, how: Reading) -> Table:
    """Return the rows of all files, one file after the other; pictures lie beside the files.

    Raises InputError where the files have different columns.
    """
    tables = [reader(path) for path in paths]
    first = tables[0]
    for path, table in zip(paths, tables, strict=True):
        if set(table.names) != set(first.names):
            odd = sorted(set(table.names) ^ set(first.names))
            raise InputError(
                f"{path} and {paths[0].name} have different columns ({listed(odd)} only in one of them): "
                "write all shards of one table with the same columns"
            )

    def arrow(name: str) -> pa.ChunkedArray | None:
        import pyarrow as pa

        parts = [table.arrow(name) for table in tables]
        if any(part is None for part in parts):
            return None
        return pa.chunked_array(
            [chunk for part in parts if part is not None for chunk in part.cast(pa.large_string()).chunks],
            pa.large_string(),
        )

    return Table(
        source,
        folder,
        first.names,
        sum(table.n_rows for table in tables),
        load=lambda name: [cell for table in tables for cell in table.load(name)],
        is_text=lambda name: all(table.is_text(name) for table in tables),
        is_code=lambda name: all(table.is_code(name) for table in tables),
        arrow=arrow,
        how=how,
    )


def _in_order(paths: Sequence[Path], where: str) -> list[Path]:
    found: dict[tuple[str, str], dict[int, Path]] = {}
    counts: dict[tuple[str, str], int] = {}
    for path in paths:
        match = _NAME.fullmatch(path.stem)
        if match is None or path.suffix.lower() not in ENDINGS:
            continue
        table = (match["stem"], path.suffix.lower())
        other = found.setdefault(table, {}).setdefault(int(match["number"]), path)
        if other != path:
            raise InputError(
                f"{where}: {other.name} and {path.name} have the same number: keep the shards of one "
                "table, or name one of them"
            )
        if match["count"]:
            counts[table] = max(counts.get(table, 0), int(match["count"]))
    if len(found) > 1:
        names = [f"{stem}*{ending}" for stem, ending in found]
        raise InputError(f"{where} holds shards of several tables ({listed(names)}): name one, in quotes")
    for table, numbered in found.items():
        expected = counts.get(table, len(numbered))
        start = 0 if expected == 0 else min(min(numbered), 1)
        missing = sorted(set(range(start, start + expected)) - set(numbered))
        if missing and table in counts:
            raise InputError(
                f"{where}: {len(missing)} of {expected} shards are missing (first: number {missing[0]}): put "
                "all of them there"
            )
        if table in counts and len(numbered) > expected:
            raise InputError(
                f"{where}: {len(numbered)} shards are there of a table in {expected}: keep those of one table"
            )
        return [numbered[number] for number in sorted(numbered)]
    return []
