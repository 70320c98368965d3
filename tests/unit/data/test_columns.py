"""The meaning of columns: the forms, labels of few different values."""

from xlingual.data.manifest import Manifest


def rows(n=20):
    return [
        {
            "id": f"i{i}",
            "text_en": f"e{i}",
            "text_de": f"d{i}" if i else "",
            "title_en": "u",
            "title_de": "t",
            "kind": "ab"[i % 2],
            "size": i % 3,
            "sold": bool(i % 2),
            "price": i / 2,
            "name": f"n{i}",
            "gap": None if i % 4 else "x",
            "split": "train" if i < 10 else "test",
        }
        for i in range(n)
    ]


def test_columns_with_few_values_are_labels_of_every_text():
    manifest = Manifest.of(rows())
    assert set(manifest.labels) == {"kind", "size", "sold", "gap", "split"}
    assert len(manifest.labels["kind"]) == len(manifest) == 39
    assert manifest.labels["size"][:3] == ["0", "1", "1"]  # the first item has one text
    assert manifest.labels["gap"][:2] == ["x", None]


def languages(row, **options):
    return Manifest.of([row], **options).languages


def test_the_form():
    both = {"lang": "en", "text": "a", "text_de": "b"}
    assert languages(both) == ("en",)
    assert languages(both, text_column="text_{lang}") == ("de",)
    assert languages({"text": "a", "text_de": "b"}) == ("de",)  # no language column: wide, and a field `text`
    assert languages({"language": "fr", "text": "a", "text_de": "b"}, lang_column="language") == ("fr",)
    assert languages({"lang": "en", "caption": "a"}, text_column="caption") == ("en",)


def test_patterns_of_the_wide_form():
    row = {"id": "1", "name_zh-Hant": "a", "name_en_2": "c", "name_en": "b", "name_of_it": "x"}
    manifest = Manifest.of([row], text_column="name_{lang}")
    assert manifest.languages == ("zh-Hant", "en")
    assert manifest.ids == ["1", "1", "1#2"] and manifest.text == ["a", "b", "c"]
    assert manifest.fields == {"name_of_it": ["x", "x", "x"]}
    assert languages({"en_text": "a", "pt-BR_text_1": "b"}, text_column="{lang}_text") == ("en", "pt-BR")
    assert languages({"t_english": "a", "t_german": "b"}, text_column="t_{lang}") == ("english", "german")
    assert languages({"text_en": "a", "text_source": "web"}) == ("en",)
