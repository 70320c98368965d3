import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.data.pools.pool import MultilingualPool, is_pool
from xlingual.data.pools.squad import language_of, sentence_breaks, squad_files
from xlingual.errors import DataWarning, InputError

EN = "Ann sang. Bob ran."
DE = "Ann sang. Bert lief."
BREAKS = [[0, 9], [10, 18]]


def read(path):
    return MultilingualPool.read(path)


def test_offsets_are_code_points(squad, paragraph):
    context = "𝔸𝔹 sang. é ran."
    pool = read(squad("en", [paragraph(context, [[0, 8], [9, 15]], [("q", "é", 9)])]))
    assert pool.candidates.keys == [(), ("q",)] and pool.candidates.text == ["𝔸𝔹 sang.", "é ran."]


def test_paragraphs_that_share_a_question_are_one_cluster_in_any_order(squad, paragraph):
    one, two = ("a", "Ann", 0), ("b", "Bob", 10)
    squad("en", [paragraph(EN, BREAKS, [one]), paragraph(EN, BREAKS, [two])], [paragraph(EN, BREAKS)])
    german = [[0, 9], [10, 20]]
    path = squad(
        "de",
        [paragraph(DE, german)],
        [paragraph(DE, german, [("b", "Bert", 10)])],
        [paragraph(DE, german, [one])],
    )
    pool = read(path.parent)
    assert pool.languages == ("de", "en")
    q, c = pool.questions, pool.candidates
    assert dict(zip(zip(q.ids, q.language, strict=True), q.cluster, strict=True)) == {
        ("b", 0): 0,
        ("a", 0): 1,
        ("a", 1): 1,
        ("b", 1): 0,
    }
    # articles are joined too: en's first one holds both of de's
    assert q.article.tolist() == [0, 0, 0, 0]
    assert c.cluster.tolist() == [2, 2, 0, 0, 1, 1, 1, 1, 0, 0, 3, 3]


def test_a_manifest_of_json_is_no_pool(tmp_path, squad, paragraph):
    assert is_pool(squad("en", [paragraph(EN, BREAKS, [("a", "Ann", 0)])]).parent)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "info.json").write_text('{"description": "texts"}')
    (tmp_path / "m" / "manifest.json").write_text('[{"lang": "en", "text": "a"}]')
    assert not is_pool(tmp_path / "m") and not is_pool(tmp_path / "m" / "manifest.json")


def test_impossible_questions_are_left_out_and_counted(squad, paragraph):
    content = paragraph(EN, BREAKS, [("a", "Ann", 0), ("b", "Bob", 10)])
    content["qas"][1] |= {"is_impossible": True, "answers": []}
    path = squad("en", [content])
    with pytest.warns(DataWarning, match=r"questions that say they have no answer .*: 1 \[en 1\]"):
        assert read(path).questions.ids == ["a"]


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p["sentence_breaks"][1].__setitem__(0, 8),
        lambda p: p["sentence_breaks"].reverse(),
        lambda p: p["sentence_breaks"][1].__setitem__(1, 19),
        lambda p: p["sentence_breaks"][0].__setitem__(0, -1),
        lambda p: p["sentence_breaks"].__setitem__(0, [0]),
        lambda p: p.update(sentence_breaks={}),
        lambda p: p["sentences"].pop(),
        lambda p: p.update(sentences="a"),
        lambda p: p["qas"][1]["answers"][0].update(answer_start=9),
        lambda p: p["qas"][1]["answers"][0].update(answer_start=99),
        lambda p: p["qas"][1]["answers"][0].update(answer_start="1"),
        lambda p: p["qas"][1].update(answers=[]),
        lambda p: p["qas"][1].update(id="q1"),
        lambda p: p["qas"][1].update(question=" "),
        lambda p: p["qas"][1].pop("id"),
        lambda p: p.update(qas=None),
        lambda p: p.update(context=3),
        lambda p: p.pop("sentence_breaks"),
    ],
)
def test_a_broken_paragraph_is_named(squad, paragraph, change):
    content = paragraph(EN, [list(pair) for pair in BREAKS], [("q1", "Ann", 0), ("q2", "Bob", 10)])
    change(content)
    path = squad("en", [paragraph(EN, BREAKS)], [paragraph(EN, BREAKS), content])
    with pytest.raises(InputError) as error:
        read(path)
    assert f"{path}, article 2 'T2', paragraph 2" in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("ar", "ar"),
        ("zh-Hant", "zh-Hant"),
        ("pt-BR", "pt-BR"),
        ("xquad.ar", "ar"),
        ("xquad.zh-Hant", "zh-Hant"),
        ("dev-context-ar-question-ar", "ar"),
        ("dev-v2.0-es", "es"),
        ("dev.en", "en"),
        ("squad-ckb", "ckb"),
    ],
)
def test_the_name_of_a_file_tells_its_language(tmp_path, name, language):
    assert language_of(tmp_path / f"{name}.json") == language


@pytest.mark.parametrize("name", ["dev-context-ar-question-de", "dev-v2.0", "train-v1.1", "dev", "translate"])
def test_an_ambiguous_name_asks_for_the_language(tmp_path, name):
    with pytest.raises(InputError, match=re.escape(f"write LANG={tmp_path / name}.json")):
        language_of(tmp_path / f"{name}.json")


def test_a_language_may_be_given(squad, paragraph):
    path = squad("dev-v2.0", [paragraph(EN, BREAKS)])
    assert squad_files([f"en={path}"]) == [("en", path)]
    with pytest.raises(InputError, match="both in 'en'"):
        squad_files([f"en={path}", f"en={path}"])
    with pytest.raises(InputError, match="no such file"):
        squad_files([f"en={path.parent}"])
    odd = path.rename(path.with_name("en=x.de.json"))
    assert squad_files([odd]) == [("de", odd)]


def test_xquad_r(real_data):
    with pytest.warns(DataWarning):
        pool = MultilingualPool.read(real_data / "xquad_r", ["ar", "de", "en", "es", "hi", "vi", "zh"])
    counts = {tag: (n, m, relevant) for tag, n, m, relevant in pool.counts()[:-1]}
    sizes = {"ar": 1222, "de": 1276, "en": 1180, "es": 1215, "hi": 1244, "vi": 1209, "zh": 1196}
    assert counts == {tag: (1190, m, 7) for tag, m in sizes.items()}
    assert len(np.unique(pool.questions.cluster)) == 240 and len(np.unique(pool.questions.article)) == 48
    assert len(pool.warnings) == 2
    assert ": 37 [en 3, zh 34]; " in pool.warnings[0]
    assert ": 68 [ar 10, de 8, en 3, es 12, hi 11, vi 13, zh 11]" in pool.warnings[1]


ENDS = st.sampled_from(
    [*"aBé𝔸0 .!?。！？।۔؟…\"'“”()«»\n\t\u2028\ufeffกขครแ", "  ", "Dr. ", "e.g. ", "1. ", "* "]
)


TEXTS = st.one_of(st.text(), st.lists(ENDS, max_size=60).map("".join))


LANGUAGES = st.sampled_from(["en", "de", "ar", "hi", "zh", "zh-Hant", "ja", "ru", "tlh", "xx-x-y"])


@given(TEXTS, LANGUAGES)
def test_sentences_hold_everything_but_whitespace_once(context, language):
    breaks = sentence_breaks(context, language)
    flat = [offset for pair in breaks for offset in pair]
    assert flat == sorted(flat) and all(start < end for start, end in breaks)
    parts = [context[start:end] for start, end in breaks]
    assert all(part == part.strip() for part in parts)
    assert "".join("".join(parts).split()) == "".join(context.split())


def test_thai_needs_breaks_of_its_own():
    with pytest.raises(InputError, match="sentence_breaks"):
        sentence_breaks("ฉันมา เธอไป", "th-TH")


def test_spaces_beyond_ascii_are_spaces_and_keep_their_offsets():
    assert sentence_breaks("Hi.\u3000Go on!", "en") == [(0, 3), (4, 10)]
