"""Vectors in columns of tables, archives and indexes, by the order of their lines and by id."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual import crosslingual_retrieval
from xlingual.arrays import Rows
from xlingual.data.manifest import Manifest
from xlingual.encoders import image_encoder, text_encoders
from xlingual.encoders.vectorfile import open_vectors
from xlingual.errors import InputError

N, DIM = 6, 3
VECTORS = np.random.default_rng(0).normal(size=(N, DIM)).astype(np.float32)
TEXTS = Manifest.of(
    [
        {"id": f"t{i}", "lang": tag, "text": f"{tag} {i}", "item": f"p{i // 2}"}
        for i, tag in enumerate(["en", "de"] * 3)
    ]
)


def made(spec, languages=("en", "de")):
    return next(iter(text_encoders([spec], languages=languages).values()))


def encoded(spec, manifest=TEXTS, rows=None):
    return made(spec, manifest.languages).encode(
        manifest.texts(np.arange(len(manifest)) if rows is None else rows)
    )


def refused(make):
    with pytest.raises(InputError) as caught:
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def column(vectors=VECTORS, kind="list"):
    rows = vectors.tolist()
    number = pa.float16() if kind == "half" else pa.float64() if kind == "double" else pa.float32()
    kinds = {"list": pa.list_(number), "large": pa.large_list(number), "fixed": pa.list_(number, DIM)}
    return pa.array([None if row is None else row for row in rows], kinds.get(kind, pa.list_(number)))


def table(kind="list", **more):
    return pa.table({"id": [f"t{i}" for i in range(N)], "embedding": column(kind=kind), **more})


def write(path, content, compression=None):
    if path.suffix == ".parquet":
        pq.write_table(content, path, row_group_size=4)
    elif path.suffix == ".arrow":
        with pa.ipc.new_stream(str(path), content.schema) as stream:
            stream.write_table(content, max_chunksize=4)
    else:
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(str(path), content.schema, options=options) as file:
            file.write_table(content, max_chunksize=4)
    return path


@pytest.mark.parametrize("kind", ["list", "large", "fixed", "half", "double"])
@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
def test_a_column_is_a_table_of_vectors(tmp_path, suffix, kind):
    path = write(tmp_path / f"v.{suffix}", table(kind))
    expected = VECTORS.astype(np.float16).astype(np.float32) if kind == "half" else VECTORS
    np.testing.assert_array_equal(encoded(f"vectors:{path}?column=embedding"), expected)
    np.testing.assert_array_equal(encoded(f"vectors:{path}"), expected)  # the only column of vectors
    np.testing.assert_array_equal(encoded(f"vectors:{path}", rows=np.array([5, 1])), expected[[5, 1]])


def test_an_arrow_file_stays_in_the_file(tmp_path):
    before = pa.total_allocated_bytes()
    array = open_vectors(write(tmp_path / "v.ipc", table("fixed")))
    assert isinstance(array, Rows)
    assert pa.total_allocated_bytes() == before
    np.testing.assert_array_equal(array[[4, 0]], VECTORS[[4, 0]])
    packed = open_vectors(write(tmp_path / "z.ipc", table("fixed"), compression="zstd"))
    np.testing.assert_array_equal(np.asarray(packed), VECTORS)


@pytest.mark.parametrize("kind", ["list", "fixed"])
@pytest.mark.parametrize("suffix", ["parquet", "ipc"])
def test_a_row_without_a_vector_is_an_error_where_it_is_used(tmp_path, suffix, kind):
    rows = [None if i == 3 else row for i, row in enumerate(VECTORS.tolist())]
    number = pa.list_(pa.float32(), DIM) if kind == "fixed" else pa.list_(pa.float32())
    path = write(tmp_path / f"v.{suffix}", pa.table({"embedding": pa.array(rows, number)}))
    np.testing.assert_array_equal(encoded(f"vectors:{path}", rows=np.array([0, 5])), VECTORS[[0, 5]])
    assert "the first is line 4" in refused(lambda: encoded(f"vectors:{path}"))


@pytest.mark.parametrize("suffix", ["parquet", "ipc"])
def test_vectors_of_several_lengths_are_refused(tmp_path, suffix):
    for rows in ([[1.0, 2.0], [1.0]], [[1.0, 2.0]] * 4 + [[1.0]]):  # in one piece, and in two
        path = write(
            tmp_path / f"v{len(rows)}.{suffix}", pa.table({"v": pa.array(rows, pa.list_(pa.float32()))})
        )
        assert "several dimensions (1, 2)" in refused(lambda path=path: open_vectors(path))


def test_columns_that_hold_no_vectors(tmp_path):
    both = table(other=column(), words=["[0.1, 0.2]"] * N)
    path = write(tmp_path / "v.parquet", both)
    assert "has 2 columns of vectors (embedding, other): choose one with ?column=embedding" in refused(
        lambda: open_vectors(path)
    )
    says = refused(lambda: encoded(f"vectors:{path}?column=words"))
    assert "holds string" in says
    assert "Did you mean 'embedding'?" in refused(lambda: encoded(f"vectors:{path}?column=embeding"))
    assert "has 0 columns of vectors" in refused(
        lambda: open_vectors(write(tmp_path / "w.parquet", both.select(["id", "words"])))
    )
    np.save(tmp_path / "v.npy", VECTORS)
    assert "column= is for .parquet" in refused(lambda: encoded(f"vectors:{tmp_path / 'v.npy'}?column=a"))
    assert "key= is for .safetensors" in refused(lambda: encoded(f"vectors:{path}?key=a"))


@pytest.mark.parametrize("suffix", ["parquet", "ipc", "npy", "safetensors"])
def test_damaged_files_are_refused(tmp_path, suffix):
    path = tmp_path / f"v.{suffix}"
    path.write_bytes(b"PK\x03\x04 no file of any kind")
    assert re.search("again|numpy.save", refused(lambda: open_vectors(path)))


def test_identity_is_the_content_and_what_is_taken_of_it(tmp_path):
    path = write(tmp_path / "v.parquet", table(other=column(2 * VECTORS)))
    one, two = (made(f"vectors:{path}?column={name}").identity for name in ("embedding", "other"))
    assert one != two
    assert one.endswith("?column=embedding")
    assert made(f"vectors:{path}?column=other&id=id").identity == f"{two}&id=id"
    write(path, table(other=column(3 * VECTORS)))
    assert made(f"vectors:{path}?column=other").identity != two
    np.testing.assert_array_equal(encoded(f"vectors:{path}?column=other"), 3 * VECTORS)  # not what was there


ORDER = np.array([3, 0, 5, 1, 4, 2])


def shuffled(path, ids="t{}", **more):
    names = [ids.format(i) for i in ORDER]
    return write(path, pa.table({"id": names, "embedding": column(VECTORS[ORDER]), **more}))


def test_rows_are_matched_by_the_ids_of_texts(tmp_path):
    path = shuffled(tmp_path / "v.parquet")
    np.testing.assert_array_equal(encoded(f"vectors:{path}?id=id"), VECTORS)
    part = TEXTS.part(np.array([1, 4]))
    np.testing.assert_array_equal(encoded(f"vectors:{path}?id=id", part), VECTORS[[1, 4]])


def test_ids_of_items_and_a_file_for_each_language(tmp_path):
    for factor, tag in ((1, "en"), (2, "de")):
        order = [2, 0, 1]
        ids = [f"p{i}" for i in order]
        write(tmp_path / f"v.{tag}.parquet", pa.table({"sku": ids, "v": column(factor * VECTORS[order])}))
    found = encoded(f"vectors:{tmp_path}/v.{{lang}}.parquet?id=sku")
    np.testing.assert_array_equal(found[::2], VECTORS[:3])
    np.testing.assert_array_equal(found[1::2], 2 * VECTORS[:3])


def test_images_are_matched_by_items(tmp_path):
    rows = [
        {"id": f"t{i}", "lang": "en", "text": str(i), "item": f"p{i}", "image": f"{i}.png"} for i in range(N)
    ]
    path = shuffled(tmp_path / "v.parquet", "p{}")
    _, encoder = image_encoder(f"vectors:{path}?id=id")
    manifest = Manifest.of(rows)
    np.testing.assert_array_equal(encoder.encode(manifest.images(np.arange(N))), VECTORS)


WIDE = Manifest.of(  # as of a table with a column for each language: ids of texts are those of items
    [
        {"id": f"p{i}", "lang": tag, "text": f"{tag} {i}", "item": f"p{i}"}
        for i in range(3)
        for tag in ("en", "de")
    ]
)


def test_an_evaluation_by_ids_is_that_by_order(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        {"id": f"{tag}{i}", "lang": tag, "text": f"{tag} {i}", "item": str(i)}
        for i in range(40)
        for tag in ("en", "de")
    ]
    base = rng.normal(size=(40, 8))
    vectors = (base.repeat(2, axis=0) + rng.normal(size=(80, 8))).astype(np.float32)
    order = rng.permutation(80)
    ids = [rows[i]["id"] for i in order]
    write(
        tmp_path / "byid.parquet",
        pa.table({"doc": ids, "v": pa.array(vectors[order].tolist(), pa.list_(pa.float32()))}),
    )
    np.save(tmp_path / "byorder.npy", vectors)
    specs = [f"vectors:{tmp_path / 'byid.parquet'}?column=v&id=doc", str(tmp_path / "byorder.npy")]
    found = crosslingual_retrieval(rows, specs, measures=["R@1", "RR"], store=None)
    values = {}
    for entry in found.entries:
        values.setdefault((entry.measure, entry.source), []).append(entry.value)
    assert all(one == other for one, other in values.values())


def test_ids_missing_and_doubled(tmp_path):
    path = write(tmp_path / "v.parquet", table().slice(2))
    says = refused(lambda: encoded(f"vectors:{path}?id=id"))
    assert "2 ids of texts are missing ('t0', 't1'); 3 ids of items are missing" in says
    doubled = pa.table({"embedding": column(), "id": ["t0", "t1", "t2", "t0", "t4", "t5"]})
    says = refused(lambda: encoded(f"vectors:{write(tmp_path / 'd.parquet', doubled)}?id=id"))
    assert "lines 1 and 4 have the same id 't0'" in says
    assert "Did you mean 'id'?" in refused(lambda: encoded(f"vectors:{path}?id=idd"))


@pytest.mark.parametrize("name", ["v.pt", "v.npz", "v.faiss"])
def test_other_files_are_refused_unopened(tmp_path, name):
    (tmp_path / name).write_bytes(b"x")
    assert "a file of vectors ends in .npy" in refused(lambda: encoded(f"vectors:{tmp_path / name}"))
