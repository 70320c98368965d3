"""A comparison as sentences, tables and a page, from a record made by hand."""

import csv
import io

import pytest
from msgspec.structs import replace

from xlingual.report import as_html, page_of, verdict, write_report
from xlingual.report.render.text import as_text
from xlingual.results import Interval
from xlingual.results.comparison import Board, Compared, Comparison

HOSTILE = "<b>_&%$#|x"


def row(encoder, value, difference=None, half=0.01, outcome="baseline", ranks=(1, 1), p=0.0004, note=None):
    ci = None if difference is None else Interval(difference - half, difference + half, 0.95, "test")
    p = None if difference is None else p
    return Compared(encoder, value, difference, ci, p, p, None, outcome, *ranks, note)


def board(rows, **more):
    known = {
        "task": "backretrieval",
        "measure": "R@10",
        "source": None,
        "target": None,
        "column": None,
        "label": None,
        "baseline": "base",
        "n_queries": 1000,
        "n_clusters": 500,
        "n_pairs": 1,
        "n_seeds": 1,
        "chance": 0.02,
        "rows": rows,
        "replicates": 1999,
        "n_tests": len(rows) - 1,
        "n_rank_tests": len(rows) * (len(rows) - 1) // 2,
    }
    return Board(**known | more)


def comparison(*boards, given=True, margin=None):
    return Comparison(["a"], given, "holm", 0.05, margin, 0, {"data": "abc"}, list(boards))


MIXED = [
    row("up", 0.40, 0.10, outcome="better"),
    row("base", 0.30),
    row("same", 0.29, -0.01, half=0.02, outcome="no difference found", p=0.3),
    row("down", 0.20, -0.10, outcome="worse", note="it is odd"),
]


@pytest.mark.parametrize(
    ("other", "margin", "said"),
    [
        (row("x", 0.4, 0.1, outcome="better"), None, "x is better by +0.100 [0.090, 0.110]"),
        (row("x", 0.3, 0.0, outcome="equivalent"), 0.02, "equivalent: the difference, 0.000 [−0.010, 0.010]"),
        (row("x", 0.3, 0.0, outcome="no difference found"), None, "no difference is found for x"),
        (row("x", 0.3, 0.0, outcome="no difference found"), 0.001, "within ±0.001 is not shown either"),
        (
            replace(row("x", 0.3, 0.0, outcome="cannot tell", note="only 3")),
            None,
            "no test is possible for x: only 3.",
        ),
    ],
)
def test_one_encoder_against_a_baseline(other, margin, said):
    (sentence,) = verdict(comparison(board([row("base", 0.3), other]), margin=margin))
    assert said in sentence and sentence.endswith(".")


def test_markdown_and_latex_escape_names():
    found = comparison(board([row(HOSTILE, 0.4, 0.1, outcome="better"), row("base", 0.3)]))
    markdown, latex = (as_text(page_of(found), form) for form in ("markdown", "latex"))
    assert "| &lt;b&gt;\\_&amp;%$\\#\\|x |" in markdown and markdown.startswith("Against base")
    assert r"$<$b>\_\&\%\$\#|x &" in latex and latex.startswith("% Against base")
    assert "** (" in markdown and "; baseline " in markdown and "; baseline " in latex.splitlines()[2]
    table = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in table}) == 1


def test_csv_holds_all_boards_at_full_precision():
    found = comparison(board(MIXED), board(MIXED, column="size", label="2"))
    rows = list(csv.DictReader(io.StringIO(as_text(page_of(found), "csv"))))
    assert len(rows) == 8 and {r["label"] for r in rows} == {"", "2"}
    assert float(rows[0]["difference"]) == MIXED[0].difference
    assert rows[1]["difference"] == "" and rows[1]["outcome"] == "baseline"


def test_the_page_escapes_names_and_loads_nothing(tmp_path):
    found = comparison(board([row(HOSTILE, 0.4, 0.1, outcome="better"), row("base", 0.3)]), margin=0.05)
    page = as_html(found)
    assert "<b>_" not in page and "&lt;b&gt;_&amp;" in page
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")
    assert page.count('class="ceiling"') == 2 + 1  # + margin in two rows, and the legend
    write_report(found, tmp_path / "new" / "report.html")
    assert (tmp_path / "new" / "report.html").read_text(encoding="utf-8") == page


def test_verdict_and_cells_of_hostile_names_are_text():
    found = comparison(board([row(HOSTILE, 0.4, 0.1, outcome="better"), row("=base", 0.3)], baseline="=base"))
    found.notes.append("<i>")
    markdown = as_text(page_of(found), "markdown")
    assert "<b>" not in markdown and "<i>" not in markdown and "&lt;0.001" in markdown
    table = list(csv.DictReader(io.StringIO(as_text(page_of(found), "csv"))))
    assert [line["encoder"] for line in table] == [HOSTILE, "'=base"]
    assert float(table[0]["difference"]) == 0.1
    worse = comparison(board([row("a", 0.2, -0.1, outcome="worse"), row("base", 0.3)]))
    assert next(csv.DictReader(io.StringIO(as_text(page_of(worse), "csv"))))["difference"] == "-0.1"
