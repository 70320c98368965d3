"""Sheets: all of a rater's pages, nothing of the key, no network, no way out for hostile texts."""

from __future__ import annotations

import json
import os
import re
import shutil
from base64 import b64decode, b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from xlingual.errors import InputError
from xlingual.study.answers import collect, read_answers
from xlingual.study.folder import IMAGES, TITLE_FILE
from xlingual.study.records import Study
from xlingual.study.sheet import read_title, write_sheets

studies = SimpleNamespace(**run_path(str(Path(__file__).with_name("studies.py"))))
HOSTILE = '</script><script>alert(1)</script><!-- \u2028 & "quoted" <img src=x onerror=alert(2)>'


def sheet_of(folder: Path, study: Study, rater: int = 2) -> str:
    return write_sheets(folder, study, folder / "sheets", rater)[rater - 1].read_text(encoding="utf-8")


def content_of(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        re.findall(r'<script type="application/json" id="study">(.*?)</script>', page, re.S)[0]
    )
    return found


def test_a_sheet_has_the_raters_pages_and_nothing_of_the_key(tmp_path: Path) -> None:
    made = studies.make_study(tmp_path / "s")
    content = content_of(sheet_of(made.folder, made.study))
    assert content["pages"] == [
        {"query": page.query, "suggestions": list(page.suggestions), "occasion": page.occasion}
        for page in made.study.orders[1]
    ]
    assert content["rater"] == "2" and content["directions"] == {"en": "ltr", "ar": "rtl"}
    assert "credits" not in content and made.study.key_digest not in json.dumps(content)
    shown = {one.image for query in made.study.queries for one in (query.shown, *query.suggestions)}
    assert set(content["images"]) == shown
    name, url = next(iter(content["images"].items()))
    head, _, data = url.partition(",")
    assert head == "data:image/webp;base64" and b64decode(data) == (made.folder / IMAGES / name).read_bytes()


def test_a_sheet_needs_no_network(tmp_path: Path) -> None:
    page = sheet_of(*studies.make_study(tmp_path / "s")[:2])
    rest = page.replace(page[page.index('id="study"') : page.index("</script>")], "")
    assert not re.findall(r"https?:|//\w|<link|\bsrc=|@import|url\(|fetch\(|XMLHttpRequest|WebSocket", rest)


def test_the_policy_allows_the_own_script_and_style_alone(tmp_path: Path) -> None:
    page = sheet_of(*studies.make_study(tmp_path / "s")[:2])
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    for kind, pattern in (("script", r"<script>(.*?)</script>"), ("style", r"<style>(.*?)</style>")):
        whole = re.findall(pattern, page, re.S)
        assert len(whole) == 1
        digest = b64encode(sha256(whole[0].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not re.findall(r"<[^>]+\son\w+=|<[^>]+\sstyle=", page)


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    made = studies.make_study(tmp_path / "s", images=False)
    query = made.study.queries[0]
    spoilt = replace(query, shown=replace(query.shown, text=HOSTILE))
    study = replace(made.study, queries=(spoilt, *made.study.queries[1:]), labels=(HOSTILE, "b", "c", "d"))
    (made.folder / TITLE_FILE).write_text(f"# {HOSTILE}\n\n{HOSTILE}\n", encoding="utf-8")
    page = sheet_of(made.folder, study)
    assert page.count("<script") == 2 and "<img" not in page and "<!-- " not in page
    content = content_of(page)
    assert content["queries"][0]["shown"]["text"] == HOSTILE


def test_a_missing_image_is_named(tmp_path: Path) -> None:
    made = studies.make_study(tmp_path / "s")
    gone = made.study.queries[1].suggestions[0].image
    (made.folder / IMAGES / gone).unlink()
    with pytest.raises(InputError, match=f"{gone} cannot be read .* put back the images of the study"):
        sheet_of(made.folder, made.study)


def titled(folder: Path, text: str) -> Any:
    (folder / TITLE_FILE).write_text(text, encoding="utf-8")
    return read_title(folder, "The study")


def test_the_first_heading_is_the_title(tmp_path: Path) -> None:
    made = titled(tmp_path, "# Soup *and* bread\n\nRate **all**.\n\n- one\n")
    assert made.text == "Soup and bread"
    assert made.html == "<p>Rate <strong>all</strong>.</p>\n<ul>\n<li>one</li>\n</ul>\n"
    assert titled(tmp_path, "Just text\n\n# Later").text == "The study"
    assert 'rel="noopener noreferrer"' in titled(tmp_path, "[x](https://example.org)").html


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "[x](javascript:alert(1))",
        "![x](http://evil.example/x.png)", "[x](data:text/html,hi)", "<style>*{}</style>", "[x](vbscript:x)",
    ],
)  # fmt: skip
def test_nothing_harmful_gets_through(tmp_path: Path, hostile: str) -> None:
    tags = re.findall(r"<(\w+)([^>]*)>", titled(tmp_path, hostile).html)
    assert {name for name, _ in tags} <= {"p", "a"}
    assert not any(word in more for _, more in tags for word in ("javascript", "data:", "vbscript"))


def test_title_pages_that_cannot_be_shown(tmp_path: Path) -> None:
    assert "how relevant" in read_title(tmp_path, "t").html
    for raw, words in ((b"\xff", "not UTF-8"), (b"x" * 200_000, "200000 bytes")):
        (tmp_path / TITLE_FILE).write_bytes(raw)
        with pytest.raises(InputError, match=words):
            read_title(tmp_path, "t")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install playwright)")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("needs Chromium: set CHROMIUM to its path")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.mark.slow
@pytest.mark.parametrize("touch", [False, True], ids=["keyboard", "touch"])
def test_a_whole_study_on_a_sheet(tmp_path: Path, browser: Any, touch: bool) -> None:
    made = studies.make_study(tmp_path / "s", repeat=True)
    sheet = write_sheets(made.folder, made.study, tmp_path)[1]
    order = made.study.orders[1]
    size = {"width": 390, "height": 844} if touch else {"width": 1280, "height": 800}
    context = browser.new_context(viewport=size, has_touch=touch, accept_downloads=True)
    page = context.new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    address = sheet.as_uri()
    page.goto(address)
    press = page.tap if touch else page.click
    press("#begin")
    for number, _ in enumerate(order[:2]):
        _rate_page(page, touch, start=number)
    assert page.get_attribute("#suggestions p", "dir") == "rtl"
    page.locator("#undo").click()
    assert page.inner_text("#where").startswith("Query 2 of")
    page.keyboard.press("4")
    with page.expect_download() as download:
        press("#save")
    download.value.save_as(tmp_path / "half.json")
    page.goto(address)  # closed and opened again: the browser has kept the answers
    if touch:  # another device: the file brings them
        page.evaluate("localStorage.clear()")
        page.reload()
        page.set_input_files("#file", tmp_path / "half.json")
        page.wait_for_selector("#page:not([hidden])")
    else:
        press("#begin")
    assert page.inner_text("#where").startswith("Query 3 of")
    for number in range(2, len(order)):
        _rate_page(page, touch, start=number)
    assert page.inner_text("#missing") == "All suggestions have an answer."
    with page.expect_download() as download:
        press("#save-end")
    download.value.save_as(tmp_path / "all.json")
    assert messages == []
    (row,) = collect(made.folder, [tmp_path / "half.json", tmp_path / "all.json"])
    assert (row.rater, row.given, row.new) == ("2", row.asked, row.asked)
    found = read_answers(made.folder, made.study)
    scores = {(one.query, one.suggestion, one.occasion): one.score for one in found}
    expected = {
        (shown.query, one, shown.occasion): 1 + (number + place) % 4
        for number, shown in enumerate(order)
        for place, one in enumerate(shown.suggestions)
    }
    expected[order[1].query, order[1].suggestions[-1], 0] = 4
    assert scores == expected
    assert all(one.rater == "2" and one.seconds is not None for one in found)
    context.close()


def _rate_page(page: Any, touch: bool, start: int) -> None:
    """Give all suggestions of a page scores, and go on."""
    for place in range(page.locator("fieldset").count()):
        score = 1 + (start + place) % 4
        if touch:
            page.locator("fieldset").nth(place).locator("label").nth(score - 1).tap()
        else:
            page.keyboard.press(str(score))
    if touch:
        page.tap("#next")
    else:
        page.keyboard.press("Enter")
