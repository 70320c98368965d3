"""The pages: strangers find nothing, hostile texts stay texts, marks are kept, filters and pages work."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from xlingual import InputError
from xlingual.browsing.app import create_app
from xlingual.browsing.desk import Desk
from xlingual.browsing.marks import Marks
from xlingual.browsing.serve import serve
from xlingual.browsing.static_file import write_static

looked = SimpleNamespace(**run_path(str(Path(__file__).with_name("looked.py"))))
pytestmark = pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
TOKEN, HOST = "t" * 24, "http://127.0.0.1:8090"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return looked.make(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def shown(made):
    return looked.looking(made)


@pytest.fixture
def client(made, shown, tmp_path):
    shown.marks = Marks(tmp_path / "marks.json")
    app = create_app(Desk(shown, TOKEN, "pages", ("good", "bad")))
    with TestClient(app, base_url=HOST, follow_redirects=False) as opened:
        yield opened


def path(rest="/"):
    return f"/{TOKEN}{rest}"


def rows(shown, tag="en"):
    return shown.data.rows_of(tag).tolist()


ALL = ["/", "/?outcome=all", "/text/0?to=ja", "/text/1?to=ar&near=computed", "/typed?text=lamp&in=en", "/map"]


def test_every_answer_has_a_strict_policy_and_no_script_of_its_own(client):
    for one in [*ALL, "/map.json", "/image/0", "/marks.csv", "/nothing"]:
        answer = client.get(path(one))
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy
        assert answer.headers["referrer-policy"] == "no-referrer" and "set-cookie" not in answer.headers
        if answer.headers["content-type"].startswith("text/html"):
            tags = Tags(answer.text).seen
            assert not [tag for tag, own in tags if tag == "style" or (tag == "script" and "src" not in own)]
            assert not [own for _, own in tags for name in own if name == "style" or name.startswith("on")]
            assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', answer.text), one


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8090", "127.0.0.1.evil.example", "0.0.0.0:8090", "localhost.evil", ""],
)
def test_other_hosts_are_refused(client, host):
    assert client.get(path(), headers={"Host": host}).status_code == 421
    assert client.post(path("/text/0/mark"), headers={"Host": host}, data={"to": "ja"}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:8090", "[::1]:8090", "LOCALHOST"])
def test_own_names_are_served(client, host):
    assert client.get(path(), headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "/", "/x/", "/" + "t" * 23 + "/", "/" + "T" * 24 + "/", "/ü/", "/%00/", "/xxx/text/0", "/xxx/image/0",
        "/xxx/marks.csv", "/xxx/map.json", "/static/../marks.json", "/static/..%2f..%2fpages.py",
        "/t/manifest.parquet",
    ],
)  # fmt: skip
def test_without_the_token_nothing_is_there(client, address):
    answer = client.get(address)
    assert answer.status_code == 404 and "lamp" not in answer.text


@pytest.mark.parametrize(
    "rest",
    [
        "/image/-1", "/image/999999", "/image/0.png", "/image/..%2f..%2fetc%2fpasswd",
        "/image/%2fetc%2fpasswd",
        "/image/" + "9" * 5000, "/text/-1", "/text/180", "/text/x", "/text/²", "/image/1/../../marks.json",
    ],
)  # fmt: skip
def test_images_and_texts_are_chosen_by_number_alone(client, rest):
    assert client.get(path(rest)).status_code == 404


def test_an_image_is_a_small_jpeg_and_a_missing_one_a_placeholder(client, shown):
    slots = shown.data.image[rows(shown)]
    answer = client.get(path(f"/image/{slots[4]}"))
    assert answer.headers["content-type"] == "image/jpeg" and answer.content[:2] == b"\xff\xd8"
    missing = client.get(path(f"/image/{slots[5]}"))
    assert missing.status_code == 200 and missing.headers["content-type"] == "image/svg+xml"


class Tags(HTMLParser):
    """Collects the tags that a browser would see."""

    def __init__(self, page):
        super().__init__()
        self.seen = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def test_hostile_texts_stay_texts(client, shown):
    for row in rows(shown)[:2]:
        answer = client.get(path(f"/text/{row}?to=ja")).text
        tags = Tags(answer).seen
        assert html.escape(shown.data.text[row]) in answer
        assert not [one for tag, one in tags if tag == "script" and "src" not in one]
        assert not [one for tag, one in tags if "onerror" in one]
    typed = client.get(path("/typed"), params={"text": looked.BREAKING + "x", "in": "en"}).text
    assert looked.BREAKING not in typed and html.escape(looked.BREAKING) in typed
    found = client.get(path(), params={"q": '"><script>alert(3)</script>'}).text
    assert "<script>alert(3)" not in found


def test_texts_have_their_language_and_direction(client, shown):
    answer = client.get(path(f"/text/{rows(shown, 'ar')[7]}?to=ja")).text
    assert re.search(r'<h1 lang="ar" dir="rtl">مصباح أحمر 7</h1>', answer)
    assert 'lang="ja" dir="ltr">赤いランプ' in answer


def test_the_list_filters_and_turns_pages(client, shown):
    answer = client.get(path("/?outcome=all&encoder=bad")).text
    n = len(shown.queries["bad"])
    assert f"{n:,} queries" in answer and answer.count('<a class="line"') == 50 and "page 1 of 8" in answer
    last = client.get(path("/?outcome=all&encoder=bad&page=8")).text
    assert last.count('<a class="line"') == n - 350
    assert client.get(path("/?outcome=all&encoder=bad&page=999")).text == last
    few = client.get(path("/?outcome=all&encoder=bad&source=ar&target=ja&rank=1")).text
    expected = shown.lines(
        shown.usual().changed(encoder="bad", outcome="all", source="ar", target="ja", rank="1")
    )
    assert f"<h1>{len(expected)} quer" in few


def test_two_encoders_stand_side_by_side(client, shown):
    answer = client.get(path(f"/text/{rows(shown)[9]}?to=ja")).text
    assert re.findall(r'<section class="side" aria-label="(\w+)">', answer) == ["good", "bad"]
    one = client.get(path(f"/text/{rows(shown)[9]}?to=ja&beside=")).text
    assert re.findall(r'<section class="side" aria-label="(\w+)">', one) == ["good"]


def test_one_goes_through_failures_and_back(client, shown):
    lines = shown.lines(shown.usual(("good", "bad")).changed(encoder="bad"))
    one, address = shown.queries["bad"], None
    seen = []
    first = client.get(path("/?encoder=bad")).text
    address = html.unescape(re.search(r'<a class="line" role="row" href="([^"]+)" data-key="j"', first)[1])
    for _ in range(3):
        page = client.get(address).text
        seen.append(int(re.search(r"/text/(\d+)", address)[1]))
        address = html.unescape(re.search(r'href="([^"]+)" data-key="j"', page)[1])
    assert seen == one.row[lines[:3]].tolist()
    back = html.unescape(re.search(r'href="([^"]+)" data-key="k"', page)[1])
    assert int(re.search(r"/text/(\d+)", back)[1]) == one.row[lines[1]]


def test_a_typed_text_that_the_data_hold_is_that_text(client, shown):
    answer = client.get(path("/typed"), params={"text": " red lamp 9 ", "in": "en"})
    assert answer.status_code == 303 and answer.headers["location"].startswith(
        path(f"/text/{rows(shown)[9]}")
    )
    other = client.get(path("/typed"), params={"text": "lamp 1", "in": "en"})
    assert "texts hold these words" in other.text and "--text-encoder" in other.text


def test_marks_and_notes_stay_and_are_given_out(client, shown, tmp_path):
    row = rows(shown)[2]
    said = client.post(
        path(f"/text/{row}/mark"),
        data={"to": "ja", "marked": "yes", "note": "=bad <b>note</b>"},
        headers={"HX-Request": "true"},
    )
    assert said.status_code == 200 and "Saved" in said.text and "<b>" not in said.text
    assert Marks(tmp_path / "marks.json").of("en", "ja", "i2").note == "=bad <b>note</b>"
    again = client.get(path(f"/text/{row}?to=ja")).text
    assert "checked" in again and "=bad &lt;b&gt;note" in again
    assert "i2" not in client.get(path(f"/text/{row}?to=ar")).text.split("checked")[1:]
    table = client.get(path("/marks.csv"))
    assert table.headers["content-disposition"] == 'attachment; filename="marks.csv"'
    assert "'=bad <b>note</b>" in table.text and "'=HYPERLINK" in table.text
    marked = client.get(path("/?outcome=all&marked=yes")).text
    assert "<h1>1 query " in marked and "★" in marked


def test_a_mark_without_a_script_comes_back_to_the_page(client, shown):
    answer = client.post(path("/text/7/mark"), data={"to": "ja", "marked": "yes"})
    assert answer.status_code == 303 and answer.headers["location"] == path("/text/7?to=ja")


def test_a_mark_that_cannot_be_written_is_said(client, shown, tmp_path):
    shown.marks = Marks(tmp_path / "file" / "marks.json")
    (tmp_path / "file").write_text("in the way")
    answer = client.post(path("/text/7/mark"), data={"to": "ja", "marked": "yes"})
    assert answer.status_code == 503 and "Not saved" in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Origin": HOST}, 303), ({"Origin": "null"}, 303), ({"Origin": "https://evil.example"}, 403),
     ({"Sec-Fetch-Site": "cross-site"}, 403)],
)  # fmt: skip
def test_other_sites_mark_nothing(client, shown, headers, status):
    assert (
        client.post(path("/text/7/mark"), data={"to": "ja", "marked": "yes"}, headers=headers).status_code
        == status
    )
    assert len(shown.marks.all()) == (status == 303)


def test_huge_input_is_refused_politely(client, shown):
    assert client.get(path("/typed"), params={"text": "x" * 5000, "in": "en"}).status_code == 413
    assert client.get(path(), params={"q": "lamp " * 2000}).status_code == 200
    assert client.post(path("/text/7/mark"), data={"to": "ja", "note": "x" * 100_000}).status_code == 413
    client.post(path("/text/7/mark"), data={"to": "ja", "note": "x" * 5000})
    assert len(shown.marks.all()[0].note) == 2000
    assert client.post(path("/text/7/mark"), data={"to": "xx"}).status_code == 400


def test_the_map_comes_as_json(client, shown):
    drawn = client.get(path(f"/map.json?of=bad&row={rows(shown)[7]}&to=ja")).json()
    assert len(drawn["points"]) == 3 * looked.N and len(drawn["way"]) == 3
    strange = client.get(path("/map.json?of=nothing&method=x&colour=y&row=99999&to=zz")).json()
    assert "There is no map" in strange["why"]


def test_only_this_machine_may_be_listened_to(shown):
    for host in ("0.0.0.0", "::", "192.168.0.1", "example.org"):
        with pytest.raises(InputError, match=rf"--host {host}: .*only this machine"):
            serve(shown, "t", lambda address: None, host=host, port=0)


# --- the file


def test_the_file_holds_the_worst_failures_and_no_text_ends_an_element(shown, tmp_path):
    wanted = shown.named(encoder="bad", outcome="all", source="en")
    written = write_static(shown, wanted, tmp_path / "f.html", most=1000)
    page = (tmp_path / "f.html").read_text(encoding="utf-8")
    assert (written.queries, written.left_out) == (2 * looked.N, 0)
    tags = Tags(page).seen
    assert len([tag for tag, _ in tags if tag == "script"]) == 2 and "<script>alert" not in page
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//|@import|url\(""", page)
    policy = next(one["content"] for tag, one in tags if one.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; img-src data:") and "unsafe" not in policy
    content = json.loads(re.search(r'id="content">(.*?)</script>', page, re.S)[1])
    assert {row["query"]["text"] for row in content["rows"]} >= {looked.HOSTILE, looked.BREAKING}
    assert content["rows"][0]["near"][0]["lang"] in ("ar", "ja")
    few = write_static(shown, wanted, tmp_path / "f.html", most=7)
    assert (few.queries, few.left_out) == (7, 2 * looked.N - 7)
    assert "7 of 120 queries" in (tmp_path / "f.html").read_text(encoding="utf-8")


def test_images_of_the_file_have_a_limit_that_is_said(shown, tmp_path, monkeypatch):
    monkeypatch.setattr("xlingual.browsing.static_file._MOST_BYTES", 3000)
    written = write_static(shown, shown.named(encoder="bad"), tmp_path / "f.html")
    page = (tmp_path / "f.html").read_text(encoding="utf-8")
    images = json.loads(re.search(r'id="content">(.*?)</script>', page, re.S)[1])["images"]
    assert written.images_left_out and f"{written.images_left_out} images beyond" in page
    assert sum(len(one) for one in images.values()) < 3000 * 4 / 3 + 100 * len(images)
