"""Data in memory: stand-ins with the shapes of the libraries that people come from."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from PIL import Image

from xlingual import Manifest, backretrieval, crosslingual_retrieval
from xlingual.data.pools.mix import mix_pool
from xlingual.encoders import image_encoder
from xlingual.errors import DataWarning, InputError

ROWS = [
    {"id": "1", "lang": "en", "text": "a red shoe", "item": "17"},
    {"id": "2", "lang": "de", "text": "ein roter Schuh", "item": "17"},
    {"id": "3", "lang": "de", "text": "ein blauer Hut", "item": "18"},
]


class Capsule:
    """Gives itself as Arrow, as polars frames and others do."""

    columns = ("id", "lang", "text", "item")

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class Dataset:
    """A Dataset of Hugging Face as far as it is used: rows chosen, and a format that gives Arrow."""

    def __init__(self, table, rows=None):
        self._table, self._rows = table, rows
        self.features, self.column_names = dict.fromkeys(table.column_names), table.column_names

    def with_format(self, name):
        assert name == "arrow"
        return self

    def __len__(self):
        return len(self._table)

    def __getitem__(self, rows):
        return self._table if self._rows is None else self._table.take(self._rows)


def png(colour, size=8):
    out = io.BytesIO()
    Image.new("RGB", (size, size), colour).save(out, "PNG")
    return out.getvalue()


def refused(make):
    with pytest.raises(InputError) as caught:
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)


TABLE = pa.Table.from_pylist(ROWS)
SPLITS = {"train": Dataset(TABLE.slice(0, 2)), "test": Dataset(TABLE.slice(2))}
AS_THEY_ARE = {
    "records": ROWS,
    "tuple of records": tuple(ROWS),
    "stream of records": iter(ROWS),
    "columns": {name: [row[name] for row in ROWS] for name in ROWS[0]},
    "columns of arrays": {name: np.array([row[name] for row in ROWS]) for name in ROWS[0]},
    "pandas": pd.DataFrame(ROWS),
    "pandas with an index of ids": pd.DataFrame(ROWS).set_index("id"),
    "pandas, rows chosen": pd.DataFrame([{"id": "0", "lang": "xx", "text": "", "item": "0"}, *ROWS]).iloc[1:],
    "Arrow": TABLE,
    "a batch of Arrow": TABLE.to_batches()[0],
    "a reader of Arrow": TABLE.to_reader(),
    "capsule": Capsule(TABLE),
    "capsule of views": Capsule(TABLE.cast(pa.schema([(name, pa.string_view()) for name in ROWS[0]]))),
    "Dataset": Dataset(TABLE),
    "DatasetDict": SPLITS,
}


@pytest.mark.parametrize("given", AS_THEY_ARE)
def test_data_are_taken_as_they_are(given):
    data = ROWS if given == "stream of records" else AS_THEY_ARE[given]
    data = TABLE.to_reader() if given == "a reader of Arrow" else data
    found = Manifest.of(data)
    assert found.digest == Manifest.of(ROWS).digest
    assert found.text == [row["text"] for row in ROWS]


def test_splits_of_a_mapping_become_the_column_split():
    manifest = Manifest.of(SPLITS)
    assert list(manifest.split) == ["train", "train", "test"]
    assert Manifest.of(SPLITS, split="test").ids == ["3"]
    frames = {"one": pd.DataFrame(ROWS[:1]), "two": ROWS[1:]}
    assert list(Manifest.of(frames).split) == ["one", "two", "two"]
    other = {"train": SPLITS["train"], "test": Dataset(TABLE.slice(2).drop_columns("item"))}
    assert "split 'test'" in refused(lambda: Manifest.of(other))


def test_a_path_and_a_part_of_it(tmp_path):
    pd.DataFrame(ROWS).assign(split=["a", "a", "b"]).to_csv(tmp_path / "m.csv", index=False)
    assert len(Manifest.of(tmp_path / "m.csv")) == 3
    assert Manifest.of(f"{tmp_path / 'm.csv'}#b").ids == ["3"]
    assert "folder=" in refused(lambda: Manifest.of(tmp_path / "m.csv", folder=tmp_path))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
@pytest.mark.parametrize("objects", [False, True])
def test_missing_values_are_empty(missing, objects):
    """Never "nan"; the same where a column holds Python objects, so that pandas has no Arrow for it."""
    frame = pd.DataFrame({"text_en": ["a", missing], "text_de": [missing, "b"], "title": ["t", missing]})
    if objects:
        frame["image"] = [Image.new("RGB", (2, 2)), missing]
    found = Manifest.of(frame)
    assert found.text == ["a", "b"]
    assert list(found.languages) == ["en", "de"]
    assert found.fields["title"] == ["t", ""]
    assert found.image.tolist() == ([0, -1] if objects else [-1, -1])


def test_images_in_memory_are_what_their_files_are(tmp_path):
    colours = ["red", "blue"]
    for colour in colours:
        (tmp_path / f"{colour}.png").write_bytes(png(colour))
    opened = [Image.new("RGB", (8, 8), colour) for colour in colours]
    texts = {"text_en": ["a", "b"], "text_de": ["c", "d"]}
    structs = pa.table({**texts, "image": [{"bytes": png(c), "path": f"{c}.png"} for c in colours]})
    given = [
        pd.DataFrame({**texts, "image": opened}),
        pd.DataFrame({**texts, "image": [np.asarray(image) for image in opened]}),
        [
            {"text_en": "a", "text_de": "c", "image": opened[0]},
            {"text_en": "b", "text_de": "d", "image": opened[1]},
        ],
        pd.DataFrame({**texts, "image": [png(colour) for colour in colours]}),
        pd.DataFrame({**texts, "image": [tmp_path / f"{colour}.png" for colour in colours]}),
        structs,
    ]
    _, pixels = image_encoder("pixels")
    vectors = [pixels.encode(Manifest.of(data).images(np.array([0, 2]))) for data in given]
    for other in vectors[1:]:
        np.testing.assert_array_equal(vectors[0], other)
    assert not np.array_equal(vectors[0][0], vectors[0][1])


def test_of_several_images_the_first_counts():
    colours = [["red", "blue"], ["red"]]
    rows = [{"text_en": str(i), "image": [png(c) for c in part]} for i, part in enumerate(colours)]
    with pytest.warns(DataWarning, match="1 rows have several images"):
        manifest = Manifest.of(rows)
    assert manifest.digest == Manifest.of([row | {"image": row["image"][0]} for row in rows]).digest


def test_tasks_take_data_and_the_columns_of_it():
    options = {"text_column": "name_{lang}", "image_column": "photo"}
    rng = np.random.default_rng(0)
    photos = [png(tuple(rng.integers(0, 255, 3).tolist())) for _ in range(24)]
    frame = pd.DataFrame({"name_en": [f"thing {i}" for i in range(24)], "photo": photos})
    frame["name_de"] = [f"ding {i}" for i in range(24)]
    how = {"image_encoder": "pixels", "measures": "R@3", "store": None}
    expected = backretrieval(Manifest.of(frame, **options), text_encoders="chargram", **how)
    results = backretrieval(frame, {"chargram": "chargram"}, **how, **options)
    assert [entry.signature for entry in results.entries] == [entry.signature for entry in expected.entries]
    assert [entry.value for entry in results.entries] == [entry.value for entry in expected.entries]
    assert results.request["text_column"] == "name_{lang}"
    texts = frame.drop(columns="photo")
    crosslingual_retrieval(texts, "chargram", text_column="name_{lang}", store=None)
    assert len(mix_pool(texts, text_column="name_{lang}").candidates) > 0
