"""Manifests on the net (fsspec's file systems in memory and on disk), and folders of `save_to_disk`."""

import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual import Manifest
from xlingual.data.reading.remote import remote_address
from xlingual.errors import InputError, MissingExtraError

fsspec = pytest.importorskip("fsspec")
TABLE = pa.table({"lang": ["en", "de", "en"], "text": ["a", "b", "c"], "image": ["p/1.png", "p/1.png", None]})


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *names, **more: tmp_path / "cache")


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()


def put(system, path, table=TABLE):
    with system.open(path, "wb") as file:
        pq.write_table(table, file)


def refused(make):
    with pytest.raises(InputError) as caught:
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def saved(folder, table, parts=1):
    """Write a folder as `save_to_disk` of datasets does: Arrow streams, and which files there are."""
    folder.mkdir(parents=True)
    names = [f"data-{i:05d}-of-{parts:05d}.arrow" for i in range(parts)]
    for i, name in enumerate(names):
        piece = table.slice(i * len(table) // parts, (i + 1) * len(table) // parts - i * len(table) // parts)
        with pa.ipc.new_stream(str(folder / name), table.schema) as writer:
            writer.write_table(piece)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in names]}))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def test_addresses():
    assert remote_address("s3:/bucket/m.csv") == "s3://bucket/m.csv"
    assert remote_address("hf://datasets/team/set/x.parquet") == "hf://datasets/team/set/x.parquet"
    assert remote_address("local:/data/m.csv") == "local:///data/m.csv"
    for path in ("data/m.csv", "/data/m.csv", "C:/data/m.csv", "a:b.csv"):
        assert remote_address(path) is None


@pytest.mark.parametrize("how", [Manifest.of, Manifest.read])
def test_a_file_on_the_net(memory, how, tmp_path):
    put(memory, "/shop/m.parquet")
    pq.write_table(TABLE, tmp_path / "m.parquet")
    found = how("memory://shop/m.parquet")
    assert found.digest == Manifest.read(tmp_path / "m.parquet").digest
    assert found.source == "memory://shop/m.parquet"
    assert how("memory://shop/m.parquet", rows="0:1").text == ["a"]


def test_a_file_of_the_local_file_system(tmp_path):
    (tmp_path / "m.csv").write_text("lang,text\nen,a\n")
    assert Manifest.of(f"local://{tmp_path}/m.csv").text == ["a"]
    assert Manifest.of(f"local://{tmp_path}/m.csv").source == f"local://{tmp_path}/m.csv"


def test_a_changed_file_is_copied_again_and_the_same_one_is_not(memory, tmp_path, monkeypatch):
    put(memory, "/shop/m.parquet")
    assert len(Manifest.of("memory://shop/m.parquet")) == 3
    copies = []
    get = type(memory).get_file
    monkeypatch.setattr(
        type(memory),
        "get_file",
        lambda self, *given, **more: copies.append(given) or get(self, *given, **more),
    )
    assert len(Manifest.of("memory://shop/m.parquet")) == 3
    assert not copies
    put(memory, "/shop/m.parquet", TABLE.slice(1))
    assert Manifest.of("memory://shop/m.parquet").text == ["b", "c"]
    assert len(copies) == 1


def test_shards_on_the_net(memory):
    put(memory, "/shop/data/train-00000-of-00002.parquet", TABLE.slice(0, 2))
    put(memory, "/shop/data/train-00001-of-00002.parquet", TABLE.slice(2))
    memory.pipe("/shop/data/README.md", b"# data")
    assert Manifest.of("memory://shop/data/train-*.parquet").text == ["a", "b", "c"]


def test_errors_name_the_address_and_not_the_copy(memory, tmp_path):
    assert "memory://shop/no.csv cannot be read" in refused(lambda: Manifest.of("memory://shop/no.csv"))
    memory.pipe("/shop/m.csv", b"lang,words\nen,a\n")
    says = refused(lambda: Manifest.of("memory://shop/m.csv"))
    assert "memory://shop/m.csv has a column 'lang' but no column 'text'" in says
    memory.pipe("/shop/m.parquet", b"PAR1")
    says = refused(lambda: Manifest.of("memory://shop/m.parquet"))
    assert says.startswith("memory://shop/m.parquet is not a Parquet file")
    assert str(tmp_path) not in says


def test_images_beside_it_are_not_copied(memory):
    put(memory, "/shop/m.parquet")
    says = refused(lambda: Manifest.of("memory://shop/m.parquet").images(np.array([0])).images)
    assert "the image is a URL (memory://shop/p/1.png): download it" in says


def test_what_is_missing_is_named(monkeypatch):
    assert "nosuch://a/m.csv cannot be read" in refused(lambda: Manifest.of("nosuch://a/m.csv"))
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match=r"s3://a/m.csv needs .*pip install 'xlingual\[remote\]'"):
        Manifest.of("s3://a/m.csv")


def test_a_saved_dataset_is_the_files_that_it_names(tmp_path):
    folder = saved(tmp_path / "set", TABLE, parts=2)
    with pa.ipc.new_stream(str(folder / "cache-0123.arrow"), TABLE.schema) as writer:  # that a map has left
        writer.write_table(TABLE)
    assert Manifest.of(folder).text == ["a", "b", "c"]
    (folder / "data-00001-of-00002.arrow").unlink()
    assert "data-00001-of-00002.arrow is missing" in refused(lambda: Manifest.of(folder))


def test_splits_of_a_saved_dataset_are_the_column_split(tmp_path):
    saved(tmp_path / "set/train", TABLE.slice(0, 2))
    saved(tmp_path / "set/test", TABLE.slice(2))
    (tmp_path / "set/dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    found = Manifest.read(tmp_path / "set")
    assert list(found.split) == ["train", "train", "test"]
    assert Manifest.of(f"{tmp_path / 'set'}#test").text == ["c"]
    (tmp_path / "set/dataset_dict.json").write_text(json.dumps({"splits": ["train", "dev"]}))
    assert "the folders of the splits dev" in refused(lambda: Manifest.read(tmp_path / "set"))
    (tmp_path / "set/dataset_dict.json").write_text("{")
    assert "dataset_dict.json is damaged" in refused(lambda: Manifest.read(tmp_path / "set"))
