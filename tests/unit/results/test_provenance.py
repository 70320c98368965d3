"""What is noted of what is read: once, by whom it concerns, without the names of users."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from xlingual import Results, crosslingual_retrieval
from xlingual.errors import InputError
from xlingual.results.provenance import (
    apart,
    note_data,
    note_file,
    noted,
    noting,
    sha256_of,
)
from xlingual.results.schemas import KINDS, schema_of
from xlingual.workflows.verify import records_in

SERVED = {"study", "study_answers"}  # what raters see and send names no system and no file of one


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - SERVED))
def test_every_kind_of_file_keeps_what_it_was_made_from(kind):
    schema = schema_of(kind)
    own = schema["$defs"][schema["$ref"].rpartition("/")[2]]["properties"]
    assert {"request", "provenance"} <= own.keys()
    parts = schema["$defs"]["Provenance"]["properties"].keys()
    assert set(parts) == {"program", "inputs", "encoders", "derived_from"}


def test_files_are_noted_for_every_block_around(tmp_path):
    path = tmp_path / "m.csv"
    path.write_bytes(b"abc")
    note_file("manifest", path)  # outside of all: for nobody
    with noting() as outer:
        with noting() as inner:
            note_file("manifest", path)
            note_file("manifest", path)
        with noting() as other:
            assert noted().inputs == []
        with apart():
            note_file("run", path)
    (one,) = inner.provenance().inputs
    assert one.sha256 == hashlib.sha256(b"abc").hexdigest() and one.bytes == 3
    assert outer.provenance().inputs == [one] and other.provenance().inputs == []


def test_data_are_joined_with_their_file_and_those_of_two_parts_stand_apart(tmp_path):
    path = tmp_path / "m.csv"
    path.write_bytes(b"abc")
    with noting() as notes:
        note_file("manifest", path)
        note_data("manifest", path, [1], lambda: ("aa", 2))
        note_data("manifest", path, [2], lambda: ("bb", 3))
        note_data("manifest", None, [3], lambda: ("aa", 2))  # the same in memory
        note_data("manifest", None, [4], lambda: ("cc", 4))
    found = notes.provenance().inputs
    assert sorted((one.digest, one.rows, bool(one.path), bool(one.sha256)) for one in found) == [
        ("aa", 2, True, True),
        ("bb", 3, True, True),
        ("cc", 4, False, False),
    ]


def test_own_files_pipes_and_the_name_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "jane"))
    kept, own = tmp_path / "home" / "jane" / "model.bin", tmp_path / "out" / "model.bin"
    for path in (kept, own):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    with noting() as notes:
        for path in (kept, own, tmp_path / "pipe", tmp_path / "none"):
            note_file("model", path)
    assert [one.path for one in notes.provenance(tmp_path / "out").inputs] == [f"~{os.sep}model.bin"]


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Results of a manifest, the current folder."""
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(i), "text_en": f"dog {i}", "text_de": f"Hund {i}"} for i in range(30)]
    Path("m.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    found = crosslingual_retrieval("m.jsonl", "random:?dim=8", pairs="en-de", store=None)
    found.write("r")
    return found


def test_a_call_from_python_keeps_the_files_it_read(written):
    (one,) = written.provenance.inputs
    assert (one.role, one.path, one.sha256) == ("manifest", "m.jsonl", sha256_of("m.jsonl"))
    assert one.rows == 60 and one.digest.startswith(written.entries[0].signature.split("data:")[1][:12])
    read = Results.read("r")
    assert read.provenance == written.provenance


def test_a_damaged_file_says_so_and_another_programs_is_refused(written):
    content = json.loads(Path("r/results.json").read_text(encoding="utf-8"))
    (made,) = records_in("r")
    content["results"][0]["value"] += 1e-9
    Path("r/results.json").write_text(json.dumps(content), encoding="utf-8")
    assert records_in(Path("r/results.json"))[0].digest != made.digest
    Path("r/per_query.parquet").write_bytes(b"")
    (damaged,) = records_in("r")
    assert damaged.digest is None and "per_query.parquet" in damaged.no_digest
    for text, words in (
        ('{"schema": "other/1"}', "no file of results"),
        ("[1]", "no file of results"),
        ("{", "not valid JSON"),
    ):
        Path("x.json").write_text(text)
        with pytest.raises(InputError, match=words):
            records_in("x.json")
    content["provenance"] = {"program": 3}
    Path("r/results.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match="provenance"):
        records_in("r")
    Path("empty").mkdir()
    with pytest.raises(InputError, match="holds no file of results"):
        records_in("empty")
