"""The page of a leaderboard: verdict, table, links, missing cells, hostile names; it loads nothing."""

import csv
import io
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from xlingual.report import as_html, page_of, verdict
from xlingual.report.render.text import as_text
from xlingual.results import Interval
from xlingual.results.evaluation import Cost
from xlingual.results.leaderboard import MTEB, OWN, Leaderboard, Mean, ResultCell, ResultColumn, Source

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
    fields |= {"origin": OWN, "languages": ["de", "en"], "conditions": {"data": "d"}, "chance": 0.02} | more
    return ResultColumn(name, "ikea", task, measure, cells=cells, **fields)


def board(*columns, means=(), no_mean="no encoder has a value in all columns", **more):
    names = list(dict.fromkeys(one.encoder for found in columns for one in found.cells))
    sources = [Source("bkr", "out/bkr", OWN, ["crosslingual-retrieval", "backretrieval"])]
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


def test_the_verdict_says_what_to_use():
    said = verdict(board(FIRST, SECOND, means=[Mean("b", 0.675), Mean("a", 0.65)]))
    assert said[0] == "Use b: no other encoder is shown to be better than it in all 2 columns with tests."
    assert said[1] == "ikea · BkR R@10: a, 0.500 [0.450, 0.550], shares the top with b."
    assert said[2] == "ikea · XLR R@10: b is best, 0.900 [0.850, 0.950]."
    assert said[3] == "1 of 6 cells is missing, and stays empty."
    assert said[4].startswith("The mean over all 2 columns is that of the 2 of 3 encoders that have every")


@pytest.mark.parametrize(
    ("columns", "lead"),
    [
        ([FIRST], "Use either of ‘a’ and ‘b’|Use either of a and b"),
        ([column("x", [cell("a", 0.5)])], "The best encoder is not known"),
        ([column("x", [cell("a", 0.03, (1, 2)), cell("b", 0.02, (1, 2))])], "Use none of them: no encoder"),
        (
            [column("x", [cell("a", 0.5, (1, 1)), cell("b", 0.2, (2, 2))]),
             column("y", [cell("b", 0.5, (1, 1)), cell("a", 0.2, (2, 2))])],
            "Choose by the column of the data that resemble yours most",
        ),
    ],
)  # fmt: skip
def test_the_first_sentence(columns, lead):
    assert re.match(lead, verdict(board(*columns))[0])


def test_columns_are_counted_only_where_every_encoder_is_in_each():
    x = column("x", [cell("a", 0.5, (1, 1)), cell("b", 0.2, (2, 2)), cell("c", 0.1, (3, 3))])
    y = column("y", [cell("b", 0.5, (1, 1)), cell("a", 0.2, (2, 2)), cell("c", 0.1, (3, 3))])
    z = column("z", [cell("b", 0.5, (1, 1)), cell("a", 0.2, (2, 2)), cell("c", 0.1, (3, 3))])
    assert verdict(board(x, y, z))[0].endswith("b is at the top most often, in 2 of 3 columns.")
    alone = column("z", [cell("b", 0.5, (1, 1)), cell("c", 0.2, (2, 2)), cell("a")])
    said = verdict(board(x, y, alone))[0]
    assert "most often" not in said and said.endswith("so their numbers of top places cannot be compared.")


def test_why_there_is_no_mean_is_said():
    assert "There is no mean over the columns: no encoder has" in " ".join(verdict(board(FIRST, SECOND)))


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


def test_missing_cells_say_why():
    text = as_html(board(FIRST, SECOND))
    assert 'title="not evaluated here"' in text and "Missing cells, and why" in text
    assert "ikea · XLR R@10: c: not evaluated here." in text


def test_text_forms_have_every_cell():
    found = page_of(board(FIRST, SECOND))
    rows = list(csv.DictReader(io.StringIO(as_text(found, "csv"))))
    assert len(rows) == 6 and rows[0]["value"] == "0.5" and rows[5]["note"] == "not evaluated here"
    markdown = as_text(found, "markdown")
    assert r"0.500\* [0.450, 0.550]; 1–2" in markdown.replace("**", "").replace("\\[", "[").replace(
        "\\]", "]"
    )


def test_a_cost_that_two_have_is_a_figure():
    priced = [
        cell("a", 0.5, (1, 1), cost=Cost(bytes_per_text=4096.0)),
        cell("b", 0.4, (2, 2), cost=Cost(bytes_per_text=128.0)),
        cell("c", 0.3, (3, 3)),
    ]
    assert "Quality against cost" in as_html(board(column("x", priced)))
    assert "Quality against cost" not in as_html(board(FIRST))


def test_scores_of_mteb_are_not_linked_or_ranked():
    other = column("MTEB T", [cell("a", 0.5)], origin=MTEB, measure="main_score", task="T", chance=None)
    text = as_html(replace(board(other), results=[Source("bkr", "mteb/T.json", MTEB)]))
    assert "MTEB keeps no values of single queries" in text and seen(text).links == []
    assert "of MTEB" in text


def test_hostile_names_are_shown_and_obeyed_nowhere():
    cells = [cell(NASTY, 0.5, (1, 1)), cell("b", 0.2, (2, 2))]
    text = as_html(board(column(NASTY, cells)))
    assert "<script>alert" not in text and "\x1b" not in text and "\u202e" not in text
    assert seen(text).tags.count("script") == 1
    for form in ("markdown", "latex", "csv"):
        shown = as_text(page_of(board(column(NASTY, cells))), form)
        assert "\x1b" not in shown and "\u202e" not in shown
