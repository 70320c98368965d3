"""Names as nobody should choose them: every output shows them, and none obeys them."""

import csv
import io
import json
import re
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from xlingual.cli import screen
from xlingual.papers.table1 import validation_table
from xlingual.report import as_html, page_of, write_report
from xlingual.report.pages.gate import junit, summary
from xlingual.report.render import html
from xlingual.report.render.text import as_text
from xlingual.results import Interval
from xlingual.results.gate import Decision, Gate
from xlingual.results.plan import Plan, PlanRow
from xlingual.results.validation import Validation

NASTY = "=::x\x1b[31m\x9b[red]:no:\n::error::\u202ey\u2028<xmp>|[l](u)\\input{z}"
HERE = Path(__file__).parent
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200f\u2028-\u202e\u2066\u2067\ud800-\udfff]")


def made(path):
    return SimpleNamespace(**run_path(str(HERE / path)))


def check(text, *, lines=None):
    """Assert that nothing in the text is obeyed, and that the name is seen."""
    assert not UNSEEN.search(text)
    assert not re.search(r"^\s*::", text, re.MULTILINE)
    whole = re.sub(r"[\s│|{}]+", "", text)
    assert r"\x1b" in whole.replace("textbackslash", "\\").replace("\\\\", "\\")
    assert lines is None or text.count("\n") == lines


def check_page(page):
    assert not UNSEEN.search(page.replace("\t", ""))
    assert "<xmp>" not in page and "&lt;xmp&gt;" in page and "\\x1b" in page and "\\u202e" in page


@pytest.fixture
def comparison():
    by_hand = made("test_comparison.py")
    rows = [replace(by_hand.MIXED[0], encoder=NASTY, note=NASTY), *by_hand.MIXED[1:]]
    boards = [by_hand.board(rows), by_hand.board(rows, column=NASTY, label=NASTY)]
    return replace(by_hand.comparison(*boards), notes=[NASTY])


@pytest.mark.parametrize("form", ["markdown", "latex", "csv"])
def test_tables_of_a_comparison(comparison, form):
    text = as_text(page_of(comparison), form)
    check(text)
    if form == "latex":
        live = [line for line in text.splitlines() if not line.startswith("%")]
        assert not any("\\input" in line for line in live) and any("textbackslash" in line for line in live)
    if form == "markdown":
        assert "<xmp>" not in text and "[l](u)" not in text and "\\[l\\](u)" in text
    if form == "csv":
        for row in csv.DictReader(io.StringIO(text)):
            assert not any(cell.startswith(("=", "::")) for cell in row.values())


def test_a_comparison_on_the_screen_and_as_a_page(comparison, capsys):
    screen.show(comparison)
    out = capsys.readouterr().out
    check(out)
    assert "[red]" in re.sub(r"\s+", "", out) and ":no:" in out
    check_page(as_html(comparison))


@pytest.fixture
def decided():
    ci = Interval(-0.1, 0.1, 0.95, "test")
    one = Decision(None, None, "pass", 0.5, 0.5, 0.0, ci, -0.05, 0.01, 0.9, 0.9, 9, 9, None, None, part=NASTY)
    numbers = (0.1, 0.05, 0.8, False, ["en-de"], 1, [one, one])
    return Gate("pass", "backretrieval", "R@10", NASTY, NASTY, *numbers, warnings=[NASTY], by=NASTY)


def test_a_gate(decided, capsys):
    markdown = summary(decided)
    check(markdown)
    assert "<xmp>" not in markdown
    screen.show(decided)
    check(capsys.readouterr().out)
    root = ElementTree.fromstring(junit(decided))
    names = " ".join(case.get("name") for case in root.iter("testcase"))
    assert "\\x1b" in names and "<xmp>" in names and not UNSEEN.search(names) and "\n" not in names


def test_a_plan(capsys):
    ci = Interval(-0.1, 0.1, 0.95, "test")
    row = PlanRow(NASTY, 0.5, 0.1, ci, 0.01, 0.001, 99, 0.1, 0.05, [], NASTY)
    found = Plan(
        "backretrieval", "R@10", NASTY, 0.4, 0.1, 0.8, 0.05, 99, 1, 1, 100, 10, [row], warnings=[NASTY]
    )
    for form in ("markdown", "csv", "latex"):
        check(as_text(page_of(found), form))
    assert repr(found).startswith("Plan:\n  ")
    check(repr(found))
    screen.show(found)
    check(capsys.readouterr().out)


def test_an_evaluation(tmp_path, capsys):
    parts = made("conftest.py")
    entry, summary, example = parts.entry, parts.summary, parts.example
    task, names = "backretrieval", (NASTY, "other")
    entries = [entry(task, "en", "de", name, "R@10", 0.3, note=NASTY) for name in names]
    summaries = [summary(task, name, "R@10", 0.3, "en", "de", note=NASTY) for name in names]
    texts = {"query_text": NASTY, "retrieved_text": NASTY}
    shown = parts.examples_table([example(NASTY, "en", "de", "best", 0, **texts)])
    results = parts.results_of(entries, summaries, examples=shown, warnings=[NASTY])
    check(repr(results))
    screen.show(results)
    check(capsys.readouterr().out)
    write_report([results], tmp_path / "page.html", title=NASTY)
    check_page((tmp_path / "page.html").read_text(encoding="utf-8"))


def test_a_study(capsys):
    found = made("study_made.py").hostile(NASTY)
    for form in ("markdown", "csv", "latex"):
        check(as_text(page_of(found), form))
    check_page(as_html(found))
    screen.show(found)
    check(capsys.readouterr().out)


def test_a_validation_and_the_table_of_several(tmp_path, capsys):
    parts = made("../papers/test_validation.py")
    text = json.dumps(parts.validation(parts.pair()).to_dict()).replace('"plain"', json.dumps(NASTY))
    (tmp_path / "validation.json").write_text(text, encoding="utf-8")
    validation = Validation.read(tmp_path)
    table = validation_table({NASTY: validation})
    for form in ("markdown", "csv", "latex"):
        check(as_text(page_of(table), form))
    for record in (validation, table):
        check_page(as_html(record))
        screen.show(record)
        check(capsys.readouterr().out)


def test_every_template_makes_names_visible():
    page = html._environment([NASTY]).from_string("{{ x }} {{ x | emphasise }} {{ [x][0] }}").render(x=NASTY)
    check_page(page)
    sources = Path(html.__file__).parents[2].rglob("*.py")
    makers = [text for path in sources if "jinja2.Environment(" in (text := path.read_text(encoding="utf-8"))]
    assert makers and all("finalize=visible_value" in text for text in makers)


def test_warnings_errors_and_lines_about_files(capsys):
    from xlingual.cli.main import run

    assert run(["compare", f"no such{NASTY}"]) == 2
    screen.say(f"::debug::{NASTY}")
    screen.wrote(Path(NASTY), quiet=False)
    out, err = capsys.readouterr()
    check(out)
    check(err)
