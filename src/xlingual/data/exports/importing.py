"""An export as a clean manifest: one row per text, and a list of what was changed or dropped, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xlingual.data.exports.columns import find_export_columns
from xlingual.data.exports.images import OUTSIDE, ImageCells
from xlingual.data.exports.made import (
    EMPTY,
    NO_ID,
    RENAMED,
    REPEATED,
    UNREADABLE,
    Change,
    Imported,
    write_imported,
)
from xlingual.data.exports.rows import ExportRows
from xlingual.data.reading.formats import read_csv
from xlingual.data.reading.gathering import table_of_rows
from xlingual.data.reading.opening import open_table
from xlingual.data.reading.problems import STRICT, Problem, Reading
from xlingual.data.reading.tables import SourceTable
from xlingual.errors import InputError, listed, warn
from xlingual.files import regular_file

_BLOCK = 1 << 10  # rows after which progress is shown
_WORDS = {
    "row width": "another number of fields than the header: quote texts that hold the separator",
    "quotes": "its quotes are not closed, or text stands behind them: write a quote in a text twice",
}


def import_export(
    export: str | Path,
    out: str | Path,
    *,
    columns: Mapping[str, str | None] | None = None,
    join: Sequence[str] = (),
    language: str | None = None,
    images: str | Path | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """Write an export as a manifest (Parquet) and the list of changes beside it, and return what came of it.

    `columns` names columns ({"text": "Title", "lang": "Locale", "id", "image", "item", "cluster"}); others
    are found by their names. `join` are columns whose texts become one, with a line break between; `images`
    is the folder of the images, by default that of the export; `progress` gets the rows done and all.
    Raises InputError where it cannot be read.
    """
    out = Path(out)
    if out.suffix.lower() != ".parquet":
        raise InputError(f"--out {out}: a manifest that is imported is Parquet: name it …/manifest.parquet")
    problems: list[Problem] = []
    table = _open(Path(export), Reading(separator, encoding, problems, least=0))
    bad = _dropped(problems)
    found = find_export_columns(table, columns or {}, join, language)
    if found.id is None:
        sentence = (
            f"{table.source}: no id column is found, so rows are numbered: name it with --id-column. Its "
            f"columns: {listed(table.names, 20)}"
        )
        STRICT.report(Problem("warning", "no ids", sentence))
    cells = ImageCells(Path(images) if images is not None else Path(export).absolute().parent, out.parent)
    made = Imported(table.source, found.named(), table.n_rows)
    made.changes += [Change(row + 1, "", UNREADABLE, sentence, "") for row, sentence in sorted(bad.items())]
    _take(made, ExportRows(table, found, cells, made), set(bad), progress or (lambda done, total: None))
    first = next((change for change in made.changes if OUTSIDE in change.what), None)
    if first is not None:
        cells.refuse_all_outside(f"{table.source}, row {first.row}, column {first.column!r}")
    if not made.rows:
        reasons = listed((f"{kind} {len(found):,}" for kind, found in made.counts().items()), 3)
        taken = listed(f"{role}: {column}" for role, column in made.columns.items())
        raise InputError(
            f"{table.source}: no text is left of its {table.n_rows} rows ({reasons}); columns: {taken}; "
            "name others with --text-column, --lang-column …, or say --language"
        )
    write_imported(made, out)
    return made


def _open(path: Path, reading: Reading) -> SourceTable:
    """Open an export: what a manifest may be, and .txt and .json too."""
    ending = path.suffix.lower()
    if ending not in (".txt", ".json") or not path.exists():
        return open_table(path, reading)[0]
    regular_file(path, "the export")
    if ending == ".txt":
        return read_csv(path, reading)
    try:
        rows = json.loads(path.read_text(encoding=reading.encoding or "utf-8-sig"))
    except (ValueError, RecursionError, LookupError) as error:
        raise InputError(
            f"{path} is not JSON ({error}): save it as JSON lines, one object per line"
        ) from error
    within = rows.values() if isinstance(rows, dict) else ()
    lists = [rows] if isinstance(rows, list) else [value for value in within if isinstance(value, list)]
    if len(lists) != 1:
        raise InputError(f"{path}: expected a list of objects: save it as JSON lines, one object per line")
    return table_of_rows(lists[0], str(path), path.absolute().parent)


def _dropped(problems: Sequence[Problem]) -> dict[int, str]:
    """Return the rows that cannot be read, each with its reason; raise InputError where none can be."""
    bad: dict[int, str] = {}
    for problem in problems:
        if problem.severity == "error" and not problem.rows:
            raise InputError(problem.sentence)
        if problem.severity == "warning":
            warn(problem.sentence)
        bad |= dict.fromkeys(
            problem.rows if problem.severity == "error" else (), _WORDS.get(problem.kind, problem.kind)
        )
    return bad


def _take(made: Imported, rows: ExportRows, bad: set[int], progress: Callable[[int, int], None]) -> None:
    """Add the rows of the manifest to `made`, each language and id once."""
    columns, wide = rows.columns, len(rows.columns.texts) > 1
    seen: set[tuple[str, str, str, Any]] = set()
    used: set[tuple[str, str]] = set()
    items: set[str] = set()
    for row in range(made.n_rows):
        if row % _BLOCK == 0:
            progress(row, made.n_rows)
        if row in bad:
            continue
        texts = list(rows.texts(row))
        if not texts:
            if wide:
                rows.changed(row, "", EMPTY, "")
            continue
        name = rows.name(row, columns.id)
        if columns.id and not name:
            rows.changed(row, columns.id, NO_ID, "", row + 1)
        name = name or str(row + 1)
        shared = rows.shared(row)
        image = shared.get("image")
        fresh = [(tag, text) for tag, text in texts if (tag, name, text, image) not in seen]
        if not fresh:
            rows.changed(row, columns.id or "", REPEATED, name)
            continue
        own = _free(name, [tag for tag, _ in fresh], used)
        if own != name:
            rows.changed(row, columns.id or "", RENAMED, name, own)
        item = rows.name(row, columns.item) or (own if wide else name)
        items.add(item)
        for tag, text in fresh:
            seen.add((tag, name, text, image))
            used.add((tag, own))
            further = {
                field: rows.text(row, by[tag]) or None
                for field, by in columns.language_fields.items()
                if tag in by
            }
            made.texts[tag] += 1
            made.rows.append({"id": own, "lang": tag, "text": text, "item": item, **shared, **further})
    if not wide and not columns.item and (not columns.id or len(items) == len(made.rows)):
        for entry in made.rows:  # each row would be an item by itself: equal images are one item instead
            entry.pop("item")


def _free(name: str, tags: Sequence[str], used: set[tuple[str, str]]) -> str:
    """Return the id, with a number behind it where a text in one of the languages has it already."""
    number, own = 1, name
    while any((tag, own) in used for tag in tags):
        number += 1
        own = f"{name}#{number}"
    return own
