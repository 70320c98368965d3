"""Figures of the results pages: printed tables become rows, and every page has its file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"


@pytest.fixture
def keep(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    yield __import__("benchmarks.keep", fromlist=["keep"])
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]


def test_printed_tables_become_rows_and_a_command_replaces_only_its_own_output(keep, tmp_path):
    printed = ["### Scores", "", "| a | b |", "|---|--:|", "| 1.0 [0.9, 1.1] |  |", "done"]
    keep.keep("page", ["one", "x y"], printed, tmp_path)
    keep.keep("page", ["two"], ["2"], tmp_path)
    path = keep.keep("page", ["two"], ["3"], tmp_path)
    commands = json.loads(path.read_text("utf-8"))["commands"]
    assert commands["one 'x y'"]["output"] == [
        {"line": "### Scores"},
        {"table": [["a", "b"], ["1.0 [0.9, 1.1]", ""]]},
        {"line": "done"},
    ]
    assert commands["two"]["output"] == [{"line": "3"}]


def test_tables_are_put_where_the_page_has_a_place(keep, tmp_path):
    places = [
        f"<!-- tables: {name} -->\n{old}<!-- end -->\n" for name, old in (("one", "old\n"), ("two", ""))
    ]
    (tmp_path / "page.md").write_text("# Page\n" + "text\n".join(places))
    command = ["python", "-m", "benchmarks", "one", "two", "three"]
    lines = ["== one", "", "| a |", "|---|", "| 1 |", "== two", "| 2 |", "== three", "| 3 |"]
    for _ in range(2):  # again changes nothing
        assert keep.put("page", command, lines, tmp_path) == ["one", "two"]
        assert (tmp_path / "page.md").read_text() == (
            "# Page\n<!-- tables: one -->\n| a |\n|---|\n| 1 |\n<!-- end -->\ntext\n"
            "<!-- tables: two -->\n| 2 |\n<!-- end -->\n"
        )
    assert keep.put("page", ["python", "-m", "benchmarks.two", "--finished"], ["| 9 |"], tmp_path) == ["two"]
    assert "| 9 |" in (tmp_path / "page.md").read_text() and "| 1 |" in (tmp_path / "page.md").read_text()
    assert keep.put("other", command, lines, tmp_path) == []


def test_tables_of_a_page_are_marked_as_not_run_again(keep, tmp_path):
    (tmp_path / "page.md").write_text("# Page\ntext\n| a |\n|---|\n| 1 |\n")
    content = json.loads(keep.take_over("page", tmp_path).read_text("utf-8"))
    assert (
        content["page"]["output"] == [{"table": [["a"], ["1"]]}]
        and "earlier run" in content["page"]["origin"]
    )


@pytest.mark.parametrize("page", sorted(RESULTS.glob("*.md")), ids=lambda page: page.stem)
def test_every_results_page_has_its_figures(page):
    assert json.loads(page.with_suffix(".json").read_text("utf-8"))
