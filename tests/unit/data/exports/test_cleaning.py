"""Texts, images and columns of exports, one at a time."""

import html
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.data.exports.cleaning import clean
from xlingual.data.exports.columns import find_export_columns
from xlingual.data.exports.images import ImageCells, named_images
from xlingual.data.reading.gathering import table_of_rows
from xlingual.errors import InputError


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ("plain text", "plain text", ()),
        ("<p>One</p><p>Two</p>", "One\nTwo", ("HTML tags",)),
        ("a<br/>b <b>c</b>", "a\nb c", ("HTML tags",)),
        ("Salt &amp; pepper &#8364; &nbsp;5", "Salt & pepper € 5", ("HTML entities", "whitespace")),
        ("&lt;p&gt;Hi&amp;amp;&lt;/p&gt;", "Hi&", ("HTML entities", "HTML tags")),
        ("<script>x < 1</script>Shoe<!-- no -->", "Shoe", ("HTML tags",)),
        ("size <5 and >3, black&white; a&b", "size <5 and >3, black&white; a&b", ()),
        ("<name> stays", "<name> stays", ()),
        ("a<b and c>d, x <p or q> y, i<a x==y>z", "a<b and c>d, x <p or q> y, i<a x==y>z", ()),
        ("<p class=x>a</p ><a href='u' rel=v>b</a>\n<u\n>c</u><P/>", "a\nb\nc", ("HTML tags",)),
        ("<span hidden>a</span>", "a", ("HTML tags",)),
        ("zero\u200bwidth\x07 \ufeffmark", "zerowidth mark", ("control characters",)),
        ("  two\t blanks \r\n\n next ", "two blanks\nnext", ("whitespace",)),
        ("u\u0308ber", "über", ("Unicode form (NFC)",)),
        ("می\u200cخواهم 👩\u200d🚀", "می\u200cخواهم 👩\u200d🚀", ()),
        ("&nosuch; <br", "&nosuch; <br", ()),
    ],
)
def test_a_text(before, after, kinds):
    assert clean(before) == (after, kinds)


@given(st.text())
def test_a_clean_text_stays(text):
    once, _ = clean(html.escape(text))
    again, kinds = clean(once)
    assert "whitespace" not in kinds and "control characters" not in kinds
    assert "&" in once or "<" in once or again == once


@pytest.mark.parametrize(
    ("cell", "images"),
    [
        ("a.jpg", ["a.jpg"]),
        ("a.jpg|b.JPG", ["a.jpg", "b.JPG"]),
        ("a.jpg; b.png ;", ["a.jpg", "b.png"]),
        ("https://x.y/a?w=1,https://x.y/b", ["https://x.y/a?w=1", "https://x.y/b"]),
        ('["a.jpg", "b.jpg"]', ["a.jpg", "b.jpg"]),
        ("['a.jpg', 'b.jpg']", ["a.jpg", "b.jpg"]),
        ('[{"src": "a.jpg"}, {"src": "b.jpg"}]', ["a.jpg", "b.jpg"]),
        ("red, small.png", ["red, small.png"]),
        ("folder;x/a.jpg", ["folder;x/a.jpg"]),
        (["a.jpg", None], ["a.jpg"]),
        (" ", []),
        (None, []),
        (3, []),
    ],
)
def test_images_of_a_cell(cell, images):
    assert named_images(cell) == images


def test_images_are_paths_within_the_folder_of_the_manifest(tmp_path):
    (tmp_path / "img").mkdir()
    for name in ("a.jpg", "b c.jpg"):
        (tmp_path / "img" / name).write_bytes(b"x")
    cells = ImageCells(tmp_path / "img", tmp_path)
    assert cells.path("a.jpg") == ("img/a.jpg", "", ())
    assert cells.path("C:\\shop\\a.jpg")[0] == "img/a.jpg"
    url = "https://shop.example/i/b%20c.jpg?w=3"
    assert cells.path(url) == ("img/b c.jpg", url, ("image found by its name",))
    assert cells.path("https://shop.example/none.jpg")[0] is None
    assert cells.path("none.jpg") == ("img/none.jpg", "", ())
    left_out = (None, "", ("image outside the folder: left out",))
    for path in ("../../secret.jpg", "/etc/none.jpg", "C:\\shop\\none.jpg"):
        assert cells.path(path) == left_out
    outside = ImageCells(tmp_path / "img", tmp_path / "elsewhere")
    assert outside.path("a.jpg") == left_out
    with pytest.raises(
        InputError, match=r"^row 1: the image \S*a\.jpg lies outside .* --out \S*img/manifest"
    ):
        outside.refuse_all_outside("row 1")
    cells.refuse_all_outside("row 1")


def columns(*names, join=(), language=None, **given):
    table = table_of_rows([dict.fromkeys(names, "x")], "export.csv", None)
    return find_export_columns(table, given, join, language)


@pytest.mark.parametrize(
    "name", ["Artikel-Nr", "Art.-Nr.", "artikel_nr", "Bestellnummer", "Référence", "Item No.", "Артикул"]
)
def test_the_column_of_ids_is_found_in_several_languages(name):
    assert columns("Preis", name, "Titel", "Sprache").id == name


def test_columns_are_found_by_what_shops_call_them():
    found = columns("SKU", "Product Title", "Body (HTML)", "Language", "Image Src", "Price")
    assert found.texts == {None: ["Product Title"]}
    assert (found.id, found.lang, found.image) == ("SKU", "Language", "Image Src")
    assert found.fields == ["Body (HTML)", "Price"]


@pytest.mark.parametrize(
    "names",
    [("title_en", "title_de"), ("Title EN", "Title (DE)"), ("Title English", "Title-German"), ("en", "de")],
)
def test_columns_of_languages_are_found(names):
    found = columns("id", *names, "product_no", "product_id")
    assert {tag: list(columns) for tag, columns in found.texts.items()} == {
        "en": [names[0]],
        "de": [names[1]],
    }


def test_further_columns_by_language_follow_it():
    found = columns("id", "title_en", "title_de", "description_en", "description_de")
    assert found.language_fields == {"description": {"en": "description_en", "de": "description_de"}}
    assert found.fields == []
    joined = columns(
        "id", "title_en", "title_de", "description_en", join=["title_{lang}", "description_{lang}"]
    )
    assert {tag: list(names) for tag, names in joined.texts.items()} == {
        "en": ["title_en", "description_en"],
        "de": ["title_de"],
    }
    assert not joined.fields and not joined.language_fields


@pytest.mark.parametrize(
    ("names", "more", "words"),
    [
        (("a", "b"), {}, "no column of texts is found"),
        (("text",), {}, "no column of languages is found"),
        (("text",), {"language": "xx"}, "--language 'xx' is no language"),
        (("text", "lang"), {"text": "txt"}, "Did you mean 'text'"),
        (("text", "lang"), {"text": "t_{lang}"}, "has no column that matches 't_{lang}'"),
        (("text", "lang"), {"text": "text", "join": ["a"]}, "exclude each other"),
    ],
)
def test_columns_that_are_not_found(names, more, words):
    with pytest.raises(InputError) as error:
        columns(*names, **more)
    assert words in str(error.value)


def test_a_list_of_objects_counts_as_json():
    assert named_images(json.dumps({"url": "a.jpg"})) == ["a.jpg"]
