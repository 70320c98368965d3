import errno
import os
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual.errors import InputError
from xlingual.files import atomic_file, regular_file
from xlingual.models.texts import Vocabulary
from xlingual.nbest.lists import NBestLists, write_nbest, write_texts
from xlingual.results import write_json
from xlingual.results.tables import write_table


def test_a_file_and_a_link_to_one_are_returned(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    assert regular_file(tmp_path / "file", "the list") == tmp_path / "file"
    assert regular_file(str(tmp_path / "link"), "the list") == tmp_path / "link"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("absent", "absent is missing: the list must be a file that exists"),
        ("n" * 300, "the list cannot be read: File name too long"),
        ("zero\0byte", "the list cannot be read: embedded null byte"),
    ],
)
def test_what_cannot_be_looked_at_is_told_in_one_line(tmp_path, name, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        regular_file(tmp_path / name, "the list")


LISTS = NBestLists(["a"], np.zeros((1, 1)), np.zeros(1), np.array([0, 1]), (("f", 1),))
WRITERS = {
    "a vocabulary": lambda path: Vocabulary(["word"]).write(path),
    "texts": lambda path: write_texts(["a text"], path),
    "lists": lambda path: write_nbest(LISTS, path),
    "lists.gz": lambda path: write_nbest(LISTS, path),
    "results": lambda path: write_json(path, {}),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("step", ["NamedTemporaryFile", "sync", "os.replace", "os.fsync"])
def test_what_cannot_be_written_is_named_not_its_temporary_file(tmp_path, monkeypatch, name, step):
    def refuse(*paths, **_):
        temporary = next((str(path) for path in paths if not isinstance(path, int)), ".hidden")
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), temporary)

    monkeypatch.setattr(f"xlingual.files.{step}", refuse)
    with pytest.raises(InputError) as raised:
        WRITERS[name](tmp_path / name)
    assert str(raised.value) == (
        f"{tmp_path / name} cannot be written (Read-only file system: choose a place that can be written to)"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_private_file_is_its_owners_alone(tmp_path):
    for private, mode in ((True, 0o600), (False, 0o644)):
        with atomic_file(tmp_path / "file", private=private) as temporary:
            temporary.write_text("x")
        assert (tmp_path / "file").stat().st_mode & 0o777 == mode


def test_a_relative_folder_may_look_like_an_address(tmp_path, monkeypatch):
    """Arrow would take it for that of a file system: a name as NAME:?dim=128 is natural for an encoder's."""
    monkeypatch.chdir(tmp_path)
    folder = Path("out-random:?dim=128")
    folder.mkdir()
    table = pa.table({"query": [1, 2]})
    write_table(table, folder / "direct.parquet")
    with atomic_file(folder / "atomic.parquet") as temporary:
        pq.write_table(table, temporary)
    for path in folder.iterdir():
        assert pq.read_table(path.absolute()) == table
    assert len(list(folder.iterdir())) == 2
