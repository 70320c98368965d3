"""Vectors in columns of tables, archives and indexes, by the order of their lines and by id."""

import json
import pickle
import shlex
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from xlingual import crosslingual_retrieval
from xlingual.arrays import Rows
from xlingual.data.manifest import Manifest
from xlingual.encoders import image_encoder, text_encoders
from xlingual.encoders.vectorfile import open_vectors
from xlingual.errors import DataWarning, InputError, MissingExtraError

N, DIM = 6, 3
VECTORS = np.random.default_rng(0).normal(size=(N, DIM)).astype(np.float32)
TEXTS = Manifest.from_rows(
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


def test_a_part_of_a_column_starts_where_it_starts(tmp_path):
    """Slices of Arrow arrays keep the values of the whole."""
    from xlingual.encoders.vectortable import _array

    for kind in ("list", "large", "fixed"):
        np.testing.assert_array_equal(_array(column(kind=kind).slice(2, 3), "v"), VECTORS[2:5])


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
        assert "vectors of 2 and of 1 dimensions" in refused(lambda path=path: open_vectors(path))


def test_columns_that_hold_no_vectors(tmp_path):
    both = table(other=column(), words=["[0.1, 0.2]"] * N)
    path = write(tmp_path / "v.parquet", both)
    assert "has 2 columns of vectors (embedding, other): choose one with ?column=embedding" in refused(
        lambda: open_vectors(path)
    )
    assert "turn the texts into lists of numbers" in refused(lambda: encoded(f"vectors:{path}?column=words"))
    assert "Did you mean 'embedding'?" in refused(lambda: encoded(f"vectors:{path}?column=embeding"))
    assert "no column of vectors: its columns: id" in refused(
        lambda: open_vectors(write(tmp_path / "w.parquet", both.select(["id", "words"])))
    )
    np.save(tmp_path / "v.npy", VECTORS)
    assert "column= is for .parquet" in refused(lambda: encoded(f"vectors:{tmp_path / 'v.npy'}?column=a"))
    assert "key= is for .safetensors, .npz" in refused(lambda: encoded(f"vectors:{path}?key=a"))


@pytest.mark.parametrize("suffix", ["parquet", "ipc", "npz"])
def test_damaged_files_are_refused(tmp_path, suffix):
    path = tmp_path / f"v.{suffix}"
    path.write_bytes(b"PK\x03\x04 no file of any kind")
    assert "again" in refused(lambda: open_vectors(path))


def test_bits_of_a_column(tmp_path):
    bits = np.random.default_rng(1).random((N, 16)) > 0.5
    lists = pa.array(np.packbits(bits, axis=1).tolist(), pa.list_(pa.uint8()))
    path = write(tmp_path / "v.parquet", pa.table({"v": lists}))
    np.testing.assert_array_equal(encoded(f"vectors:{path}?packed=1"), np.where(bits, 1, -1))
    assert "packed=1 where each bit" in refused(lambda: encoded(f"vectors:{path}"))
    for gap in (None, [1, None]):
        write(path, pa.table({"v": pa.array([*lists[1:].to_pylist(), gap], lists.type)}))
        for packed in ("", "?packed=1"):
            assert "of bytes (uint8), some of them missing" in refused(
                lambda packed=packed: encoded(f"vectors:{path}{packed}")
            )


def test_shards_and_saved_data_sets(tmp_path):
    for suffix in ("parquet", "arrow"):
        folder = tmp_path / suffix
        folder.mkdir()
        for part in range(2):
            write(folder / f"part-{part}-of-2.{suffix}", table().slice(3 * part, 3))
        np.testing.assert_array_equal(encoded(f"vectors:{folder}"), VECTORS)
    saved = tmp_path / "set/train"
    saved.mkdir(parents=True)
    write(saved / "data-00000-of-00001.arrow", table())
    write(saved / "cache-77.arrow", table())
    (saved / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]})
    )
    (tmp_path / "set/dataset_dict.json").write_text(json.dumps({"splits": ["train"]}))
    np.testing.assert_array_equal(encoded(f"vectors:{saved}?column=embedding&id=id"), VECTORS)
    assert "name one, as in" in refused(lambda: encoded(f"vectors:{tmp_path / 'set'}?column=embedding"))
    (saved / "data-00000-of-00001.arrow").unlink()
    assert "data-00000-of-00001.arrow is missing" in refused(
        lambda: encoded(f"vectors:{saved}?column=embedding")
    )
    (saved / "state.json").write_text('{"_data_files": [{}]}')
    assert "state.json is damaged" in refused(lambda: encoded(f"vectors:{saved}?column=embedding"))
    (tmp_path / "set/dataset_dict.json").write_text("{}")
    assert "names no splits" in refused(lambda: encoded(f"vectors:{tmp_path / 'set'}?column=embedding"))


def test_identity_is_the_content_and_what_is_taken_of_it(tmp_path):
    path = write(tmp_path / "v.parquet", table(other=column(2 * VECTORS)))
    one, two = (made(f"vectors:{path}?column={name}").identity for name in ("embedding", "other"))
    assert one != two
    assert one.endswith("?column=embedding")
    assert made(f"vectors:{path}?column=other&id=id").identity == f"{two}&id=id"
    write(path, table(other=column(3 * VECTORS)))
    assert made(f"vectors:{path}?column=other").identity != two
    np.testing.assert_array_equal(encoded(f"vectors:{path}?column=other"), 3 * VECTORS)  # not what was there


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_of_an_archive(tmp_path, save):
    save(tmp_path / "v.npz", a=VECTORS, b=np.asfortranarray(2 * VECTORS), names=np.array(["x"] * N))
    np.testing.assert_array_equal(encoded(f"vectors:{tmp_path / 'v.npz'}?key=a"), VECTORS)
    np.testing.assert_array_equal(encoded(f"vectors:{tmp_path / 'v.npz'}?key=b"), 2 * VECTORS)
    array = open_vectors(tmp_path / "v.npz", made(f"vectors:{tmp_path / 'v.npz'}?key=a").options)
    assert isinstance(array, np.memmap) == (save is np.savez)
    assert "found 2 among a, b, names; choose one with ?key=NAME" in refused(
        lambda: encoded(f"vectors:{tmp_path / 'v.npz'}")
    )
    assert "has no array 'c'" in refused(lambda: encoded(f"vectors:{tmp_path / 'v.npz'}?key=c"))
    save(tmp_path / "w.npz", VECTORS)
    np.testing.assert_array_equal(encoded(f"vectors:{tmp_path / 'w.npz'}"), VECTORS)
    save(tmp_path / "w.npz", np.array([{}, {}]))
    assert "choose one" in refused(lambda: encoded(f"vectors:{tmp_path / 'w.npz'}"))
    assert "is a pickle, which is refused" in refused(
        lambda: encoded(f"vectors:{tmp_path / 'w.npz'}?key=arr_0")
    )


ORDER = np.array([3, 0, 5, 1, 4, 2])


def shuffled(path, ids="t{}", **more):
    names = [ids.format(i) for i in ORDER]
    return write(path, pa.table({"id": names, "embedding": column(VECTORS[ORDER]), **more}))


def test_rows_are_matched_by_the_ids_of_texts(tmp_path):
    path = shuffled(tmp_path / "v.parquet")
    np.testing.assert_array_equal(encoded(f"vectors:{path}?id=id"), VECTORS)
    part = TEXTS.part(np.array([1, 4]))
    np.testing.assert_array_equal(encoded(f"vectors:{path}?id=id", part), VECTORS[[1, 4]])


def test_rows_are_matched_by_numbers_and_from_other_files(tmp_path):
    manifest = Manifest.from_rows([{"id": i, "lang": "en", "text": str(i)} for i in range(N)])
    for ids in (ORDER, ORDER.astype(float)):
        path = write(
            tmp_path / "v.parquet", pa.table({"nr": pa.array(ids), "embedding": column(VECTORS[ORDER])})
        )
        np.testing.assert_array_equal(encoded(f"vectors:{path}?id=nr", manifest), VECTORS)
    np.savez(tmp_path / "v.npz", v=VECTORS[ORDER], nr=ORDER, names=np.array([f"t{i}" for i in ORDER]))
    np.testing.assert_array_equal(encoded(f"vectors:{tmp_path / 'v.npz'}?key=v&id=nr", manifest), VECTORS)
    np.testing.assert_array_equal(encoded(f"vectors:{tmp_path / 'v.npz'}?key=v&id=names"), VECTORS)
    assert "holds no list of ids" in refused(lambda: encoded(f"vectors:{tmp_path / 'v.npz'}?key=v&id=v"))
    save_file({"v": VECTORS[ORDER], "nr": ORDER}, tmp_path / "v.safetensors")
    np.testing.assert_array_equal(encoded(f"vectors:{tmp_path / 'v.safetensors'}?id=nr", manifest), VECTORS)
    np.save(tmp_path / "v.npy", VECTORS)
    assert "has no ids" in refused(lambda: encoded(f"vectors:{tmp_path / 'v.npy'}?id=nr"))


def test_ids_of_items_and_a_file_for_each_language(tmp_path):
    for factor, tag in ((1, "en"), (2, "de")):
        order = [2, 0, 1]
        ids = [f"p{i}" for i in order]
        write(tmp_path / f"v.{tag}.parquet", pa.table({"sku": ids, "v": column(factor * VECTORS[order])}))
    found = encoded(f"vectors:{tmp_path}/v.{{lang}}.parquet?id=sku")
    np.testing.assert_array_equal(found[::2], VECTORS[:3])
    np.testing.assert_array_equal(found[1::2], 2 * VECTORS[:3])


def test_ids_that_are_there_in_each_language(tmp_path):
    tags = [("en", "de")[i % 2] for i in range(N)]
    ids = [f"p{i // 2}" for i in range(N)]
    content = pa.table({"sku": ids, "tag": tags, "v": column()}).take(ORDER)
    path = write(tmp_path / "v.parquet", content)
    np.testing.assert_array_equal(encoded(f"vectors:{path}?id=sku&lang=tag"), VECTORS)
    says = refused(lambda: encoded(f"vectors:{path}?id=sku"))
    assert "have the same id" in says and "(?lang=COLUMN)" in says
    assert "lang= goes with id=" in refused(lambda: made(f"vectors:{path}?lang=tag"))
    path = write(tmp_path / "v.parquet", content.slice(1))
    assert "1 of 6 ids of items are missing ('de: p1')" in refused(
        lambda: encoded(f"vectors:{path}?id=sku&lang=tag")
    )


def test_images_are_matched_by_items(tmp_path):
    rows = [
        {"id": f"t{i}", "lang": "en", "text": str(i), "item": f"p{i}", "image": f"{i}.png"} for i in range(N)
    ]
    path = shuffled(tmp_path / "v.parquet", "p{}")
    _, encoder = image_encoder(f"vectors:{path}?id=id")
    manifest = Manifest.from_rows(rows)
    np.testing.assert_array_equal(encoder.encode(manifest.images(np.arange(N))), VECTORS)


def test_ids_missing_extra_and_doubled(tmp_path):
    path = write(tmp_path / "v.parquet", table().slice(2))
    says = refused(lambda: encoded(f"vectors:{path}?id=id"))
    assert (
        "v.parquet, id=id: 2 of 6 ids of texts are missing ('t0', 't1'); 3 of 3 ids of items are missing"
        in says
    )
    assert "ids such as 't2', 't3'" in says
    twice = pa.concat_tables([table(), table().slice(4, 1)])
    assert "lines 5 and 7 have the same id 't4' (1 ids" in refused(
        lambda: encoded(f"vectors:{write(path, twice)}?id=id")
    )
    more = pa.concat_tables([pa.table({"id": ["t77"], "embedding": column(VECTORS[:1])}), table()])
    with pytest.warns(DataWarning, match="7 ids, and the data have 6: the others are passed over"):
        np.testing.assert_array_equal(encoded(f"vectors:{write(path, more)}?id=id"), VECTORS)
    empty = table().set_column(0, "id", pa.array(["a", None, "b", "c", "d", "e"]))
    assert "row 2 has no id" in refused(lambda: encoded(f"vectors:{write(path, empty)}?id=id"))
    assert "has no column 'sku'" in refused(lambda: encoded(f"vectors:{path}?id=sku"))
    assert "found the type list" in refused(lambda: encoded(f"vectors:{path}?id=embedding"))


WIDE = Manifest.from_rows(  # as of a table with a column for each language: ids of texts are those of items
    [
        {"id": f"p{i}", "lang": tag, "text": f"{tag} {i}", "item": f"p{i}"}
        for i in range(3)
        for tag in ("en", "de")
    ]
)


@pytest.mark.parametrize(("name", "count"), [("v.{lang}.parquet", 5), ("v.parquet", 5), ("v.parquet", 3)])
def test_more_ids_than_items_or_texts_of_the_language(tmp_path, name, count):
    ids = pa.table({"id": [f"p{i}" for i in range(count)], "embedding": column(VECTORS[:count])})
    for tag in ("en", "de"):
        write(tmp_path / name.replace("{lang}", tag), ids)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = encoded(f"vectors:{tmp_path / name}?id=id", WIDE, np.array([0, 2]))
    np.testing.assert_array_equal(found, VECTORS[:2])
    said = [str(one.message) for one in caught if "passed over" in str(one.message)]
    assert len(said) == (count > 3)
    assert all("5 ids, and the data have 3: the others are passed over" in one for one in said)


def test_ids_of_each_language_are_as_many_as_texts(tmp_path):
    langs = [tag for _ in range(3) for tag in ("en", "de")]
    ids = pa.table({"id": [f"p{i // 2}" for i in range(N)], "l": langs, "embedding": column(VECTORS)})
    path = write(tmp_path / "v.parquet", ids)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(encoded(f"vectors:{path}?id=id&lang=l", WIDE), VECTORS)


class TestAnotherOrder:
    """Ids that are the data's, in another order, beside vectors that are taken by their order."""

    def test_is_refused(self, tmp_path):
        path = shuffled(tmp_path / "v.parquet")
        says = refused(lambda: encoded(f"vectors:{path}"))
        assert "column 'id' has the ids of texts, in another order than the data" in says
        assert says.endswith("write ?id=id")
        rows = np.array([1, 4])  # some of the data
        assert "write ?id=id" in refused(lambda: encoded(f"vectors:{path}", TEXTS, rows))
        np.testing.assert_array_equal(encoded(f"vectors:{path}?id=id"), VECTORS)

    @pytest.mark.parametrize("suffix", ["parquet", "ipc", "npz", "folder"])
    def test_in_every_kind_of_file(self, tmp_path, suffix):
        names, path = [f"t{i}" for i in ORDER], tmp_path / f"v.{suffix}"
        if suffix == "npz":
            np.savez(path, names=np.array(names), v=VECTORS[ORDER])
        elif suffix == "folder":
            path.mkdir()
            for part in range(2):
                whole = pa.table({"names": names, "embedding": column(VECTORS[ORDER])})
                write(path / f"part-{part}-of-2.parquet", whole.slice(3 * part, 3))
        else:
            write(path, pa.table({"names": names, "embedding": column(VECTORS[ORDER])}))
        assert refused(lambda: encoded(f"vectors:{path}")).endswith("write ?id=names")
        np.testing.assert_array_equal(encoded(f"vectors:{path}?id=names"), VECTORS)

    def test_of_items_and_of_an_index(self, tmp_path):
        items = [f"p{i}" for i in (2, 0, 1)]
        table = pa.table({"sku": items, "embedding": column(VECTORS[:3])})
        for tag in ("en", "de"):
            write(tmp_path / f"{tag}.parquet", table)
        says = refused(lambda: encoded(f"vectors:{tmp_path}/{{lang}}.parquet"))
        assert "the ids of items" in says and says.endswith("write ?id=sku")
        faiss = pytest.importorskip("faiss")
        index = faiss.IndexIDMap2(faiss.IndexFlatIP(DIM))
        index.add_with_ids(VECTORS, 10 + ORDER)
        faiss.write_index(index, str(tmp_path / "v.faiss"))
        numbered = Manifest.from_rows(
            [{"id": str(10 + i), "lang": "en", "text": f"{i}", "item": f"p{i}"} for i in range(N)]
        )
        assert refused(lambda: encoded(f"vectors:{tmp_path}/v.faiss", numbered)).endswith("write ?id=ids")

    def test_other_columns_do_not_matter(self, tmp_path):
        more = {
            "text": [f"words {i}" for i in range(N)],
            "part": [f"t{i}" for i in (0, 0, 1, 2, 3, 4)],  # not distinct
            "some": [f"t{i}" for i in (5, 4, 3, 2, 1)] + ["t9"],  # not all
            "hole": ["t0", None, "t1", "t2", "t3", "t4"],
            "price": [3, 1, 2, 6, 5, 4],
        }
        path = write(tmp_path / "v.parquet", table(**more))
        np.testing.assert_array_equal(encoded(f"vectors:{path}?column=embedding"), VECTORS)
        parents = pa.table(
            {
                "parent": [f"t{i}" for i in ORDER],
                **dict(zip(table().column_names, table().columns, strict=True)),
            }
        )
        write(path, parents)  # one column has the order of the data
        np.testing.assert_array_equal(encoded(f"vectors:{path}?column=embedding"), VECTORS)

    def test_numbers_of_lines_are_a_warning(self, tmp_path):
        numbered = Manifest.from_rows([{"lang": "en", "text": f"{i}", "item": i} for i in range(1, N + 1)])
        path = write(
            tmp_path / "v.parquet", pa.table({"rank": (ORDER + 1).tolist(), "embedding": column(VECTORS)})
        )
        with pytest.warns(DataWarning, match="'rank' .* write .id=rank where these are the data's ids"):
            np.testing.assert_array_equal(encoded(f"vectors:{path}", numbered), VECTORS)


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


def test_an_index_gives_its_vectors_back(tmp_path):
    faiss = pytest.importorskip("faiss")
    flat = faiss.IndexFlatIP(DIM)
    flat.add(VECTORS)
    faiss.write_index(flat, str(tmp_path / "v.faiss"))
    np.testing.assert_array_equal(encoded(f"vectors:{tmp_path / 'v.faiss'}"), VECTORS)
    assert "keeps no ids" in refused(lambda: encoded(f"vectors:{tmp_path / 'v.faiss'}?id=ids"))
    named = faiss.IndexIDMap2(faiss.IndexFlatL2(DIM))
    named.add_with_ids(VECTORS[ORDER], ORDER + 1_000_000_000_000)
    faiss.write_index(named, str(tmp_path / "w.index"))
    manifest = Manifest.from_rows(
        [{"id": i + 1_000_000_000_000, "lang": "en", "text": str(i)} for i in range(N)]
    )
    np.testing.assert_array_equal(encoded(f"vectors:{tmp_path / 'w.index'}?id=ids", manifest), VECTORS)
    assert "write ?id=ids" in refused(lambda: encoded(f"vectors:{tmp_path / 'w.index'}?id=sku", manifest))
    lists = faiss.IndexIVFFlat(faiss.IndexFlatL2(DIM), DIM, 2)
    lists.train(VECTORS)
    lists.add(VECTORS)
    faiss.write_index(lists, str(tmp_path / "i.index"))
    np.testing.assert_array_equal(encoded(f"vectors:{tmp_path / 'i.index'}"), VECTORS)
    rough = faiss.IndexScalarQuantizer(DIM, faiss.ScalarQuantizer.QT_8bit)
    rough.train(VECTORS)
    rough.add(VECTORS)
    faiss.write_index(rough, str(tmp_path / "r.faiss"))
    with pytest.warns(DataWarning, match="keeps vectors compressed"):
        np.testing.assert_allclose(encoded(f"vectors:{tmp_path / 'r.faiss'}"), VECTORS, atol=0.02)
    (tmp_path / "x.faiss").write_bytes(b"no index")
    assert "the index cannot be read" in refused(lambda: encoded(f"vectors:{tmp_path / 'x.faiss'}"))


def test_what_is_not_installed_is_named(tmp_path, monkeypatch):
    (tmp_path / "v.faiss").write_bytes(b"")
    (tmp_path / "v.lance").mkdir()
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.setitem(sys.modules, "lance", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'xlingual\[ann\]'"):
        open_vectors(tmp_path / "v.faiss")
    assert "pip install pylance" in refused(lambda: open_vectors(tmp_path / "v.lance"))


@pytest.mark.parametrize("suffix", ["pt", "pth", "pkl", "pickle"])
def test_pickles_are_refused_with_what_converts_them(tmp_path, suffix):
    path = tmp_path / f"v.{suffix}"
    path.write_bytes(pickle.dumps(VECTORS))
    says = refused(lambda: made(f"vectors:{path}"))
    assert "a pickle, which is refused" in says
    if suffix in ("pkl", "pickle"):
        _run(says, tmp_path)
        np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), VECTORS)


def test_pickled_arrays_are_refused_with_what_converts_them(tmp_path):
    path = tmp_path / "v.npy"
    content = np.empty(N, dtype=object)
    content[:] = list(VECTORS)
    np.save(path, content, allow_pickle=True)
    _run(refused(lambda: open_vectors(path)), tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "v-numbers.npy"), VECTORS)
    np.savez(tmp_path / "v.npz", a=content)
    says = refused(lambda: encoded(f"vectors:{tmp_path / 'v.npz'}?key=a"))
    (tmp_path / "v-numbers.npy").unlink()
    _run(says, tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "v-numbers.npy"), VECTORS)


def _run(says, folder):
    """Run the line that an error names."""
    _, _, line = says.partition("python -c ")
    subprocess.run([sys.executable, "-c", shlex.split(line)[0]], cwd=folder, check=True)
