"""What was found before and after a refactor, compared: one other digit is told, added keys are not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOUND = {
    "value": 0.1,
    "rows": [{"p": None}, {"p": 0.05}],
    "none": float("nan"),
    "flag": True,
    "timings": {"all": 1.5},
}
CELLS = {"score": [0.5, float("nan")], "id": ["a", "b"]}


@pytest.fixture
def compared(monkeypatch, tmp_path, capsys):
    """Return what compares the findings above with changed ones: the exit code and the lines."""
    monkeypatch.syspath_prepend(str(ROOT))
    frozen = __import__("benchmarks.frozen_compare", fromlist=["compare"])

    def write(name, content, cells):
        folder = tmp_path / name / "120" / "bkr"
        folder.mkdir(parents=True)
        (folder / "results.json").write_text(json.dumps(content))
        pq.write_table(pa.table(cells), folder / "per_query.parquet")
        (folder / "report.html").write_text(name)
        return tmp_path / name

    def call(content=FOUND, cells=CELLS, lose=None):
        before, after = write("before", FOUND, CELLS), write("after", content, cells)
        if lose:
            (after / "120" / "bkr" / lose).unlink()
        code = frozen.compare(before, after)
        lines = capsys.readouterr().out.splitlines()
        return code, [line.partition(": ")[2] for line in lines if line.startswith("120")]

    yield call
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]


def test_what_is_added_and_what_says_how_is_no_difference(compared):
    more = {**FOUND, "new": 1, "timings": {"all": 9}, "rows": [{"p": None, "q": 2}, {"p": 0.05}]}
    assert compared(more, CELLS | {"new": [1, 2]}) == (0, [])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"value": 0.1 + 2e-17}, "value: 0.1 → 0.10000000000000002"),
        ({"flag": 1}, "flag: true → 1"),
        ({"rows": [{"p": None}]}, "rows: 2 → 1 values"),
        ({"rows": [{"p": 0.0}, {"p": 0.05}]}, "rows[0].p: null → 0.0"),
        ({"rows": [{}, {"p": 0.05}]}, "rows[0].p: missing"),
        ({"none": None}, "none: NaN → null"),
    ],
)
def test_another_value_is_told_with_its_path(compared, change, told):
    assert compared(FOUND | change) == (1, [told])


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"score": [0.25, float("nan")], "id": ["a", "b"]}, "score[0]: 0.5 → 0.25"),
        ({"id": ["a", "b"]}, "column score: missing"),
        ({"score": [0.5], "id": ["a"]}, "2 → 1 rows"),
        ({"score": ["0.5", "nan"], "id": ["a", "b"]}, "column score: double → string"),
    ],
)
def test_another_cell_is_told_with_its_column_and_row(compared, cells, told):
    assert compared(cells=cells) == (1, [told])


def test_a_missing_file_is_told(compared):
    assert compared(lose="per_query.parquet") == (1, ["the file is missing"])
