"""The folder of a study: read as written, kept from others, and its key found out when it was changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from xlingual.errors import InputError
from xlingual.results.schemas import schema_of
from xlingual.study.folder import (
    KEY_FILE,
    STUDY_FILE,
    TITLE_FILE,
    read_key,
    read_study,
    write_study,
)
from xlingual.study.records import KEY_SCHEMA, STUDY_SCHEMA, Study, StudyKey

designs = SimpleNamespace(**run_path(str(Path(__file__).with_name("designs.py"))))
design = designs.design
random_lists = designs.random_lists


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, Study, StudyKey]:
    made = design(random_lists(3), repeats=0.3, controls=0.3)
    folder = tmp_path / "study"
    return folder, write_study(folder, made.study, made.key, "# Title\n"), made.key


def test_reading_gives_back_what_was_written(written: tuple[Path, Study, StudyKey]) -> None:
    folder, study, key = written
    assert read_study(folder) == study
    assert read_key(folder, study) == key
    assert (folder / TITLE_FILE).read_text() == "# Title\n"


def test_the_key_is_its_owners_alone(written: tuple[Path, Study, StudyKey]) -> None:
    folder = written[0]
    assert (folder / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert (folder / STUDY_FILE).stat().st_mode & 0o777 == 0o600
    assert (folder / KEY_FILE).parent.stat().st_mode & 0o777 == 0o700


def test_a_moved_folder_is_the_same_study(written: tuple[Path, Study, StudyKey], tmp_path: Path) -> None:
    folder, study, key = written
    moved = shutil.move(folder, tmp_path / "elsewhere")
    assert read_key(moved, read_study(moved)) == key and read_study(moved) == study


def test_a_study_needs_no_key_to_be_read(written: tuple[Path, Study, StudyKey]) -> None:
    folder, study, _ = written
    shutil.rmtree(folder / "secret")
    assert read_study(folder) == study
    with pytest.raises(InputError, match=r"key.json cannot be read .* put back the key"):
        read_key(folder, study)


def test_a_changed_key_is_found_out(written: tuple[Path, Study, StudyKey]) -> None:
    folder, study, _ = written
    path = folder / KEY_FILE
    whole = path.read_text()
    for changed, words in (
        (whole.replace('"system": "a"', '"system": "b"', 1), "was changed since the study was made"),
        (whole + "\n", "was changed since"),
        (whole[:-20], "is damaged"),
        ("[]", "is damaged"),
        (whole.replace(study.id, "anotherone"), "is the key of another study"),
    ):
        assert changed != whole
        path.write_text(changed)
        with pytest.raises(InputError, match=words) as raised:
            read_key(folder, study)
        assert "\n" not in str(raised.value)


def test_a_title_that_was_edited_is_kept(tmp_path: Path) -> None:
    (tmp_path / TITLE_FILE).write_text("# Mine\n")
    made = design(random_lists(2))
    write_study(tmp_path, made.study, made.key, "# Ours\n")
    assert (tmp_path / TITLE_FILE).read_text() == "# Mine\n"


def put(content: Any, place: tuple[Any, ...], value: Any) -> Any:
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return content


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (
            ("queries", 0, "suggestions", 0, "image"),
            "../secret/key.json",
            r"image must be .* found \"\.\./secret",
        ),
        (("queries", 0, "shown", "image"), "/etc/passwd", r"image must be .* found \"/etc/passwd"),
        (("queries", 0, "shown", "id"), "<b>", r"id must be .* found \"<b>\""),
        (("queries", 0, "shown", "text"), 3, "must be text, found 3"),
        (("queries",), [], "no queries"),
        (("orders",), [], "no orders"),
        (("orders", 0, 0, "suggestions"), [], "does not show each of its suggestions once"),
        (("orders", 0, 0, "query"), "other", "does not ask each query once"),
        (("orders", 0, 0, "occasion"), 1, "does not ask each query once"),
        (("labels",), ["yes", "no"], "must be a list of 4 values, found a list of 2"),
        (("schema",), "xlingual/study/2", "another version"),
        (("orders",), 3, "orders must be a list, found 3"),
    ],
)
def test_a_damaged_study_is_one_line(
    written: tuple[Path, Study, StudyKey], place: tuple[Any, ...], value: Any, words: str
) -> None:
    path = written[0] / STUDY_FILE
    path.write_text(json.dumps(put(json.loads(path.read_text()), place, value)))
    with pytest.raises(InputError, match=words) as raised:
        read_study(written[0])
    assert str(raised.value).startswith(str(path)) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "schema", "file"), [("study", STUDY_SCHEMA, STUDY_FILE), ("study_key", KEY_SCHEMA, KEY_FILE)]
)
def test_files_follow_their_schemas(
    written: tuple[Path, Study, StudyKey], name: str, schema: str, file: str
) -> None:
    described = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(described)
    content = json.loads((written[0] / file).read_text())
    whole = described["$defs"][described["$ref"].rpartition("/")[2]]
    assert [content["schema"]] == [schema] == whole["properties"]["schema"]["enum"]
    validator = jsonschema.Draft202012Validator(described)
    validator.validate(content)
    assert set(content) == set(whole["properties"]) - {
        "request",
        "provenance",
        "run",
    }  # of a study that was not asked for
    for key in whole["required"]:
        assert not validator.is_valid({one: value for one, value in content.items() if one != key})
