import numpy as np

from xlingual.data.check import check
from xlingual.data.manifest import Manifest, read_reference
from xlingual.images import open_image


def test_ikea(real_data):
    path = real_data / "ikea" / "ikea_en_de_eval.parquet"
    manifest = Manifest.read(path)
    assert (manifest.n_items, manifest.languages, len(manifest)) == (730, ("en", "de"), 1460)
    assert set(manifest.fields) == {"raw"} and len(manifest.image_source) == 730
    test = Manifest.read(path, split="test")
    assert test.n_items == 367
    whole = next(way for way in test.numberings if way.unit == "items before rows were chosen")
    assert whole.sizes["en"] == 730
    rows = test.rows_of("de")
    assert np.array_equal(whole.take(rows).index, np.arange(363, 730))
    assert read_reference(f"{path}#test").digest == test.digest == Manifest.read(path, rows="363:").digest
    found = check(manifest)
    assert [len(language.repeated) for language in found.languages] == [0, 9]
    assert len(found.pictures.missing) == 730


def test_emoji(real_data):
    path = real_data / "emoji" / "emoji.parquet"
    manifest = Manifest.read(path, text_column="name_{lang}", image_column="image_png")
    assert (manifest.n_items, len(manifest.languages), len(manifest)) == (1573, 17, 1573 * 17)
    assert len(manifest.image_source) == 1572
    assert set(manifest.fields) == {"char", "group", "subgroup", "keywords"}
    assert open_image(manifest.image_source[0]).size == (64, 64)
