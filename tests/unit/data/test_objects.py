"""Data in memory: stand-ins with the shapes of the libraries that people come from."""

import io
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from xlingual import Manifest, backretrieval, crosslingual_retrieval
from xlingual.data.pools.mix import mix_pool
from xlingual.embed.images import embed_images
from xlingual.encoders import image_encoder
from xlingual.errors import InputError

ROWS = [
    {"id": "1", "lang": "en", "text": "a red shoe", "item": "17"},
    {"id": "2", "lang": "de", "text": "ein roter Schuh", "item": "17"},
    {"id": "3", "lang": "de", "text": "ein blauer Hut", "item": "18"},
]


class Capsule:
    """Gives itself as Arrow, as polars frames, DuckDB relations and others do."""

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
    "something with to_arrow": SimpleNamespace(to_arrow=lambda: TABLE, columns=TABLE.column_names),
    "Dataset": Dataset(TABLE),
    "DatasetDict": SPLITS,
}


@pytest.mark.parametrize("given", AS_THEY_ARE)
def test_data_are_taken_as_they_are(given):
    data = ROWS if given == "stream of records" else AS_THEY_ARE[given]
    data = TABLE.to_reader() if given == "a reader of Arrow" else data
    found = Manifest.of(data)
    assert found.digest == Manifest.from_rows(ROWS).digest
    assert found.text == [row["text"] for row in ROWS]


def test_a_stream_is_read_once():
    assert Manifest.of(row for row in ROWS).digest == Manifest.from_rows(ROWS).digest


def test_rows_of_a_dataset_that_were_chosen():
    chosen = Manifest.of(Dataset(TABLE, [2, 0]))
    assert chosen.ids == ["3", "1"]


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


def test_a_manifest_stays_one_and_takes_no_options():
    manifest = Manifest.from_rows(ROWS)
    assert Manifest.of(manifest) is manifest
    assert "has been read already" in refused(lambda: Manifest.of(manifest, image_column="photo"))


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


def test_an_index_with_a_name_is_a_column_also_where_there_are_objects():
    frame = pd.DataFrame(ROWS).assign(image=[Image.new("RGB", (2, 2))] * 3)
    assert Manifest.of(frame.set_index("id")).ids == ["1", "2", "3"]
    assert Manifest.of(frame.iloc[1:]).ids == ["2", "3"]


def test_numbers_and_columns_that_are_no_strings():
    frame = pd.DataFrame({"id": [7, 8.0], "lang": ["en", "de"], "text": ["a", "b"], 3: [1, 2]})
    found = Manifest.of(frame)
    assert found.ids == ["7", "8"]
    assert Manifest.of(frame, id_column=3).ids == Manifest.of(frame, id_column="3").ids == ["1", "2"]
    assert "no column '4' (id_column" in refused(lambda: Manifest.of(frame, id_column=4))


@pytest.mark.parametrize(
    "column", [pd.Series(["a"]), np.array(["a"]), pa.array(["a"]), pa.chunked_array([["a"]])]
)
def test_one_column_is_no_table(column):
    says = refused(lambda: Manifest.of(column))
    assert f"found a {type(column).__name__}, which is one column" in says
    assert Manifest.of({"text_en": column}).text == ["a"]
    assert Manifest.of(pa.StructArray.from_arrays([pa.array(["a"])], ["text_en"])).text == ["a"]


def test_classes_of_a_dataset_are_names():
    features = '{"info": {"features": {"lang": {"names": ["de", "en"], "_type": "ClassLabel"}}}}'
    table = pa.table({"lang": [1, 0], "text": ["a", "b"]}).replace_schema_metadata({"huggingface": features})
    assert list(Manifest.of(Dataset(table)).languages) == ["en", "de"]
    assert "empty language" in refused(
        lambda: Manifest.of(
            table.set_column(0, "lang", pa.array([1, -1])).replace_schema_metadata(table.schema.metadata)
        )
    )


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


@pytest.mark.parametrize(
    ("pixels", "words"),
    [
        (
            np.zeros((8, 8, 3), "float32"),
            "found an array of float32 of shape 8×8×3 where an image is expected",
        ),
        (np.zeros((3, 8, 8), "uint8"), "uint8 of shape 3×8×8"),
        (np.zeros((2, 8, 8, 3), "uint8"), "uint8 of shape 2×8×8×3"),
        ([[1, 2], [3, 4]], "a list of numbers or of lists where an image is expected"),
        ([1, 2], "a list of numbers or of lists"),
    ],
)
def test_an_array_that_is_no_image_is_refused(pixels, words):
    rows = [{"text_en": "a", "image": pixels}]
    assert words in refused(lambda: Manifest.of(rows))
    assert words in refused(lambda: Manifest.of(rows, images="first"))


def test_an_array_of_greys_is_an_image():
    grey = np.arange(64, dtype="uint8").reshape(8, 8)
    sources = [Manifest.of([{"text_en": "a", "image": a}]).image_source for a in (grey, grey[:, :, None])]
    assert (
        sources[0]
        == sources[1]
        == Manifest.of([{"text_en": "a", "image": Image.fromarray(grey)}]).image_source
    )


def test_an_opened_image_is_upright_and_over_white():
    tall = Image.new("RGB", (2, 4), "red")
    tall.getexif()[0x0112] = 6  # lies on its side
    clear = Image.new("RGBA", (2, 2), (255, 0, 0, 0))
    data = [
        {"lang": "en", "text": str(i), "image": one}
        for i, one in enumerate([tall, clear, Image.new("CMYK", (2, 2))])
    ]
    shown = Manifest.of(data).images(np.arange(3)).images
    assert shown[0].size == (4, 2)
    assert shown[1].getpixel((0, 0)) == (255, 255, 255)
    assert shown[2].mode == "RGB"


def test_relative_paths_are_of_the_folder_or_of_the_current_one(tmp_path, monkeypatch):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/red.png").write_bytes(png("red"))
    frame = pd.DataFrame({"lang": ["en"], "text": ["a"], "image": ["photos/red.png"]})
    assert Manifest.of(frame, folder=tmp_path).images(np.array([0])).images[0].size == (8, 8)
    above = frame.assign(image="../x.png")
    assert "outside the manifest's folder" in refused(lambda: Manifest.of(above, folder=tmp_path))
    monkeypatch.chdir(tmp_path)
    assert Manifest.of(frame).images(np.array([0])).images[0].size == (8, 8)
    monkeypatch.chdir(tmp_path / "photos")
    says = refused(lambda: Manifest.of(frame).images(np.array([0])).images)
    assert f"looked in {tmp_path / 'photos'}" in says


def test_columns_named_by_languages_are_asked_about():
    frame = pd.DataFrame(
        {"id": ["x", "y"], "en": ["a", "b"], "de": ["c", "d"], "sku": ["p", "q"], "no": [1, 2]}
    )
    says = refused(lambda: Manifest.of(frame))
    assert (
        "Did you mean text_column='{lang}'? The columns en, de look like texts in English and German." in says
    )
    found = Manifest.of(frame, text_column="{lang}")
    assert list(found.languages) == ["en", "de"]
    assert found.item_ids == ["x", "y"]


def test_the_name_of_a_melted_column_is_no_language():
    frame = pd.DataFrame({"text_en": ["a"], "text_de": ["b"]}).melt(var_name="lang", value_name="text")
    assert "'text_en' is not a language tag: write 'en'" in refused(lambda: Manifest.of(frame))


def test_columns_named_by_languages_in_a_file(tmp_path):
    pd.DataFrame({"en": ["a"], "de": ["c"], "fr": ["e"]}).to_csv(tmp_path / "m.csv", index=False)
    says = refused(lambda: Manifest.read(tmp_path / "m.csv"))
    assert "Did you mean text_column='{lang}'?" in says
    assert "The columns en, de, fr look like texts in English, German and French." in says


WIDE = {"text_en": ["a", "b"], "text_de": ["c", None]}


@pytest.mark.parametrize(
    "cells",
    [
        [{"en": "a", "de": "c"}, {"en": "b", "de": None}],
        [{"language": ["de", "en"], "translation": ["c", "a"]}, {"language": ["en"], "translation": ["b"]}],
        [{"en": ["a"], "de": ["c"]}, {"en": ["b"], "de": []}],
    ],
)
@pytest.mark.parametrize("name", ["translation", "caption"])
def test_a_column_of_translations_is_the_wide_form(cells, name):
    options = {} if name == "translation" else {"text_column": name}
    expected = {
        (row, tag, text) for tag in ("en", "de") for row, text in enumerate(WIDE[f"text_{tag}"]) if text
    }
    for data in ([{name: cell} for cell in cells], pa.table({name: cells}), pd.DataFrame({name: cells})):
        found = Manifest.of(data, **options)
        tags = [found.languages[code] for code in found.language]
        assert set(zip(found.item.tolist(), tags, list(found.text), strict=True)) == expected
        assert found.wide


def test_several_translations_of_a_language_are_several_texts():
    found = Manifest.of([{"translation": {"language": ["en", "fr", "fr"], "translation": ["a", "x", "y"]}}])
    assert found.text == ["a", "x", "y"]
    assert found.ids == ["1", "1", "1#2"]


def test_a_column_of_translations_that_is_none():
    says = refused(lambda: Manifest.of([{"translation": {"the source": "a", "target": "b"}}]))
    assert "is not a language tag" in says
    assert "where translations are expected" in refused(
        lambda: Manifest.of([{"translation": {"en": "a", "de": "b"}}, {"translation": ["a", "b"]}])
    )
    both = [{"lang": "en", "text": "a", "translation": {"en": "x"}}]
    assert Manifest.of(both).text == ["a"]


def test_several_images_of_a_row_are_asked_about(tmp_path):
    rows = [{"text_en": "a", "image": ["1.png", "2.png"]}, {"text_en": "b", "image": ["3.png"]}]
    says = refused(lambda: Manifest.of(rows))
    assert "row 1, column 'image': found 2 images in one cell: images='first' takes" in says
    assert [str(path) for path in Manifest.of(rows, images="first").image_source] == ["1.png", "3.png"]
    assert "expected first or mean" in refused(lambda: Manifest.of(rows, images="middle"))
    pa_table = pa.Table.from_pylist(rows)
    pq.write_table(pa_table, tmp_path / "m.parquet")
    assert "images='first' takes the first" in refused(lambda: Manifest.read(tmp_path / "m.parquet"))
    assert len(Manifest.read(tmp_path / "m.parquet", images="mean").image_source[0]) == 2
    single = [{"text_en": "a", "image": ["1.png"]}, {"text_en": "b", "image": []}]
    assert Manifest.of(single).image.tolist() == [0, -1]


def test_the_mean_of_several_images_is_that_of_their_unit_vectors():
    colours = [["red", "blue", "green"], ["red"], ["blue", "red", "blue"]]
    rows = [{"text_en": str(i), "image": [png(c) for c in part]} for i, part in enumerate(colours)]
    manifest = Manifest.of(rows, images="mean")
    _, pixels = image_encoder("pixels")
    index = embed_images(manifest, "pixels", pixels, np.arange(3))
    found = index.pool.vectors.raw[index.pool.vectors.rows[index.pool.code[index.code]]]
    for vector, part in zip(found, colours, strict=True):
        several = [{"text_en": "x", "image": png(c)} for c in dict.fromkeys(part)]
        alone = pixels.encode(Manifest.of(several).images(np.arange(len(several)))).astype(np.float64)
        expected = (alone / np.linalg.norm(alone, axis=1, keepdims=True)).mean(axis=0)
        cosine = vector @ expected / np.linalg.norm(vector) / np.linalg.norm(expected)
        assert cosine == pytest.approx(1, abs=1e-6)
    first = Manifest.of(rows, images="first")
    assert manifest.digest != first.digest
    assert first.digest == Manifest.of([row | {"image": row["image"][0]} for row in rows]).digest


def shop(n=24):
    rng = np.random.default_rng(0)
    return [
        {
            "name_en": f"thing {i}",
            "name_de": f"ding {i}",
            "photo": [png(tuple(rng.integers(0, 255, 3).tolist())) for _ in range(2)],
        }
        for i in range(n)
    ]


def test_tasks_take_data_and_the_columns_of_it():
    options = {"text_column": "name_{lang}", "image_column": "photo", "images": "mean"}
    frame = pd.DataFrame(shop())
    manifest = Manifest.of(frame, **options)
    expected = backretrieval(
        manifest, text_encoders="chargram", image_encoder="pixels", measures="R@3", store=None
    )
    found = backretrieval(
        frame, {"chargram": "chargram"}, image_encoder="pixels", measures="R@3", store=None, **options
    )
    assert [entry.signature for entry in found.entries] == [entry.signature for entry in expected.entries]
    assert [entry.value for entry in found.entries] == [entry.value for entry in expected.entries]
    assert "|images-of-a-row:mean|" in found.entries[0].signature
    assert found.request["text_column"] == "name_{lang}"
    assert found.request["images"] == "mean"
    first = backretrieval(
        frame,
        "chargram",
        image_encoder="pixels",
        measures="R@3",
        store=None,
        **{**options, "images": "first"},
    )
    assert "|images-of-a-row:first|" in first.entries[0].signature
    retrieved = crosslingual_retrieval(
        frame.drop(columns="photo"), "chargram", text_column="name_{lang}", store=None
    )
    assert "images-of-a-row" not in retrieved.entries[0].signature
    assert (
        len(mix_pool(frame, text_column="name_{lang}", images="first", image_column="photo").candidates) > 0
    )


def test_a_similarity_of_images_takes_no_mean():
    def alike(first, second):
        return np.ones((len(first), len(second)))

    data = [row | {"image": row.pop("photo")} for row in shop(12)]
    says = refused(
        lambda: backretrieval(
            data,
            "chargram",
            image_encoder=alike,
            measures="R@2",
            text_column="name_{lang}",
            images="mean",
            store=None,
        )
    )
    assert "choose images=first" in says


def test_arguments_that_nothing_has_are_named():
    with pytest.raises(
        TypeError, match=r"backretrieval\(\) has no argument 'image_colum'\. Did you mean 'image_column'"
    ):
        backretrieval(ROWS, "chargram", image_encoder="pixels", image_colum="photo")
    with pytest.raises(TypeError, match=r"has no argument 'measure'\. Did you mean 'measures'"):
        crosslingual_retrieval(ROWS, "chargram", measure="R@10")
    with pytest.raises(TypeError, match=r"unexpected option 'nothing like it'$"):
        Manifest.of(ROWS, **{"nothing like it": "x"})
    with pytest.raises(TypeError, match=r"unexpected option 'image_colum'\. Did you mean 'image_column'"):
        Manifest.of(ROWS, image_colum="x")


@pytest.mark.parametrize("data", [3, None, object(), [1, 2], ["a path"], {"lang": "en"}, b"bytes"])
def test_what_is_no_data_is_refused(data):
    assert "give a path, a pandas or polars data frame" in refused(lambda: Manifest.of(data))


def test_columns_of_one_name_and_of_other_lengths():
    frame = pd.DataFrame([["en", "a", "b"]], columns=["lang", "text", "text"])
    assert "the DataFrame has more than one column 'text': rename" in refused(lambda: Manifest.of(frame))
    assert "different lengths" in refused(lambda: Manifest.of({"lang": ["en"], "text": ["a", "b"]}))
