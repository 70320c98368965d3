import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.encoders.segment import lookups, pieces, segment


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("Das Haus!", {"das", "Haus"}, [("das", True), ("Haus", True)]),
        ("Haus haus", {"Haus", "haus"}, [("Haus", True), ("haus", True)]),
        ("HAUS Baum", {"haus"}, [("haus", True), ("Baum", False)]),
        ("ＡＢＣ", {"abc"}, [("abc", True)]),
        ("don't", {"don", "t"}, [("don", True), ("t", True)]),
        ("", {"a"}, []),
        ("…!?", {"a"}, []),
        ("e\u0301t\u00e9", {"été"}, [("été", True)]),  # a decomposed letter
    ],
)
def test_words_between_blanks(text, known, expected):
    assert segment(pieces(text), known) == expected


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("红色的椅子", {"红", "红色", "的", "椅子"}, ["红色", "的", "椅子"]),
        ("赤い椅子です", {"赤い", "椅子", "椅"}, ["赤い", "椅子", "!です"]),
        ("น้ำสะอาด", {"น้ำ", "สะอาด"}, ["น้ำ", "สะอาด"]),  # a vowel that NFKC would take apart
        ("新iPhone手机", {"新", "iphone", "手机", "手", "i"}, ["新", "iphone", "手机"]),
        ("谢谢", set(), ["!谢谢"]),
        ("我不知道他", {"我", "他"}, ["我", "!不知道", "他"]),
    ],
)
def test_scripts_without_blanks_are_cut_by_the_longest_known_word(text, known, expected):
    assert [word if has else "!" + word for word, has in segment(pieces(text), known)] == expected


@given(st.text(alphabet="abAé红色椅子น้ำ. ", max_size=9), st.sets(st.text(alphabet="abé红色椅น้ำ", max_size=3)))
def test_what_is_found_was_announced_and_nothing_is_lost(text, known):
    announced = set(lookups(pieces(text)))
    parts = segment(pieces(text), known)
    assert {word for word, has in parts if has} <= announced & known
    assert parts == segment(pieces(text), known & announced)
    letters = sum(char.isalnum() for char in text)
    assert (letters > 0) <= (len(parts) > 0)
