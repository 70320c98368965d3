"""The page and the terminal of a blind study: what they say, and that nothing is cut or let through."""

from __future__ import annotations

import importlib.util
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from xlingual.cli.report import report
from xlingual.report import as_html, page_of, verdict
from xlingual.report.axis import log_axis_for
from xlingual.report.figures.study import scores_bar
from xlingual.report.render import terminal
from xlingual.report.shapes import Drawing
from xlingual.report.table import Row, Table
from xlingual.results.study import StudyAnalysis

HERE = Path(__file__).parent


def module(path: Path) -> Any:
    """Return a module of a folder that is not a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


made, balanced = module(HERE / "study_made.py"), module(HERE / "balanced.py")
KINDS = sorted(made.ALL)


def shown(analysis: StudyAnalysis, width: int) -> str:
    out = StringIO()
    terminal.show(Console(file=out, width=width), page_of(analysis))
    return out.getvalue()


def rows_of(analysis: StudyAnalysis, title: str) -> list[Row]:
    """Return the rows of a table of the page."""
    blocks = [block for section in page_of(analysis).sections for block in section.blocks]
    return [
        row for block in blocks if isinstance(block, Table) and block.title == title for row in block.rows
    ]


@given(st.lists(st.floats(1e-4, 1e4), max_size=6))
def test_the_axis_of_ratios_is_even_around_one(ratios: list[float]) -> None:
    axis = log_axis_for(ratios)
    assert axis.holds(1.0) and 0.01 <= axis.low < 1 < axis.high <= 100 and 2 <= len(axis.ticks) <= 7
    assert all(axis.holds(value) for value in ratios if 0.01 <= value <= 100)
    assert axis.at(axis.low) == 0 and axis.at(axis.high) == 100
    up, down = axis.at(1.5) - axis.at(1.0), axis.at(1.0) - axis.at(1 / 1.5)
    assert up == pytest.approx(down, abs=0.02)


def test_the_bars_hold_all_scores_and_the_best_comes_first() -> None:
    rows = rows_of(made.three(), "All scores")
    assert [row.cells[0].text for row in rows] == ["triplet-xl", "triplet", "labse"]
    for row in rows:
        bar = row.cells[1].bar
        assert isinstance(bar, Drawing)
        assert [part.style for part in bar.shapes] == [f"score r{score}" for score in (1, 2, 3, 4)]
        widths = [float(str(part.inside[0].attributes["width"]).rstrip("%")) for part in bar.shapes]
        assert sum(widths) == pytest.approx(100, abs=0.05)
    (part,) = scores_bar(made.system("a", 0, 4.0, counts=[0, 0, 0, 12]), made.LABELS).shapes
    assert [shape.text for shape in part.inside] == ["", "100 %"] and part.title == "Not relevant: 12 (100 %)"
    nothing = made.analysis(systems=[made.system("a", 0, 4.0, counts=[0] * 4)], pairs=[])
    assert rows_of(nothing, "All scores") == [] and "All scores" not in as_html(nothing)
    assert [row.tone for row in rows_of(made.three(), "Systems")] == ["leader", "level", "behind"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_is_whole_and_needs_nothing_else(kind: str) -> None:
    page = as_html(made.ALL[kind]())
    parsed = balanced.parsed(page)
    assert re.search(r"""(src|href)\s*=\s*["']?http""", page) is None and "<script" not in page
    assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)
    assert page == as_html(made.ALL[kind]()) and "None" not in "".join(parsed.texts)
    assert "nan" not in page.lower().split() and "\x02" not in page and "\x03" not in page


def test_hostile_and_right_to_left_texts_are_shown_as_they_are() -> None:
    page = as_html(made.hostile())
    assert "<b onclick" not in page and "&lt;b onclick=&#34;x&#34;&gt;é&lt;/b&gt; &amp; &#39;co&#39;" in page
    for text in ("<i>", "<u>1", "<s>", "<em>", "<script", "<k>", "<v>", "<p>warned", "<b>ممتاز"):
        assert text not in page
    assert "<bdi>מודל-ב</bdi>" in page and page.count("<bdi>מודל-ב</bdi> against <bdi>&lt;b onclick") == 3
    assert "“&lt;b&gt;ممتاز&lt;/b&gt;” suggestions" in page


@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.cases(4)
def test_no_number_is_cut_in_the_terminal(kind: str, width: int) -> None:
    text = shown(made.ALL[kind](), width)
    assert "…" not in text and max(map(len, text.splitlines())) <= width
    whole = " ".join(text.split())
    assert all(sentence in whole for sentence in verdict(made.ALL[kind]()))
    assert whole.startswith(verdict(made.ALL[kind]())[0])
    assert text.index("\nSystems ") < text.index("\nRaters ")


def test_long_names_do_not_cut_numbers() -> None:
    long = "a-rather-long-name-of-an-encoder-that-somebody-gave-with-a-version"
    found = made.analysis(
        systems=[made.system("a", 1.1, 2.7), made.system(long, 2.3, 2.18)],
        pairs=[made.pair("a", long)],
        bkr=[],
    )
    text = shown(found, 80)
    for number in ("2.30", "[1.80, 2.80]", "2.1", "[1.3, 3.4]", "−0.52"):
        assert number in text
    assert long in as_html(found)


@pytest.mark.parametrize("given_as", ["out", "out/analysis.json"])
def test_the_report_command_makes_the_page_of_an_analysis(tmp_path: Path, given_as: str) -> None:
    made.three().write(tmp_path / "out")
    out = tmp_path / "sub" / "page.html"
    done = CliRunner().invoke(report, [str(tmp_path / given_as), "--out", str(out), "--title", "Ours"])
    assert done.exit_code == 0, done.output
    assert out.read_text(encoding="utf-8") == as_html(made.three(), title="Ours")
    CliRunner().invoke(report, [str(tmp_path / "out"), str(tmp_path), "--out", str(out)])
    (tmp_path / "out" / "analysis.json").rename(tmp_path / "out" / "mine.json")
    lost = CliRunner().invoke(report, [str(tmp_path / "out"), "--out", str(out)])
    assert str(lost.exception).endswith("to analysis.json")
