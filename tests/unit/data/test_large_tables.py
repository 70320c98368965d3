"""Arrow files, tables in several files, and columns that are kept out of Python's memory."""

import os
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.arrays import distinct_values, numbered
from xlingual.columns import Lookup, Paths, Strings, coded, numbered_ints, pick, shown_paths
from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning, InputError
from xlingual.images import missing_files

ROWS = [
    {
        "id": f"r{i}",
        "lang": ("en", "de")[i % 2],
        "text": f"größe {i // 2}",
        "item": f"{i // 2}",
        "image": f"{i}.png",
    }
    for i in range(20)
]
TABLE = pa.table({name: [row[name] for row in ROWS] for name in ROWS[0]})


def write_arrow(path, table, kind):
    write = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}[kind]
    with pa.OSFile(str(path), "wb") as sink, write(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return path


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("suffix", [".arrow", ".feather", ".ipc"])
def test_arrow_files_are_manifests(tmp_path, kind, suffix):
    read = Manifest.read(write_arrow(tmp_path / f"m{suffix}", TABLE, kind))
    assert read.digest == Manifest.of(ROWS, folder=tmp_path).digest
    assert read.text[5] == "größe 2"


def test_dictionaries_and_missing_cells_of_arrow(tmp_path):
    table = pa.table(
        {
            "lang": pa.array(["en", "de", "en"]).dictionary_encode(),
            "text": pa.array(["a", None, "c"], pa.large_string()),
            "body": pa.array([None, "x", None], pa.string()),
        }
    )
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always", DataWarning)
        read = Manifest.read(write_arrow(tmp_path / "m.arrow", table, "file"))
    assert read.text == ["a", "", "c"]
    assert read.fields["body"] == ["", "x", ""]


def test_broken_arrow_is_refused(tmp_path):
    (tmp_path / "m.arrow").write_bytes(b"no arrow at all, but long enough to be read")
    with pytest.raises(InputError, match=r"m\.arrow is not an Arrow file"):
        Manifest.read(tmp_path / "m.arrow")


@pytest.mark.parametrize(
    "names",
    [
        [f"train-{i:05}-of-00003.parquet" for i in range(3)],
        [f"part-{i}.parquet" for i in (1, 2, 10)],
        [f"data-{i:05}-of-00003.arrow" for i in range(3)],
    ],
)
def test_numbered_files_are_one_table(tmp_path, names):
    for part, name in enumerate(names):
        rows = TABLE.slice(part * 7, 7)
        if name.endswith(".arrow"):
            write_arrow(tmp_path / name, rows, "stream")
        else:
            pq.write_table(rows, tmp_path / name)
    (tmp_path / "dataset_info.json").write_text("{}")
    whole = Manifest.of(ROWS, folder=tmp_path)
    assert Manifest.read(tmp_path).digest == whole.digest
    assert Manifest.read(tmp_path, rows="6:9").text == whole.text[6:9]


def test_vectors_and_lists_in_json_lines_are_read_again_when_asked_for(tmp_path, table_file):
    rows = [row | {"vector": [0.5] * 3, "code": i % 2} for i, row in enumerate(ROWS)]
    read = Manifest.read(table_file(tmp_path / "m.jsonl", rows))
    assert read.digest == Manifest.of(ROWS, folder=tmp_path).digest
    assert read.labels["code"] == [str(i % 2) for i in range(20)]
    with pytest.raises(InputError, match="row 1, column 'vector': found a list where a text is expected"):
        Manifest.read(tmp_path / "m.jsonl", text_column="vector")


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
