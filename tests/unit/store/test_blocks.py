"""Finished blocks of passes: what is written is read, nothing else is, and nothing stays behind."""

import os
import time

import numpy as np
import pytest

from xlingual.errors import DataWarning
from xlingual.store.blocks import FolderBlocks

ARRAYS = {"0.sums": np.arange(6).reshape(2, 3), "0.names": np.array(["a", "ß"]), "1.empty": np.empty((0, 2))}


@pytest.fixture
def blocks(tmp_path):
    blocks = FolderBlocks(tmp_path / "ranking")
    blocks.write("ab12", ARRAYS)
    return blocks


def test_another_program_reads_what_was_written(blocks):
    arrays = FolderBlocks(blocks.folder).read("ab12")
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
    assert blocks.read("cd34") is None


@pytest.mark.parametrize("kind", ["empty", "cut", "changed", "pickled", "no archive"])
def test_a_damaged_file_counts_as_none(blocks, kind):
    [path] = blocks.folder.iterdir()
    content = path.read_bytes()
    if kind == "pickled":
        np.savez(path, checksum=np.array([print], dtype=object))
    else:
        place = content.index(np.arange(6).tobytes()) + 8
        changed = content[:place] + b"\7" + content[place + 1 :]
        path.write_bytes({"empty": b"", "cut": content[:-30], "changed": changed}.get(kind, b"text"))
    with pytest.warns(DataWarning, match=r"ab12\.block\.npz is damaged"):
        assert blocks.read("ab12") is None
    blocks.write("ab12", ARRAYS)
    assert blocks.read("ab12") is not None


def test_a_folder_that_cannot_be_written_is_told_once(tmp_path):
    (tmp_path / "file").write_text("")
    blocks = FolderBlocks(tmp_path / "file")
    with pytest.warns(DataWarning, match="choose another folder with --store"):
        blocks.write("ab", ARRAYS)
    blocks.write("cd", ARRAYS)  # a second warning would be an error
    blocks.forget()


def test_only_blocks_of_this_program_are_forgotten(blocks):
    other = FolderBlocks(blocks.folder)
    other.write("cd34", ARRAYS)
    blocks.forget()
    assert [path.name for path in blocks.folder.iterdir()] == ["cd34.block.npz"]
    other.forget()
    assert not blocks.folder.exists()


def test_old_blocks_are_removed_and_other_files_stay(blocks):
    (blocks.folder / ".ab12.block.npz.x1").write_text("begun")
    (blocks.folder / "notes.txt").write_text("")
    for path in blocks.folder.iterdir():
        os.utime(path, (time.time() - 15 * 24 * 3600,) * 2)
    blocks.write("cd34", ARRAYS)
    FolderBlocks(blocks.folder)
    assert {path.name for path in blocks.folder.iterdir()} == {"cd34.block.npz", "notes.txt"}
