"""Approximate numbers: no digit that is not known, and under the table how far off they are."""

import pytest

from xlingual.report import approximation, leaderboard, numbers, page, verdict
from xlingual.results import Approximation, Interval

TASK = "backretrieval"


def off(error, **changes):
    fields = {
        "search": "ivf", "depth": 100, "candidates": None, "n_checked": 1000, "recall_nearest": 0.9983,
        "recall_way_back": 0.982, "difference": -0.001,
        "ci": Interval(-0.001 - error, -0.001 + error, 0.95, "checked"), "error": error,
        "oracle_error": 0.03,
    }  # fmt: skip
    return Approximation(**(fields | changes))


def made_run(made, error, **changes):
    given = {
        "chance": 0.01,
        "oracle": 0.9123,
        "normalized": 0.3826,
        "approximation": off(error, **changes),
    }
    rows = [
        made.summary(TASK, "e", "R@10", 0.3456, **given),
        made.summary(TASK, "e", "R@10", 0.3456, source="en", target="de", **given),
    ]
    return made.results([made.entry(TASK, "en", "de", "e", "R@10", 0.3456)], rows)


@pytest.mark.parametrize(
    ("error", "value", "share"),
    [(0.0, "0.346", "38 %"), (0.0015, "0.346", "38 %"), (0.0038, "0.35", "38 %"), (0.03, "0.35", "40 %")],
)
def test_only_known_digits_are_shown(made, error, value, share):
    (row,) = leaderboard(made_run(made, error), TASK, "R@10")
    assert (row.value_text, row.normalized_text) == (value, share)
    assert row.interval_text == "[0.316, 0.376]"  # an interval says itself how far off it is


def test_the_verdict_and_the_page_have_no_other_digits(made):
    results = made_run(made, 0.0038)
    told = " ".join(verdict(results))
    assert "0.35 [" in told and "0.346" not in told and "(0.9)" in told and "0.912" not in told
    html = page.render([results])
    assert ">0.35<" in html and "0.346" not in html and "0.912" not in html
    assert "nearest text found for 99.8 %" in html


def test_what_stands_under_the_table(made):
    rows = leaderboard(made_run(made, 0.0038), TASK, "R@10")
    first, second = approximation.sentences(rows)
    assert first.startswith("Approximate: the 100 best candidates of a query that a search (ivf) finds")
    assert second == (
        "e: 1,000 queries done exactly too, nearest text found for 99.8 %, 98.2 % of the nearest pictures "
        "found, R@10 is off by −0.001 [−0.005, 0.003]."
    )


def test_a_sample_of_candidates_says_its_size(made):
    row = made.summary(
        TASK,
        "e",
        "MedR",
        1234.5,
        ci=Interval(1100.0, 1400.0, 0.95, "Woodruff"),
        approximation=off(66.0, candidates=10_000, difference=None, ci=None, recall_way_back=None),
    )
    rows = leaderboard(made.results([], [row]), TASK, "MedR")
    assert rows[0].value_text == "1200"
    first, second = approximation.sentences(rows)
    assert "10,000 candidates drawn at random" in first and second.endswith("MedR is within 66.")


def test_exact_numbers_say_nothing(made):
    rows = leaderboard(made.results([], [made.summary(TASK, "e", "R@10", 0.3)]), TASK, "R@10")
    assert approximation.sentences(rows) == []


def test_a_number_below_its_error_keeps_one_digit():
    assert numbers.number(0.0062, error=0.05) == "0.006"
    near = Interval(0.001, 0.009, 0.95, "Wilson, checked")
    assert numbers.number(0.0062, error=0.0051) == "0.01"
    assert numbers.number(0.0062, error=0.0051, ci=near) == "0.006"  # what is shown lies in its interval
    assert numbers.number(0.0, error=0.05) == "0.0"
    assert numbers.number(42.4, "MedR", error=300.0) == "40"
