"""Sentence pairs as SemEval has them: a score and two sentences, tabs between; no header, no quotes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from xlingual.data.reading.tables import Table
from xlingual.errors import InputError

_FIELDS = 3


def holds_no_header(path: Path, names: Iterable[str]) -> bool:
    """Tell whether the first line is a pair: three fields, a number or nothing first, none a known column."""
    with path.open("rb") as file:
        first = file.readline().decode("utf-8-sig", "replace").rstrip("\r\n").split("\t")
    if len(first) != _FIELDS or {field.strip() for field in first} & set(names):
        return False
    return not first[0].strip() or _is_number(first[0])


def read_semeval(path: Path, names: tuple[str, str, str]) -> Table:
    """Return the table of such a file; `names` are what its three columns are to be called.

    Raises InputError for a line of more or fewer fields, and for text that is not UTF-8.
    """
    raw = path.read_bytes()
    try:
        lines = raw.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        place = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {place} is not UTF-8 text: save the file as UTF-8") from error
    rows = []
    for number, line in enumerate(lines, 1):
        fields = line.rstrip("\r").split("\t")
        if fields == [""]:
            continue
        if len(fields) != _FIELDS:
            raise InputError(
                f"{path}, line {number}: {len(fields)} fields where a score and two sentences are expected, "
                "with tabs between: mend the line, or write a header"
            )
        rows.append(fields)
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return Table(str(path), path.parent, names, len(rows), columns.__getitem__, is_text=lambda _: True)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
