"""`xlingual leaderboard` from folders of results to a site, forms and errors."""

import json

import pytest


@pytest.fixture
def two(work, xlingual):
    """Give folders of results of two tasks."""
    for task in ("xlr", "bkr"):
        outcome = xlingual(
            *("evaluate", task, "s", "--text-encoder", "v/good.{lang}.npy", "--text-encoder"),
            *("v/bad.{lang}.npy", "--pairs", "en-de,de-en", "--out", f"r/{task}", "--quiet"),
            *(("--image-encoder", "pixels:") if task == "bkr" else ()),
        )
        assert outcome.code == 0, outcome.err
    return "r"


def test_a_site(two, xlingual, work):
    outcome = xlingual("leaderboard", two, "--out", "site")
    assert outcome.code == 0, outcome.err
    said = " ".join(outcome.out.split())
    assert "XLR R@10: good is best" in said and "wrote site/index.html" in outcome.err
    site = work / "site"
    assert sorted(path.name for path in (site / "results").iterdir()) == ["bkr.html", "xlr.html"]
    page = (site / "index.html").read_text(encoding="utf-8")
    assert 'href="results/xlr.html#section-1"' in page and 'id="section-1"' in (
        site / "results" / "xlr.html"
    ).read_text(encoding="utf-8")
    content = json.loads((site / "leaderboard.json").read_text(encoding="utf-8"))
    assert content["schema"] == "xlingual/leaderboard/1" and content["request"]["command"] == "leaderboard"
    shown = json.loads(xlingual("leaderboard", two, "--json").out)
    assert shown["columns"] == content["columns"] and shown["means"] == content["means"]
    assert xlingual("report", "site", "--format", "csv").out.startswith(
        "column,data,task,measure,origin,encoder"
    )
    assert "| encoder | mean |" in xlingual("leaderboard", two, "--format", "markdown").out.lower()
    assert xlingual("leaderboard", two, "--quiet").out == ""
    again = xlingual("leaderboard", two, "--out", "site", "--quiet")
    assert again.code == 0
    assert (
        json.loads((site / "leaderboard.json").read_text(encoding="utf-8"))["columns"] == content["columns"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], "error: nosuch is no folder: give folders of results, or of results of MTEB"),
        (["s"], "error: s holds no results: expected results.json"),
        ([], "RESULTS"),
    ],
)
def test_errors_say_what_to_do(work, xlingual, arguments, message):
    outcome = xlingual("leaderboard", *arguments)
    assert outcome.code == 2 and message in outcome.err and "Traceback" not in outcome.err


def test_a_file_is_in_the_way(two, xlingual, work):
    (work / "site").write_text("x")
    outcome = xlingual("leaderboard", two, "--out", "site")
    assert outcome.code == 2 and "site is a file" in outcome.err
