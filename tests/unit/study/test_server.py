"""The pages of raters and the organiser, with and without a script."""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from xlingual.errors import InputError
from xlingual.serving.limits import Limits
from xlingual.study.database import Ratings
from xlingual.study.folder import IMAGES, TITLE_FILE
from xlingual.study.server.app import create_app
from xlingual.study.server.state import StudyState

studies = SimpleNamespace(**run_path(str(Path(__file__).with_name("studies.py"))))
SCRIPT = {"HX-Request": "true"}


@pytest.fixture
def made(tmp_path):
    return studies.make_study(tmp_path / "study", repeat=True)


@pytest.fixture
def client(made):
    with TestClient(create_app(made.study, made.folder), follow_redirects=False) as opened:
        yield opened


def names(page):
    """Return the suggestions of a page in their order."""
    return list(dict.fromkeys(re.findall(r'name="score-(\w+)"', page.text)))


def rate_page(client, path, score=2):
    page = client.get(path)
    return client.post(path, data={f"score-{name}": score for name in names(page)})


def test_start_shows_title_instructions_and_a_way_in(client, made):
    page = client.get(made.link())
    assert page.status_code == 200
    assert "<h1>Which texts fit?</h1>" in page.text and "<em>query</em>" in page.text
    assert f'href="{made.link()}/next"' in page.text and "Begin" in page.text


def test_a_page_shows_texts_with_their_language_and_direction(client, made):
    page = client.get(f"{made.link()}/page/1").text
    query = made.study.queries[0]
    assert f'lang="en" dir="ltr">{query.shown.text}</h1>' in page
    for one in query.suggestions:
        assert f'lang="ar" dir="rtl">{one.text}</p>' in page
    assert page.count('type="radio"') == 4 * len(query.suggestions)


def test_an_answer_from_the_script_is_saved_before_it_is_said(client, made):
    path = f"{made.link()}/page/1"
    name = made.study.queries[0].suggestions[0].id
    said = client.post(path, data={f"score-{name}": "3"}, headers=SCRIPT)
    assert said.status_code == 200 and f'id="saved-{name}" data-saved>Saved<' in said.text
    assert "1 of 16" in said.text and 'hx-swap-oob="true"' in said.text
    with Ratings(made.folder) as other:
        (rating,) = other.all()
    assert (rating.rater, rating.suggestion, rating.score, rating.occasion) == ("1", name, 3, 0)
    assert rating.seconds is None  # no page was opened before


def test_seconds_count_from_the_page_and_from_the_answer_before(made):
    moments = iter([100.0, 102.5, 107.0, 9000.0])
    desk = StudyState(made.study, made.folder, Limits(), clock=lambda: next(moments))
    rater = desk.ratings.raters()[0]
    place = desk.pages(rater)[0]
    desk.opened(rater)
    for one in place.suggestions[:3]:
        desk.rate(rater, place, {one.id: 1})
    assert [one.seconds for one in sorted(desk.ratings.all(), key=lambda one: one.suggestion)] == [
        2.5,
        4.5,
        None,
    ]


def test_a_double_click_counts_once(client, made):
    path, name = f"{made.link()}/page/1", made.study.queries[0].suggestions[0].id
    for _ in range(3):
        client.post(path, data={f"score-{name}": "3"}, headers=SCRIPT)
    with Ratings(made.folder) as other:
        assert len(other.all()) == 1 and len(other.log()) == 1


def test_a_whole_study_without_script(client, made):
    base = made.link()
    for number in range(1, 5):
        assert client.get(f"{base}/next").headers["location"] == f"{base}/page/{number}"
        assert client.get(f"{base}/end").headers["location"] == f"{base}/page/{number}"
        answer = rate_page(client, f"{base}/page/{number}")
        assert answer.status_code == 303
    assert answer.headers["location"] == f"{base}/end"
    assert "All 16 answers are saved" in client.get(f"{base}/end").text
    with Ratings(made.folder) as other:
        assert len(other.all()) == 16 and {one.occasion for one in other.all()} == {0, 1}


def test_what_is_missing_is_said_and_the_rest_is_saved(client, made):
    path, name = f"{made.link()}/page/1", made.study.queries[0].suggestions[2].id
    page = client.post(path, data={f"score-{name}": "4"})
    assert page.status_code == 200 and "3 of the suggestions on this page have no answer yet" in page.text
    assert re.search(rf'name="score-{name}" value="4"[^>]*checked', page.text)
    assert page.text.count("lacking") == 3


def test_an_answer_shows_again_after_reload_and_can_be_changed(client, made):
    path, name = f"{made.link()}/page/1", made.study.queries[0].suggestions[0].id
    for score in ("2", "1"):
        client.post(path, data={f"score-{name}": score}, headers=SCRIPT)
    assert re.findall(r'name="(score-\w+)" value="(\d)"[^>]*checked', client.get(path).text) == [
        (f"score-{name}", "1")
    ]


def test_undo_goes_back_to_the_suggestion_and_only_once(client, made):
    base = made.link()
    rate_page(client, f"{base}/page/1")
    change = re.search(r'name="change" value="(\d+)"', client.get(f"{base}/page/2").text)[1]
    last = made.study.queries[0].suggestions[-1].id
    sent = client.post(f"{base}/undo", data={"change": change})
    assert sent.headers["location"] == f"{base}/page/1#s-{last}"
    assert client.post(f"{base}/undo", data={"change": change}).headers["location"] == f"{base}/next"
    with Ratings(made.folder) as other:
        assert len(other.all()) == 3


@pytest.mark.parametrize("data", [{"change": "x"}, {"change": "99"}, {"change": "²"}, {}])
@pytest.mark.cases(2)
def test_undo_of_nothing_changes_nothing(client, made, data):
    assert client.post(f"{made.link()}/undo", data=data).status_code == 303


def test_raters_have_their_own_orders_and_answers(client, made):
    first, second = (client.get(f"{made.link(number)}/page/1") for number in (0, 1))
    assert names(first)[0][:4] == "s000" and names(second)[0][:4] == "s001"
    rate_page(client, f"{made.link(0)}/page/1")
    assert "0 of 16" in client.get(f"{made.link(1)}/page/1").text


@pytest.mark.parametrize("value", ["0", "5", "1.0", "", "²", "1 OR 1"])
@pytest.mark.cases(3)
def test_a_score_off_the_scale_is_refused(client, made, value):
    name = made.study.queries[0].suggestions[0].id
    assert client.post(f"{made.link()}/page/1", data={f"score-{name}": value}).status_code in (200, 400)
    with Ratings(made.folder) as other:
        assert other.all() == []


def test_an_answer_to_another_page_is_refused(client, made):
    name = made.study.queries[1].suggestions[0].id
    assert client.post(f"{made.link()}/page/1", data={f"score-{name}": "1"}).status_code == 400


def test_images_come_by_id(client, made):
    query = made.study.queries[0].shown
    answer = client.get(f"{made.link()}/image/{query.id}")
    assert answer.status_code == 200 and answer.headers["content-type"] == "image/webp"
    assert answer.content == (made.folder / IMAGES / query.image).read_bytes()
    assert answer.headers["cache-control"].startswith("private")


def test_hostile_texts_are_shown_as_text(tmp_path):
    texts = dict(studies.TEXTS)
    try:
        studies.TEXTS["en"] = ('<script>alert(1)</script>"><img src=x>',) * 3
        made = studies.make_study(
            tmp_path / "s", target="en", images=False, title="# <b>T</b>\n\n<i onclick=x>"
        )
    finally:
        studies.TEXTS.update(texts)
    with TestClient(create_app(made.study, made.folder)) as client:
        page, start = client.get(f"{made.link()}/page/1").text, client.get(made.link()).text
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page and "<img" not in page
    assert "<h1>&lt;b&gt;T&lt;/b&gt;</h1>" in start and "&lt;i onclick" in start


def test_the_organiser_sees_progress_and_no_scores(client, made):
    rate_page(client, f"{made.link()}/page/1", score=3)
    page = client.get(f"/o/{made.organiser}")
    assert "4 of 16" in page.text and "0 of 16" in page.text and "not yet" in page.text
    assert "relevant" not in page.text.lower()
    assert client.get(f"/o/{made.organiser}/people").text.startswith('<div id="people"')
    assert "Begin" in client.get(f"/o/{made.organiser}/preview").text


def test_links_made_behind_a_proxy_have_its_address(made):
    with TestClient(create_app(made.study, made.folder, url="https://rate.example/a/")) as client:
        page = client.post(f"/o/{made.organiser}/raters").text
        assert 'value="https://rate.example/a/r/' in page and "testserver" not in page


def test_the_organiser_adds_a_rater_whose_link_is_shown_once(client, made):
    assert client.post(f"/o/{made.organiser}/raters").status_code == 303
    page = client.get(f"/o/{made.organiser}").text
    address = re.search(r'value="http://testserver(/r/[\w-]+)"', page)[1]
    assert client.get(address).status_code == 200
    assert address not in client.get(f"/o/{made.organiser}").text
    assert len(client.get(f"{address}/page/1").text) > 1000  # the third of two orders


def test_the_organisers_form_sent_twice_adds_one_rater_and_shows_the_link(client, made):
    holder = f"/o/{made.organiser}"
    form = dict(re.findall(r'name="(after)" value="(\d+)"', client.get(holder).text))
    before = len(client.app._app.state.served.ratings.raters())
    assert form == {"after": str(before)}
    assert [client.post(f"{holder}/raters", data=form).status_code for _ in range(2)] == [303, 303]
    assert len(client.app._app.state.served.ratings.raters()) == before + 1
    assert 'class="link"' in client.get(holder).text


def test_a_new_link_keeps_answers_and_ends_the_one_before(client, made):
    rate_page(client, f"{made.link()}/page/1")
    client.post(f"/o/{made.organiser}/raters/0/link")
    address = re.search(r'value="http://testserver(/r/[\w-]+)"', client.get(f"/o/{made.organiser}").text)[1]
    assert client.get(made.link()).status_code == 404
    assert "4 of 16" in client.get(f"{address}/page/1").text


def test_a_title_edited_while_serving_is_shown(client, made):
    (made.folder / TITLE_FILE).write_text("# A new title\n", encoding="utf-8")
    assert "<h1>A new title</h1>" in client.get(made.link()).text
    (made.folder / TITLE_FILE).write_bytes(b"\xff\xfe\x00")  # half written: the one from before stays
    assert "<h1>A new title</h1>" in client.get(made.link()).text


def test_a_missing_image_is_named(made):
    name = made.study.queries[0].shown.image
    (made.folder / IMAGES / name).unlink()
    with pytest.raises(InputError, match=rf"missing {name} \(1 of 15 images\)"):
        create_app(made.study, made.folder)


def test_a_full_disk_is_not_called_saved(client, made, monkeypatch):
    def full(self, ratings):
        raise InputError("disk full")

    monkeypatch.setattr(Ratings, "add_all", full)
    name = made.study.queries[0].suggestions[0].id
    answer = client.post(f"{made.link()}/page/1", data={f"score-{name}": "1"}, headers=SCRIPT)
    assert answer.status_code == 503 and "Not saved" in answer.text
