"""What is added is found, in any order, by any process, and by nobody else."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from platformdirs import macos, unix, windows
from safetensors.numpy import load_file

import xlingual
from xlingual.errors import DataWarning, InputError, XlingualError
from xlingual.records import Encoded, digest
from xlingual.store import Store, default_folder, disk, open_store
from xlingual.store.checksum import _weights, row_checksums, row_sums

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.integers(0, 30), min_size=1, max_size=8, unique=True)),
        st.tuples(st.just("read"), st.lists(st.integers(0, 30), max_size=10)),
        st.tuples(st.just("reopen"), st.just([])),
    ),
    max_size=12,
)


@given(steps=STEPS)
def test_a_store_is_a_dictionary(tmp_path_factory, made, steps):
    root = tmp_path_factory.mktemp("s")
    collection = Store(root).collection("a")
    expected, cut = {}, {}
    for number, (what, numbers) in enumerate(steps):
        if what == "add":
            vectors = made.vectors([n + 0.001 * number for n in numbers])
            flags = None if number % 3 == 0 else np.array([n % 2 == 0 for n in numbers])
            collection.add(made.keys(numbers), Encoded(vectors, flags))
            for n, vector in zip(numbers, vectors, strict=True):
                expected.setdefault(n, vector)  # of two vectors of one key, the first stays
                cut.setdefault(n, flags is not None and n % 2 == 0)
        elif what == "reopen":
            collection = Store(root).collection("a")
        else:
            found = collection.find(made.keys(numbers))
            assert [n in expected for n in numbers] == (found >= 0).tolist()
            known = [n for n in numbers if n in expected]
            read = collection.read(found[found >= 0])
            assert read.vectors.dtype == np.float32
            assert [row.tolist() for row in read.vectors] == [expected[n].tolist() for n in known]
            if read.truncated is not None:
                assert read.truncated.tolist() == [cut[n] for n in known]
            else:
                assert not any(cut[n] for n in known)


def test_keys_that_share_their_first_half_are_distinguished(root, made):
    keys = [b"\x01" * 8 + bytes([i]) * 8 for i in range(5)]
    collection = Store(root).collection("a")
    collection.add(keys[:4], made.encoded(range(4)))
    assert collection.find(keys[::-1]).tolist() == [-1, 3, 2, 1, 0]


def test_other_encoders_are_never_served(filled, made):
    store = Store(filled)
    assert (store.collection("a").find(made.keys(range(40))) >= 0).all()
    assert (store.collection("a?revision=2").find(made.keys(range(40))) == -1).all()


def test_a_folder_that_was_given_another_encoders_name_holds_nothing(filled, made):
    store = Store(filled)
    old, new = store.collection("a").folder, store.collection("b").folder
    old.rename(new)
    with pytest.warns(DataWarning, match="damaged"):
        assert (Store(filled).collection("b").find(made.keys(range(40))) == -1).all()


def test_what_one_object_adds_another_finds(root, made):
    one, other = Store(root).collection("a"), Store(root).collection("a")
    one.add(made.keys([1]), made.encoded([1]))
    assert other.find(made.keys([1, 2])).tolist() == [0, -1]
    other.add(made.keys([2]), made.encoded([2]))
    assert one.find(made.keys([1, 2])).tolist() == [0, 1]
    np.testing.assert_array_equal(made.read(one, [2, 1]), made.vectors([2, 1]))


def test_two_processes_may_write_at_once(root, made):
    script = """
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
    variables = os.environ | {"PYTHONPATH": str(Path(xlingual.__file__).parents[1])}
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(root), str(start)], env=variables)
        for start in (0, 5)
    ]
    assert [process.wait(300) for process in running] == [0, 0]
    numbers = np.random.default_rng(0).permutation(600)
    collection = Store(root).collection("a")
    np.testing.assert_array_equal(made.read(collection, numbers), made.vectors(numbers))


def test_shards_are_ordinary_safetensors_files(filled, made):
    folder = Store(filled).collection("a").folder
    shards = [load_file(path) for path in folder.glob("*.safetensors")]
    assert sorted(len(shard["keys"]) for shard in shards) == [20, 20]
    known = dict(zip(made.keys(range(40)), made.vectors(range(40)), strict=True))
    for shard in shards:
        for key, vector in zip(shard["keys"], shard["vectors"], strict=True):
            np.testing.assert_array_equal(known[key.tobytes()], vector)
    identity = json.loads((folder / "identity.json").read_text())
    assert identity == {"identity": "a", "dtype": "float32"}


def test_nothing_is_written_before_there_is_something_to_keep(root, made):
    collection = Store(root).collection("a")
    collection.find(made.keys([1]))
    collection.add([], Encoded(np.empty((0, 3), dtype=np.float32)))
    assert not root.exists()


def test_half_precision_is_a_property_of_the_folder(root, made, filled, tmp_path):
    half = tmp_path / "half"
    Store(half, half=True).collection("a").add(made.keys(range(9)), made.encoded(range(9)))
    again = Store(half)
    assert again.half
    found = made.read(again.collection("a"), range(9))
    np.testing.assert_array_equal(found, made.vectors(range(9)).astype(np.float16).astype(np.float32))
    with pytest.raises(InputError, match=r"full precision.*--store"):
        Store(filled, half=True)
    with pytest.raises(InputError, match="too large for half precision"):
        again.collection("b").add(made.keys([1]), Encoded(np.full((1, 3), 1e6, dtype=np.float32)))


@pytest.mark.parametrize("dim", [1, 3, 5, 8])
@pytest.mark.parametrize("half", [False, True])
def test_vectors_of_any_width(root, made, dim, half):
    collection = Store(root, half=half).collection("a")
    expected = made.vectors(range(10), dim)
    collection.add(made.keys(range(10)), Encoded(expected))
    kept = expected.astype(np.float16).astype(np.float32) if half else expected
    np.testing.assert_array_equal(made.read(Store(root).collection("a"), range(10)), kept)


def test_checksums_see_every_word_its_place_and_its_key(made):
    vectors = made.vectors(range(1, 5))
    keys = np.arange(8, dtype=np.uint64).reshape(4, 2)
    plain = row_checksums(vectors, keys)
    for column in range(vectors.shape[1]):
        changed = vectors.copy()
        changed[:, column] += 1
        assert (row_checksums(changed, keys) != plain).all()
    assert (row_checksums(vectors[:, [2, 3, 0, 1, 4, 5]].copy(), keys) != plain).all()
    assert (row_checksums(vectors, keys[::-1].copy()) != plain).all()
    assert (row_checksums(np.zeros_like(vectors), keys) != plain).all()


@pytest.mark.parametrize(
    ("dtype", "dim"), [(np.float32, 6), (np.float32, 3), (np.float16, 5), (np.float16, 8)]
)
def test_any_one_or_two_flipped_bits_change_the_checksum(made, dtype, dim):
    row = made.vectors([7], dim).astype(dtype)
    bits = np.unpackbits(row.view(np.uint8))
    pairs = [(i, j) for i in range(len(bits)) for j in range(i, len(bits))]  # of equal ones: a single flip
    flipped = np.repeat(bits[None], len(pairs), axis=0)
    for changed, pair in zip(flipped, pairs, strict=True):
        changed[list(set(pair))] ^= 1
    sums = row_sums(np.packbits(flipped, axis=1).view(dtype))
    assert (sums != row_sums(row)).all()


def test_two_flipped_signs_anywhere_in_a_wide_row_change_the_checksum():
    row = np.random.default_rng(0).standard_normal((1, 768)).astype(np.float32)
    for first in range(0, 768, 64):
        flipped = np.repeat(row, 768, axis=0)
        flipped[np.arange(768), np.arange(768)] *= -1
        flipped[np.delete(np.arange(768), first), first] *= -1
        assert (row_sums(flipped) != row_sums(row)).all()


def test_weights_tell_words_apart_in_their_lower_halves():
    lower = _weights(8192) & np.uint64(0xFFFFFFFF)
    either = np.minimum(lower, np.uint64(1 << 32) - lower)  # up to the sign
    assert len(np.unique(either)) == 8192


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def cut_short(handle, content, write=os.write):
    """Write a line of the journal in part, as a disk does that is nearly full."""
    return write(handle, content[:20] if bytes(content[:2]) == b"\n{" else content)


@pytest.mark.parametrize("step", ["write", "fsync", "append"])
def test_a_full_disk_is_reported_and_resumed_from(filled, made, monkeypatch, step):
    collection = Store(filled).collection("a")
    collection.find([])
    before = sorted(path.name for path in collection.folder.iterdir())
    with monkeypatch.context() as patch:
        if step == "append":
            patch.setattr(disk.os, "write", cut_short)
        else:
            patch.setattr(disk.os, step, full)
        with pytest.raises(XlingualError, match=r"disk of the store .* is full .*: the 40 .*--store"):
            collection.add(made.keys([77]), made.encoded([77]))
    assert sorted(path.name for path in collection.folder.iterdir()) == before
    collection.add(made.keys([77]), made.encoded([77]))
    again = Store(filled).collection("a")
    np.testing.assert_array_equal(made.read(again, [*range(40), 77]), made.vectors([*range(40), 77]))


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_store_that_cannot_be_written_to_is_read_and_warned_of_once(filled, made, monkeypatch, code):
    opened = os.open

    def refuse(path, flags, *more):
        if flags & os.O_WRONLY:
            raise OSError(code, os.strerror(code))
        return opened(path, flags, *more)

    monkeypatch.setattr(disk.os, "open", refuse)
    collection = Store(filled).collection("a")
    with pytest.warns(DataWarning, match="cannot be written to"):
        collection.add(made.keys([50]), made.encoded([50]))
    collection.add(made.keys([51]), made.encoded([51]))  # a second warning would be an error
    np.testing.assert_array_equal(made.read(collection, [51, 3, 50]), made.vectors([51, 3, 50]))
    assert (Store(filled).collection("a").find(made.keys([50, 51])) == -1).all()


def test_where_the_users_store_is(monkeypatch, tmp_path):
    monkeypatch.setattr(platformdirs, "PlatformDirs", unix.Unix)
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / "mine"))
    assert default_folder() == tmp_path / "mine" == Store.default().root
    monkeypatch.setenv("XLINGUAL_STORE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_folder() == tmp_path / "xdg/xlingual/vectors"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # the rules say that it does not count
    assert default_folder() == Path.home() / ".cache/xlingual/vectors"
    monkeypatch.setattr(platformdirs, "PlatformDirs", macos.MacOS)
    assert default_folder() == Path.home() / "Library/Caches/xlingual/vectors"
    monkeypatch.setattr(platformdirs, "PlatformDirs", windows.Windows)
    monkeypatch.setattr(windows, "get_win_folder", lambda name: str(tmp_path / name))
    assert default_folder() == tmp_path / "CSIDL_LOCAL_APPDATA/xlingual/vectors"


def test_what_may_be_given_for_a_store(tmp_path):
    assert open_store(None) is None
    assert open_store("default").root == default_folder()
    assert open_store(tmp_path / "x").root == tmp_path / "x"
    store = Store(tmp_path)
    assert open_store(store) is store
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file: name a folder"):
        Store(tmp_path / "file")


def test_keys_are_digests():
    assert len(digest("any text")) == 16
