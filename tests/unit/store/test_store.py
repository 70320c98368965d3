"""Vectors that are added are found, in any order and by any process; damage is left out, and nothing else."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from tests import scored

import xlingual
from xlingual.errors import DataWarning, InputError, XlingualError
from xlingual.records import Encoded, digest
from xlingual.store import DamagedError, Store, clean, default_folder, holdings, open_store
from xlingual.store.shard import line_sums

FORMS = {"dot": scored.sparse, "cosine": scored.sparse, "maxsim": scored.tokens, "meanmaxsim": scored.tokens}


def keys_of(numbers):
    return [digest(str(number)) for number in numbers]


def vectors_of(numbers, dim=6):
    """Make vectors float32 [n, dim] that depend on nothing but the numbers."""
    numbers = np.asarray(list(numbers), dtype=np.float64)[:, None]
    return np.sin(numbers * np.arange(1, dim + 1) + 1).astype(np.float32)


def add(root, *parts, encoder="a"):
    for part in parts:
        cut = np.array([number % 3 == 0 for number in part])
        Store(root).collection(encoder).add(keys_of(part), Encoded(vectors_of(part), cut))


def survivors(root, numbers, encoder="a"):
    """List the numbers that a store still has, reading all of them until nothing is damaged."""
    collection = Store(root).collection(encoder)
    for _ in range(5):
        rows = collection.find(keys_of(numbers))
        try:
            vectors = collection.read(rows[rows >= 0]).vectors
        except DamagedError:
            continue
        present = [n for n, row in zip(numbers, rows, strict=True) if row >= 0]
        assert vectors.tolist() == vectors_of(present).tolist()
        return present
    raise AssertionError("damage without end")


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 0x10
    path.write_bytes(bytes(content))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "read", "reopen"]), st.lists(st.integers(0, 30), max_size=8, unique=True)
    )
)


@settings(max_examples=40)
@given(steps=STEPS)
def test_a_store_is_a_dictionary(tmp_path_factory, steps):
    root = tmp_path_factory.mktemp("s")
    collection, expected, cut = Store(root).collection("a"), {}, {}
    for step, (what, numbers) in enumerate(steps):
        if what == "reopen":
            collection = Store(root).collection("a")
        elif what == "add":
            vectors = vectors_of([n + 0.001 * step for n in numbers])
            flags = None if step % 3 == 0 else np.array([n % 2 == 0 for n in numbers])
            collection.add(keys_of(numbers), Encoded(vectors, flags))
            for n, vector in zip(numbers, vectors.tolist(), strict=True):
                expected.setdefault(n, vector)
                cut.setdefault(n, flags is not None and n % 2 == 0)
        else:
            rows = collection.find(keys_of(numbers))
            assert [n in expected for n in numbers] == (rows >= 0).tolist()
            present = [n for n in numbers if n in expected]
            encoded = collection.read(rows[rows >= 0])
            assert encoded.vectors.tolist() == [expected[n] for n in present]
            flags = np.zeros(len(present), bool) if encoded.truncated is None else encoded.truncated
            assert flags.tolist() == [cut[n] for n in present]


@pytest.mark.parametrize("form", FORMS)
def test_sparse_rows_and_tokens_are_found_checked_and_left_out(tmp_path, form):
    vectors = FORMS[form]("duplicated", np.random.default_rng(4), 30, 7, form)
    for part in (range(13), range(13, 30)):
        Store(tmp_path).collection("a").add(keys_of(part), Encoded(vectors[part.start : part.stop]))
    rows = np.random.default_rng(0).integers(0, 30, 50)
    collection = Store(tmp_path).collection("a")
    read = collection.read(collection.find(keys_of(rows.tolist()))).vectors
    assert (type(read), read.compared_by, read.shape) == (type(vectors), form, (50, 7))
    assert [read.row_bytes(i) for i in range(50)] == [vectors[rows].row_bytes(i) for i in range(50)]
    with pytest.raises(InputError):
        collection.add(keys_of([99]), Encoded(vectors_of([99], 7)))
    flip(next(tmp_path.glob("*/*.safetensors")), -2)
    assert [len(holding.damaged) for holding in holdings(Store(tmp_path), verified=True)] == [1]
    with pytest.warns(DataWarning), pytest.raises(DamagedError):
        collection.read(collection.find(keys_of(range(30))))
    assert 0 < (collection.find(keys_of(range(30))) >= 0).sum() < 30


def test_keys_that_share_their_first_half_are_distinguished(tmp_path):
    keys = [b"\x01" * 8 + bytes([i]) * 8 for i in range(5)]
    collection = Store(tmp_path).collection("a")
    collection.add(keys[:4], Encoded(vectors_of(range(4))))
    assert collection.find(keys[::-1]).tolist() == [-1, 3, 2, 1, 0]
    assert collection.find([b"\xff" * 16, bytes(16)]).tolist() == [-1, -1]


def test_another_encoder_is_never_served(tmp_path):
    add(tmp_path, range(9))
    assert survivors(tmp_path, range(9), "a?revision=2") == []
    Store(tmp_path).collection("a").folder.rename(Store(tmp_path).collection("b").folder)
    with pytest.warns(DataWarning):
        assert survivors(tmp_path, range(9), "b") == []


WRITER = """
import sys
import numpy as np
from xlingual.records import Encoded, digest
from xlingual.store import Store
collection = Store(sys.argv[1]).collection("a")
for start in range(int(sys.argv[2]), 600, 10):
    numbers = np.arange(start, start + 15)
    vectors = np.sin(numbers[:, None] * np.arange(1.0, 7.0) + 1).astype(np.float32)
    collection.add([digest(str(n)) for n in numbers], Encoded(vectors))
"""


def test_two_processes_may_write_at_once(tmp_path):
    variables = os.environ | {"PYTHONPATH": str(Path(xlingual.__file__).parents[1])}
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(start)], env=variables)
        for start in (0, 5)
    ]
    assert [process.wait(300) for process in running] == [0, 0]
    numbers = np.random.default_rng(0).permutation(600).tolist()
    assert survivors(tmp_path, numbers) == numbers


@pytest.mark.parametrize("share", np.linspace(0, 1, 40))
def test_a_flipped_byte_anywhere_in_a_file_is_noticed(tmp_path, share):
    add(tmp_path, range(10), range(10, 20))
    path = min(tmp_path.glob("*/*.safetensors"))
    flip(path, int(share * (path.stat().st_size - 1)))
    (holding,) = holdings(Store(tmp_path), verified=True)
    assert len(holding.damaged) == 1 and path.name in holding.damaged
    with pytest.warns(DataWarning):
        assert survivors(tmp_path, range(20)) == list(range(10, 20))
    assert survivors(tmp_path, range(20)) == list(range(10, 20))  # and is not reported again
    add(tmp_path, range(10))
    assert survivors(tmp_path, range(20)) == list(range(20))


@pytest.mark.parametrize("size", [0, 7, 100, 400, -1])
def test_a_file_that_is_cut_short_is_damaged(tmp_path, size):
    add(tmp_path, range(20), range(20, 40))
    path = min(tmp_path.glob("*/*.safetensors"))
    path.write_bytes(path.read_bytes()[:size])
    with pytest.warns(DataWarning):
        assert survivors(tmp_path, range(40)) == list(range(20, 40))


def test_files_that_another_process_removes_are_not_served(tmp_path):
    add(tmp_path, range(20), range(20, 40))
    collection = Store(tmp_path).collection("a")
    assert (collection.find(keys_of(range(40))) >= 0).all()
    min(tmp_path.glob("*/*.safetensors")).unlink()
    assert (collection.find(keys_of(range(40))) >= 0).sum() == 20
    assert clean(Store(tmp_path), encoder="a").encoders == ("a",)
    assert (collection.find(keys_of(range(40))) < 0).all()
    collection.add(keys_of([1]), Encoded(vectors_of([1])))
    assert survivors(tmp_path, [1, 2]) == [1]


@pytest.mark.parametrize("dim", [3, 6])
def test_any_one_or_two_flipped_bits_change_a_checksum(dim):
    row = vectors_of([7], dim)
    bits = np.unpackbits(row.view(np.uint8))
    pairs = [(i, j) for i in range(len(bits)) for j in range(i, len(bits))]  # of equal ones: a single flip
    flipped = np.repeat(bits[None], len(pairs), axis=0)
    for changed, pair in zip(flipped, pairs, strict=True):
        changed[list(set(pair))] ^= 1
    assert (line_sums(np.packbits(flipped, axis=1).view(np.float32)) != line_sums(row)).all()


def refuse(code):
    def call(*_):
        raise OSError(code, os.strerror(code))

    return call


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_store_as_it_was(tmp_path, monkeypatch, step):
    add(tmp_path, range(9))
    files = sorted(tmp_path.rglob("*"))
    with monkeypatch.context() as patch:
        patch.setattr(os, step, refuse(errno.ENOSPC))
        with pytest.raises(XlingualError):
            add(tmp_path, range(9, 12))
    assert sorted(tmp_path.rglob("*")) == files
    add(tmp_path, range(9, 12))
    assert survivors(tmp_path, range(12)) == list(range(12))


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_store_that_cannot_be_written_to_is_read_and_warned_of_once(tmp_path, monkeypatch, code):
    add(tmp_path, range(9))
    monkeypatch.setattr(os, "replace", refuse(code))
    collection = Store(tmp_path).collection("a")
    with pytest.warns(DataWarning):
        collection.add(keys_of([50]), Encoded(vectors_of([50])))
    collection.add(keys_of([51]), Encoded(vectors_of([51])))  # a second warning would be an error
    read = collection.read(collection.find(keys_of([51, 3, 50]))).vectors
    np.testing.assert_array_equal(read, vectors_of([51, 3, 50]))
    assert survivors(tmp_path, [50, 51]) == []


def test_holdings_and_what_is_cleaned(tmp_path):
    add(tmp_path, range(20), range(20, 40))
    add(tmp_path, range(5), encoder="b?x=1")
    store, folder = Store(tmp_path), Store(tmp_path).collection("a").folder
    for path in (folder / "identity.json", folder / ".killed", folder / ".young"):
        path.touch()
        os.utime(path, (time.time() - (0 if path.name == ".young" else 10 * 86400),) * 2)
    flip(min(folder.glob("*.safetensors")), -1)
    listed = {holding.identity: (holding.vectors, holding.dim) for holding in holdings(store)}
    assert listed == {"a": (40, 6), "b?x=1": (5, 6)}
    assert [holding.identity for holding in holdings(store, "b*")] == ["b?x=1"]
    freed = clean(store)
    assert (freed.files, len(freed.damaged), freed.encoders) == (2, 1, ())
    assert (folder / ".young").exists() and not (folder / ".killed").exists()
    assert clean(store, older_than=20).encoders == clean(store, older_than=5, encoder="b*").encoders == ()
    assert clean(store, older_than=5).encoders == ("a",)
    survivors(tmp_path, range(5), "b?x=1")
    assert clean(store, encoder="b?x=1").files == 2
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError):
        list(holdings(store, "c"))


def test_files_are_ordinary_safetensors_and_other_layouts_are_never_met(tmp_path):
    add(tmp_path, range(20))
    with safe_open(next(tmp_path.glob("*/*.safetensors")), "numpy") as file:
        np.testing.assert_array_equal(file.get_tensor("lines"), vectors_of(range(20)))
        assert file.get_tensor("keys").view("V16").ravel().tolist() == keys_of(range(20))
    folder = Store(tmp_path).collection("a").folder
    folder.rename(tmp_path / folder.name.partition("-")[0])
    assert not Store(tmp_path).folders() and (Store(tmp_path).collection("a").find(keys_of([3])) < 0).all()


def test_folders_that_a_store_may_be(tmp_path, monkeypatch):
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / "mine"))
    assert open_store("default").root == default_folder() == tmp_path / "mine"
    assert open_store(None) is None
    assert open_store(tmp_path / "x").root == tmp_path / "x"
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError):
        Store(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
