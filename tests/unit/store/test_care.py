"""Listing, verifying, tidying up, taking out."""

import os
import time

import numpy as np
import pytest

from xlingual.errors import InputError
from xlingual.store import Store
from xlingual.store.maintenance import collect_garbage, export, holdings, verify


@pytest.fixture
def two(filled, made):
    """Give a store with 40 vectors of "a" and 5 of "b?x=1"."""
    Store(filled).collection("b?x=1").add(made.keys(range(5)), made.encoded(range(5)))
    return Store(filled)


def aged(path, days):
    then = time.time() - days * 86400
    os.utime(path, (then, then))


def test_holdings(two):
    aged(two.collection("a").folder / "identity.json", 3)
    found = holdings(two)
    assert [(one.identity, one.vectors, one.dim, one.dtype, one.damaged) for one in found] == [
        ("b?x=1", 5, 6, "float32", 0),
        ("a", 40, 6, "float32", 0),
    ]
    assert found[1].size == sum(path.stat().st_size for path in found[1].folder.iterdir())
    assert [one.identity for one in holdings(two, "b*")] == ["b?x=1"]
    with pytest.raises(InputError, match="no vectors of 'c'"):
        holdings(two, "c")


def test_use_is_noted(two, made):
    note = two.collection("a").folder / "identity.json"
    aged(note, 3)
    before = note.stat().st_mtime
    Store(two.root).collection("a").find(made.keys([1]))
    assert note.stat().st_mtime > before + 2 * 86400


def test_verify_changes_nothing(two):
    path = next(two.collection("a").folder.glob("*.safetensors"))
    content = bytearray(path.read_bytes())
    content[-600] ^= 1
    path.write_bytes(bytes(content))
    before = {path: path.read_bytes() for path in two.root.rglob("*") if path.is_file()}
    for _ in range(2):
        found = {one.identity: one for one in verify(two)}
        assert (found["a"].shards, found["a"].vectors, len(found["a"].damaged)) == (1, 20, 1)
        assert (found["b?x=1"].vectors, found["b?x=1"].damaged) == (5, ())
    assert {path: path.read_bytes() for path in two.root.rglob("*") if path.is_file()} == before
    assert holdings(two, "a")[0].damaged in (0, 1)  # only a damaged head shows without reading all


def test_orphans_go_after_an_hour(two, made):
    folder = two.collection("a").folder
    young, old, torn = folder / "young.safetensors", folder / "old.safetensors", folder / ".x.1.tmp"
    for path in (young, old, torn):
        path.write_bytes(b"12345")
    aged(old, 0.1)
    aged(torn, 0.1)
    freed = collect_garbage(two)
    assert (freed.files, freed.size, freed.encoders) == (2, 10, ())
    assert young.exists() and not old.exists() and not torn.exists()
    assert (Store(two.root).collection("a").find(made.keys(range(40))) >= 0).all()


def test_what_was_found_damaged_goes_at_once(two, made):
    collection = Store(two.root).collection("a")
    path = next(collection.folder.glob("*.safetensors"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(match="damaged"):
        collection.find(made.keys([1]))
    assert collect_garbage(two).files == 1
    assert not path.exists()
    assert [one.damaged for one in verify(two)] == [(), ()]


def test_encoders_that_are_named_or_unused_go(two, made):
    aged(two.collection("a").folder / "identity.json", 10)
    assert collect_garbage(two, older_than=20).encoders == ()
    assert collect_garbage(two, older_than=5, encoder="b*").encoders == ()
    assert collect_garbage(two, older_than=5).encoders == ("a",)
    assert [one.identity for one in holdings(two)] == ["b?x=1"]
    assert collect_garbage(two, encoder="b?x=1").encoders == ("b?x=1",)
    assert list(two.root.iterdir()) == []


def test_a_collection_that_is_removed_while_it_is_open_is_made_again(two, made):
    collection = Store(two.root).collection("a")
    collection.find(made.keys(range(40)))
    collect_garbage(two, encoder="a")
    collection.add(made.keys([50]), made.encoded([50]))
    assert Store(two.root).collection("a").find(made.keys([50, 1])).tolist() == [0, -1]


def test_export(two, made, tmp_path):
    written = export(two, tmp_path / "out", "a")
    ((identity, path, count),) = written
    assert (identity, count) == ("a", 40)
    vectors, keys = np.load(path), np.load(path.with_suffix(".keys.npy"))
    known = dict(zip(made.keys(range(40)), made.vectors(range(40)), strict=True))
    assert len(keys) == 40
    for key, vector in zip(keys, vectors, strict=True):
        np.testing.assert_array_equal(known[key.tobytes()], vector)
    assert '"identity": "a"' in path.with_suffix(".json").read_text()


def test_damaged_vectors_are_not_exported(two, tmp_path):
    path = next(two.collection("a").folder.glob("*.safetensors"))
    content = bytearray(path.read_bytes())
    content[-600] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match="not as they were written"):
        export(two, tmp_path / "out")


def test_what_is_damaged_goes_though_nobody_has_met_it(two, made):
    path = next(two.collection("a").folder.glob("*.safetensors"))
    content = bytearray(path.read_bytes())
    content[-600] ^= 1
    path.write_bytes(bytes(content))
    freed = collect_garbage(two)
    assert (freed.files, freed.size, len(freed.damaged)) == (1, len(content), 1)
    assert not path.exists() and path.name in freed.damaged[0]
    assert [one.damaged for one in verify(two)] == [(), ()]
    assert sorted(one.vectors for one in holdings(two)) == [5, 20]
    assert collect_garbage(two).files == 0
