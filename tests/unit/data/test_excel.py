import datetime
import io
import zipfile

import openpyxl
import pytest

from xlingual import extras
from xlingual.data.manifest import Manifest
from xlingual.data.reading.excel import read_excel
from xlingual.errors import DataWarning, InputError

HEADER = ("id", "text_en", "text_de", "year", "new")
ROWS = [(1, "red shoe", "roter Schuh", 2024.0, True), (2, 2024, None, datetime.date(2024, 5, 1), None)]


def workbook(path, rows, *further):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title in further:
        book.create_sheet(title)
    book.save(path)
    return path


def test_the_first_sheet_is_read_as_the_strings_of_its_csv(tmp_path):
    manifest = Manifest.read(workbook(tmp_path / "m.xlsx", [(), HEADER, *ROWS, ()], "notes"))
    assert list(manifest.ids) == ["1", "1", "2"] and manifest.languages == ("en", "de")
    assert list(manifest.text) == ["red shoe", "roter Schuh", "2024"]
    table = read_excel(tmp_path / "m.xlsx")
    assert table.load("year") == ["2024", "2024-05-01T00:00:00"] and table.load("new") == ["TRUE", None]


def test_failed_formulas_and_further_sheets_are_reported(tmp_path):
    path = workbook(tmp_path / "m.xlsx", [HEADER, *ROWS, (3, "#N/A", "x", None, None)], "notes")
    with pytest.warns(DataWarning, match=r"1 cells hold the error of a failed formula \(row 4: #N/A\)"):
        Manifest.read(path)
    kinds = {problem.kind: problem.sentence for problem in Manifest.read_gathering(path)[1]}
    assert "only the first sheet is read, not notes" in kinds["further sheets"]


def damaged(path):
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    parts["xl/worksheets/sheet1.xml"] = parts["xl/worksheets/sheet1.xml"][:200]
    with zipfile.ZipFile(path, "w") as new:
        for name, content in parts.items():
            new.writestr(name, content)


def test_what_is_no_workbook_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "m.xlsx"
    buffer = io.BytesIO()
    zipfile.ZipFile(buffer, "w").close()
    for content in (b"", b"\xd0\xcf\x11\xe0old", buffer.getvalue()):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"is not a workbook of Excel .*: save the sheet as CSV UTF-8"):
            Manifest.read(path)
    damaged(workbook(path, [HEADER, *ROWS]))
    with pytest.raises(InputError, match="cannot be read as a workbook of Excel"):
        Manifest.read(path)
    monkeypatch.setattr("xlingual.data.reading.excel._MOST_BYTES", 10)
    with pytest.raises(InputError, match="too much for this format"):
        Manifest.read(workbook(path, [HEADER, *ROWS]))


def test_without_the_extra_its_name_is_given(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "_installed", lambda package: False)
    with pytest.raises(InputError, match=r"pip install 'xlingual\[excel\]'; or save the sheet as CSV UTF-8"):
        Manifest.read(workbook(tmp_path / "m.xlsx", [HEADER, *ROWS]))
