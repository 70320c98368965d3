"""Words for languages as BCP 47 tags."""

import re

from xlingual.data.languages import tag_of
from xlingual.languages import names

WORDS = {
    "EN": "en", " english ": "en", "en_GB": "en-GB", "pt-br": "pt-BR", "ger": "de", "deu_Latn": "de",
    "zho_Hans": "zh-Hans", "zh-hans-cn": "zh-Hans-CN", "srp_Latn": "sr-Latn", "rus_Cyrl": "ru", "iw": "he",
    "heb": "he", "hbs": "sh", "fil": "fil", "n/a": None, "xx": None, "klingon": None, "": None,
}  # fmt: skip


def test_words():
    assert {word: tag_of(word) for word in WORDS} == WORDS


def test_a_tag_is_its_own_tag():
    for code in names().keys() - {"iw", "ji"}:
        assert tag_of(code) == code and tag_of(code.upper()) == code
        assert re.fullmatch("[a-z]{2,3}", code)


def test_every_english_name_is_known():
    assert all(tag_of(name) == code for code, name in names().items() if code not in ("iw", "ji"))
