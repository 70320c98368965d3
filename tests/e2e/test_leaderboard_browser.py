"""A leaderboard in a real browser: filters, sorting, and that nothing is lost without a script."""

import os
import shutil
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

from xlingual.report import write_report
from xlingual.results.leaderboard import Mean

HERE = Path(__file__).parent
made = SimpleNamespace(**run_path(str(HERE.parent / "unit" / "report" / "test_leaderboard.py")))
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: install it, or name it in CHROMIUM"),
]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture
def site(tmp_path):
    cells = [made.cell("a", 0.7, (1, 1)), made.cell("b", 0.6, (2, 2)), made.cell("c", 0.1, (3, 3))]
    third = made.column("shop · XLR R@10", cells, task="crosslingual-retrieval")
    means = [Mean(name, "XLR R@10", 0.75) for name in "ab"]
    found = made.board(made.FIRST, made.SECOND, third, means=means)
    write_report(found, tmp_path / "index.html")
    return (tmp_path / "index.html").as_uri()


def shown(page):
    """Return the visible cells of the table, by row."""
    return page.evaluate(
        "[...document.querySelectorAll('table.leaders tr')].filter(row => !row.hidden).map(row => "
        "[...row.cells].filter(cell => !cell.hidden).map(cell => cell.textContent.trim().split(/\\s/)[0]))"
    )


def opened(browser, site, width=1280, **options):
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    page, complaints = context.new_page(), []
    page.on("console", lambda said: complaints.append(said.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(site)
    return page, complaints


@pytest.mark.parametrize("width", [1280, 390])
def test_filters_and_sorting(browser, site, width):
    page, complaints = opened(browser, site, width)
    assert [row[0] for row in shown(page)] == ["Encoder", "a", "b", "c"]
    assert shown(page)[3] == ["c", "–", "0.200", "–", "0.100"], "no mean over different cells"
    assert shown(page)[1][:2] == ["a", "0.750"], "of one measure"
    page.get_by_label("only rows without a missing cell").check()
    assert [row[0] for row in shown(page)] == ["Encoder", "a", "b"]
    page.get_by_label("Task").select_option("Backretrieval")
    assert shown(page)[1:] == [["a", "0.500"], ["b", "0.450"], ["c", "0.200"]], "one column has no mean"
    assert page.locator(".by-column > details:visible").count() == 1
    page.get_by_label("Name").fill("B")
    assert [row[0] for row in shown(page)] == ["Encoder", "b"]
    page.get_by_role("button", name="All").click()
    page.wait_for_function("document.querySelector('output').textContent.startsWith('3 of 3')")
    head = page.get_by_role("button", name="ikea · XLR R@10")
    head.click()
    assert [row[0] for row in shown(page)][1:] == ["b", "a", "c"]
    head.press("Enter")
    assert [row[0] for row in shown(page)][1:] == ["a", "b", "c"], "what is missing stays last"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert complaints == []


def test_all_can_be_read_without_a_script(browser, site):
    page, _ = opened(browser, site, java_script_enabled=False)
    assert page.locator("table.leaders tbody tr").count() == 3
    assert not page.locator(".filters").is_visible() and page.get_by_text("BkR R@10").first.is_visible()
