import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.data.pools.squad import sentence_breaks
from xlingual.errors import InputError

ENDS = st.sampled_from(
    [*"aBé𝔸0 .!?。！？।۔؟…\"'“”()«»\n\t\u2028\ufeffกขครแ", "  ", "Dr. ", "e.g. ", "1. ", "* "]
)
TEXTS = st.one_of(st.text(), st.lists(ENDS, max_size=60).map("".join))
LANGUAGES = st.sampled_from(["en", "de", "ar", "hi", "zh", "zh-Hant", "ja", "ru", "tlh", "xx-x-y"])


def sentences(context, language):
    return [context[start:end] for start, end in sentence_breaks(context, language)]


@given(TEXTS, LANGUAGES)
def test_sentences_hold_everything_but_whitespace_once(context, language):
    breaks = sentence_breaks(context, language)
    flat = [offset for pair in breaks for offset in pair]
    assert flat == sorted(flat) and all(start < end for start, end in breaks)
    parts = [context[start:end] for start, end in breaks]
    assert all(part == part.strip() for part in parts)
    assert "".join("".join(parts).split()) == "".join(context.split())


def test_spaces_beyond_ascii_are_spaces_and_keep_their_offsets():
    for space in "\u00a0\u2028\u3000\u2009":
        assert sentences(f"Он ушёл.{space}А.{space}Б. спал.", "ru")[0] == "Он ушёл."
        assert sentence_breaks(f"Hi.{space}Go on!", "en") == [(0, 3), (4, 10)]


def test_punctuation_of_several_scripts():
    assert sentences("Dr. Smith paid 3.50. He left!", "en") == ["Dr. Smith paid 3.50.", "He left!"]
    assert sentences("他来了。她走了！", "zh") == ["他来了。", "她走了！"]
    assert sentences("वह आया। वह गया।", "hi") == ["वह आया।", "वह गया।"]
    assert sentences("هل جاء؟ نعم.", "ar") == ["هل جاء؟", "نعم."]


def test_thai_needs_breaks_of_its_own():
    with pytest.raises(InputError, match="sentence_breaks"):
        sentence_breaks("ฉันมา เธอไป", "th-TH")
