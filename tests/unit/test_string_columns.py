"""Columns of strings behave as lists; numbers by first appearance; paths in columns."""

import os

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from xlingual.arrays import distinct_values, numbered
from xlingual.columns import Lookup, Paths, Strings, coded, numbered_ints, pick, shown_paths
from xlingual.images import missing_files


def test_white_space_and_zero_width_are_blank():
    spaces = [chr(c) for c in range(0x110000) if chr(c).isspace()]
    column = Strings.of([*spaces, "", "\u200b\ufeff ", "x", "\u3042", "\u2003x", "\x00", "a\u200b"])
    assert column.blank().tolist() == [True] * (len(spaces) + 2) + [False] * 5


words = st.lists(st.sampled_from(["", " ", "a", "größe", "字", "a" * 90]), min_size=1, max_size=30)


@given(words, st.data())
def test_columns_are_as_lists(values, data):
    cut = data.draw(st.integers(0, len(values)))
    column = Strings.of_arrow(
        pa.chunked_array([Strings.of(part).array for part in (values[:cut], values[cut:])])
    )
    rows = np.array(data.draw(st.lists(st.integers(0, len(values) - 1), max_size=40)), dtype=np.int64)
    assert column == values
    assert list(column) == values
    assert column[-1] == values[-1]
    assert column[1:-1] == values[1:-1]
    assert column.pick(rows) == pick(values, rows) == list(column.view(rows))
    assert column.blank().tolist() == [not value.strip() for value in values]
    assert column.byte_lengths().tolist() == [len(value.encode()) for value in values]
    code, known = column.view(rows).numbered() if len(rows) else (rows, Strings.of([]))
    assert list(known) == list(dict.fromkeys(pick(values, rows)))
    assert pick(known, code) == pick(values, rows)
    twice = column.view(rows).view(np.arange(len(rows))[::2])
    assert twice == pick(values, rows)[::2]


@given(st.lists(st.one_of(st.integers(-5, 9), st.integers(-(2**63), 2**63 - 1)), max_size=40))
def test_numbers_and_distinct_values(values):
    array = np.array(values, dtype=np.int64)
    assert distinct_values(array).tolist() == sorted(set(values))
    assert numbered(array).tolist() == np.unique(array, return_inverse=True)[1].tolist()
    code, known = numbered_ints(array)
    assert known.tolist() == list(dict.fromkeys(values))
    assert known[code].tolist() == values


def test_codes_below_zero_are_nothing():
    column = Lookup(["a", "b"], np.array([1, -1, 0]))
    assert column == ["b", None, "a"]
    assert column.view(np.array([-1, 1, 2])) == [None, None, "a"]
    assert coded(Lookup(["a", "b", "b"], np.array([2, 0, 1])))[1] == ["b", "a"]


def test_missing_files_and_shown_paths(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.png").write_bytes(b"")
    (tmp_path / "in" / "b.png").mkdir()
    names = ["in/a.png", "in/b.png", "out/a.png"]
    column = Lookup(Paths(tmp_path, Strings.of(names)), np.array([2, 0, -1, 1]))
    paths = [None if path is None else path for path in column]
    assert missing_files(column).tolist() == missing_files(paths).tolist() == [0, 3]
    assert (
        missing_files(column, os.path.exists).tolist() == missing_files(paths, os.path.exists).tolist() == [0]
    )
    assert list(shown_paths(Paths(tmp_path, Strings.of(names)))) == [str(tmp_path / name) for name in names]
