"""`vectors:`: arrays and columns of tables, by the order of their lines and by id."""

import hashlib
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from xlingual.data.manifest import Manifest
from xlingual.encoders import image_encoder, text_encoders
from xlingual.errors import DataWarning, InputError
from xlingual.records import Numbering, Texts

N, DIM = 6, 3
VECTORS = np.random.default_rng(0).normal(size=(N, DIM)).astype(np.float32)
ORDER = np.array([3, 0, 5, 1, 4, 2])
ROWS = [
    {"id": f"t{i}", "lang": tag, "text": f"{tag} {i}", "item": f"p{i // 2}", "image": f"{i}.png"}
    for i, tag in enumerate(["en", "de"] * 3)
]
TEXTS = Manifest.of(ROWS)


def made(spec, languages=("en", "de"), **more):
    (encoder,) = text_encoders([str(spec)], languages=languages, **more).values()
    return encoder


def encoded(spec, rows=range(N), manifest=TEXTS):
    return made(spec).encode(manifest.texts(np.array(rows)))


def batch(index, languages, *numberings, role=None):
    built = tuple(Numbering(unit, np.asarray(rows), sizes) for unit, rows, sizes in numberings)
    n = len(languages)
    return Texts(["x"] * n, languages, [str(i) for i in range(n)], role=role, numberings=built)


def refused(spec, *words, **more):
    with pytest.raises(InputError) as caught:
        encoded(spec, **more)
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def column(vectors=VECTORS, kind=None):
    return pa.array([None if row is None else list(row) for row in vectors], kind or pa.list_(pa.float32()))


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


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.uint16, np.int64, bool])
@pytest.mark.parametrize("suffix", ["npy", "safetensors"])
def test_arrays_of_numbers_become_float32(tmp_path, dtype, suffix):
    array, path = np.asfortranarray((9 * VECTORS).astype(dtype)), tmp_path / f"v.{suffix}"
    if suffix == "npy":
        np.save(path, array)
    else:
        save_file({"a": np.ascontiguousarray(array), "scale": np.ones(2)}, path)
    vectors = encoded(path, [5, 0, 5])
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, array.astype(np.float32)[[5, 0, 5]])


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.float64()), pa.large_list(pa.float32()), pa.list_(pa.float32(), DIM)]
)
@pytest.mark.parametrize("name", ["v.parquet", "v.arrow", "v.feather", "zstd.ipc"])
def test_a_column_is_a_table_of_vectors(tmp_path, name, kind):
    table = pa.table({"id": [row["id"] for row in ROWS], "embedding": column(kind=kind)})
    path = write(tmp_path / name, table, "zstd" if name.startswith("zstd") else None)
    np.testing.assert_array_equal(encoded(f"vectors:{path}?column=embedding"), VECTORS)
    np.testing.assert_array_equal(encoded(path, [5, 1]), VECTORS[[5, 1]])  # the only column of vectors


def test_files_by_language_are_in_the_order_of_what_they_count(tmp_path):
    english, german = VECTORS[:4], VECTORS[4:]
    np.save(tmp_path / "v.en.npy", english)
    np.save(tmp_path / "v.de.npy", german)
    items = ("items", [3, 1], {"en": 4, "de": 4, None: 4})
    texts = ("texts of the language", [0, 1], {"en": 3, "de": 2})
    encoder = made(tmp_path / "v.{lang}.npy")
    np.testing.assert_array_equal(
        encoder.encode(batch([], ["en", "de"], items, texts)), [english[3], german[1]]
    )
    assert encoder.encode(batch([], [])).shape == (0, DIM)
    with pytest.raises(InputError, match="has 4 lines, but the data have 3 texts of the language en"):
        encoder.encode(batch([], ["en", "de"], texts))
    np.save(tmp_path / "v.npy", VECTORS[:4])
    both = batch([], ["en"], ("items", [2], {None: 4}), ("rows", [1], {None: 4}))
    with pytest.warns(DataWarning, match="as many as there are items and rows"):
        np.testing.assert_array_equal(made(tmp_path / "v.npy", ["en"]).encode(both), VECTORS[[2]])


def test_identity_is_the_hash_of_the_bytes_and_what_is_taken_of_them(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    digest = hashlib.sha256((tmp_path / "v.npy").read_bytes()).hexdigest()
    assert made(tmp_path / "v.npy").identity == f"vectors:{digest[:16]}"
    path = write(
        tmp_path / "v.parquet", pa.table({"a": column(), "b": column(2 * VECTORS), "id": list("abcdef")})
    )
    one, two = (made(f"vectors:{path}?column={name}").identity for name in "ab")
    assert one.removesuffix("?column=a") == two.removesuffix("?column=b")
    assert made(f"vectors:{path}?column=b&id=id").identity == f"{two}&id=id"
    write(path, pa.table({"b": column(3 * VECTORS)}))
    np.testing.assert_array_equal(encoded(f"vectors:{path}?column=b"), 3 * VECTORS)  # not what was there


def test_rows_are_matched_by_the_ids_of_texts_or_items(tmp_path):
    table = pa.table({"id": [f"t{i}" for i in ORDER], "v": column(VECTORS[ORDER])})
    path = write(tmp_path / "v.parquet", table)
    np.testing.assert_array_equal(encoded(f"vectors:{path}?id=id", [1, 4]), VECTORS[[1, 4]])
    write(path, pa.table({"sku": ["p2", "p0", "p1"], "v": column(VECTORS[:3])}))
    expected = VECTORS[[1, 2, 0]]
    with pytest.warns(DataWarning, match="serves all languages"):
        np.testing.assert_array_equal(encoded(f"vectors:{path}?id=sku"), expected.repeat(2, axis=0))
    _, images = image_encoder(f"vectors:{path}?id=sku")
    np.testing.assert_array_equal(images.encode(TEXTS.images(np.array([0, 4]))), expected[[0, 2]])
    refused(f"vectors:{path}?id=id", "no column 'id'")
    doubled = write(
        tmp_path / "d.parquet", pa.table({"v": column(), "id": ["t0", "t1", "t2", "t0", "t4", "t5"]})
    )
    refused(f"vectors:{doubled}?id=id", "'t0'", "1, 4")
    few = write(tmp_path / "few.parquet", table.slice(2))
    refused(f"vectors:{few}?id=id", "2 ids of texts are missing", "3 ids of items are missing")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300, None])
def test_what_is_no_finite_vector_is_refused_where_it_is_used(tmp_path, bad):
    rows = VECTORS.astype(np.float64)
    rows[3, 1] = 0 if bad is None else bad
    path = tmp_path / "v.npy"
    if bad is None:
        path = write(tmp_path / "v.ipc", pa.table({"v": column([*rows[:3], None, *rows[4:]])}))
    else:
        np.save(path, rows)
    refused(path, "is line 4", rows=[0, 3, 3])
    assert encoded(path, [0, 5]).shape == (2, DIM)


def test_columns_and_tensors_that_hold_no_vectors(tmp_path):
    path = write(tmp_path / "v.parquet", pa.table({"a": column(), "b": column(), "words": ["[0.1]"] * N}))
    refused(path, "2 columns of vectors (a, b)", "?column=NAME")
    for name in ("words", "c"):
        refused(f"vectors:{path}?column={name}", f"'{name}'")
    refused(write(tmp_path / "w.parquet", pa.table({"words": ["a"]})), "0 columns")
    for rows in ([[1.0, 2.0], [1.0]], [[1.0, 2.0]] * 4 + [[1.0]]):  # in one piece, and in two
        refused(write(tmp_path / f"v{len(rows)}.ipc", pa.table({"v": column(rows)})), "(1, 2)")
    save_file({"a": VECTORS, "b": 2 * VECTORS}, tmp_path / "v.safetensors")
    refused(tmp_path / "v.safetensors", "2 tables")


@pytest.mark.parametrize("suffix", ["npy", "safetensors", "parquet", "ipc", "npz", "pt", "faiss"])
def test_damaged_and_hostile_files_are_refused(tmp_path, suffix):
    path = tmp_path / f"v.{suffix}"
    for content in (b"", b"PK\x03\x04 an archive", pickle.dumps([1]), VECTORS.tobytes()):
        path.write_bytes(content)
        refused(path, "v.")
    np.save(tmp_path / "o.npy", np.array([[{}]], dtype=object))
    refused(tmp_path / "o.npy", "a pickle")
    np.save(tmp_path / "whole.npy", VECTORS)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "whole.npy").read_bytes()[:-1])
    refused(tmp_path / "cut.npy", "damaged")
    for name, array in (("none", np.ones((0, 3))), ("bits", VECTORS.astype(np.uint8)), ("line", VECTORS[0])):
        np.save(tmp_path / f"{name}.npy", array)
        refused(tmp_path / f"{name}.npy", name)
    refused(tmp_path / "whol.npy", "Did you mean 'whole.npy'")


@pytest.mark.parametrize("name", ["hf.en", "hf_en", "en"])
@pytest.mark.parametrize("star", [False, True])
def test_the_file_of_one_language_does_not_serve_all(tmp_path, name, star):
    np.save(tmp_path / f"{name}.npy", VECTORS)
    spec = f"vectors:{tmp_path}/{'*' if star else name}.npy"
    refused(spec, f"write {tmp_path}/{name[:-2]}{{lang}}.npy")
    assert made(spec, ["en"]) and made(spec, ["fr", "es"]) and image_encoder(spec, languages=["en", "de"])
