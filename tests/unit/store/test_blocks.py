"""Finished blocks of passes: what is written is read, nothing else is, and nothing stays behind."""

import os
import time

import numpy as np
import pytest

from xlingual.errors import DataWarning
from xlingual.store import FolderBlocks

ARRAYS = {"0.sums": np.arange(6).reshape(2, 3), "0.names": np.array(["a", "ß"]), "1.empty": np.empty((0, 2))}


@pytest.fixture
def blocks(tmp_path):
    blocks = FolderBlocks(tmp_path / "ranking")
    blocks.write("ab12", ARRAYS)
    return blocks


def test_another_program_reads_what_was_written_and_forgets_its_blocks_alone(blocks):
    other = FolderBlocks(blocks.folder)
    arrays = other.read("ab12")
    assert {name: array.tolist() for name, array in arrays.items()} == {
        n: a.tolist() for n, a in ARRAYS.items()
    }
    assert other.read("ef56") is None
    blocks.write("cd34", ARRAYS)
    other.forget()
    assert [path.name for path in blocks.folder.iterdir()] == ["cd34.block.npz"]
    blocks.forget()
    assert not blocks.folder.exists()


@pytest.mark.parametrize("kind", ["empty", "cut", "changed", "pickled", "no archive"])
def test_a_damaged_file_counts_as_none(blocks, kind):
    [path] = blocks.folder.iterdir()
    content = path.read_bytes()
    place = content.index(np.arange(6).tobytes()) + 8
    changed = content[:place] + b"\7" + content[place + 1 :]
    path.write_bytes({"empty": b"", "cut": content[:-30], "changed": changed}.get(kind, b"text"))
    if kind == "pickled":
        np.savez(path, names=np.array([print], dtype=object))
    with pytest.warns(DataWarning):
        assert blocks.read("ab12") is None
    blocks.write("ab12", ARRAYS)
    assert blocks.read("ab12") is not None


def test_a_folder_that_cannot_be_written_is_named_once(tmp_path):
    (tmp_path / "file").write_text("")
    blocks = FolderBlocks(tmp_path / "file")
    with pytest.warns(DataWarning):
        blocks.write("ab", ARRAYS)
    blocks.write("cd", ARRAYS)  # a second warning would be an error
    blocks.forget()


def test_old_blocks_are_removed_and_other_files_stay(blocks):
    (blocks.folder / ".ab12.block.npz.x1").write_text("begun")
    (blocks.folder / "notes.txt").write_text("")
    for path in blocks.folder.iterdir():
        os.utime(path, (time.time() - 15 * 24 * 3600,) * 2)
    blocks.write("cd34", ARRAYS)
    FolderBlocks(blocks.folder)
    assert {path.name for path in blocks.folder.iterdir()} == {"cd34.block.npz", "notes.txt"}
