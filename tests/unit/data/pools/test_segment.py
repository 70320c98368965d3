import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.data.pools.segment import sentence_breaks

ENDS = st.sampled_from(
    [*"aBé𝔸0 .!?。！？।۔؟…\"'“”()«»\n\t\u2028\ufeffกขครแ", "  ", "Dr. ", "e.g. ", "1. ", "* "]
)
TEXTS = st.one_of(st.text(), st.lists(ENDS, max_size=60).map("".join))
LANGUAGES = st.sampled_from(
    ["en", "de", "ar", "hi", "zh", "zh-Hant", "ja", "th", "th-TH", "ru", "tlh", "xx-x-y"]
)


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


LONG = "ทีมนี้เล่นได้ดีมากในฤดูกาลที่ผ่านมาและได้รับเลือกให้เข้าร่วมการแข่งขันระดับประเทศครั้งใหญ่ที่สุดประจำปี"
NEXT = "นอกจากนี้ยังมีผู้เล่นใหม่"


def test_thai_ends_at_two_spaces_or_at_one_after_a_long_phrase():
    assert len(LONG) >= 80
    assert sentences("ฉันมา  เธอไป", "th") == ["ฉันมา", "เธอไป"]
    assert sentences("ฉันมา เธอไป", "th") == ["ฉันมา เธอไป"]
    assert sentences(f"{LONG} {NEXT}", "th") == [LONG, NEXT]
    assert sentences(f"{LONG} {NEXT}", "en") == [f"{LONG} {NEXT}"]


@pytest.mark.parametrize("rest", ["และไป", "ซึ่งไป", "308 ครั้ง", "NFL"])
def test_thai_goes_on_before_joining_words_numbers_and_other_scripts(rest):
    assert sentences(f"{LONG} {rest}", "th") == [f"{LONG} {rest}"]


def test_thai_brackets_hold_together():
    text = f"ก (ข {LONG} {NEXT}) ค"
    assert sentences(text, "th") == [text]


def test_agreement_with_the_breaks_of_xquad_r(real_data):
    import json

    for language in ("de", "hi", "zh"):
        content = json.loads((real_data / "xquad_r" / f"{language}.json").read_text(encoding="utf-8"))
        paragraphs = [p for article in content["data"] for p in article["paragraphs"]]
        real = {(i, end) for i, p in enumerate(paragraphs) for _, end in p["sentence_breaks"]}
        found = {(i, e) for i, p in enumerate(paragraphs) for _, e in sentence_breaks(p["context"], language)}
        assert len(real & found) > 0.94 * max(len(real), len(found)), language


@pytest.mark.parametrize(
    "text",
    [
        "เมืองนี้มีประชากร 8.3 ล้านคนในปี พ.ศ. 2553",
        "เมืองหลวงของประเทศที่ตั้งอยู่บนสามเหลี่ยมปากแม่น้ำเจ้าพระยานี้มีประชากรมากกว่าแปดล้านคนในปี พ.ศ. 2553",
        "ในปีพ.ศ. 2553 มีคน 12 คน",
        "ดร. สมชาย มา",
        "ตั้งแต่ 5 ม.ค. ถึง 7 เม.ย. 2553",
    ],
)
def test_a_thai_abbreviation_ends_no_sentence(text):
    assert sentence_breaks(text, "th") == [(0, len(text))]


def test_a_full_stop_after_a_long_thai_word_ends_a_sentence():
    text = "เขาเดินทางไปกรุงเทพมหานคร. แล้วกลับบ้าน"
    assert [text[a:b] for a, b in sentence_breaks(text, "th")] == [
        "เขาเดินทางไปกรุงเทพมหานคร.",
        "แล้วกลับบ้าน",
    ]
