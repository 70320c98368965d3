import numpy as np
import pytest

from xlingual.data.manifest import Manifest, read_reference
from xlingual.errors import InputError

LONG = [
    {"id": "a", "lang": "en", "text": "shoe", "image": "1.png", "split": "train", "title": "Shoe"},
    {"id": "b", "lang": "de", "text": "Hut", "image": "2.png", "split": "test", "title": None},
    {"id": "c", "lang": "de", "text": "Schuh", "image": "./1.png", "split": "test", "title": "Schuh"},
    {"id": "d", "lang": "en", "text": "sock", "image": None, "split": "test", "title": "Sock"},
    {"id": "e", "lang": "en", "text": "sock, left", "image": "", "split": "test", "title": "Sock"},
]
WIDE = [
    {
        "id": "x",
        "text_en_2": "two",
        "text_en_1": "one",
        "text_de": "eins",
        "image": b"png1",
        "split": "train",
    },
    {"id": "y", "text_en_2": None, "text_en_1": " ", "text_de": "zwei", "image": b"png1", "split": "test"},
    {"id": "z", "text_en_2": "six", "text_en_1": "five", "text_de": "", "image": b"png2", "split": "test"},
    {"id": "w", "text_en_2": "", "text_en_1": None, "text_de": "", "image": b"png3", "split": "test"},
]


def test_long_form():
    manifest = Manifest.of(LONG)
    assert manifest.languages == ("en", "de")
    assert manifest.language.tolist() == [0, 1, 1, 0, 0]
    assert manifest.item.tolist() == [0, 1, 0, 2, 3]  # equal images are one item
    assert manifest.item_ids == ["a", "b", "d", "e"]
    assert manifest.cluster.tolist() == [0, 1, 0, 2, 3]
    assert manifest.image.tolist() == [0, 1, 0, -1, -1]
    assert manifest.fields == {"title": ["Shoe", "", "Schuh", "Sock", "Sock"]}
    assert manifest.has_images and manifest.n_items == 4 and len(manifest) == 5


def test_wide_form():
    manifest = Manifest.of(WIDE)
    assert manifest.languages == ("en", "de")
    assert manifest.ids == ["x", "x#2", "x", "y", "z", "z#2"]
    assert manifest.text == ["one", "two", "eins", "zwei", "five", "six"]
    assert manifest.item.tolist() == [0, 0, 0, 1, 2, 2]
    assert manifest.item_ids == ["x", "y", "z", "w"]  # row i is item i, with or without texts
    assert manifest.image.tolist() == [0, 0, 0, 0, 1, 1]
    assert manifest.image_source == [b"png1", b"png2"]


def test_explicit_items_and_clusters_of_any_scalar_type():
    rows = [
        {"lang": "en", "text": "a", "item": 7, "cluster": 1.5},
        {"lang": "de", "text": "b", "item": "7", "cluster": 2.5},
        {"lang": "de", "text": "c", "item": np.int64(8), "cluster": 1.5},
        {"lang": "de", "text": "d", "item": 8.0, "cluster": 1.5},
    ]
    manifest = Manifest.of(rows)
    assert manifest.item_ids == ["7", "8"] and manifest.item.tolist() == [0, 0, 1, 1]
    assert manifest.cluster.tolist() == [0, 1, 0, 0]
    assert manifest.ids == ["1", "2", "3", "4"]
    other = Manifest.of(rows, item_column="cluster")
    assert other.item.tolist() == [0, 1, 0, 0]


def test_same_id_in_two_languages_is_two_items_by_default():
    rows = [{"id": "a", "lang": lang, "text": lang} for lang in ("en", "de")]
    assert Manifest.of(rows).item_ids == ["en:a", "de:a"]
    assert Manifest.of(rows, item_column="id").item_ids == ["a"]


def test_fields_of_the_wide_form_follow_the_language():
    rows = [{"text_en": "a", "text_de": "b", "title_en": "A", "title_de": "B", "group": "g", "note_en": "n"}]
    fields = Manifest.of(rows).fields
    assert fields == {"title": ["A", "B"], "group": ["g", "g"], "note_en": ["n", "n"]}


def test_numberings():
    of_language, items, rows = Manifest.of(LONG).texts(np.array([4, 2])).numberings
    assert items.unit == "items" and items.index.tolist() == [3, 0]
    assert items.sizes == {None: 4, "en": 4, "de": 4}
    assert of_language.unit == "texts of the language" and of_language.index.tolist() == [2, 1]
    assert of_language.sizes == {"en": 3, "de": 2}
    assert rows.unit == "rows" and rows.index.tolist() == [4, 2] and rows.sizes == {None: 5}


@pytest.mark.parametrize("table", [LONG, WIDE], ids=["long", "wide"])
@pytest.mark.parametrize("options", [{"split": "test"}, {"rows": "1:"}, {"rows": "1:9", "split": "test"}])
def test_choosing_rows_equals_a_manifest_of_those_rows(table, options):
    chosen = Manifest.of(table, id_column="id", **options)
    alone = Manifest.of(table[1:], id_column="id")
    assert chosen.digest == alone.digest
    for name in ("ids", "languages", "text", "image_source", "fields", "split"):
        assert getattr(chosen, name) == getattr(alone, name)
    for name in ("language", "item", "cluster", "image"):
        assert getattr(chosen, name).tolist() == getattr(alone, name).tolist()
    for ours, theirs in zip(chosen.numberings[:3], alone.numberings, strict=True):
        assert ours.index.tolist() == theirs.index.tolist() and ours.sizes == theirs.sizes


@pytest.mark.parametrize(
    "options",
    [{"split": "tset"}, {"rows": "9:"}, {"rows": "3"}, {"rows": "1:2:3"}, {"rows": ":1", "split": "test"}],
)
def test_choosing_badly(options):
    with pytest.raises(InputError):
        Manifest.of(LONG, **options)


def test_references(tmp_path, table_file):
    path = table_file(tmp_path / "m.jsonl", LONG)
    assert len(read_reference(str(path))) == 5
    assert read_reference(f"{path}#test").ids == ["b", "c", "d", "e"]
    for rows in ("1:3", "1:", ":2", "-2:"):
        assert read_reference(f"{path}#{rows}").digest == Manifest.read(path, rows=rows).digest
    with pytest.raises(InputError, match="names the rows '1:3', but --rows '2:' is given too"):
        read_reference(f"{path}#1:3", rows="2:")
    with pytest.raises(InputError, match="rows 0 to 4"):
        read_reference(f"{path}#50:")
    assert read_reference(f"{path}#test", split="test", rows="3:").ids == ["d", "e"]
    odd = table_file(tmp_path / "a#b.jsonl", LONG)
    assert len(read_reference(str(odd))) == 5
    with pytest.raises(InputError, match="names the split 'test', but --split 'train'"):
        read_reference(f"{path}#test", split="train")
    with pytest.raises(InputError, match="write PATH#split"):
        read_reference(f"{path}#")


@pytest.mark.parametrize(
    ("row", "key", "value"),
    [(0, "text", "boot"), (1, "id", "bb"), (2, "lang", "nl"), (2, "image", "3.png"), (3, "item", "a")],
)
def test_digest_changes_with_the_data(row, key, value):
    before = Manifest.of(LONG, folder=".")
    changed = [dict(r, item=f"i{n}") if key == "item" else dict(r) for n, r in enumerate(LONG)]
    changed[row][key] = value
    assert Manifest.of(changed).digest != before.digest
