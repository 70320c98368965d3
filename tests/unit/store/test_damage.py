"""A flipped byte anywhere is noticed; what it spoilt is left out, everything else stays."""

import json
import shutil

import numpy as np
import pytest

from xlingual.errors import DataWarning
from xlingual.records import Encoded
from xlingual.store import DamagedError, Store
from xlingual.store.maintenance import verify

TOLD = "is damaged.*computed again"


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 0x10
    path.write_bytes(bytes(content))


def parts(path):
    """Return name → (begin, end) of the parts of a .safetensors file, in bytes."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__")
    found = {name: [8 + length + at for at in one["data_offsets"]] for name, one in header.items()}
    return found | {"length": [0, 8], "header": [8, 8 + length]}


def survivors(root, made, numbers):
    """Return which numbers a store still has, reading all of them until nothing is damaged."""
    collection = Store(root).collection("a")
    for _ in range(5):
        found = collection.find(made.keys(numbers))
        try:
            vectors = collection.read(found[found >= 0]).vectors
        except DamagedError:
            continue
        kept = [n for n, place in zip(numbers, found, strict=True) if place >= 0]
        np.testing.assert_array_equal(vectors, made.vectors(kept))
        return kept
    raise AssertionError("damage without end")


@pytest.mark.parametrize("part", ["length", "header", "keys", "checksums", "truncated", "vectors"])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.8, 1.0])
@pytest.mark.cases(10)
def test_a_flipped_byte_in_a_shard(root, made, part, share):
    collection = Store(root).collection("a")
    for start in (0, 10):
        cut = np.arange(10) % 2 == 0
        collection.add(made.keys(range(start, start + 10)), made.encoded(range(start, start + 10), cut))
    name = next(iter(collection._journal.shards))  # the first one
    path = collection.folder / name
    begin, end = parts(path)[part]
    flip(path, begin + int(share * (end - 1 - begin)))
    (found,) = verify(Store(root))
    assert len(found.damaged) == 1 and name in found.damaged[0]
    with pytest.warns(DataWarning, match=TOLD):
        assert survivors(root, made, range(20)) == list(range(10, 20))
    assert survivors(root, made, range(20)) == list(range(10, 20))  # and is not reported again
    Store(root).collection("a").add(made.keys(range(10)), made.encoded(range(10)))
    assert survivors(root, made, range(20)) == list(range(20))


def test_every_byte_of_a_journal_line(root, made, tmp_path, full):
    collection = Store(root).collection("a")
    for start in (0, 10):
        collection.add(made.keys(range(start, start + 10)), made.encoded(range(start, start + 10)))
    journal = collection.folder / "journal.jsonl"
    first = journal.read_bytes().index(b"}") + 1
    for place in range(1, first, 1 if full else 4):
        copy = tmp_path / str(place)
        shutil.copytree(root, copy)
        flip(copy / collection.folder.name / "journal.jsonl", place)
        with pytest.warns(DataWarning, match=TOLD):
            assert survivors(copy, made, range(20)) == list(range(10, 20))
        assert survivors(copy, made, range(20)) == list(range(10, 20))
        shutil.rmtree(copy)


def test_a_torn_line_at_any_place_is_passed_over_and_written_after(root, made, tmp_path, full):
    collection = Store(root).collection("a")
    for start in (0, 10):
        collection.add(made.keys(range(start, start + 10)), made.encoded(range(start, start + 10)))
    content = (collection.folder / "journal.jsonl").read_bytes()
    second = content.rindex(b"\n{")
    for place in range(second + 1, len(content) - 1, 1 if full else 4):
        copy = tmp_path / str(place)
        shutil.copytree(root, copy)
        (copy / collection.folder.name / "journal.jsonl").write_bytes(content[:place])
        assert survivors(copy, made, range(20)) == list(range(10))
        Store(copy).collection("a").add(made.keys(range(10, 20)), made.encoded(range(10, 20)))
        assert survivors(copy, made, range(20)) == list(range(20))
        assert [found.damaged for found in verify(Store(copy))] == [()]
        shutil.rmtree(copy)


@pytest.mark.parametrize("keep", [0, 7, 100, 400, -1])
def test_a_shard_that_is_gone_or_cut_short(filled, made, keep):
    folder = Store(filled).collection("a").folder
    path = sorted(folder.glob("*.safetensors"))[0]
    if keep:
        path.write_bytes(path.read_bytes()[:keep])
    else:
        path.unlink()
    with pytest.warns(DataWarning, match=TOLD):
        assert len(survivors(filled, made, range(40))) == 20


def test_a_shard_that_is_spoilt_while_it_is_open(filled, made):
    collection = Store(filled).collection("a")
    numbers = collection.find(made.keys(range(40)))
    for path in collection.folder.glob("*.safetensors"):
        flip(path, parts(path)["vectors"][0] + 3)
    with pytest.warns(DataWarning, match=TOLD), pytest.raises(DamagedError):
        collection.read(numbers)
    assert (collection.find(made.keys(range(40))) == -1).all()
    collection.add(made.keys(range(40)), made.encoded(range(40)))
    np.testing.assert_array_equal(made.read(collection, range(40)), made.vectors(range(40)))


def test_only_rows_that_are_used_are_checked(filled, made):
    collection = Store(filled).collection("a")
    collection.find([])
    path = collection.folder / next(iter(collection._journal.shards))
    flip(path, parts(path)["vectors"][1] - 2)  # in the last row of the first shard
    np.testing.assert_array_equal(made.read(collection, range(19)), made.vectors(range(19)))


def test_another_object_learns_of_damage_from_the_journal(filled, made):
    other = Store(filled).collection("a")
    numbers = other.find(made.keys(range(40)))
    assert (numbers >= 0).all()
    collection = Store(filled).collection("a")
    path = sorted(collection.folder.glob("*.safetensors"))[0]
    flip(path, parts(path)["vectors"][0])
    with pytest.warns(DataWarning, match=TOLD), pytest.raises(DamagedError):
        collection.read(collection.find(made.keys(range(40))))
    assert (other.find(made.keys(range(40))) >= 0).sum() == 20


def test_a_damaged_identity_file_is_written_anew(filled, made):
    folder = Store(filled).collection("a").folder
    whole = (folder / "identity.json").read_bytes()
    flip(folder / "identity.json", 5)
    Store(filled).collection("a").add(made.keys([60]), Encoded(made.vectors([60])))
    assert (folder / "identity.json").read_bytes() == whole
