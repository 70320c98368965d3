"""Excel workbooks of a simple shape: the first sheet, with a header row. Needs the extra `excel`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from xlingual.data.reading.gathering import ROWS, Gathered, table_of_strings
from xlingual.data.reading.problems import STRICT, Problem, Reading, first_line
from xlingual.data.reading.tables import SourceTable
from xlingual.errors import InputError, listed
from xlingual.extras import missing, pip_line

_SAVE = "save the sheet as CSV UTF-8"
_MOST_BYTES = 2_000_000_000  # unpacked
_MOST_COLUMNS = 16_384
_FAULTS = ("#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NULL!", "#NUM!")  # what failed formulas leave


def read_excel(path: Path, reading: Reading = STRICT) -> SourceTable:
    """Read the first sheet of a workbook; every value becomes the string that it would be as CSV."""
    if missing("excel"):
        raise InputError(f"{path}: a workbook of Excel is read with {pip_line('excel')}; or {_SAVE}")
    _check_size(path)
    gathered = Gathered()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about parts of the workbook that are not read
            header, others, faults = _gather(path, gathered)
    except InputError:
        raise
    except Exception as error:  # openpyxl raises errors of many kinds for damaged files
        raise InputError(
            f"{path} cannot be read as a workbook of Excel ({first_line(error, 100)}): {_SAVE}"
        ) from error
    if others:
        sheets = f"{path}: only the first sheet is read, not {listed(others, 3)}"
        reading.report(Problem("note", "further sheets", sheets, count=len(others)))
    if faults:
        cells = (
            f"{path}: {len(faults)} cells hold the error of a failed formula ({listed(faults, 3)}): mend them"
        )
        reading.report(Problem("warning", "failed formulas", cells, count=len(faults), examples=faults[:3]))
    return table_of_strings(gathered, header, path, reading)


def _check_size(path: Path) -> None:
    """Raise InputError where a file is no workbook, or a small one unpacks to a huge one."""
    try:
        with ZipFile(path) as content:
            size = sum(part.file_size for part in content.infolist())
            content.getinfo("[Content_Types].xml")
    except (BadZipFile, OSError, ValueError, NotImplementedError, KeyError) as error:
        raise InputError(f"{path} is not a workbook of Excel (.xlsx): {_SAVE}") from error
    if size > _MOST_BYTES:
        raise InputError(f"{path} holds {size / 1e9:.1f} GB of cells, too much for this format: {_SAVE}")


def _gather(path: Path, gathered: Gathered) -> tuple[list[str], list[str], list[str]]:
    """Gather the rows; return the header, the names of the other sheets, and where formulas failed."""
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        if not book.worksheets:
            raise InputError(f"{path} has no sheet with cells: {_SAVE}")
        sheet = book.worksheets[0]
        with suppress(AttributeError):
            sheet.reset_dimensions()  # which some programs write wrongly
        lines = ([_text(cell) for cell in row] for row in sheet.iter_rows(values_only=True))
        filled = ((number, line) for number, line in enumerate(lines, 1) if any(line))
        _, header = next(filled, (0, []))
        while header and not header[-1]:
            header.pop()
        if len(header) > _MOST_COLUMNS:
            raise InputError(f"{path} has more columns than a workbook of Excel may have: {_SAVE}")
        faults: list[str] = []
        rows = _rows(filled, len(header), faults)
        while block := list(islice(rows, ROWS)):
            gathered.take_lines(block)
        return [name or "" for name in header], [other.title for other in book.worksheets[1:]], faults
    finally:
        book.close()


def _rows(
    filled: Iterator[tuple[int, list[str | None]]], width: int, faults: list[str]
) -> Iterator[list[str | None]]:
    for number, row in filled:
        faults += [f"row {number}: {cell}" for cell in row[:width] if cell in _FAULTS]
        yield (row + [None] * width)[:width]


def _text(cell: Any) -> str | None:  # noqa: ANN401
    """Return what a cell would be in a CSV file: 7 for 7.0, TRUE, 2024-05-01; None for an empty one."""
    match cell:
        case None | "":
            return None
        case bool():
            return str(cell).upper()
        case float() if cell.is_integer():
            return str(int(cell))
    return str(cell.isoformat() if hasattr(cell, "isoformat") else cell)
