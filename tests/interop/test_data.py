"""Data frames, data sets and addresses of the real libraries, given as they are."""

import io

import numpy as np
import pytest
from PIL import Image

from xlingual import Manifest, backretrieval, write_report
from xlingual.errors import InputError

ROWS = [
    {"id": "1", "lang": "en", "text": "a red shoe", "item": "17"},
    {"id": "2", "lang": "de", "text": "ein roter Schuh", "item": "17"},
    {"id": "3", "lang": "de", "text": "ein blauer Hut", "item": "18"},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
DIGEST = Manifest.of(ROWS).digest


def colours(n, seed=0):
    rng = np.random.default_rng(seed)
    return [Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)) for _ in range(n)]


def png(image):
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def test_pandas_three_lines_to_a_report(tmp_path):
    pd = pytest.importorskip("pandas")
    for i, image in enumerate(colours(24)):
        image.save(tmp_path / f"{i}.png")
    rows = [{"text_en": f"shoe {i}", "text_de": f"Schuh {i}", "photo": f"{i}.png"} for i in range(24)]
    pd.DataFrame(rows).to_csv(tmp_path / "shop.csv", index=False)

    df = pd.read_csv(tmp_path / "shop.csv")
    results = backretrieval(
        df, {"mine": "chargram"}, image_column="photo", folder=tmp_path, image_encoder="pixels", store=None
    )
    write_report(results, tmp_path / "report.html")
    assert "mine" in (tmp_path / "report.html").read_text()
    read = Manifest.read(tmp_path / "shop.csv", image_column="photo")
    expected = backretrieval(read, {"mine": "chargram"}, image_encoder="pixels", store=None)
    assert results.entries[0].signature == expected.entries[0].signature


@pytest.mark.parametrize("dtype", ["str", "object", "category", "string[pyarrow]"])
def test_pandas_of_every_kind_of_text(dtype):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COLUMNS)
    frame["text"] = frame["text"].astype(dtype)
    frame["lang"] = frame["lang"].astype(dtype)
    assert Manifest.of(frame).digest == DIGEST


@pytest.mark.parametrize("dtype", ["String", "Categorical", "Enum"])
def test_polars(dtype):
    pl = pytest.importorskip("polars")
    kind = pl.Enum(sorted(set(COLUMNS["lang"]))) if dtype == "Enum" else getattr(pl, dtype)
    frame = pl.DataFrame(COLUMNS).with_columns(pl.col("lang").cast(kind))
    assert Manifest.of(frame).digest == DIGEST
    assert Manifest.of(frame.lazy()).digest == DIGEST
    assert Manifest.of(frame.with_columns(item=None), item_column="id").n_items == 3


def test_polars_with_objects():
    pl = pytest.importorskip("polars")
    images = colours(3)
    frame = pl.DataFrame(COLUMNS).with_columns(image=pl.Series(images, dtype=pl.Object))
    shown = Manifest.of(frame).images(np.arange(3)).images
    assert [one.tobytes() for one in shown] == [one.tobytes() for one in images]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_series_is_no_table_and_arrays_of_pixels_are_images(library):
    frames = pytest.importorskip(library)
    with pytest.raises(InputError, match="Series"):
        Manifest.of(frames.Series(["a"]))
    images = colours(2)
    arrays = [np.asarray(image) for image in images]
    column = arrays if library == "pandas" else frames.Series(arrays, dtype=frames.Object)
    found = Manifest.of(frames.DataFrame({"text_en": ["a", "b"], "image": column}))
    assert (
        found.image_source
        == Manifest.of(
            [{"text_en": text, "image": image} for text, image in zip("ab", images, strict=True)]
        ).image_source
    )


def test_pandas_columns_named_by_numbers():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([["7", "a", "b"]], columns=[0, "text_en", "text_de"])
    assert Manifest.of(frame, id_column=0).ids == ["7", "7"]


def test_datasets_with_images():
    datasets = pytest.importorskip("datasets")
    images = colours(3)
    dataset = datasets.Dataset.from_dict({**COLUMNS, "image": images}).cast_column("image", datasets.Image())
    shown = Manifest.of(dataset).images(np.arange(3)).images
    assert [one.tobytes() for one in shown] == [one.tobytes() for one in images]
    chosen = dataset.shuffle(seed=0).select([2, 0]).filter(lambda row: row["id"] != "9")
    assert Manifest.of(chosen).ids == chosen["id"]


def test_datasets_formats_classes_and_streams():
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict(COLUMNS)
    assert Manifest.of(dataset).digest == DIGEST
    assert Manifest.of(dataset.with_format("numpy", columns=["id"])).digest == DIGEST
    assert Manifest.of(dataset.class_encode_column("lang")).digest == DIGEST
    assert Manifest.of(dataset.to_iterable_dataset()).digest == DIGEST


def test_datasets_with_splits():
    datasets = pytest.importorskip("datasets")
    whole = datasets.Dataset.from_dict(COLUMNS).class_encode_column("lang")
    splits = datasets.DatasetDict({"train": whole.select([0, 1]), "test": whole.select([2])})
    assert list(Manifest.of(splits).split) == ["train", "train", "test"]


VECTORS = np.arange(9, dtype=np.float32).reshape(3, 3)[[2, 0, 1]] - 4


def vectors_of(spec, **options):
    from xlingual.encoders import text_encoders

    manifest = Manifest.of(ROWS)
    encoder = next(iter(text_encoders([spec], languages=manifest.languages).values()))
    return encoder.encode(manifest.texts(np.arange(3)))


def test_vectors_of_frames(tmp_path):
    pl = pytest.importorskip("polars")
    pd = pytest.importorskip("pandas")
    pl.DataFrame({"key": [3, 1, 2], "v": VECTORS}).write_parquet(tmp_path / "polars.parquet")
    pl.DataFrame({"key": [3, 1, 2], "v": VECTORS}).write_ipc(tmp_path / "polars.arrow")
    pd.DataFrame({"key": [3, 1, 2], "v": list(VECTORS)}).to_parquet(tmp_path / "pandas.parquet")
    for name in ("polars.parquet", "polars.arrow", "pandas.parquet"):
        np.testing.assert_array_equal(vectors_of(f"vectors:{tmp_path / name}?id=key"), VECTORS[[1, 2, 0]])
