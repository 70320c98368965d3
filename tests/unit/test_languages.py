from unicodedata import name

import pytest

from xlingual import languages
from xlingual.data.languages import script_of
from xlingual.languages import direction, scripts_of


def test_the_table_has_each_language_once():
    codes = [code for code, _, _ in languages._ROWS]
    assert len(codes) == len(set(codes)) > 120
    assert all(len(code) in (2, 3) and language.istitle() for code, language, _ in languages._ROWS)
    names = [language for code, language, _ in languages._ROWS if code not in ("iw", "ji")]  # old codes
    assert len(names) == len(set(names))


def test_scripts_are_called_as_unicode_calls_them():
    known = {script_of(chr(number)) for number in range(0x20000) if name(chr(number), "")}
    used = [scripts for *_, scripts in languages._ROWS] + list(languages._SCRIPTS_OF_SUBTAGS.values())
    assert known >= languages._FROM_THE_RIGHT.union(*used)


def test_an_unknown_language_has_no_known_script():
    assert scripts_of("tlh") is None
    assert scripts_of("qq") == ("LATIN",)  # as most languages of two letters
    assert scripts_of("zh_Hant") == scripts_of("zh-Hant") == ("CJK", "BOPOMOFO")


@pytest.mark.parametrize(
    "tag", ["ar", "he", "fa", "ur", "AR-EG", "az-Arab", "ks", "yi", "pa_Arab", "dv", "ff-Adlm"]
)
def test_right_to_left(tag):
    assert direction(tag) == "rtl"


@pytest.mark.parametrize("tag", ["en", "ja", "zh-Hant", "ar-Latn", "hi", "az", "ru", "", "ku"])
def test_left_to_right(tag):
    assert direction(tag) == "ltr"
