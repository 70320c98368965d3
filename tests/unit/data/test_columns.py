from xlingual.data.manifest import Manifest


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


def test_languages_without_any_text_do_not_count():
    assert languages({"text_en": "a", "text_de": None}) == ("en",)
