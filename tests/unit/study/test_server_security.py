"""Strangers find nothing, other sites send nothing, and no page runs what is not the server's own."""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from xlingual.serving.limits import Buckets, Limits, Rate
from xlingual.study.server.app import create_app

studies = SimpleNamespace(**run_path(str(Path(__file__).with_name("studies.py"))))
GONE = "x" * 32


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return studies.make_study(tmp_path_factory.mktemp("made") / "study")


@pytest.fixture
def client(made):
    limits = Limits(not_found=Rate(1000, 1000))
    with TestClient(create_app(made.study, made.folder, limits), follow_redirects=False) as opened:
        yield opened


def paths(made):
    base, holder = made.link(), f"/o/{made.organiser}"
    pages = [base, f"{base}/page/1", holder, f"{holder}/people", f"{holder}/preview"]
    return [*pages, f"{base}/image/q000", "/static/style.css", f"/r/{GONE}", "/"]


def test_every_answer_carries_the_headers(client, made):
    for path in paths(made):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert (
            "unsafe" not in policy and "frame-ancestors 'none'" in policy and "form-action 'self'" in policy
        )
        assert headers["referrer-policy"] == "no-referrer" and headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in headers and "server" not in headers


def test_pages_have_no_inline_script_or_style_and_load_nothing_from_elsewhere(client, made):
    for path in paths(made)[:5]:
        page = client.get(path).text
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", page), path
        assert not re.findall(r'(?:src|href)="(?:https?:)?//', page), path


def test_pages_with_a_token_are_not_kept_by_caches(client, made):
    for path in paths(made)[:5]:
        assert client.get(path).headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/r/{gone}", "/r/{gone}/next", "/r/{gone}/page/1", "/r/{gone}/end",
        "/r/{gone}/image/q000",
        "/o/{gone}",
        "/o/{gone}/people", "/o/{gone}/preview", "/", "/r/", "/o/", "/docs", "/static/", "/static/nothing.js",
        "/r/{rater}/page/0", "/r/{rater}/page/99", "/r/{rater}/image/nothing", "/o/{rater}", "/r/{organiser}",
        "/r/{rater}/image/../../study.json", "/r/{rater}/image/..%2f..%2fstudy.json", "/study.json",
        "/static/..%2fapp.py", "/static/htmx-LICENSE.txt", "/secret/key.json",
        "/r/{rater}/image/%2fetc%2fpasswd",
        "/r/%ff%fe", "/r/%00",
        pytest.param("/r/{rater}/page/" + "1" * 5000, id="5000-digits"),
        pytest.param("/r/{rater}/page/²", id="not-a-number"),
    ],
)  # fmt: skip
def test_what_is_not_there_gives_the_same_words_whatever_it_is(client, made, path):
    filled = path.format(gone=GONE, rater=made.raters[0], organiser=made.organiser)
    answer = client.get(filled)
    assert answer.status_code == 404
    assert answer.text == client.get(f"/r/{GONE}").text
    assert "Which texts fit" not in answer.text and made.study.id not in answer.text


@pytest.mark.parametrize(
    "path", ["/r/{gone}/page/1", "/r/{gone}/undo", "/o/{gone}/raters", "/o/{gone}/raters/0/link"]
)
def test_strangers_change_nothing(client, made, path):
    before = [vars(rater) for rater in client.app._app.state.served.ratings.raters()]
    assert client.post(path.format(gone=GONE)).status_code == 404
    assert [vars(rater) for rater in client.app._app.state.served.ratings.raters()] == before


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),
        ({"Origin": "http://testserver"}, 303),
        ({"Origin": "null"}, 303),  # a form of a page that sends no referrer, over plain http
        ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, 303),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://testserver.evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
    ],
)
def test_other_sites_cannot_send(client, made, headers, status):
    assert client.post(f"{made.link()}/undo", headers=headers).status_code == status


def test_large_bodies_are_refused_with_a_stated_length_or_without(client, made):
    path = f"{made.link()}/page/1"
    assert client.post(path, content=b"a=" + b"x" * 100_000).status_code == 413

    def chunks():
        for _ in range(100):
            yield b"x" * 1000

    assert client.post(path, content=chunks()).status_code == 413
    assert client.post(path, content=b"", headers={"Content-Length": "-1"}).status_code == 413


def test_numbers_of_5000_digits_are_refused_in_forms_and_headers(client, made):
    digits = "1" * 5000
    answer = client.post(f"{made.link()}/undo", data={"change": digits})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{made.link()}/next")
    assert client.post(f"/o/{made.organiser}/raters/{digits}/link").status_code == 404
    assert client.post(f"{made.link()}/undo", headers={"Content-Length": digits}).status_code == 413


def test_odd_bodies_and_methods_are_refused(client, made):
    path = f"{made.link()}/page/1"
    assert client.post(path, json={"a": 1}).status_code == 415
    odd = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post(path, content=b"\xff\xfe", headers=odd).status_code == 400
    assert client.post(path, content=b"a=1&" * 3000, headers=odd).status_code == 400
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert client.request(method, path).status_code == 405


def test_a_rater_who_asks_too_often_waits_and_others_do_not(made):
    limits = Limits(token=Rate(5, 0.001))
    with TestClient(create_app(made.study, made.folder, limits)) as client:
        answers = [client.get(made.link()).status_code for _ in range(8)]
        assert answers == [200] * 5 + [429] * 3
        assert client.get(made.link(1)).status_code == 200


def test_images_have_a_limit_of_their_own(made):
    limits = Limits(token=Rate(1, 0.001), images=Rate(5, 0.001))
    with TestClient(create_app(made.study, made.folder, limits)) as client:
        answers = [client.get(f"{made.link()}/image/q000").status_code for _ in range(7)]
        assert answers == [200] * 5 + [429] * 2
        assert client.get(made.link()).status_code == 200


def test_who_tries_links_is_held_up_and_raters_behind_the_same_address_are_not(made):
    limits = Limits(not_found=Rate(3, 0.001))
    with TestClient(create_app(made.study, made.folder, limits)) as client:
        assert [client.get(f"/r/{GONE}{i}").status_code for i in range(5)] == [404] * 3 + [429] * 2
        assert client.get(made.link()).status_code == 200


def test_an_address_has_a_limit(made):
    with TestClient(create_app(made.study, made.folder, Limits(address=Rate(2, 0.001)))) as client:
        assert [client.get(made.link()).status_code for _ in range(3)] == [200, 200, 429]


def test_buckets_refill_and_forget():
    moment = [0.0]
    buckets = Buckets(Rate(2, 1), clock=lambda: moment[0], most=2)
    assert [buckets.take("a") for _ in range(3)] == [True, True, False]
    moment[0] = 1.0
    assert [buckets.take("a") for _ in range(2)] == [True, False]
    moment[0] = 100.0
    assert [buckets.take("a") for _ in range(3)] == [True, True, False]
    assert buckets.take("b") and buckets.take("c")
    assert len(buckets._levels) == 2
