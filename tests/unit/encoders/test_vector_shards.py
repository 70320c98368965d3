"""Vectors in several files, and vectors that stay in their files because they are large."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual import arrays, backretrieval, crosslingual_retrieval
from xlingual.arrays import Rows, room_for
from xlingual.data.manifest import Manifest
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError
from xlingual.ranking import identical_rows

N, D = 60, 8


@pytest.fixture
def folder(tmp_path):
    """Vectors of both languages and of the images, as whole files and as shards of 25 lines."""
    rng = np.random.default_rng(0)
    for name in ("en", "de", "images"):
        vectors = rng.standard_normal((N, D)).astype(np.float16 if name == "de" else np.float32)
        vectors[7] = vectors[3]
        np.save(tmp_path / f"{name}.npy", vectors)
        (tmp_path / name).mkdir()
        for number, start in enumerate(range(0, N, 25)):
            np.save(tmp_path / name / f"part-{number:05}-of-00003.npy", vectors[start : start + 25])
    return tmp_path


@pytest.fixture
def manifest():
    rows = [{"id": f"{i}", "text_en": f"e{i}", "text_de": f"d{i}"} for i in range(N)]
    return Manifest.from_rows(rows)


def numbers(manifest, folder, ending):
    """Return all numbers of both tasks with vectors from files with this ending, and the queries."""
    texts = {"v": f"vectors:{folder}/{{lang}}{ending}"}
    found = [
        backretrieval(
            manifest,
            text_encoders=texts,
            image_encoder=f"vectors:{folder}/images{ending}",
            measures=["R@5"],
            store=None,
            examples=False,
        ),
        crosslingual_retrieval(manifest, text_encoders=texts, measures=["R@5"], store=None),
    ]
    return [[(e.measure, e.value, e.ci, e.n_tied) for e in one.entries] for one in found] + [
        one.per_query.to_pylist() for one in found
    ]


def test_shards_and_mapped_rows_give_the_same_numbers(manifest, folder, monkeypatch):
    whole = numbers(manifest, folder, ".npy")
    assert numbers(manifest, folder, "") == whole
    monkeypatch.setattr(arrays, "IN_MEMORY", 0)
    assert numbers(manifest, folder, ".npy") == whole
    assert numbers(manifest, folder, "") == whole


def test_large_vectors_stay_in_their_files(manifest, folder, monkeypatch):
    encoder = VectorsEncoder(f"{folder}/{{lang}}", ("en", "de"))
    texts = manifest.texts(np.arange(2 * N)[::-3])
    small = encoder.encode_noting(texts).vectors
    assert isinstance(small, np.ndarray)
    monkeypatch.setattr(arrays, "IN_MEMORY", 0)
    large = encoder.encode_noting(texts).vectors
    assert isinstance(large, Rows)
    assert all(isinstance(part, np.memmap) for part in large.parts)
    assert np.array_equal(np.asarray(large), small)
    assert np.array_equal(encoder.encode(texts), small)


def test_infinity_in_a_shard_is_refused(manifest, folder):
    bad = np.load(folder / "en" / "part-00001-of-00003.npy")
    bad[2, 1] = np.inf
    np.save(folder / "en" / "part-00001-of-00003.npy", bad)
    with pytest.raises(InputError, match=r"1 of the lines used hold NaN, infinity .* the first is line 28"):
        VectorsEncoder(f"{folder}/{{lang}}", ("en", "de")).encode(manifest.texts(np.arange(2 * N)))


def test_shards_that_are_missing_or_differ_are_refused(folder):
    (folder / "en" / "part-00001-of-00003.npy").rename(folder / "kept.npy")
    with pytest.raises(InputError, match="2 of 3 shards are there: put all of them into the folder"):
        VectorsEncoder(f"{folder}/{{lang}}", ("en",))
    (folder / "kept.npy").rename(folder / "en" / "other-1.npy")
    (folder / "en" / "part-1.npy").write_bytes((folder / "en" / "other-1.npy").read_bytes())
    with pytest.raises(InputError, match=r"other-1\.npy and part-1\.npy have the same number"):
        VectorsEncoder(f"{folder}/{{lang}}", ("en",))
    (folder / "en" / "part-1.npy").unlink()
    np.save(folder / "en" / "other-1.npy", np.zeros((25, D + 1)))
    with pytest.raises(InputError, match=f"has {D + 1} dimensions but part-00000-of-00003.npy has {D}"):
        VectorsEncoder(f"{folder}/{{lang}}", ("en",))._dimensions(None, ["en"])


def test_the_identity_of_shards_is_that_of_all_of_them(folder):
    before = VectorsEncoder(f"{folder}/en", ("en",)).identity
    np.save(folder / "en" / "part-00002-of-00003.npy", np.ones((10, D), dtype=np.float32))
    assert VectorsEncoder(f"{folder}/en", ("en",)).identity != before


@given(st.lists(st.integers(0, 3), min_size=1, max_size=5), st.data())
def test_rows_are_as_an_array(sizes, data):
    parts = [np.arange(3 * n, dtype=np.float64).reshape(n, 3) + 100 * i for i, n in enumerate(sizes)]
    whole = np.concatenate(parts).astype(np.float32)
    rows = Rows(parts)
    assert rows.shape == whole.shape
    assert np.array_equal(np.asarray(rows), whole)
    if len(whole):
        index = np.array(data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=9)), dtype=np.int64)
        chosen = Rows(parts, index)
        assert np.array_equal(rows[index], whole[index])
        assert np.array_equal(chosen[:], whole[index])
        assert np.array_equal(chosen[1:3], whole[index][1:3])
        assert np.array_equal(rows[whole[:, 0] > 5], whole[whole[:, 0] > 5])
        assert np.array_equal(rows[-1], whole[-1])


def test_room_on_the_disk_is_used_as_memory_is(monkeypatch):
    assert type(room_for(3, 2, np.float32)) is np.ndarray
    monkeypatch.setattr(arrays, "IN_MEMORY", 0)
    array = room_for(3, 2, np.float16)
    assert isinstance(array, np.memmap)
    array[:] = 1.5
    assert array.dtype == np.float16
    assert array.sum() == 9
    monkeypatch.setattr(arrays, "TemporaryFile", lambda **_: (_ for _ in ()).throw(OSError("full")))
    assert type(room_for(3, 2, np.float32)) is np.ndarray


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0]), min_size=2, max_size=2), min_size=1, max_size=30
    )
)
def test_identical_rows_are_numbered_in_order(lines):
    raw = np.array(lines, dtype=np.float32)
    plain = [tuple(value + 0.0 for value in line) for line in lines]
    known = list(dict.fromkeys(plain))
    first, code = identical_rows(raw)
    assert code.tolist() == [known.index(line) for line in plain]
    assert [tuple(line + 0.0) for line in raw[first]] == known
