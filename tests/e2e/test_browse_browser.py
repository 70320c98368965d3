"""`xlingual browse` in a real browser: keys, filters, marks, the map, right to left; the file of failures.

The browser is Chromium: the one that CHROMIUM names, else the one on the path. SCREENSHOTS names a folder
that keeps images of the pages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

from xlingual.browsing.marks import Marks

HERE = Path(__file__).parent
looked = SimpleNamespace(**run_path(str(HERE.parent / "unit" / "browsing" / "looked.py")))
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
DESKTOP = {"viewport": {"width": 1280, "height": 860}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: install it, or name it in CHROMIUM"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return looked.make(tmp_path_factory.mktemp("browsed"))


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser):
    """Open pages that must stay free of complaints, the content security policy's among them."""
    contexts, complaints = [], []

    def opener(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console",
            lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda one: complaints.append(one.url) if not is_local(one.url) else None)
        return page

    yield opener
    for context in contexts:
        context.close()
    assert complaints == []


def is_local(url):
    return url.startswith(("http://127.0.0.1:", "file:", "data:"))


def command(made, *options):
    images = f"vectors:{made.folder}/images.npy"
    return [
        sys.executable, "-m", "xlingual", "browse", str(made.out), "--manifest",
        str(made.folder / "manifest.parquet"), "--image-encoder", images, "--no-store", *options,
    ]  # fmt: skip


@contextmanager
def serving(made, marks):
    """Serve for the length of a block, and give the address."""
    options = ("--port", "0", "--encoder", "bad", "--encoder", "good", "--marks", str(marks))
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
    process = subprocess.Popen(
        command(made, *options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    try:
        said = ""
        for line in process.stdout:
            said += line
            if "is shown at" in line:
                break
        else:
            raise AssertionError(said)
        yield line.split(" is shown at ")[1].split()[0]
    finally:
        process.terminate()
        process.wait(120)
        process.stdout.close()


def image(page, name):
    if os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(os.environ["SCREENSHOTS"]) / f"{name}.png")


def fits(page):
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_page_fits_and_is_shown(made, tmp_path, open_page, device, scheme):
    page = open_page(**device, color_scheme=scheme)
    with serving(made, tmp_path / "m.json") as base:
        for name, rest in [
            ("list", "?source=ar&target=ja"),
            ("text", f"text/{made.data.rows_of('ar')[7]}?to=ja"),
            ("computed", f"text/{made.data.rows_of('ja')[9]}?to=ar&near=computed"),
            ("typed", "typed?text=lamp&in=en"),
            ("map", f"map?row={made.data.rows_of('ja')[9]}&to=en"),
        ]:
            page.goto(base + rest)
            page.wait_for_load_state("networkidle")
            fits(page)
            assert page.evaluate(
                "[...document.images].every((one) => one.loading === 'lazy' || one.naturalWidth > 0)"
            )
            image(page, f"browse-{name}-{scheme}-{device['viewport']['width']}")


def test_failures_by_keys_with_marks_and_notes_that_stay(made, tmp_path, open_page):
    page, marks = open_page(**DESKTOP), tmp_path / "marks.json"
    with serving(made, marks) as base:
        page.goto(base)
        first = page.locator("a.line .text").first.inner_text()
        page.keyboard.press("j")
        page.wait_for_selector(".one")
        assert page.locator(".query h1").inner_text() == first
        page.keyboard.press("m")
        page.get_by_text("Saved", exact=True).wait_for()
        page.keyboard.press("n")
        page.keyboard.type("see j and m: =1+1")  # keys are letters while one writes
        with page.expect_response(lambda answer: answer.url.endswith("/mark") and answer.ok):
            page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        page.locator("body").click(position={"x": 4, "y": 400})
        address = page.url
        page.keyboard.press("ArrowRight")
        page.wait_for_url(lambda url: url != address)
        second = page.url
        page.keyboard.press("k")
        page.wait_for_url(address)
        assert page.locator("#marked").is_checked()
        assert page.locator("#note").input_value() == "see j and m: =1+1"
        page.keyboard.press("?")
        assert page.get_by_role("dialog").is_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "find"
        page.keyboard.press("Escape")
        page.keyboard.press("u")
        page.wait_for_selector("a.line .star")
        assert second != address
        with page.expect_download() as download:
            page.get_by_role("link", name="Marks").click()
        assert "'" not in Path(download.value.path()).read_text("utf-8-sig").split("\n")[0]
    (kept,) = Marks(marks).all()
    assert kept.marked and kept.note == "see j and m: =1+1"


def test_filters_change_the_list_and_the_address_and_back_works(made, tmp_path, open_page):
    page = open_page(**DESKTOP)
    with serving(made, tmp_path / "m.json") as base:
        page.goto(base)
        before = page.locator("#found h1").inner_text()
        page.get_by_label("From").select_option("ar")
        page.wait_for_url("**source=ar**")
        after = page.locator("#found h1").inner_text()
        assert after != before and set(page.locator("a.line .q:first-child .tag").all_inner_texts()) == {
            "Arabic"
        }
        page.locator("#words").fill("أحمر 7")
        page.wait_for_url("**q=%D8**")
        assert all("7" in text for text in page.locator("a.line").all_inner_texts())
        shows = "text => document.querySelector('#found h1').innerText === text"
        for text in (after, before):  # one after the other: a page that is left while it loads complains
            page.evaluate("history.back()")
            page.wait_for_function(shows, arg=text)
            page.wait_for_load_state("networkidle")
        assert "source" not in page.url


def test_texts_stand_in_their_direction_and_hostile_ones_run_nothing(made, tmp_path, open_page):
    page = open_page(**DESKTOP)
    with serving(made, tmp_path / "m.json") as base:
        for row in made.data.rows_of("en")[:3].tolist():
            page.goto(f"{base}text/{row}?to=ar")
            assert page.locator(".query h1").inner_text() == made.data.text[row]
        arabic = page.locator(".near .text[lang=ar]").first
        assert arabic.evaluate("one => getComputedStyle(one).direction") == "rtl"
        missing = made.data.rows_of("en")[5]
        page.goto(f"{base}text/{missing}?to=ja")  # its image is missing: a placeholder is shown
        page.wait_for_function("document.querySelector('.thumb.large img').naturalWidth > 0")


def test_the_map_is_drawn_and_leads_to_texts(made, tmp_path, open_page):
    page = open_page(**DESKTOP)
    with serving(made, tmp_path / "m.json") as base:
        page.goto(f"{base}map?row={made.data.rows_of('en')[7]}&to=ja")
        page.locator("#legend li").nth(2).wait_for()
        assert "Lines: the query (red lamp 7)" in page.locator("#map-note").inner_text()
        colours = page.evaluate("""() => {
            const one = document.querySelector("#map canvas"), seen = new Set();
            const data = one.getContext("2d").getImageData(0, 0, one.width, one.height).data;
            for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] > 100) seen.add(data.slice(i, i + 3).join());
            return seen.size;
        }""")
        assert colours >= 4  # three languages and the way
        box = page.locator("#map canvas").bounding_box()
        for x in range(60, int(box["width"]) - 60, 9):
            page.mouse.move(box["x"] + x, box["y"] + box["height"] / 2)
            if page.locator(".tip").is_visible():
                break
        assert page.locator(".tip").inner_text() in set(made.data.text)
        page.mouse.click(box["x"] + x, box["y"] + box["height"] / 2)
        page.wait_for_url("**/text/**")
        page.go_back()
        page.get_by_label("Colour").select_option("hub")
        page.wait_for_url("**colour=hub**")
        page.locator("#legend li").nth(1).wait_for()


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_file_sorts_filters_and_searches(made, tmp_path, open_page, device):
    file = tmp_path / "failures.html"
    done = subprocess.run(
        command(made, "--static", str(file), "--outcome", "all", "--encoder", "bad", "--quiet"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = open_page(**device)
    page.goto(file.as_uri())
    fits(page)
    n = 6 * looked.N
    count, lines = page.locator("#count"), page.locator("#lines > details")
    assert count.inner_text() == f"{n} queries" and lines.count() == 100
    page.get_by_role("button", name="Show more").click()
    assert lines.count() == 200

    def ranks():
        return [int(text.split()[-1]) for text in page.locator("#lines .num:nth-child(3)").all_inner_texts()]

    if device is DESKTOP:
        page.get_by_role("button", name="Rank").click()
        assert ranks() == sorted(ranks(), reverse=True)
        page.get_by_role("button", name="Rank").click()
        assert ranks() == sorted(ranks()) and ranks()[0] == 1
    page.get_by_label("From").select_option("ja")
    page.get_by_label("To").select_option("ar")
    assert count.inner_text() == f"{looked.N} queries"
    page.get_by_label("Words").fill("ランプ17")
    assert 1 <= lines.count() < looked.N
    page.get_by_label("From").select_option("en")
    page.get_by_label("Words").fill("onerror")
    assert count.inner_text() == "1 query"
    assert page.locator("#lines .q .text").first.inner_text() == looked.BREAKING
    page.locator("summary.line").click()
    page.locator(".further .near").nth(4).wait_for()
    assert page.locator(".further .near").count() == 5
    assert page.locator(".further .text").first.evaluate("one => getComputedStyle(one).direction") == "rtl"
    fits(page)
    image(page, f"browse-static-{device['viewport']['width']}")
