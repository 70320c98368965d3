"""A study in a real browser: by keyboard, by touch, right to left, across a reload, two raters at once.

The browser is Chromium: the one that CHROMIUM names, else the one on the path. SCREENSHOTS names a folder
that keeps images of the pages.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from PIL import Image

from xlingual.study.database import Ratings
from xlingual.study.sheet import write_sheet

HERE = Path(__file__).parent
studies = SimpleNamespace(**run_path(str(HERE.parent / "unit" / "study" / "studies.py")))
serving = SimpleNamespace(**run_path(str(HERE / "serving.py")))
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
DESKTOP = {"viewport": {"width": 1280, "height": 860}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}

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
        return page

    yield opener
    for context in contexts:
        context.close()
    assert complaints == []


def made_in(tmp_path, **options):
    return studies.make_study(tmp_path / "study", **options)


def scores(folder, rater="1"):
    with Ratings(folder) as ratings:
        return {(one.query, one.suggestion, one.occasion): one.score for one in ratings.of(rater)}


def image(page, name):
    if os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(os.environ["SCREENSHOTS"]) / f"{name}.png")


def saved(page):
    page.locator("#status[data-kind=good]").wait_for()


def focused(page, suggestion):
    return page.locator(f"#s-{suggestion}").evaluate("one => one.contains(document.activeElement)")


def no_sideways_scrolling(page):
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_whole_study_by_keyboard(tmp_path, open_page, scheme):
    made = made_in(tmp_path, target="ja", repeat=True)
    page = open_page(**DESKTOP, color_scheme=scheme)
    with serving.server(made.folder, "--port", "0") as links:
        page.goto(links["1"])
        image(page, f"start-desktop-{scheme}")
        page.get_by_role("link", name="Begin").focus()
        page.keyboard.press("Enter")
        for number in range(1, 5):
            page.wait_for_url(f"**/page/{number}")
            for key in "1234":
                page.keyboard.press(key)
            saved(page)
            assert page.locator("#onward").evaluate("one => one === document.activeElement")
            image(page, f"rated-desktop-{scheme}-{number}")
            page.keyboard.press("Enter")
        page.wait_for_url("**/end")
        assert page.get_by_role("heading", name="Thank you").is_visible()
        image(page, f"end-desktop-{scheme}")
    expected = {
        (one.query, name, one.occasion): score
        for one in made.study.orders[0]
        for score, name in enumerate(one.suggestions, 1)
    }
    assert scores(made.folder) == expected


def test_keys_move_change_and_undo(tmp_path, open_page):
    made = made_in(tmp_path)
    page = open_page(**DESKTOP)
    first, second, third, _ = made.study.orders[0][0].suggestions
    query = made.study.orders[0][0].query
    with serving.server(made.folder, "--port", "0") as links:
        page.goto(f"{links['1']}/page/1")
        page.keyboard.press("2")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("4")  # the third: the second was passed over
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("1")  # the first, changed
        saved(page)
        assert scores(made.folder) == {(query, first, 0): 1, (query, third, 0): 4}
        with page.expect_navigation():
            page.keyboard.press("u")
        assert focused(page, first)
        assert scores(made.folder) == {(query, first, 0): 2, (query, third, 0): 4}
        with page.expect_navigation():
            page.keyboard.press("u")
        assert scores(made.folder) == {(query, first, 0): 2}
        assert focused(page, third)
        page.keyboard.press("Enter")  # not all is rated: on to the first that is open
        assert focused(page, second)
        page.keyboard.press("3")
        page.keyboard.press("3")
        saved(page)
    assert scores(made.folder) == {(query, first, 0): 2, (query, second, 0): 3, (query, third, 0): 3}


def test_a_key_held_down_is_one_answer(tmp_path, open_page):
    made = made_in(tmp_path)
    page = open_page(**DESKTOP)
    with serving.server(made.folder, "--port", "0") as links:
        page.goto(f"{links['1']}/page/1")
        for _ in range(5):
            page.keyboard.down("2")  # from the second on a repeat
        page.keyboard.up("2")
        saved(page)
    assert list(scores(made.folder).values()) == [2]


def test_a_key_held_down_on_a_sheet_is_one_answer(tmp_path, open_page):
    made = made_in(tmp_path)
    sheet = tmp_path / "sheet.html"
    with Ratings(made.folder) as ratings:
        write_sheet(sheet, made.folder, made.study, ratings.raters()[0])
    page = open_page(**DESKTOP)
    page.goto(sheet.as_uri())
    page.locator("#begin").click()
    assert page.evaluate("document.activeElement.tagName") == "FIELDSET"  # no choice is suggested
    for _ in range(4):
        page.keyboard.down("2")
    page.keyboard.up("2")
    assert page.locator("input:checked").count() == 1


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_tall_image_leaves_the_choices_in_sight(tmp_path, open_page, device):
    made = made_in(tmp_path)
    for file in (made.folder / "images").iterdir():
        Image.new("RGB", (50, 1000), "teal").save(file)
    sheet = tmp_path / "sheet.html"
    with Ratings(made.folder) as ratings:
        write_sheet(sheet, made.folder, made.study, ratings.raters()[0])
    page = open_page(**device)
    page.goto(sheet.as_uri())
    page.locator("#begin").click()
    assert max(one.bounding_box()["height"] for one in page.locator("img").all()) < 300
    with serving.server(made.folder, "--port", "0") as links:
        page.goto(f"{links['1']}/page/1")
        assert max(one.bounding_box()["height"] for one in page.locator("img").all()) < 300


def test_without_the_library_the_form_carries_every_answer(tmp_path, browser):
    made = made_in(tmp_path)
    context = browser.new_context(**DESKTOP)
    context.route("**/htmx*", lambda route: route.abort())
    page = context.new_page()
    with serving.server(made.folder, "--port", "0") as links:
        for key in "12":  # the second time answers are changed
            page.goto(f"{links['1']}/page/1")
            for card in page.locator(".suggestion").all():
                card.locator(f"input[value='{key}']").check()
            page.get_by_role("button", name="Save and go on").click()
            page.wait_for_url("**/page/2")
            assert list(scores(made.folder).values()) == [int(key)] * 4
    context.close()


def test_a_page_that_was_left_open_takes_no_newer_answer_back(tmp_path, open_page):
    made = made_in(tmp_path)
    page = open_page(**DESKTOP)
    other = page.context.new_page()
    with serving.server(made.folder, "--port", "0") as links:
        page.goto(f"{links['1']}/page/1")
        for _ in range(4):
            page.keyboard.press("2")
        saved(page)
        other.goto(f"{links['1']}/page/1")
        other.locator(".suggestion").first.locator("label").nth(3).click()
        saved(other)
        page.get_by_role("button", name="Save and go on").click()
        page.wait_for_url("**/page/2")
    assert list(scores(made.folder).values()) == [4, 2, 2, 2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_whole_study_by_touch_right_to_left(tmp_path, open_page, scheme):
    made = made_in(tmp_path, target="ar")
    page = open_page(**PHONE, color_scheme=scheme)
    with serving.server(made.folder, "--port", "0") as links:
        page.goto(links["1"])
        no_sideways_scrolling(page)
        image(page, f"start-phone-{scheme}")
        page.get_by_role("link", name="Begin").tap()
        for number in range(1, 4):
            page.wait_for_url(f"**/page/{number}")
            no_sideways_scrolling(page)
            text = page.locator(".text").first
            assert text.evaluate("one => getComputedStyle(one).direction") == "rtl"
            for card in page.locator(".suggestion").all():
                choice = card.locator("label").nth(1)
                assert choice.bounding_box()["height"] >= 44
                choice.tap()
            saved(page)
            image(page, f"rated-phone-{scheme}-{number}")
            page.get_by_role("button", name="Save and go on").tap()
        page.wait_for_url("**/end")
        image(page, f"end-phone-{scheme}")
    assert set(scores(made.folder).values()) == {2} and len(scores(made.folder)) == 12


def test_reload_in_the_middle_and_come_back_by_the_link(tmp_path, open_page):
    made = made_in(tmp_path)
    page = open_page(**DESKTOP)
    with serving.server(made.folder, "--port", "0") as links:
        page.goto(f"{links['1']}/page/1")
        page.keyboard.press("1")
        page.keyboard.press("2")
        saved(page)
        page.reload()
        assert page.locator("input:checked").count() == 2
        assert page.locator("#progress").inner_text().startswith("2 of 12")
        page.keyboard.press("3")  # the focus is on the first that is open
        saved(page)
        page.get_by_role("link", name="Pause").click()
        page.get_by_role("link", name="Go on").click()
        page.wait_for_url("**/page/1")
    assert list(scores(made.folder).values()) == [1, 2, 3]


def test_a_server_that_is_away_for_a_while_gets_the_answer_later(tmp_path, browser):
    made = made_in(tmp_path)
    page = browser.new_context(**DESKTOP).new_page()
    process, links = serving.start(made.folder, "--port", "0")
    port = re.search(r":(\d+)/", links["1"])[1]
    page.goto(f"{links['1']}/page/1")
    process.kill()
    process.wait()
    process.stdout.close()
    page.keyboard.press("3")
    page.get_by_text("Not saved yet").wait_for()
    assert page.locator(".saved").first.inner_text() == "Not saved"
    image(page, "away")
    assert scores(made.folder) == {}
    with serving.server(made.folder, "--port", port):
        saved(page)
    assert list(scores(made.folder).values()) == [3]
    page.context.close()


def test_two_raters_at_once_and_the_organiser_watches(tmp_path, open_page):
    made = made_in(tmp_path)
    one, two, organiser = (open_page(**DESKTOP) for _ in range(3))
    with serving.server(made.folder, "--port", "0") as links:
        one.goto(f"{links['1']}/page/1")
        two.goto(f"{links['2']}/page/1")
        for key in "1234":
            one.keyboard.press(key)
            two.keyboard.press("4")
        saved(one)
        saved(two)
        organiser.goto(links["organiser"])
        assert organiser.get_by_text("4 of 12").count() == 2
        # the form is sent twice, as by a double click on a slow network
        organiser.evaluate(
            """async () => {
                const form = document.querySelector("form[action$='/raters']");
                const body = new URLSearchParams(new FormData(form));
                await fetch(form.action, {method: "POST", body, redirect: "manual"});
            }"""
        )
        organiser.get_by_role("button", name="Add a rater").click()
        assert "/r/" in organiser.get_by_role("textbox").input_value()
        assert organiser.locator("tbody tr").count() == 3
        image(organiser, "organiser")
    assert sorted(scores(made.folder, "1").values()) == [1, 2, 3, 4]
    assert list(scores(made.folder, "2").values()) == [4] * 4


def test_without_scripts(tmp_path, open_page):
    made = made_in(tmp_path)
    page = open_page(**DESKTOP, java_script_enabled=False)
    with serving.server(made.folder, "--port", "0") as links:
        page.goto(f"{links['1']}/page/1")
        for card in page.locator(".suggestion").all():
            card.locator("label").nth(3).click()
        page.get_by_role("button", name="Save and go on").click()
        page.wait_for_url("**/page/2")
        page.get_by_role("button", name="Undo").click()
        page.wait_for_url("**/page/1#*")
    assert list(scores(made.folder).values()) == [4, 4, 4]


RECIPE = "A soup\n" + "\n".join(
    f"{step}. Stir in the carrots of bowl {step} and wait." for step in range(1, 25)
)


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_long_texts_keep_their_lines_and_are_readable_from_the_first(tmp_path, open_page, device):
    made = made_in(tmp_path, long_text=RECIPE)
    page = open_page(**device)
    with serving.server(made.folder, "--port", "0") as links:
        page.goto(f"{links['1']}/page/1")
        no_sideways_scrolling(page)
        assert page.locator("#query").inner_text() == page.locator(".text").first.inner_text() == RECIPE
        assert int(page.locator("#query").evaluate("one => getComputedStyle(one).fontWeight")) < 600
        above = "one => one.getBoundingClientRect().top - one.closest('.query').getBoundingClientRect().top"
        assert page.locator(".query .kicker").evaluate(above) >= 0
        page.keyboard.press("1")
        page.keyboard.press("1")
        saved(page)
        page.wait_for_timeout(1200)  # until it has scrolled
        bottom = page.evaluate("""() => {
            const above = matchMedia("(max-width: 820px)").matches ? ".query" : ".bar";
            return document.querySelector(above).getBoundingClientRect().bottom;
        }""")
        third = page.locator(".suggestion").nth(2).locator(".text").bounding_box()
        assert bottom <= third["y"] < bottom + 200
        image(page, f"long-{'phone' if device is PHONE else 'desktop'}")
    with Ratings(made.folder) as ratings:
        write_sheet(tmp_path / "sheet.html", made.folder, made.study, ratings.raters()[1])
    page.goto((tmp_path / "sheet.html").as_uri())
    page.locator("#begin").click()
    page.keyboard.press("1")
    bar, second = page.locator("header"), page.locator("#suggestions p").nth(1)
    bottom = bar.bounding_box()["height"]
    assert bottom <= second.bounding_box()["y"] < bottom + 100
