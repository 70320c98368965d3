import pytest

from xlingual.data.manifest import Manifest
from xlingual.errors import InputError

ROW = {"id": "a", "lang": "en", "text": "shoe"}


def languages(row, **options):
    return Manifest.from_rows([row], **options).languages


def test_the_form():
    both = {"lang": "en", "text": "a", "text_de": "b"}
    assert languages(both) == ("en",)
    assert languages(both, text_column="text_{lang}") == ("de",)
    assert languages({"text": "a", "text_de": "b"}) == ("de",)  # no language column: wide, and a field `text`
    assert languages({"language": "fr", "text": "a", "text_de": "b"}, lang_column="language") == ("fr",)
    assert languages({"lang": "en", "caption": "a"}, text_column="caption") == ("en",)


def test_patterns_of_the_wide_form():
    row = {"id": "1", "name_zh-Hant": "a", "name_en_2": "c", "name_en": "b", "name_of_it": "x"}
    manifest = Manifest.from_rows([row], text_column="name_{lang}")
    assert manifest.languages == ("zh-Hant", "en")
    assert manifest.ids == ["1", "1", "1#2"] and manifest.text == ["a", "b", "c"]
    assert manifest.fields == {"name_of_it": ["x", "x", "x"]}
    assert languages({"en_text": "a", "pt-BR_text_1": "b"}, text_column="{lang}_text") == ("en", "pt-BR")
    assert languages({"t_english": "a", "t_german": "b"}, text_column="t_{lang}") == ("english", "german")
    assert languages({"text_en": "a", "text_source": "web"}) == ("en",)


def test_languages_without_any_text_do_not_count():
    assert languages({"text_en": "a", "text_de": None}) == ("en",)


@pytest.mark.parametrize(
    ("row", "options", "words"),
    [
        (ROW, {"image_column": "imag"}, r"no column 'imag' \(image_column=…\)"),
        (ROW, {"text_column": "txt"}, "no column 'txt' .*Did you mean 'text'.*columns: id, lang, text"),
        ({"id": 1, "lang": "en"}, {}, "has a column 'lang' but no column 'text'"),
        ({"language": "en", "text": "a"}, {}, r"no column 'lang'.*Did you mean lang_column='language'\?"),
        (
            {"id": "1", "language": "en", "title": "a"},
            {},
            r"no texts: .*Did you mean lang_column='language', text_column='title'\? Its columns: id",
        ),
        ({"lang": "en", "caption": "a"}, {}, r"no column 'text'.*Did you mean text_column='caption'\?"),
        ({"id": "1"}, {}, "has no texts: the long form needs .* Its columns: id"),
        ({"name_en": "a", "name_de": "b"}, {}, r"Did you mean text_column='name_\{lang\}'"),
        (
            {"name_en": "a", "name_de": "b"},
            {"text_column": "nam_{lang}"},
            r"no column that matches.*'name_\{lang\}'",
        ),
        (ROW, {"text_column": "{lang}{lang}"}, "once"),
        (
            {"text_en": "a"},
            {"text_column": "text_{lang}", "lang_column": "x"},
            "lang_column='x' does not go with",
        ),
        ({"text_en": "a", "p": "b"}, {"item_column": "p"}, "wide form, where each row is an item"),
        ({"text_en": "a", "text_zh_Hant": "b"}, {}, "rename the column to 'text_zh-Hant'"),
        ({"text_en": "a", "text_EN": "b"}, {}, "differ only in case"),
        ({"text_en": 3}, {}, "row 1, column 'text_en': found the number 3 where a text is expected"),
        ({"text_en": None}, {}, "no text in any row"),
        (ROW | {"text": 1.5}, {}, "row 1, column 'text': found the number 1.5"),
        (ROW | {"text": ["a"]}, {}, "found a list where a text"),
        (ROW | {"text": b"a"}, {}, "found 1 bytes where a text"),
        (ROW | {"lang": "en_US"}, {}, "row 1, column 'lang': 'en_US' is not a language tag: write 'en-US'"),
        (ROW | {"lang": "e"}, {}, "'e' is not a language tag"),
        (ROW | {"lang": "../x"}, {}, "is not a language tag"),
        (ROW | {"lang": None}, {}, "row 1, column 'lang': empty language"),
        (ROW | {"id": ""}, {}, "row 1, column 'id': empty id"),
        (ROW | {"id": {"a": 1}}, {}, "found a mapping as id"),
        (ROW | {"item": float("nan")}, {}, "row 1, column 'item': empty item"),
        (ROW | {"image": 3}, {}, "row 1, column 'image': found the number 3 where an image"),
    ],
)
def test_errors(row, options, words):
    with pytest.raises(InputError, match=words) as error:
        Manifest.from_rows([row], **options)
    assert "\n" not in str(error.value)


def test_duplicate_ids_name_both_rows():
    rows = [ROW, ROW | {"lang": "de"}, ROW, ROW]
    with pytest.raises(InputError, match=r"rows 1 and 3 have the same id 'a' \(1 more rows repeat"):
        Manifest.from_rows(rows)
    with pytest.raises(InputError, match="rows 1 and 2 have the same id 'x'"):
        Manifest.from_rows([{"id": "x", "text_en": "a"}, {"id": "x", "text_en": "b"}])
    with pytest.raises(InputError, match="do not end ids in '#2'"):
        Manifest.from_rows([{"id": "x", "text_en_1": "a", "text_en_2": "c"}, {"id": "x#2", "text_en_1": "b"}])


def test_rows_that_are_no_mappings_and_unknown_options():
    with pytest.raises(InputError, match="row 1: expected a mapping"):
        Manifest.from_rows(["text"])
    with pytest.raises(TypeError, match=r"unexpected option 'txt_column'\. Did you mean 'text_column'"):
        Manifest.from_rows([ROW], txt_column="text")
    with pytest.raises(InputError, match="the given data has no texts"):
        Manifest.from_rows([])
