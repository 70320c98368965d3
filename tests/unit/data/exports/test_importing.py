"""Whole exports: the manifest that comes of them reads as it should, and every change is listed."""

import csv
import json
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual.data.exports.importing import import_export
from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning, InputError

ROWS = [
    ["SKU", "Title", "Locale", "Description", "Images", "Price"],
    ["1", "Rote <b>Schuhe</b> &amp; Socken", "DE", "Warm", "a.jpg|b.jpg", "12,50"],
    ["1", "Red shoes", "english", "Warm", "a.jpg|b.jpg", "12,50"],
    ["2", "Hut", "de_DE", "", "https://shop.example/hut.jpg", "9"],
    ["2", "Hat", "en", "", "https://shop.example/hut.jpg", "9"],
    ["2", "Hat", "en", "", "https://shop.example/hut.jpg", "9"],
    ["3", " ", "en", "nothing", "c.jpg", "1"],
    ["4", "Tür", "xx", "x", "", "1"],
    ["5", "Mütze", "de", "", "x.jpg", "3"],
    ["5", "Mütze, groß", "de", "", "x.jpg", "3"],
    ["", "Cap", "EN", "", "x.jpg", "3"],
]


def write(path, rows=ROWS, mark=",", encoding="utf-8"):
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=mark).writerows(rows)
    return path


def imported(path, out=None, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return import_export(path, out or path.parent / "m.parquet", **more)


def read(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of 'de' beside 'de-DE'
        return Manifest.read(folder / "m.parquet")


def excel(path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append([cell or None for cell in row])
    book.save(path)
    return path


def jsonl(path):
    rows = [dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def listed_json(path):
    rows = [dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]]
    path.write_text(json.dumps({"products": rows}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("e.csv", write),
        ("e.csv", lambda path: write(path, mark=";")),
        ("e.txt", lambda path: write(path, mark="\t")),
        ("e.csv", lambda path: write(path, mark="|", encoding="utf-16")),
        ("e.xlsx", excel),
        ("e.jsonl", jsonl),
        ("e.json", listed_json),
    ],
)
def test_every_format_gives_the_same_manifest(tmp_path, name, make):
    made = imported(make(tmp_path / name))
    manifest = read(tmp_path)
    rows = [
        (i, manifest.languages[code], text, manifest.item_ids[item])
        for i, code, text, item in zip(
            manifest.ids, manifest.language, manifest.text, manifest.item, strict=True
        )
    ]
    assert rows == [
        ("1", "de", "Rote Schuhe & Socken", "1"),
        ("1", "en", "Red shoes", "1"),
        ("2", "de-DE", "Hut", "2"),
        ("2", "en", "Hat", "2"),
        ("5", "de", "Mütze", "5"),
        ("5#2", "de", "Mütze, groß", "5"),
        ("10", "en", "Cap", "10"),
    ]
    images = [manifest.image_source[i].name if i >= 0 else None for i in manifest.image]
    assert images == ["a.jpg", "a.jpg", None, None, "x.jpg", "x.jpg", "x.jpg"]
    assert manifest.fields["Price"][0] == "12,50" and manifest.fields["Description"][0] == "Warm"
    assert (made.n_rows, dict(made.texts), made.n_urls) == (10, {"de": 3, "en": 3, "de-DE": 1}, 3)


def test_every_change_is_listed_with_row_and_reason(tmp_path):
    imported(write(tmp_path / "e.csv"))
    with (tmp_path / "m.changes.csv").open(encoding="utf-8", newline="") as file:
        lines = [tuple(row.values()) for row in csv.DictReader(file)]
    url = "https://shop.example/hut.jpg"
    assert lines == [
        ("1", "Locale", "language tag", "DE", "de"),
        ("1", "Title", "HTML tags; HTML entities", ROWS[1][1], "Rote Schuhe & Socken"),
        ("1", "Images", "several images: the first is kept", "a.jpg|b.jpg", "a.jpg"),
        ("2", "Locale", "language tag", "english", "en"),
        ("2", "Images", "several images: the first is kept", "a.jpg|b.jpg", "a.jpg"),
        ("3", "Locale", "language tag", "de_DE", "de-DE"),
        ("3", "Images", "the image is a URL: nothing is downloaded", url, ""),
        ("4", "Images", "the image is a URL: nothing is downloaded", url, ""),
        ("5", "Images", "the image is a URL: nothing is downloaded", url, ""),
        ("5", "SKU", "repeated row: dropped", "2", ""),
        ("6", "Title", "no text: dropped", " ", ""),
        ("7", "Locale", "unknown language: dropped", "xx", ""),
        ("9", "SKU", "id in use: made unique", "5", "5#2"),
        ("10", "Locale", "language tag", "EN", "en"),
        ("10", "SKU", "no id: the row's number", "", "10"),
    ]


def test_rows_of_another_width_are_dropped_and_listed(tmp_path):
    path = write(tmp_path / "e.csv", [["id", "lang", "text"], ["1", "en", "a"], ["2", "de", "b", "c"]])
    made = imported(path)
    assert made.texts == {"en": 1}
    assert [(change.row, change.what) for change in made.changes] == [(2, "row cannot be read: dropped")]


@pytest.mark.parametrize("line", ['3;en;"Red', '3;en;"Best" chair'])
def test_rows_with_wrong_quotes_are_dropped_and_listed(tmp_path, line):
    lines = ["id;lang;text", '1;en;"a; ""b"""', "2;de;x", line, '4;de;"y\nz"', "5;de;too;many", "6;en;c"]
    (tmp_path / "e.csv").write_text("\n".join(lines), encoding="utf-8")
    made = imported(tmp_path / "e.csv")
    assert list(read(tmp_path).text) == ['a; "b"', "x", "y\nz", "c"]
    assert [(change.row, change.what) for change in made.changes] == [
        (3, "row cannot be read: dropped"),
        (5, "row cannot be read: dropped"),
    ]
    assert [change.before.split(":")[0] for change in made.changes] == [
        "its quotes are not closed, or text stands behind them",
        "another number of fields than the header",
    ]
    (tmp_path / "e.csv").write_text('id;"lang\n1;en', encoding="utf-8")
    with pytest.raises(InputError, match="line 1: unexpected end of data"):
        imported(tmp_path / "e.csv", separator=";")


@pytest.mark.parametrize("lines", [["1;en;a"], ["1;en;a", "2;de;b;c", "3;de;c;d", "4;de;d;e;f", "5;de;f;g"]])
def test_a_separator_is_guessed_however_small_the_file(tmp_path, lines):
    (tmp_path / "e.csv").write_text("\n".join(["id;lang;text", *lines]), encoding="utf-8")
    with pytest.warns(DataWarning, match=r"read with separator ';' \(confidence 0\.\d\d\): give separator=…"):
        made = import_export(tmp_path / "e.csv", tmp_path / "m.parquet")
    assert made.texts == {"en": 1}


def test_images_outside_the_folder_are_left_out_and_listed(tmp_path):
    (tmp_path / "shop").mkdir()
    for path in ("shop/a.jpg", "b.jpg"):
        (tmp_path / path).write_bytes(b"x")
    cells = ["a.jpg", str(tmp_path / "b.jpg"), "C:\\shop\\none.jpg", "../b.jpg"]
    rows = [[str(i), "en", f"text {i}", cell] for i, cell in enumerate(cells)]
    made = imported(write(tmp_path / "shop" / "e.csv", [["id", "lang", "text", "image"], *rows]))
    assert [(change.row, change.before) for change in made.changes] == list(
        zip((2, 3, 4), cells[1:], strict=True)
    )
    assert {change.what for change in made.changes} == {"image outside the folder: left out"}
    assert len(read(tmp_path / "shop")) == 4 and len(read(tmp_path / "shop").image_source) == 1
    with pytest.raises(InputError, match=r"e\.csv, row 1, column 'image': the image \S*a\.jpg lies outside"):
        imported(tmp_path / "shop" / "e.csv", tmp_path / "other" / "m.parquet")


def test_a_column_for_each_language_becomes_a_row_for_each(tmp_path):
    rows = [
        ["sku", "Title EN", "Title DE", "Description EN", "Description DE", "text"],
        ["1", "Shoe", "Schuh", "warm", "warm (de)", "t"],
        ["1", "Boot", "", "", "", "t"],
        ["2", "", "", "", "", "t"],
    ]
    made = imported(write(tmp_path / "e.csv", rows))
    manifest = read(tmp_path)
    assert list(zip(manifest.ids, manifest.text, strict=True)) == [
        ("1", "Shoe"),
        ("1", "Schuh"),
        ("1#2", "Boot"),
    ]
    assert [manifest.item_ids[i] for i in manifest.item] == ["1", "1", "1#2"]
    assert list(manifest.fields["description"]) == ["warm", "warm (de)", ""]
    assert manifest.fields["export_text"][0] == "t"
    assert [change.what for change in made.changes] == ["id in use: made unique", "no text: dropped"]


def test_the_languages_of_a_row_are_one_item_where_no_column_names_it(tmp_path):
    rows = [["title_en", "title_de"], ["red", "rot"], ["blue", "blau"], ["green", ""]]
    imported(write(tmp_path / "e.csv", rows))
    manifest = read(tmp_path)
    assert [manifest.item_ids[i] for i in manifest.item] == ["1", "1", "2", "2", "3"]
    assert list(manifest.text) == ["red", "rot", "blue", "blau", "green"]


def test_every_variant_of_an_id_is_kept_once(tmp_path):
    rows = [["id", "lang", "title"], *(["1", "en", title] for title in "ABBAB"), ["2", "de", "B"]]
    made = imported(write(tmp_path / "e.csv", rows))
    assert [(row["id"], row["text"]) for row in made.rows] == [("1", "A"), ("1#2", "B"), ("2", "B")]
    dropped = [change.row for change in made.changes if change.what == "repeated row: dropped"]
    assert dropped == [3, 4, 5]


def test_texts_are_joined(tmp_path):
    path = write(tmp_path / "e.csv", [["id", "lang", "title", "body"], ["1", "en", "A", "<p>b</p>"]])
    imported(path, join=["title", "body"])
    manifest = read(tmp_path)
    assert list(manifest.text) == ["A\nb"] and not manifest.fields


def test_images_that_were_downloaded_are_found_by_their_names(tmp_path):
    (tmp_path / "img").mkdir()
    (tmp_path / "img" / "hut.jpg").write_bytes(b"x")
    made = imported(write(tmp_path / "e.csv"), images=tmp_path / "img")
    manifest = read(tmp_path)
    assert made.n_urls == 0
    assert manifest.image_source[manifest.image[2]] == tmp_path / "img" / "hut.jpg"
    assert manifest.fields["image_url"][2].startswith("https://")


def test_what_cannot_be_imported_is_named(tmp_path):
    path = write(tmp_path / "e.csv", [["text", "lang"], ["a", "xx"], ["b", "yy"]])
    with pytest.raises(InputError, match=r"no text is left of its 2 rows \(unknown language: dropped 2\)"):
        imported(path)
    with pytest.raises(InputError, match=r"Parquet: name it"):
        imported(path, tmp_path / "m.csv")
    (tmp_path / "e.json").write_text("3", encoding="utf-8")
    with pytest.raises(InputError, match="JSON lines"):
        imported(tmp_path / "e.json")
    assert not (tmp_path / "m.parquet").exists() and not (tmp_path / "m.changes.csv").exists()


def test_an_export_without_ids_says_that_rows_are_numbered(tmp_path):
    path = write(tmp_path / "e.csv", [["lang", "text", "code"], ["de", "a", "7"], ["en", "b", "8"]])
    with pytest.warns(
        DataWarning, match=r"no id column is found.*name it with --id-column.*lang, text, code"
    ):
        import_export(path, tmp_path / "m.parquet")
    assert read(tmp_path).ids == ["1", "2"]
    import_export(path, tmp_path / "m.parquet", columns={"id": "code"})  # without a warning
    assert read(tmp_path).ids == ["7", "8"]


def test_a_language_is_that_of_rows_without_one(tmp_path):
    path = write(tmp_path / "e.csv", [["lang", "text"], ["de", "a"], ["", "b"]])
    assert imported(path, language="english").texts == {"de": 1, "en": 1}
    with pytest.raises(InputError, match="--language 'xx' is no language"):
        imported(path, language="xx")


def test_bytes_of_images_are_no_export(tmp_path):
    table = pa.table({"text": ["a"], "lang": ["en"], "image": [{"bytes": b"x", "path": None}]})
    pq.write_table(table, tmp_path / "e.parquet")
    with pytest.raises(InputError, match="row 1, column 'image' holds the bytes"):
        imported(tmp_path / "e.parquet")
