"""Figures of README and the results pages: printed tables are rows, every page has its file and shows it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
# the benchmark whose place is empty, since it was not run yet; no page may be added
NOT_RUN: dict[str, str] = {}


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


def test_places_are_filled_from_what_is_kept(keep, tmp_path):
    page = tmp_path / "page.md"
    places = [
        f"<!-- tables: {name} -->\n{old}<!-- end -->\n" for name, old in (("one", "old\n"), ("two", ""))
    ]
    page.write_text("# Page\n" + "text\n".join(places))
    command = ["python", "-m", "benchmarks", "one", "two", "three"]
    lines = ["== one", "", "| a |", "|---|", "| 1 |", "done", "== two", "| 2 |", "== three", "| 3 |"]
    keep.keep("page", command, lines, tmp_path)
    for _ in range(2):  # again changes nothing
        assert keep.fill("page", tmp_path) == []
        assert page.read_text() == (
            "# Page\n<!-- tables: one -->\n| a |\n|---|\n| 1 |\n\ndone\n<!-- end -->\ntext\n"
            "<!-- tables: two -->\n| 2 |\n|---|\n<!-- end -->\n"
        )
    keep.keep("page", ["python", "-m", "benchmarks.two", "--finished"], ["| 9 |"], tmp_path)
    assert keep.fill("page", tmp_path) == []
    assert "| 9 |" in page.read_text() and "| 1 |" in page.read_text() and "| 2 |" not in page.read_text()


def test_commands_stand_as_in_a_terminal(keep, tmp_path):
    folder = tmp_path / "docs" / "results"
    folder.mkdir(parents=True)
    (tmp_path / "README.md").write_text("<!-- output: data, gate -->\n```\nold\n```\n<!-- end -->\nend\n")
    keep.keep("readme", ["xlingual", "data", "a b", "--out", "x" * 100], [], folder)
    keep.keep("readme", ["xlingual", "gate"], ["", " PASS: 0.1", "", " pair"], folder)
    assert keep.fill("readme", folder) == []
    assert (tmp_path / "README.md").read_text() == (
        f"<!-- output: data, gate -->\n```\n$ xlingual data 'a b' \\\n    --out {'x' * 100}\n"
        "$ xlingual gate\n PASS: 0.1\n …\n```\n<!-- end -->\nend\n"
    )


def test_places_that_cannot_be_filled_stay_and_are_named(keep, tmp_path):
    page, folder = tmp_path / "page.md", tmp_path
    text = "<!-- tables: one -->\nold\n<!-- end -->\n<!-- output: gate -->\n<!-- end -->\n"
    page.write_text(text)
    wrong = keep.fill("page", folder)
    assert page.read_text() == text
    assert [line.partition("; run ")[2] for line in wrong] == [
        "python -m benchmarks.keep page python -m benchmarks one",
        "python -m benchmarks.keep page xlingual gate …",
    ]
    page.write_text("<!-- tables: one -->\nlost\n<!-- tables: one -->\n<!-- end -->\n")
    keep.keep("page", ["python", "-m", "benchmarks.one"], ["1"], folder)
    (line,) = keep.fill("page", folder)
    assert "does not end" in line and "lost" in page.read_text()


def test_tables_of_a_page_are_marked_as_not_run_again(keep, tmp_path):
    (tmp_path / "page.md").write_text("# Page\ntext\n| a |\n|---|\n| 1 |\n")
    content = json.loads(keep.take_over("page", tmp_path).read_text("utf-8"))
    assert (
        content["page"]["output"] == [{"table": [["a"], ["1"]]}]
        and "earlier run" in content["page"]["origin"]
    )


# README, the index of results (its figures are claims), and the pages
PAGES = ["readme", "claims", *sorted(page.stem for page in RESULTS.glob("*.md") if page.stem != "README")]


def test_pages_are_found(keep):
    figures = __import__("benchmarks.figures", fromlist=["names"])
    assert sorted(figures.names(RESULTS)) == sorted(PAGES)
    assert figures.page_of("claims", RESULTS) == figures.page_of("README", RESULTS) == RESULTS / "README.md"


def test_several_commands_of_one_name_have_places_of_their_own(keep, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- output: cite a, cite b -->\n<!-- end -->\n")
    keep.keep("page", ["xlingual", "cite", "a"], ["1"], tmp_path)
    keep.keep("page", ["xlingual", "cite", "b"], ["2"], tmp_path)
    assert keep.fill("page", tmp_path) == []
    assert "$ xlingual cite a\n1\n\n$ xlingual cite b\n2\n" in page.read_text()


@pytest.mark.parametrize("name", PAGES)
def test_every_results_page_has_its_figures(name):
    assert json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


# of pivot the tables are computed from thousands of records
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "pivot" else ()) for name in PAGES]
)
def test_every_place_shows_its_figures(keep, monkeypatch, name):
    """`make figures` would change nothing."""
    monkeypatch.chdir(ROOT)
    figures = __import__("benchmarks.figures", fromlist=["filled"])
    text, wrong = figures.filled(name, RESULTS)
    assert text == figures.page_of(name, RESULTS).read_text("utf-8"), "run make figures"
    assert [line for line in wrong if NOT_RUN.get(name, "-") not in line] == []
    assert bool(wrong) == (name in NOT_RUN)
