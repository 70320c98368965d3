"""How texts become words, in scripts with and without blanks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.models.words import tokens


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Two dogs -- one BALL!", ["two", "dogs", "one", "ball"]),
        ("en", "don't; don’t", ["don", "t", "don", "t"]),
        ("en", "a well-known 3.5 m wall", ["a", "well", "known", "3", "5", "m", "wall"]),
        ("fr", "L'été à Paris", ["l", "été", "à", "paris"]),
        ("de", "Straße, ÄRGER", ["straße", "ärger"]),
        ("en", "ﬁne Ｗide ①", ["fine", "wide", "1"]),  # NFKC
        ("tr", "IRMAK İstanbul I\u0307", ["ırmak", "istanbul", "i"]),
        ("az-Latn", "I", ["ı"]),
        ("hi", "हिन्दी में", ["हिन्दी", "में"]),  # vowel signs stay in their word
        ("fa", "می‌خواهم", ["می‌خواهم"]),  # a joiner does too
        ("ko", "빨간 의자", ["빨간", "의자"]),
        ("zh", "一只红色的狗。", list("一只红色的狗")),
        ("zh-Hant", "2020年", ["2020", "年"]),
        ("ja", "iPhoneを2台", ["iphone", "を", "2", "台"]),
        ("ja", "ｶﾞﾗｽ", list("ガラス")),  # half-width kana
        ("en", "東京 tower", ["東", "京", "tower"]),  # the script decides
        ("th", "กินที่", ["กิ", "น", "ที่"]),
        ("km", "ភាសា", ["ភា", "សា"]),
        ("my", "မြန်မာ", ["မြ", "န်", "မာ"]),
        ("bo", "བོད་སྐད།", ["བོད", "སྐད"]),
        ("en", " \n\t", []),
        ("en", "☕🙂!?…", []),
        ("en", "", []),
    ],
)
def test_tokens(language, text, expected):
    assert tokens(text, language) == expected


@given(st.text(), st.sampled_from(["en", "tr", "zh", "th"]))
def test_tokens_hold_nothing_but_letters_marks_and_digits_of_the_text(text, language):
    found = tokens(text, language)
    assert all(found)
    assert not any(part.isspace() for word in found for part in word)
    assert [
        part for word in found for part in tokens(word, language)
    ] == found  # tokens of a token are itself
