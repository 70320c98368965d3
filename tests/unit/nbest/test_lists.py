"""The format of Moses: read, refused, written back."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual import DataWarning, InputError
from xlingual.nbest.lists import NBestLists, read_nbest, read_texts, write_nbest, write_texts

CANONICAL = (
    "0 ||| ein haus . ||| d= 0 -7.66174 lm= -41.3435 w= -3 ||| -14.6262\n"
    "0 ||| das haus  ist ||| d= 1 0 lm= 1e-07 w= -0 ||| -15\n"
    "1 ||| ja ||| d= -0.5 2 lm= 3 w= 123456.789 ||| 0.1 ||| 0-0 1-1 ||| more\n"
)
ODD = (
    "\ufeff0||| ein haus . |||d: 0 -7.66174 lm:-41.3435 w= -3.000|||-14.6262\r\n"
    "0 |||das haus  ist  ||| d: 1 0 lm= 1e-7 w: -0 ||| -1.5e1\n"
    "1\t|||\tja ||| d= -0.5 2 lm= 3 w=+123456.789 ||| .1 |||0-0 1-1||| more"
)


def test_arrays_names_and_offsets(tmp_path):
    (tmp_path / "a").write_text(CANONICAL)
    lists = read_nbest(tmp_path / "a")
    assert len(lists) == 2 and lists.offsets.tolist() == [0, 2, 3]
    assert lists.names == ("d[0]", "d[1]", "lm", "w")
    assert lists.hypotheses == ["ein haus .", "das haus  ist", "ja"]
    assert lists.features[0].tolist() == [0, -7.66174, -41.3435, -3]
    assert lists.scores.tolist() == [-14.6262, -15, 0.1]
    assert lists.extra == [(), (), ("0-0 1-1", "more")] and lists.sentence.tolist() == [0, 0, 1]


@pytest.mark.parametrize("text", [CANONICAL, ODD])
@pytest.mark.parametrize("name", ["b.nbest", "b.nbest.gz"])
def test_files_come_back_in_canonical_form(tmp_path, text, name):
    (tmp_path / "a").write_bytes(gzip.compress(text.encode()))  # gzip is recognised by its content
    write_nbest(read_nbest(tmp_path / "a"), tmp_path / name)
    content = (tmp_path / name).read_bytes()
    assert (gzip.decompress(content) if name.endswith(".gz") else content) == CANONICAL.encode()


def test_damaged_gzip_is_reported(tmp_path):
    whole = bytearray(gzip.compress(CANONICAL.encode()))
    short, method, total = whole[:-12], bytearray(whole), bytearray(whole)
    method[10] ^= 0xFF
    total[-8] ^= 0xFF
    for content in (short, method, total):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(InputError, match="cut short or damaged"):
            read_nbest(tmp_path / "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("0 ||| a ||| f= 1\n", "line 1: expected id"),
        ("x ||| a ||| f= 1 ||| 1\n", "line 1: the id must be a number"),
        ("1 ||| a ||| f= 1 ||| 1\n", "line 1: id 1, expected 0"),
        ("0 ||| a ||| f= 1 ||| 1\n2 ||| a ||| f= 1 ||| 1\n", "line 2: id 2, expected 0 or 1"),
        ("0 ||| a ||| f= 1 ||| 1\n0 ||| a ||| g= 1 ||| 1\n", r"line 2: other features than line 1: g \(1\)"),
        ("0 ||| a ||| f= 1 f= 2 ||| 1\n", "'f' occurs twice"),
        ("0 ||| a ||| f= ||| 1\n", "'f' has no value"),
        ("0 ||| a ||| f= nan ||| 1\n", "only finite numbers"),
        ("0 ||| a ||| f= 1_0 ||| 1\n", "must be a number"),
        ("0 ||| a ||| f= 1 ||| x\n", "the score must be a number"),
    ],
)
def test_what_is_not_of_the_format_is_refused(tmp_path, text, words):
    (tmp_path / "a").write_text(text)
    with pytest.raises(InputError, match=words):
        read_nbest(tmp_path / "a")


def test_empty_hypotheses_stay_and_are_counted(tmp_path):
    (tmp_path / "a").write_text("0 |||  ||| f= 1 ||| 1\n0 ||||||f= 1 ||| 1\n0 ||| a ||| 1 ||| 1\n")
    with pytest.raises(InputError, match="other features"):
        read_nbest(tmp_path / "a")
    (tmp_path / "a").write_text("0 |||  ||| f= 1 ||| 1\n0 ||||||f= 1 ||| 1\n0 ||| a ||| f= 1 ||| 1\n")
    with pytest.warns(DataWarning, match="2 hypotheses are empty"):
        assert read_nbest(tmp_path / "a").hypotheses == ["", "", "a"]


def test_features_are_added_and_chosen(tmp_path):
    (tmp_path / "a").write_text(CANONICAL)
    lists = read_nbest(tmp_path / "a")
    more = lists.with_features({"sim_lsa": np.array([0.5, -0.25, 1])})
    write_nbest(more, tmp_path / "b")
    assert (tmp_path / "b").read_text().splitlines()[1].endswith("w= -0 sim_lsa= -0.25 ||| -15")
    fewer = more.keep_features(["sim_lsa", "lm"])
    assert fewer.names == ("sim_lsa", "lm") and fewer.features[0].tolist() == [0.5, -41.3435]
    part = more.part(np.array([1]))
    assert part.hypotheses == ["ja"] and part.offsets.tolist() == [0, 1] and part.names == more.names
    for label in ("lm", "a b", "a=", ""):
        with pytest.raises(InputError, match=r"choose another name|cannot be named"):
            lists.with_features({label: np.zeros(3)})
    for values in (np.zeros(2), np.array([0, np.nan, 1])):
        with pytest.raises(InputError, match="one finite value for each of 3 hypotheses"):
            lists.with_features({"new": values})


def test_what_could_not_be_read_back_is_not_written(tmp_path):
    lists = NBestLists(["a ||| b"], np.zeros((1, 1)), np.zeros(1), np.array([0, 1]), (("f", 1),))
    with pytest.raises(InputError, match="which cannot stand in an n-best list"):
        write_nbest(lists, tmp_path / "b")
    with pytest.raises(InputError, match="the text of sentence 1"):
        write_texts(["a", "b\nc"], tmp_path / "b")
    assert list(tmp_path.iterdir()) == []
    write_texts(["a", "", "ü\u2028b"], tmp_path / "t")
    assert read_texts(tmp_path / "t") == ["a", "", "ü\u2028b"]


numbers = st.floats(allow_nan=False, allow_infinity=False)
labels = st.text("abcXYZ_.-0=:", min_size=1, max_size=5).filter(lambda text: text[-1] not in "=:")
words = st.text(
    st.characters(exclude_characters="|\n\r\t ", exclude_categories=("Cs",)), min_size=1, max_size=8
)


@given(
    st.dictionaries(labels, st.lists(numbers, min_size=1, max_size=3), min_size=1, max_size=4),
    st.lists(words, min_size=1, max_size=4).map(" ".join),
    numbers,
)
def test_any_hypothesis_comes_back(features, text, score):
    groups = tuple((label, len(values)) for label, values in features.items())
    values = np.array([[value for group in features.values() for value in group]])
    lists = NBestLists([text], values, np.array([score]), np.array([0, 1]), groups, [("x",)])
    with tempfile.TemporaryDirectory() as folder:
        write_nbest(lists, Path(folder) / "a")
        again = read_nbest(Path(folder) / "a")
    assert (again.hypotheses, again.groups, again.extra) == ([text], groups, [("x",)])
    assert again.features.tobytes() == values.tobytes() and again.scores.tobytes() == lists.scores.tobytes()
