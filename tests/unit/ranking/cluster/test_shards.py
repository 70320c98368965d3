"""Vectors in shards: written once, checked when read, refused where they do not belong together."""

import json

import numpy as np
import pytest

from xlingual.errors import InputError, XlingualError
from xlingual.ranking import UnitVectors
from xlingual.ranking.cluster.shards import check_alike, read_shard, write_shards


@pytest.fixture
def vectors():
    raw = np.random.default_rng(0).standard_normal((10, 4)).astype(np.float32)
    return UnitVectors(raw, np.array([9, 1, 2, 3, 3, 5, 0]))


def joined(shared, found):
    return np.concatenate([read_shard(shared, s, found.dim, found.dtype).raw for s in found.shards])


@pytest.mark.parametrize("rows", [1, 3, 7, 100])
def test_shards_give_back_the_rows_in_order(vectors, tmp_path, rows):
    found = write_shards(tmp_path, vectors, rows, encoder="labse#1")
    assert found.rows == 7
    assert [part.stop for part in found.bounds][-1] == 7
    np.testing.assert_array_equal(joined(tmp_path, found), vectors.raw[vectors.rows])
    kept = json.loads((tmp_path / "vectors" / f"{found.digest}.json").read_text())
    assert kept["encoder"] == "labse#1" and [part["rows"] for part in kept["shards"]] == [
        part.rows for part in found.shards
    ]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_type_of_numbers_is_kept(tmp_path, dtype):
    raw = np.random.default_rng(0).standard_normal((5, 3)).astype(dtype)
    found = write_shards(tmp_path, UnitVectors(raw), 2)
    again = joined(tmp_path, found)
    assert again.dtype == dtype
    np.testing.assert_array_equal(again, raw)


def test_what_is_there_is_not_written_again(vectors, tmp_path):
    write_shards(tmp_path, vectors, 3)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "vectors").iterdir()}
    write_shards(tmp_path, vectors, 3)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "vectors").iterdir()} == before


def test_shards_behind_a_url(vectors):
    pytest.importorskip("fsspec")
    found = write_shards("memory://shards-of-a-test", vectors, 3)
    np.testing.assert_array_equal(joined("memory://shards-of-a-test", found), vectors.raw[vectors.rows])


def test_a_damaged_shard_is_named_and_removed(vectors, tmp_path):
    found = write_shards(tmp_path, vectors, 3)
    path = tmp_path / "vectors" / found.shards[0].file
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(XlingualError, match="checksum is wrong"):
        joined(tmp_path, found)
    assert not path.exists()
    write_shards(tmp_path, vectors, 3)
    np.testing.assert_array_equal(joined(tmp_path, found), vectors.raw[vectors.rows])


def test_a_file_that_is_no_array_is_damaged(vectors, tmp_path):
    found = write_shards(tmp_path, vectors, 3)
    (tmp_path / "vectors" / found.shards[0].file).write_bytes(b"nothing")
    with pytest.raises(XlingualError, match="not as it was written"):
        joined(tmp_path, found)


def test_lists_of_other_dimensions_or_encoders_are_refused(tmp_path):
    three, four = (UnitVectors(np.ones((2, d), dtype=np.float32)) for d in (3, 4))
    one = write_shards(tmp_path, three, 2, encoder="one")
    with pytest.raises(InputError, match="queries have 3 dimensions, those of the candidates 4"):
        check_alike(one, write_shards(tmp_path, four, 2))
    with pytest.raises(InputError, match="encoder 'one', those of the candidates of 'other'"):
        check_alike(one, write_shards(tmp_path, three, 2, encoder="other"))
    check_alike(one, write_shards(tmp_path, three, 2))
