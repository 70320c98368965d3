"""The page of a leaderboard: verdict, table, links, missing cells, hostile names; it loads nothing."""

import csv
import io
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

from xlingual.report import as_html, page_of
from xlingual.report.render.text import as_text
from xlingual.results import Interval
from xlingual.results.leaderboard import Leaderboard, ResultCell, ResultColumn, Source

NASTY = "=::x\x1b[31m<script>alert(1)</script>\u202e\"'|[l](u)"


def cell(name, value=None, ranks=None, note=None, **more):
    ci = None if value is None or ranks is None else Interval(value - 0.05, value + 0.05, 0.95, "Wilson")
    low, high = ranks or (None, None)
    result = None if value is None else "bkr"
    note = note or (None if value is not None else "not evaluated here")
    return ResultCell(name, value, ci, low, high, low == 1, result, note=note, **more)


def column(name, cells, *, measure="R@10", task="backretrieval", **more):
    tested = any(one.rank_low for one in cells)
    fields = {"n_tests": 3, "n_queries": 90} if tested else {"untested": "one encoder alone"}
    fields |= {"languages": ["de", "en"], "conditions": {"data": "d"}, "chance": 0.02} | more
    return ResultColumn(name, "ikea", task, measure, cells=cells, **fields)


def board(*columns, means=(), no_mean="no encoder has a value in all columns", **more):
    names = list(dict.fromkeys(one.encoder for found in columns for one in found.cells))
    sources = [Source("bkr", "out/bkr", ["crosslingual-retrieval", "backretrieval"])]
    no_mean = None if means else no_mean
    return Leaderboard(names, list(columns), sources, list(means), no_mean, "holm", 0.05, 0, [], **more)


FIRST = column("ikea · BkR R@10", [cell("a", 0.5, (1, 2)), cell("b", 0.45, (1, 2)), cell("c", 0.2, (3, 3))])
SECOND = column(
    "ikea · XLR R@10",
    [cell("b", 0.9, (1, 1)), cell("a", 0.8, (2, 2)), cell("c")],
    task="crosslingual-retrieval",
)


class Seen(HTMLParser):
    """What a page links to and runs."""

    def __init__(self):
        super().__init__()
        self.links, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]


def seen(text):
    found = Seen()
    found.feed(text)
    return found


def test_the_page_loads_nothing_and_runs_its_own_script_alone():
    text = as_html(board(FIRST, SECOND))
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text and "default-src 'none'" in text
    links = seen(text).links
    assert links and all(link.startswith("results/bkr.html#section-") for link in links)
    assert "results/bkr.html#section-2" in links, "Backretrieval is the second task of that report"
    assert "<script" not in as_html(board(FIRST)).replace("<script>", "", 1), "one, and no other"


def test_pages_without_a_script_allow_none():
    from xlingual.report.blocks import Page
    from xlingual.report.render import html

    text = html.render(Page("report", "t", [], []))
    assert "script" not in text


def test_text_forms_have_every_cell():
    found = page_of(board(FIRST, SECOND))
    rows = list(csv.DictReader(io.StringIO(as_text(found, "csv"))))
    assert len(rows) == 6 and rows[0]["value"] == "0.5" and rows[5]["note"] == "not evaluated here"
    markdown = as_text(found, "markdown")
    assert r"0.500\* [0.450, 0.550]; 1–2" in markdown.replace("**", "").replace("\\[", "[").replace(
        "\\]", "]"
    )


def test_hostile_names_are_shown_and_obeyed_nowhere():
    cells = [cell(NASTY, 0.5, (1, 1)), cell("b", 0.2, (2, 2))]
    text = as_html(board(column(NASTY, cells)))
    assert "<script>alert" not in text and "\x1b" not in text and "\u202e" not in text
    assert seen(text).tags.count("script") == 1
    for form in ("markdown", "latex", "csv"):
        shown = as_text(page_of(board(column(NASTY, cells))), form)
        assert "\x1b" not in shown and "\u202e" not in shown
