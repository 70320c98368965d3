"""Reading that gathers all problems, for `data check`, and what of them stops a reading at once."""

import pytest

from xlingual.data.check import check
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError

LONG = """id,lang,text,image
1,en,a red shoe,1.png
2,zh_TW,椅子,2.png
3,,a hat,3.png
4,EN,a lamp,4.png
1,en,again,1.png
6,en,too,many,fields
7,de,ein Hut,../7.png
8,de,ein Schuh,8.png
"""


def kinds(problems):
    return {problem.kind: (problem.severity, list(problem.rows)) for problem in problems}


def test_all_errors_of_a_file_are_gathered_and_its_sound_rows_read(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(LONG, encoding="utf-8")
    manifest, problems = Manifest.read_gathering(path)
    assert kinds(problems) == {
        "row width": ("error", [5]),
        "empty language": ("error", [2]),
        "language code": ("note", []),
        "language case": ("error", [3]),
        "same id": ("error", [4]),
        "image path": ("error", [6]),
    }
    assert list(manifest.ids) == ["1", "2", "8"] and manifest.languages == ("en", "zh-Hant", "de")
    assert manifest.table_row.tolist() == [0, 1, 7]
    found = check(manifest, problems=problems)
    severities = [finding.severity for finding in found.findings]
    assert severities == ["error"] * 5 + ["warning"] * (len(severities) - 6) + ["note"]
    with pytest.raises(InputError, match=r"row 6 \(line 7\): 4 fields where the header has 4|5 fields"):
        Manifest.read(path)


def test_chosen_rows_are_those_of_the_file(tmp_path):
    (tmp_path / "m.csv").write_text(LONG, encoding="utf-8")
    manifest, _ = Manifest.read_gathering(tmp_path / "m.csv", rows="4:")
    assert list(manifest.ids) == ["8"]


def test_problems_of_the_wide_form_and_of_json_lines(tmp_path):
    path = tmp_path / "m.jsonl"
    lines = ['{"id": 1, "text_en": "a", "text_zh_TW": "b"}', "{", "[1]", '{"id": 1, "text_en": 3}']
    lines += ['{"id": 5, "text_en": "\\ud800"}', '{"id": null, "text_en": "c"}', '{"id": 7, "text_en": "d"}']
    path.write_text("\n".join(lines), encoding="utf-8")
    manifest, problems = Manifest.read_gathering(path)
    assert kinds(problems) == {
        "not JSON": ("error", [1, 2, 4]),  # half a character is none
        "language code": ("note", []),
        "empty id": ("error", [5]),  # not those of the lines that could not be read
        "same id": ("error", [3]),
    }
    assert list(manifest.text) == ["a", "b", "d"]


@pytest.mark.parametrize("content", ["", "id,price\n1,2\n", "lang,text\n", "lang,text\n,a\n"])
def test_where_nothing_can_be_read_the_reason_is_the_last_problem(tmp_path, content):
    (tmp_path / "m.csv").write_text(content, encoding="utf-8")
    manifest, problems = Manifest.read_gathering(tmp_path / "m.csv")
    assert manifest is None and problems[-1].kind == "unreadable"
    with pytest.raises(InputError):
        Manifest.read(tmp_path / "m.csv")
