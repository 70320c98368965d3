"""The format of Moses: read, refused, written back."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual import DataWarning, InputError
from xlingual.nbest.apply import read_texts
from xlingual.nbest.format import read_nbest, stream_nbest, write_nbest
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.parsing import line_of, parse_line

CANONICAL = (
    "0 ||| ein haus . ||| d= 0 -7.66174 lm= -41.3435 w= -3 ||| -14.6262\n"
    "0 ||| das haus  ist ||| d= 1 0 lm= 1e-07 w= -0 ||| -15\n"
    "1 ||| ja ||| d= -0.5 2 lm= 3 w= 123456.789 ||| 0.1 ||| 0-0 1-1 ||| more\n"
)
ODD = (
    "0||| ein haus . |||d: 0 -7.66174 lm:-41.3435 w= -3.000|||-14.6262\r\n"
    "0 |||das haus  ist  ||| d: 1 0 lm= 1e-7 w: -0 ||| -1.5e1\n"
    "1\t|||\tja ||| d= -0.5 2 lm= 3 w=+123456.789 ||| .1 |||0-0 1-1||| more"
)


def written(tmp_path, text, name="a.nbest"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_arrays_names_and_offsets(tmp_path):
    lists = read_nbest(written(tmp_path, CANONICAL))
    assert len(lists) == 2 and lists.offsets.tolist() == [0, 2, 3]
    assert lists.names == ("d[0]", "d[1]", "lm", "w")
    assert lists.hypotheses == ["ein haus .", "das haus  ist", "ja"]
    assert lists.features.dtype == np.float64
    assert lists.features[0].tolist() == [0, -7.66174, -41.3435, -3]
    assert lists.scores.tolist() == [-14.6262, -15, 0.1]
    assert lists.extra == [(), (), ("0-0 1-1", "more")]
    assert lists.sizes.tolist() == [2, 1] and lists.sentence.tolist() == [0, 0, 1]


@pytest.mark.parametrize("name", ["a.nbest", "a.nbest.gz"])
def test_a_canonical_file_comes_back_byte_for_byte(tmp_path, name):
    lists = read_nbest(written(tmp_path, CANONICAL, name))
    write_nbest(lists, tmp_path / f"b.{name}")
    content = (tmp_path / f"b.{name}").read_bytes()
    assert (gzip.decompress(content) if name.endswith(".gz") else content) == CANONICAL.encode()


def test_an_odd_file_comes_back_value_for_value(tmp_path):
    lists = read_nbest(written(tmp_path, ODD))
    assert lists.groups == (("d", 2), ("lm", 1), ("w", 1))
    write_nbest(lists, tmp_path / "b")
    assert (tmp_path / "b").read_text() == CANONICAL


def test_gzip_is_recognised_by_its_content_not_its_name(tmp_path):
    path = tmp_path / "plain.name"
    path.write_bytes(gzip.compress(CANONICAL.encode()))
    assert read_nbest(path).hypotheses[2] == "ja"
    path.write_bytes(gzip.compress(CANONICAL.encode())[:-12])
    with pytest.raises(InputError, match=r"plain\.name is cut short"):
        read_nbest(path)


def test_the_stream_holds_one_line_at_a_time(tmp_path):
    lines = stream_nbest(written(tmp_path, f"{CANONICAL}7 ||| too far ||| d= 1 1 lm= 1 w= 1 ||| 1\n"))
    assert [next(lines).sentence for _ in range(3)] == [0, 0, 1]  # the fault is met only when it is reached
    with pytest.raises(InputError, match=r"line 4: id 7 after id 1: ids 2 to 6 left out"):
        next(lines)


def test_other_separators_of_lines_stay_within_a_hypothesis(tmp_path):
    text = "0 ||| a\u2028b\x0bc\u00a0 ||| f= 1 ||| 1\n"
    lists = read_nbest(written(tmp_path, text))
    assert lists.hypotheses == ["a\u2028b\x0bc\u00a0"]
    write_nbest(lists, tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == text.encode()


def test_damaged_gzip_is_reported(tmp_path):
    whole = bytearray(gzip.compress(CANONICAL.encode()))
    for name, place in (("method", 10), ("sum", len(whole) - 8)):  # neither of them is an error of the system
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(InputError, match=rf"{name} is damaged \(.*\): copy or make it again"):
            read_nbest(tmp_path / name)


@pytest.mark.parametrize("name", ["a.nbest", "a.nbest.gz"])
def test_a_byte_order_mark_is_no_text(tmp_path, name):
    assert read_nbest(written(tmp_path, f"\ufeff{CANONICAL}", name)).sentence.tolist() == [0, 0, 1]
    assert read_texts(written(tmp_path, "\ufeffein haus\n\ufeffja\n", name)) == ["ein haus", "\ufeffja"]


def test_empty_hypotheses_are_kept_and_counted(tmp_path):
    path = written(tmp_path, "0 |||  ||| f= 1 ||| 1\n0 ||||||f= 1 ||| 1\n0 ||| a ||| f= 1 ||| 1\n")
    with pytest.warns(DataWarning, match=r"2 hypotheses are empty \(lines 1, 2\); kept"):
        lists = read_nbest(path)
    assert lists.hypotheses == ["", "", "a"]
    write_nbest(lists, tmp_path / "b")
    with pytest.warns(DataWarning, match="2 hypotheses are empty"):
        assert read_nbest(tmp_path / "b").hypotheses == lists.hypotheses


def test_features_are_added_and_chosen(tmp_path):
    lists = read_nbest(written(tmp_path, CANONICAL))
    more = lists.with_features({"sim_lsa": np.array([0.5, -0.25, 1])})
    write_nbest(more, tmp_path / "b")
    assert (tmp_path / "b").read_text().splitlines()[1].endswith("w= -0 sim_lsa= -0.25 ||| -15")
    assert read_nbest(tmp_path / "b").names == (*lists.names, "sim_lsa")
    fewer = more.keep_features(["sim_lsa", "lm"])
    assert fewer.names == ("sim_lsa", "lm") and fewer.features[0].tolist() == [0.5, -41.3435]
    for label, values in (("lm", np.zeros(3)), ("a b", np.zeros(3)), ("a=", np.zeros(3)), ("", np.zeros(3))):
        with pytest.raises(InputError, match=r"choose another name|cannot be named"):
            lists.with_features({label: values})
    for values in (np.zeros(2), np.array([0, np.nan, 1])):
        with pytest.raises(InputError, match="one finite value for each of 3 hypotheses"):
            lists.with_features({"new": values})


def test_what_could_not_be_read_back_is_not_written(tmp_path):
    lists = NBestLists(["a ||| b"], np.zeros((1, 1)), np.zeros(1), np.array([0, 1]), (("f", 1),))
    with pytest.raises(InputError, match="which cannot stand in an n-best list"):
        write_nbest(lists, tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


numbers = st.floats(allow_nan=False, allow_infinity=False)
labels = st.text("abcXYZ_.-0=:", min_size=1, max_size=5).filter(lambda text: text[-1] not in "=:")
words = st.text(
    st.characters(exclude_characters="|\n\r\t ", exclude_categories=("Cs",)), min_size=1, max_size=8
)
texts = st.lists(words, min_size=1, max_size=4).map(" ".join)


@given(
    st.dictionaries(labels, st.lists(numbers, min_size=1, max_size=3), min_size=1, max_size=4), texts, numbers
)
def test_any_hypothesis_comes_back(features, text, score):
    groups = tuple((label, len(values)) for label, values in features.items())
    values = [value for group in features.values() for value in group]
    line = line_of(3, text, groups, values, score, ("x",))
    again = parse_line(line, 1, "x")
    assert (again.sentence, again.hypothesis, again.groups, again.extra) == (3, text, groups, ("x",))
    assert [value.hex() for value in again.values] == [value.hex() for value in values]
    assert again.score == score
